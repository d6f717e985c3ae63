"""What is known of a run from before: from an earlier leg in this process, or from its journal."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence

from interlock.runtime.entry import Entry, Key, key_of
from interlock.verdict import Tripwire

__all__ = ["Past"]


class Past:
    """What each turn of a run did before it was broken off, by its key.

    Args:
        entries: All of them, in the order in which they started; of several with one key the last counts, and none that
            is stale.
        tripwire: What stopped the run, where something did.

    Attributes:
        given: What turns are to be given instead of what flows to them.
    """

    __slots__ = ("_entries", "_inside", "_places", "given", "tripwire")

    def __init__(self, entries: Iterable[Entry] = (), tripwire: Tripwire | None = None) -> None:
        self.tripwire = tripwire
        self.given: dict[Key, object] = {}
        self._entries = list(entries)
        self._places = {
            key_of(entry): place
            for place, entry in enumerate(self._entries)
            if entry.notes is None or not entry.notes.stale
        }
        self._inside: dict[Key, list[int]] | None = None

    @property
    def entries(self) -> Sequence[Entry]:
        """What every turn did, also in attempts that failed."""
        return self._entries

    def known(self, path: str, at: tuple[int, ...]) -> Entry | None:
        """What is known of one turn."""
        place = self._places.get((path, at))
        return None if place is None else self._entries[place]

    def place(self, path: str, at: tuple[int, ...]) -> int | None:
        """Where among :attr:`entries` the turn stands."""
        return self._places.get((path, at))

    def inside(self, paths: Iterable[str], at: tuple[int, ...]) -> list[Entry]:
        """What is known of the turns at some paths, as far as they are within certain iterations; in order."""
        if self._inside is None:
            self._inside = {}
            for (path, within), place in self._places.items():
                for depth in range(len(within) + 1):
                    self._inside.setdefault((path, within[:depth]), []).append(place)
        places = [place for path in paths for place in self._inside.get((path, at), ())]
        return [self._entries[place] for place in sorted(places)]

    def forget(self, path: str, at: tuple[int, ...]) -> None:
        """Forget what was done inside of a workflow that is tried again: all of it is done anew."""
        for key in [key for key in self._places if key[0].startswith(f"{path}/") and key[1][: len(at)] == at]:
            del self._places[key]
        self._inside = None

    def answer(self, token: str, data: object) -> None:
        """Take in the answer to a suspension: its step runs again. What was told of it before stays as it was told."""
        for place, entry in enumerate(self._entries):
            notes = entry.notes
            if notes is not None and notes.suspension is not None and notes.suspension.token == token:
                again = self._entries[place] = copy.copy(entry)
                again.status = "unfinished"
                again.notes = copy.copy(notes)
                again.notes.suspension = None
                again.notes.signal = None
                again.notes.deltas = []
                again.notes.resume_data = data

"""What is known of a run from before: from an earlier leg in this process, or from its journal."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.runtime.entry import Entry, Key, key_of
from interlock.verdict import Tripwire

__all__ = ["Past"]


class Past:
    """What each turn of a run did before it was broken off, by its key.

    Args:
        entries: In the order in which they started; of several with one key the last counts.
        tripwire: What stopped the run, where something did.

    Attributes:
        given: What turns are to be given instead of what flows to them.
    """

    __slots__ = ("_entries", "given", "tripwire")

    def __init__(self, entries: Iterable[Entry] = (), tripwire: Tripwire | None = None) -> None:
        self.tripwire = tripwire
        self.given: dict[Key, object] = {}
        self._entries: dict[Key, Entry] = {}
        for entry in entries:
            if entry.notes is None or not entry.notes.stale:
                self._entries[key_of(entry)] = entry

    def known(self, path: str, at: tuple[int, ...]) -> Entry | None:
        """What is known of one turn."""
        return self._entries.get((path, at))

    def answer(self, token: str, data: object) -> None:
        """Take in the answer to a suspension: its step runs again."""
        for entry in self._entries.values():
            notes = entry.notes
            if notes is not None and notes.suspension is not None and notes.suspension.token == token:
                notes.suspension = None
                notes.signal = None
                notes.deltas = []
                notes.resume_data = data
                entry.status = "unfinished"

"""What the branches' edits take away of a text, and what is left of a replacement without it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from interlock.messages.edit_index import EditIndex
from interlock.messages.lost_words import LostWords, WordsOf, without_letters
from interlock.messages.rewriting import Change, Range

__all__ = ["Edit", "Taken"]


@dataclass(slots=True)
class Edit:
    """A change, the branches that made it, and where it stands in their order."""

    change: Change
    branches: list[str]
    place: int
    silent: bool = False
    """It only takes away: its replacement is never used."""

    @property
    def start(self) -> int:
        return self.change.start

    @property
    def end(self) -> int:
        return self.change.end


class Taken:
    """What the edits take away of the text, and what is left of a replacement without it.

    An exact edit answers for the range it replaces, and only for words that say something. One that was found by
    comparing may span more than was meant, so it loses every letter taken out of its range; and it may have moved words
    from anywhere. What is left of it is safe but hardly a text: without a preferred branch that is a conflict.
    """

    def __init__(self, base: str, edits: Iterable[Edit]) -> None:
        self._base = base
        self._index = EditIndex([edit for edit in edits if edit.start < edit.end])
        self._words = WordsOf(base)
        self._anywhere: dict[tuple[str, ...], LostWords] = {}
        self._letters: dict[tuple[Range, tuple[str, ...]], str] = {}

    def out_of(self, winner: Edit) -> str:
        """The winner's replacement, without what it says again of what another branch took away."""
        change = winner.change
        if not change.replacement:
            return ""
        if not change.derived:
            return self._words.lost(self._cut((change.start, change.end), winner.branches)).out_of(change.replacement)
        reach = [(change.start, change.end), *change.doubt]
        hull = min(low for low, _ in reach), max(high for _, high in reach)
        left = self.lost_anywhere(winner.branches).out_of(change.replacement)
        return without_letters(left, self._lost_letters(hull, winner.branches))

    def lost_anywhere(self, branches: Sequence[str]) -> LostWords:
        """The words that other branches took away, anywhere in the text."""
        key = tuple(branches)
        if key not in self._anywhere:
            self._anywhere[key] = self._words.lost(self._cut((0, len(self._base)), branches))
        return self._anywhere[key]

    def touched(self, reach: Range, branches: Sequence[str]) -> bool:
        """Whether another branch took away anything of that range."""
        return any(True for _ in self._index.foreign(*reach, branches))

    def _cut(self, reach: Range, branches: Sequence[str]) -> list[Range]:
        low, high = reach
        return [(max(low, edit.start), min(high, edit.end)) for edit in self._index.foreign(low, high, branches)]

    def _lost_letters(self, reach: Range, branches: Sequence[str]) -> str:
        key = reach, tuple(branches)
        if key not in self._letters:
            letters = {c for low, high in self._cut(reach, branches) for c in self._base[low:high]}
            self._letters[key] = "".join(sorted(letters))
        return self._letters[key]

"""Lost words that a merge puts together at a seam, out of what was put in and what was kept beside it.

A change that was found by comparing is cut to its least form: where ``42`` became ``4111``, only ``111`` was put in,
and the ``4`` before it was kept. So what a replacement says can be told only where it stands. A seam is where such a
change begins or ends in the joined text. If a word that another branch took away is said across a seam, the whole word
it stands in goes, kept letters too. Only an exact replacement in it stays.

What stood there before in other letters is none that comes back: then no other branch touched it, and it may be said.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from interlock.errors import MergeConflict
from interlock.messages.lost_words import LostWords, fold
from interlock.messages.rewriting import Change, Range, apply_edits
from interlock.messages.taken import Taken

__all__ = ["Joined", "without_lost_words"]


@dataclass(frozen=True, slots=True)
class Joined:
    """A change that edits came to, with what has to be known of them.

    Args:
        change: The change.
        exact: Whether its replacement was recorded, rather than found by comparing.
        compared: The branches of each edit in it that was found by comparing.
        rivals: The branches that contradict each other if its replacement cannot stay as it is; empty if none do.
    """

    change: Change
    exact: bool
    compared: tuple[tuple[str, ...], ...]
    rivals: tuple[str, ...] = ()


def without_lost_words(base: str, joined: Sequence[Joined], taken: Taken, what: str) -> tuple[Change, ...]:
    """The changes, and further ones, so that no lost word is said across a seam.

    Args:
        base: The text before.
        joined: The changes that the branches' edits came to, sorted and without overlaps.
        taken: What the edits take away.
        what: What the text is, for the error.

    Raises:
        MergeConflict: A word has to go where branches contradict each other.
    """
    branches = dict.fromkeys(by for one in joined for by in one.compared)
    lost = {by: words for by in branches if (words := taken.lost_anywhere(by))}
    if not lost:
        return tuple(one.change for one in joined)
    text = _JoinedText(base, joined)
    for stretch in text.stretches(lost):
        said = [by for by in stretch.seams if text.says(stretch, by, lost[by], taken)]
        if said:
            text.take_out(stretch, [lost[by] for by in said], what)
    return text.changes()


@dataclass(slots=True)
class _Stretch:
    """A part of the joined text that no lost word reaches out of."""

    low: int
    high: int
    seams: dict[tuple[str, ...], list[int]] = field(default_factory=dict[tuple[str, ...], list[int]])
    """Where the seams within it lie, by the branches that made them; in order."""
    changes: list[int] = field(default_factory=list[int])
    """The changes that made them."""


class _JoinedText:
    """The text the changes lead to, with what each part of it came from."""

    def __init__(self, base: str, joined: Sequence[Joined]) -> None:
        self._base = base
        self._joined = joined
        self._text = apply_edits(base, (one.change for one in joined))
        self._starts: list[int] = []
        self._ends: list[int] = []
        moved = 0
        for one in joined:
            self._starts.append(one.change.start + moved)
            self._ends.append(self._starts[-1] + len(one.change.replacement))
            moved = self._ends[-1] - one.change.end
        self._out: dict[int, list[Range]] = {}
        """What is to go of a change's replacement."""
        self._further: dict[int, list[Change]] = {}
        """Changes to be made before that of the index."""

    def stretches(self, lost: dict[tuple[str, ...], LostWords]) -> Iterator[_Stretch]:
        """What lies around the seams, as far as lost words can reach."""
        signs = set[str]().union(*(words.signs for words in lost.values()))
        stretch = _Stretch(0, 0)
        for at, one in enumerate(self._joined):
            by = [branches for branches in one.compared if branches in lost]
            for seam in sorted({self._starts[at], self._ends[at]}) if by else ():
                if seam >= stretch.high:
                    if stretch.seams:
                        yield stretch
                    stretch = self._around(seam, signs)
                if stretch.low < seam < stretch.high:
                    stretch.changes.append(at)
                    for branches in by:
                        stretch.seams.setdefault(branches, []).append(seam)
        if stretch.seams:
            yield stretch

    def _around(self, seam: int, signs: set[str]) -> _Stretch:
        low = high = seam
        while low > 0 and _in_a_word(self._text[low - 1], signs):
            low -= 1
        while high < len(self._text) and _in_a_word(self._text[high], signs):
            high += 1
        return _Stretch(low, high)

    def says(self, stretch: _Stretch, by: tuple[str, ...], lost: LostWords, taken: Taken) -> bool:
        """Whether one of the words is said across a seam that these branches made."""
        pieces = [fold(letter) for letter in self._text[stretch.low : stretch.high]]
        offsets = [0, *accumulate(map(len, pieces))]
        folded = "".join(pieces)
        seams = [offsets[seam - stretch.low] for seam in stretch.seams[by]]
        for start, end in lost.said(folded):
            following = bisect_right(seams, start)
            if following < len(seams) and seams[following] < end:
                first, last = bisect_right(offsets, start) - 1, bisect_right(offsets, end - 1) - 1
                before = self._before(first + stretch.low, last + stretch.low)
                if taken.touched(before, by) or fold(self._base[slice(*before)]) != folded[start:end]:
                    return True
        return False

    def _before(self, first: int, last: int) -> Range:
        """The range of the old text that two letters and those between them came from, replaced pieces as a whole."""
        (low, _), (_, high) = self._source(first), self._source(last)
        return low, high

    def _source(self, letter: int) -> Range:
        at = bisect_right(self._ends, letter)
        if at < len(self._joined) and self._starts[at] <= letter:
            return self._joined[at].change.start, self._joined[at].change.end
        place = self._kept(letter, at)
        return place, place + 1

    def _kept(self, place: int, following: int) -> int:
        """Where in the old text a place lies that is kept, before the following change."""
        if following == 0:
            return place
        return self._joined[following - 1].change.end + place - self._ends[following - 1]

    def take_out(self, stretch: _Stretch, lost: Sequence[LostWords], what: str) -> None:
        """Take the stretch out, but for exact replacements, unless these say a lost word when they come together."""
        for at in stretch.changes:
            if self._joined[at].rivals:
                raise MergeConflict(what, list(self._joined[at].rivals))
        parts = list(self._parts(stretch.low, stretch.high))
        exact = "".join(self._text[low:high] for low, high, at, put_in in parts if put_in and self._joined[at].exact)
        stays = all(words.out_of(exact) == exact for words in lost)
        for low, high, at, put_in in parts:
            if not put_in:
                gone = self._kept(low, at), self._kept(high, at)
                self._further.setdefault(at, []).append(Change(*gone, "", "redaction", gone, derived=True))
            elif not (stays and self._joined[at].exact):
                start = self._starts[at]
                self._out.setdefault(at, []).append((low - start, high - start))

    def _parts(self, low: int, high: int) -> Iterator[tuple[int, int, int, bool]]:
        """The parts of a range: where each lies, its change or the following one, and whether that put it in."""
        at = bisect_right(self._ends, low)
        while low < high:
            start = self._starts[at] if at < len(self._joined) else high
            if low < start:
                yield low, min(start, high), at, False
                low = min(start, high)
            elif low < self._ends[at]:
                yield low, min(self._ends[at], high), at, True
                low = min(self._ends[at], high)
            else:
                at += 1

    def changes(self) -> tuple[Change, ...]:
        """All changes, sorted and without overlaps."""
        made: list[Change] = []
        for at, one in enumerate(self._joined):
            made += self._further.get(at, ())
            gone = [Change(*out, "", "redaction", out) for out in self._out.get(at, ())]
            left = apply_edits(one.change.replacement, gone)
            made.append(replace(one.change, replacement=left) if gone else one.change)
        return (*made, *self._further.get(len(self._joined), ()))


def _in_a_word(letter: str, signs: set[str]) -> bool:
    """Whether a lost word may go on over this letter: over any of a word, and over accents."""
    folded = fold(letter)
    return not folded or any(c.isalnum() or c in signs for c in folded)

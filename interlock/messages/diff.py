"""How a text was changed, found from the text before and after: coarse rather than clever, and honest about doubt.

The words of both texts are compared, up to a limit of differences; beyond it everything between what they share at
both ends counts as one change. (The standard library's ``difflib`` takes seconds where this takes milliseconds.)

A change can often be read in several ways: where one of two equal words is gone, it may have been either. So the texts
are compared from the front and from the back. The first reading keeps the earliest of equal words, the second the
latest. Where they differ, what was taken away is in doubt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from interlock.messages.myers import Run, least_script
from interlock.messages.rewriting import Range, common_prefix

__all__ = ["DerivedEdit", "derive"]

LIMIT: Final = 256
"""How many words may be added and removed before the texts count as different throughout."""

_MARGIN: Final = 256
"""How many characters of a common end are compared as well, at first: enough to see where a doubt ends."""

_NEIGHBOURS: Final = 4
"""How many neighbouring changes are looked at as one."""

_TOKEN: Final = re.compile(r"\w+|\s+|[^\w\s]")
_SOLID: Final = re.compile(r"\S+")
_RUN: Final = re.compile(r"\w+|\s+|")
_CUT: Final = re.compile(r"(?<=\w)(?=\w)|(?<=\s)(?=\s)")


@dataclass(frozen=True, slots=True)
class DerivedEdit:
    """A change that was found by comparing.

    Args:
        start: Where it begins, in the text before.
        end: Where it ends.
        replacement: What came in its place.
        doubt: Ranges of the text before of which it cannot be told which characters were taken away, because the text
            after could have come about in several ways.
    """

    start: int
    end: int
    replacement: str
    doubt: tuple[Range, ...] = ()


def derive(before: str, after: str, limit: int = LIMIT) -> tuple[DerivedEdit, ...]:
    """The changes that lead from one text to the other, in order, none touching the next.

    Args:
        before: The text as it was.
        after: The text as it is.
        limit: How many words may be added and removed before everything between the common ends is one change.

    >>> derive("call 555-1234 now", "call [PHONE] now")
    (DerivedEdit(start=5, end=13, replacement='[PHONE]', doubt=()),)
    >>> derive("secret secret", "secret")
    (DerivedEdit(start=6, end=13, replacement='', doubt=((0, 6), (7, 13))),)
    """
    if before == after:
        return ()
    forward = _runs(before, after, limit)
    backward = None if forward is None else _runs(before[::-1], after[::-1], limit)
    if forward is None or backward is None:
        start, end, first, last = _trim(before, after, (0, len(before), 0, len(after)))
        # So much is new that it may well repeat what it replaces.
        doubt = [(start, end)] if first < last else []
        return (DerivedEdit(start, end, after[first:last], _united(before, doubt)),)
    found: list[DerivedEdit] = []
    for zone in _zones(forward, _mirrored(before, after, backward), before, after):
        doubt = _doubt(before, after, zone)
        for run in zone.forward:
            start, end, first, last = _trim(before, after, run)
            letters = _doubt_in_letters(before, run, start, end)
            found.append(DerivedEdit(start, end, after[first:last], _united(before, [*doubt, *letters])))
    return tuple(found)


def _runs(before: str, after: str, limit: int) -> list[Run] | None:
    """The changes, whole words each, keeping early words rather than late ones; None if there are too many."""
    head = _whole_words(before, after, common_prefix(before, after))
    old, new = before[head:], after[head:]
    tail = _whole_words(old[::-1], new[::-1], common_prefix(old[::-1], new[::-1]))
    margin = _MARGIN
    while True:
        left = _cut(old, len(old) - tail + min(margin, tail))
        script = _compared(old[:left], new[: left + len(new) - len(old)], limit)
        if script is None:
            return None
        if left == len(old) or not script or script[-1][1] < left:
            return _simplified(before, after, [(a + head, b + head, c + head, d + head) for a, b, c, d in script])
        margin *= 16  # what was compared ends in a change: the common end itself may be read in another way


def _simplified(before: str, after: str, runs: Sequence[Run]) -> list[Run]:
    """Neighbouring changes as one where that takes away and puts in fewer characters.

    A cut through the middle of words looks, word by word, like a word that was replaced and others that were removed.
    """
    simple: list[Run] = []
    at = 0
    while at < len(runs):
        reach = min(at + _NEIGHBOURS, len(runs))
        while reach > at + 1 and _cost(before, after, _hull(runs[at:reach])) >= sum(
            _cost(before, after, run) for run in runs[at:reach]
        ):
            reach -= 1
        simple.append(_hull(runs[at:reach]))
        at = reach
    return simple


def _hull(runs: Sequence[Run]) -> Run:
    return (runs[0][0], runs[-1][1], runs[0][2], runs[-1][3])


def _cost(before: str, after: str, run: Run) -> int:
    start, end, first, last = _trim(before, after, run)
    return end - start + last - first


def _compared(old: str, new: str, limit: int) -> list[Run] | None:
    old_words, new_words = _TOKEN.findall(old), _TOKEN.findall(new)
    script = least_script(old_words, new_words, limit)
    if script is None:
        return None
    old_at, new_at = _offsets(old_words), _offsets(new_words)
    return [(old_at[a], old_at[b], new_at[c], new_at[d]) for a, b, c, d in script]


def _offsets(words: Sequence[str]) -> list[int]:
    at = 0
    offsets = [at]
    for word in words:
        at += len(word)
        offsets.append(at)
    return offsets


def _whole_words(one: str, other: str, length: int) -> int:
    """The end of a common prefix, moved back to where no word is cut in either text."""
    while length > 0 and (_CUT.match(one, length) or _CUT.match(other, length)):
        length -= 1
    return length


def _cut(text: str, at: int) -> int:
    """The place, moved on to where no word is cut."""
    if not _CUT.match(text, at):
        return at
    run = _RUN.match(text, at)
    return at if run is None else run.end()


def _trim(before: str, after: str, run: Run) -> Run:
    """The same change without what it shares with its replacement at both ends."""
    start, end, first, last = run
    old, new = before[start:end], after[first:last]
    head = common_prefix(old, new)
    tail = common_prefix(old[head:][::-1], new[head:][::-1])
    return start + head, end - tail, first + head, last - tail


def _mirrored(before: str, after: str, runs: Sequence[Run]) -> list[Run]:
    n, m = len(before), len(after)
    return [(n - end, n - start, m - last, m - first) for start, end, first, last in reversed(runs)]


@dataclass(frozen=True, slots=True)
class Zone:
    """A stretch between what both readings keep alike: where it lies in both texts, and the changes of either."""

    old: Range
    new: Range
    forward: list[Run]
    backward: list[Run]


def _zones(forward: Sequence[Run], backward: Sequence[Run], before: str, after: str) -> list[Zone]:
    agreed = _agreed(_kept(forward, len(before)), _kept(backward, len(before)))
    zones: list[Zone] = []
    at = moved = 0
    for start, end, by in (*agreed, (len(before), len(before), len(after) - len(before))):
        if start > at or by != moved:
            old = (at, start)
            zones.append(Zone(old, (at + moved, start + by), _within(forward, old), _within(backward, old)))
        at, moved = end, by
    return zones


def _kept(runs: Sequence[Run], length: int) -> list[tuple[int, int, int]]:
    """What lies between the changes: start, end, and by how much it moved."""
    kept: list[tuple[int, int, int]] = []
    at = moved = 0
    for start, end, _, last in runs:
        if start > at:
            kept.append((at, start, moved))
        at, moved = end, last - end
    if length > at:
        kept.append((at, length, moved))
    return kept


def _agreed(ours: Sequence[tuple[int, int, int]], theirs: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    agreed: list[tuple[int, int, int]] = []
    i = j = 0
    while i < len(ours) and j < len(theirs):
        start, end = max(ours[i][0], theirs[j][0]), min(ours[i][1], theirs[j][1])
        if start < end and ours[i][2] == theirs[j][2]:
            agreed.append((start, end, ours[i][2]))
        if ours[i][1] <= theirs[j][1]:
            i += 1
        else:
            j += 1
    return agreed


def _within(runs: Sequence[Run], zone: Range) -> list[Run]:
    return [run for run in runs if zone[0] <= run[0] and run[1] <= zone[1]]


def _united(text: str, ranges: Sequence[Range]) -> tuple[Range, ...]:
    """The ranges in order, without overlaps, and without white space, which is nobody's secret."""
    united: list[Range] = []
    for low, high in sorted(ranges):
        if united and low <= united[-1][1]:
            united[-1] = (united[-1][0], max(high, united[-1][1]))
        else:
            united.append((low, high))
    return tuple(word.span() for low, high in united for word in _SOLID.finditer(text, low, high))


def _doubt(before: str, after: str, zone: Zone) -> list[Range]:
    """What of a zone may have been kept or taken away.

    Out of doubt is a word that both readings take away and of which no letter occurs in what the zone became. Where
    neither reading takes anything away, there is no doubt: it is only open where something was put in.
    """
    if zone.forward == zone.backward or all(start == end for start, end, _, _ in zone.forward + zone.backward):
        return []
    start, end = zone.old
    gone = [True] * (end - start)
    for runs in (zone.forward, zone.backward):
        for low, high, _ in _kept([(a - start, b - start, 0, 0) for a, b, _, _ in runs], end - start):
            gone[low:high] = [False] * (high - low)
    left = set(after[zone.new[0] : zone.new[1]])
    ranges: list[Range] = []
    for word in _TOKEN.finditer(before, start, end):
        low, high = word.span()
        sure = left.isdisjoint(word[0]) and all(gone[low - start : high - start])
        if not sure:
            ranges.append((low, high))
    return ranges


def _doubt_in_letters(before: str, run: Run, start: int, end: int) -> list[Range]:
    """Where single letters may have been taken away in place of others.

    That is so where letters kept of the first or last word of a change occur in what it takes away too: the whole run
    is in doubt. And it is so where what is taken away can slide: cutting ``ab`` out of ``xabab`` is the same at either
    place. What it covers wherever it slides is out of doubt.
    """
    low, high = run[0], run[1]
    gone = before[start:end]
    doubt: list[Range] = []
    if (low < start and before[start - 1] in gone) or (end < high and before[end] in gone):
        doubt.append((low, high))
    if start - low + high - end == run[3] - run[2]:  # nothing came in its place
        left, right = start - _slid_left(before, start, end), _slid_right(before, start, end) - end
        doubt += [(start - left, start + right), (end - left, end + right)] if left or right else []
    return doubt


def _slid_left(text: str, start: int, end: int) -> int:
    while start > 0 and text[start - 1] == text[end - 1]:
        start -= 1
        end -= 1
    return start


def _slid_right(text: str, start: int, end: int) -> int:
    while end < len(text) and text[end] == text[start]:
        start += 1
        end += 1
    return end

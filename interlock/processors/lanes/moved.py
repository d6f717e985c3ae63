"""What branches have removed of one text: so that what one of them puts in again further behind lacks it as well."""

from __future__ import annotations

from collections import deque
from typing import Final

__all__ = ["Removed"]

_MOST: Final = 2048
"""How many characters that a branch has removed are remembered at least, the last of them; at most twice as many."""

_SHARED: Final = 3
"""How many characters in a row are no accident, where a part of a text is found again."""


class Removed:
    """The ranges that each branch has removed of one text, as far as a branch may yet put in again what it removed.

    Args:
        branches: How many there are.

    Example:
        >>> removed = Removed(2)
        >>> removed.take(0, 3, "my card")
        >>> removed.take(1, 6, "card")
        >>> removed.without(0, "my card")
        'my '
    """

    __slots__ = ("_gone", "_taken")

    def __init__(self, branches: int) -> None:
        self._gone: list[deque[tuple[int, str]]] = [deque() for _ in range(branches)]
        self._taken: list[list[tuple[int, int]]] = [[] for _ in range(branches)]

    @property
    def any(self) -> bool:
        """Whether a branch has removed what it may yet put in again."""
        return any(self._gone)

    def take(self, branch: int, start: int, text: str) -> None:
        """A branch has removed a range.

        Args:
            branch: Which.
            start: Where the range begins.
            text: What stood there.
        """
        if not text:
            return
        self._taken[branch].append((start, start + len(text)))
        gone = self._gone[branch]
        if gone and gone[-1][0] + len(gone[-1][1]) == start:
            begun, before = gone.pop()
            gone.append((begun, before + text))
        else:
            gone.append((start, text))
        if sum(len(text) for _, text in gone) > 2 * _MOST:
            self._forget(branch)

    def without(self, branch: int, text: str) -> str:
        """What a branch puts in, without what others have removed of it where it stood before."""
        gone = self._gone[branch]
        taken = {
            at
            for number, ranges in enumerate(self._taken)
            if number != branch
            for start, end in ranges
            for at in range(start, end)
        }
        if not gone or not taken:
            return text
        places = [start + number for start, was in gone for number in range(len(was))]
        lost = taken.intersection(places)
        if not lost:
            return text
        found = _found_again("".join(was for _, was in gone), text)
        back = {at + number: places[was + number] for was, at, size in found for number in range(size)}
        self._keep(branch, set(back.values()))
        return "".join(one for number, one in enumerate(text) if back.get(number) not in lost)

    def _keep(self, branch: int, back: set[int]) -> None:
        """Forget of what was removed what has been put in again: an equal text that comes next is another."""
        left: deque[tuple[int, str]] = deque()
        for start, text in self._gone[branch]:
            begun = None
            for at in range(start, start + len(text) + 1):
                if at < start + len(text) and at not in back:
                    begun = at if begun is None else begun
                elif begun is not None:
                    left.append((begun, text[begun - start : at - start]))
                    begun = None
        self._gone[branch] = left

    def _forget(self, branch: int) -> None:
        """Forget all that a branch has removed but the last of it."""
        gone = self._gone[branch]
        surplus = sum(len(text) for _, text in gone) - _MOST
        while surplus > 0:
            start, text = gone.popleft()
            if len(text) > surplus:
                gone.appendleft((start + surplus, text[surplus:]))
            surplus -= len(text)
        for number, ranges in enumerate(self._taken):
            self._taken[number] = [one for one in ranges if self._is_known(*one)]

    def _is_known(self, start: int, end: int) -> bool:
        return any(at < end and start < at + len(text) for gone in self._gone for at, text in gone)


def _found_again(removed: str, text: str) -> list[tuple[int, int, int]]:
    """Which parts of a text were removed before: where each was, where it is, how long it is."""
    at = removed.find(text)
    if at >= 0:
        return [(at, 0, len(text))]
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(None, removed, text, autojunk=False).get_matching_blocks()
    found = [(was, at, size) for was, at, size in blocks if size >= _SHARED]
    return found if 2 * sum(size for *_, size in found) >= len(text) else []

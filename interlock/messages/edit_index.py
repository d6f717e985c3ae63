"""Edits of several branches, to be asked for by range."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Generic, Protocol, TypeVar

__all__ = ["EditIndex", "Placed"]


class Placed(Protocol):
    """What lies in a range of a text and belongs to branches."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def branches(self) -> Sequence[str]: ...


Edit = TypeVar("Edit", bound=Placed)


class EditIndex(Generic[Edit]):
    """Edits by branch: those of one branch hardly overlap, so those that reach into a range lie together."""

    def __init__(self, edits: Iterable[Edit]) -> None:
        self._by_branch: dict[str, list[Edit]] = {}
        for edit in edits:
            self._by_branch.setdefault(edit.branches[0], []).append(edit)
        self._starts: dict[str, list[int]] = {}
        self._reach: dict[str, list[int]] = {}
        for name, own in self._by_branch.items():
            own.sort(key=lambda edit: edit.start)
            self._starts[name] = [edit.start for edit in own]
            self._reach[name] = list(accumulate((edit.end for edit in own), max))

    def foreign(self, low: int, high: int, branches: Sequence[str]) -> Iterator[Edit]:
        """The edits that reach into ``[low, high)`` and belong to none of the branches."""
        for name, own in self._by_branch.items():
            first = bisect_right(self._reach[name], low)
            last = bisect_left(self._starts[name], high)
            for edit in own[first:last]:
                if edit.end > low and not set(edit.branches) & set(branches):
                    yield edit

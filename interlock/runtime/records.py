"""Records of a run's steps, made when they are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from interlock.runtime.entry import Entry
from interlock.workflows.outcome import StepRecord

__all__ = ["Records"]


class Records(Sequence[StepRecord]):
    """Records of a run's steps, made when they are looked at."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[StepRecord]:
        return (entry.record() for entry in self._entries)

    @overload
    def __getitem__(self, index: int) -> StepRecord: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[StepRecord]: ...
    def __getitem__(self, index: int | slice) -> StepRecord | Sequence[StepRecord]:
        if isinstance(index, slice):
            return [entry.record() for entry in self._entries[index]]
        return self._entries[index].record()

    def __repr__(self) -> str:
        return repr(list(self))

"""What a store of runs must be able to do. It keeps journals: lists of rows that only ever grow.

A journal's rows are numbered from 1 without gaps. Whoever appends says which row it takes for the last one; where that
is wrong, nothing is written. This one rule is what all claims rest on: of two that start a run, resume it, or go on
with it at once, one writes the row, and the other is told so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

__all__ = ["DAMAGED", "JournalRow", "RunStore", "RunSummary"]

DAMAGED: Final = "damaged"
"""The status of a run of which a store cannot read what it kept: it is listed so, beside the others."""


@dataclass(frozen=True, slots=True)
class JournalRow:
    """One row of a run's journal.

    Args:
        seq: Its number, from 1. A store numbers what is appended itself, and does not look at this.
        type: The type of the event it tells of (``"step-result"``, …).
        time: Seconds since the epoch.
        path: The step's path; empty where it is about the whole run.
        at: The iterations around the step, from the outermost in.
        data: JSON: dicts with strings for keys, lists, strings, finite numbers, True, False, None.
    """

    seq: int
    type: str
    time: float
    path: str = ""
    at: tuple[int, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run, at one glance. :func:`summed_up` makes it from the rows.

    Args:
        run_id: The run.
        workflow_id: Its workflow.
        status: ``"running"`` (or its process died), ``"success"``, ``"tripwire"``, ``"suspended"``, ``"failed"``,
            ``"canceled"``, ``"paused"``; ``"damaged"`` where the store cannot read what it noted of the run.
        started_at, updated_at: Seconds since the epoch, of the first and the last row.
        rows: How many there are.
        parent: The run that it was forked from.
        cancel_asked: Whether somebody has asked for its end and it has not ended yet.
    """

    run_id: str
    workflow_id: str
    status: str
    started_at: float
    updated_at: float
    rows: int
    parent: str | None = None
    cancel_asked: bool = False


@runtime_checkable
class RunStore(Protocol):
    """Keeps journals of runs. It may be used by several tasks, threads and processes at once.

    ``interlock.testing.run_store_conformance`` checks an implementation.
    """

    async def append(self, run_id: str, after: int, rows: Sequence[JournalRow]) -> bool:
        """Append rows to a run's journal: all of them, or none, also where the caller is cancelled meanwhile.

        When this returns they are kept, also if the process dies.

        Args:
            run_id: The run; one that has no rows yet begins with ``after=0``.
            after: The number of the row taken for the last one. The rows are numbered from the next on.
            rows: At least one. They must not be changed until this returns; later, they may.

        Returns:
            Whether somebody has asked for the run's end (:meth:`ask_to_cancel`), and it has not come with these rows.

        Raises:
            JournalConflict: Another row is the last one; nothing was written.
            StorageError: It could not be written.
            ValueError: There are no rows, or a row's data is no JSON; nothing was written.
        """
        ...

    async def read(self, run_id: str, *, after: int = 0) -> Sequence[JournalRow]:
        """The rows behind number ``after``, in order; none where there is no such run. They are the caller's own.

        Raises:
            StorageError: It could not be read.
        """
        ...

    async def runs(self, *, limit: int = 100) -> Sequence[RunSummary]:
        """The runs there are, the one whose journal grew last first.

        One that is damaged does not hide the others: its status is ``"damaged"``.

        Args:
            limit: How many at most.

        Raises:
            StorageError: Nothing could be read.
        """
        ...

    async def ask_to_cancel(self, run_id: str) -> bool:
        """Ask for a run's end; whoever runs it sees that at its next write. Of a run that has ended, nothing comes.

        Returns:
            Whether there is such a run.

        Raises:
            StorageError: It could not be written.
        """
        ...

    async def cancel_asked(self, run_id: str) -> bool:
        """Whether somebody has asked for the run's end, and it has not ended since.

        Raises:
            StorageError: It could not be read.
        """
        ...

    async def delete(self, run_id: str) -> bool:
        """Forget a run: its journal, and what was asked of it.

        Returns:
            Whether there was one.

        Raises:
            StorageError: It could not be written.
        """
        ...

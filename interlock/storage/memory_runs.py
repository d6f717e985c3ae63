"""Runs kept in this process's memory: for tests, and for runs that are resumed but need not outlive the process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

import anyio.lowlevel

from interlock.errors import JournalConflict
from interlock.storage.row_text import from_text, row_text
from interlock.storage.run_store import JournalRow, RunSummary
from interlock.storage.summing_up import has_ended, summed_up

__all__ = ["MemoryRunStore"]

_NO_DATA: Final = "{}"


@dataclass(slots=True)
class _Kept:
    summary: RunSummary
    rows: list[tuple[JournalRow, str]] = field(default_factory=list["tuple[JournalRow, str]"])
    """Rows without their data, and the data as text: nobody can change what is kept."""


class MemoryRunStore:
    """Keeps runs in memory, as a database would: what is read is a copy, what is appended was copied.

    It may be used from several threads and event loops at once.

    Example:
        >>> import anyio
        >>> from interlock.storage import JournalRow, MemoryRunStore
        >>> async def main() -> None:
        ...     store = MemoryRunStore()
        ...     await store.append("r1", 0, [JournalRow(1, "workflow-start", 0.0, data={"workflow": "greet"})])
        ...     print([(run.run_id, run.workflow_id, run.status) for run in await store.runs()])
        >>> anyio.run(main)
        [('r1', 'greet', 'running')]
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, _Kept] = {}
        """The one written to last stands last."""

    async def append(self, run_id: str, after: int, rows: Sequence[JournalRow]) -> bool:
        """Append rows to a run's journal: all of them, or none; see :meth:`RunStore.append`."""
        if not rows:
            raise ValueError(f"run {run_id!r}: there are no rows to append")
        kept = [_kept(row, seq, run_id) for seq, row in enumerate(rows, after + 1)]
        await anyio.lowlevel.checkpoint()
        with self._lock:
            run = self._runs.get(run_id)
            last = run.summary.rows if run is not None else 0
            if last != after:
                raise JournalConflict(run_id, after, last)
            summary = summed_up(run_id, rows, before=run.summary if run is not None else None)
            if run is None:
                run = _Kept(summary)
            else:
                run.summary = summary
                del self._runs[run_id]
            self._runs[run_id] = run
            run.rows += kept
            return summary.cancel_asked

    async def read(self, run_id: str, *, after: int = 0) -> Sequence[JournalRow]:
        """The rows behind number ``after``, in order; none where there is no such run."""
        await anyio.lowlevel.checkpoint()
        with self._lock:
            run = self._runs.get(run_id)
            rows = run.rows[max(after, 0) :] if run is not None else []
        return [replace(row, data=from_text(text)) for row, text in rows]

    async def runs(self, *, limit: int = 100) -> Sequence[RunSummary]:
        """The runs there are, the one whose journal grew last first."""
        await anyio.lowlevel.checkpoint()
        with self._lock:
            return [run.summary for run in islice(reversed(self._runs.values()), max(limit, 0))]

    async def ask_to_cancel(self, run_id: str) -> bool:
        """Ask for a run's end; whether there is such a run."""
        await anyio.lowlevel.checkpoint()
        with self._lock:
            run = self._runs.get(run_id)
            if run is not None:
                run.summary = replace(run.summary, cancel_asked=not has_ended(run.summary.status))
            return run is not None

    async def cancel_asked(self, run_id: str) -> bool:
        """Whether somebody has asked for the run's end, and it has not ended since."""
        await anyio.lowlevel.checkpoint()
        with self._lock:
            run = self._runs.get(run_id)
            return run is not None and run.summary.cancel_asked

    async def delete(self, run_id: str) -> bool:
        """Forget a run; whether there was one."""
        await anyio.lowlevel.checkpoint()
        with self._lock:
            return self._runs.pop(run_id, None) is not None

    def __repr__(self) -> str:
        return f"<MemoryRunStore of {len(self._runs)} runs>"


def _kept(row: JournalRow, seq: int, run_id: str) -> tuple[JournalRow, str]:
    text = row_text(row.data, run_id, row.type) if row.data else _NO_DATA
    return JournalRow(seq, row.type, row.time, row.path, tuple(row.at)), text

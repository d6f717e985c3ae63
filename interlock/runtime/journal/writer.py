"""Writing a run's journal: rows are noted at once, and written in batches by one task."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from interlock.errors import StorageError
from interlock.runtime.cancellation import cancelled_itself, interrupts
from interlock.runtime.journal.rows import RowForm
from interlock.storage import JournalRow, RunStore
from interlock.workflows.events import Event

__all__ = ["JournalWriter"]


class JournalWriter:
    """The one that writes to a run's journal in this process.

    What is noted while a batch is being written makes the next batch. The task that writes is never cancelled with a
    branch, so no branch leaves half a write behind.

    Args:
        store: Where to.
        run_id: The run.
        after: The number of the last row there.
        form: How values become JSON.
        on_cancel: Called when the store says that somebody asked for the run's end.
        on_error: Called when the store failed; nothing is written afterwards.

    Attributes:
        error: What the store failed with.
    """

    def __init__(
        self,
        store: RunStore,
        run_id: str,
        *,
        after: int,
        form: RowForm,
        on_cancel: Callable[[], object],
        on_error: Callable[[], object],
    ) -> None:
        self.error: StorageError | None = None
        self._store = store
        self._run_id = run_id
        self._form = form
        self._on_cancel = on_cancel
        self._on_error = on_error
        self._rows: list[JournalRow] = []
        self._noted = after
        self._written = after
        self._arrived = anyio.Event()
        self._progress = anyio.Event()

    def row(self, event: Event) -> JournalRow:
        """An event as it is written; from any thread.

        Raises:
            UnrecordableValue: It holds what cannot be recorded.
        """
        return self._form.row(event)

    def add(self, row: JournalRow) -> None:
        """Note a row."""
        self._rows.append(row)
        self._noted = row.seq
        self._arrived.set()

    async def flushed(self) -> None:
        """Wait until all that was noted before is written.

        Raises:
            StorageError: The store failed.
        """
        wanted = self._noted
        while self._written < wanted:
            if self.error is not None:
                raise self.error
            await self._progress.wait()

    async def run(self) -> None:
        """Write, until cancelled."""
        while True:
            await self._arrived.wait()
            self._arrived = anyio.Event()
            rows, self._rows = self._rows, []
            if rows and self.error is None:
                await self._write(rows)
            progress, self._progress = self._progress, anyio.Event()
            progress.set()

    async def _write(self, rows: list[JournalRow]) -> None:
        try:
            asked = await self._store.append(self._run_id, self._written, rows)
        except StorageError as error:
            self.error = error
        except BaseException as error:
            if interrupts(error) and not cancelled_itself(error):
                raise
            self.error = StorageError(f"the store failed to write the journal of run {self._run_id!r}: {error}")
            self.error.__cause__ = error
        else:
            self._written = rows[-1].seq
            if asked:
                self._on_cancel()
            return
        self._on_error()

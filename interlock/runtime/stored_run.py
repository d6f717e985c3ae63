"""A run in its store: begun, read, claimed."""

from __future__ import annotations

from collections.abc import Mapping
from time import time
from typing import Any

from interlock.errors import AlreadyStarted, GraphChanged, JournalConflict, RunError, StorageError, UnknownRun
from interlock.runtime.journal.history import History, RunHistory
from interlock.runtime.journal.reader import EventBuffer
from interlock.runtime.journal.rows import RowForm
from interlock.storage import JournalRow, RunStore
from interlock.workflows import Workflow
from interlock.workflows.events import Event, EventType

__all__ = ["StoredRun"]


class StoredRun:
    """A run in its store. Every claim is one row, written where nobody else has written since.

    Args:
        store: The store.
        run_id: The run.
        workflow: Its workflow.
        form: How values become JSON.
    """

    def __init__(self, store: RunStore, run_id: str, workflow: Workflow[Any, Any], form: RowForm) -> None:
        self._store = store
        self._run_id = run_id
        self._workflow = workflow
        self._form = form

    async def begin(
        self,
        value: object,
        state: Mapping[str, object],
        request_context: Mapping[str, object] | None,
        *,
        parent: Mapping[str, object] | None = None,
        rows: tuple[JournalRow, ...] = (),
        buffer: EventBuffer | None = None,
    ) -> int:
        """Write a run's first row.

        Args:
            value: Its input.
            state: Where its state begins.
            request_context: What steps may read; what cannot be recorded is left out.
            parent: The run it is forked from.
            rows: What it takes over from there, numbered from 2.
            buffer: Where a reader takes events from.

        Returns:
            The number of its last row.

        Raises:
            AlreadyStarted: There is a run of that id.
            StorageError: The store failed.
            UnrecordableValue: The input cannot be recorded.
        """
        data: dict[str, object] = {
            "workflow": self._workflow.id,
            "input": value,
            "state": dict(state),
            "request_context": self._form.request_context(request_context or {}),
            "fingerprint": self._workflow.fingerprint,
        }
        if parent is not None:
            data["parent"] = dict(parent)
        event = self._event(1, "workflow-start", data)
        try:
            await self._append(0, self._form.row(event), *rows)
        except JournalConflict:
            raise AlreadyStarted(self._run_id) from None
        if buffer is not None:
            buffer.add(event)
        return 1 + len(rows)

    async def exists(self) -> bool:
        """Whether the store has anything of it.

        Raises:
            StorageError: The store failed.
        """
        try:
            await RunHistory(self._store, self._form).rows(self._run_id)
        except UnknownRun:
            return False
        return True

    async def read(self) -> History:
        """What the store has of it.

        Raises:
            UnknownRun: Nothing.
            StorageError: The store failed, or what it has tells of no run.
        """
        return await RunHistory(self._store, self._form).read(self._run_id)

    def check_graph(self, history: History) -> None:
        """Refuse to go on with another graph.

        Raises:
            GraphChanged: The run was made by another shape of the workflow.
            RunError: It is one of another workflow.
        """
        self.check_workflow(history)
        if not self.same_graph(history):
            raise GraphChanged(self._run_id, history.workflow_id)

    def check_workflow(self, history: History) -> None:
        """Refuse a run of another workflow.

        Raises:
            RunError: It is one.
        """
        if history.workflow_id != self._workflow.id:
            raise RunError(
                f"run {self._run_id!r} is one of workflow {history.workflow_id!r}, not of {self._workflow.id!r}"
            )

    async def claim_resume(
        self, history: History, token: str, answer: object, buffer: EventBuffer | None = None
    ) -> None:
        """Answer a suspension; the history has that row then, and a reader is told.

        Raises:
            JournalConflict: Somebody has written to the journal since it was read.
            StorageError: The store failed.
            UnrecordableValue: The answer cannot be recorded.
        """
        event = await self._claim(history, "workflow-resume", {"token": token, "resume_data": answer})
        if buffer is not None:
            buffer.add(event)

    async def claim_recover(self, history: History) -> None:
        """Take a run over; the history has that row then.

        Raises:
            JournalConflict: Somebody has written to the journal since it was read.
            StorageError: The store failed.
        """
        await self._claim(history, "workflow-recover", {"fingerprint": self._workflow.fingerprint})

    async def _claim(self, history: History, kind: EventType, data: Mapping[str, object]) -> Event:
        event = self._event(history.seq + 1, kind, data)
        row = self._form.row(event)
        await self._append(history.seq, row)
        history.take(row)
        return event

    def _event(self, seq: int, kind: EventType, data: Mapping[str, object]) -> Event:
        return Event(seq, kind, self._run_id, time(), data=data)

    def same_graph(self, history: History) -> bool:
        """Whether the run was made by this shape of the workflow."""
        return history.workflow_id == self._workflow.id and history.fingerprint == self._workflow.fingerprint

    async def _append(self, after: int, *rows: JournalRow) -> None:
        try:
            await self._store.append(self._run_id, after, rows)
        except StorageError:
            raise
        except Exception as error:
            raise StorageError(f"the store failed to write the journal of run {self._run_id!r}: {error}") from error

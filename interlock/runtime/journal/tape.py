"""What a watched run tells, and what it is told: of what happens to its journal and its readers, of what has happened
before to its steps.

A run that nobody watches has no tape. With one, every operation is begun through it: what ran before is not run again,
and what begins may have to wait, until the journal knows of it or a slow reader has caught up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from time import time
from typing import Any, Final

from interlock.errors import StorageError, UnrecordableValue
from interlock.runtime.entry import REPLAYED, Entry
from interlock.runtime.join import on_asyncio, soon_on_trio
from interlock.runtime.journal.past import Past
from interlock.runtime.journal.reader import EventBuffer
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.strand import Operation, Strand, is_awaitable
from interlock.steps import Turn, TurnNotes
from interlock.storage import JournalRow
from interlock.verdict import CANCELED, AbortSignal, BailSignal, HaltSignal, PauseSignal, SuspendSignal
from interlock.workflows.events import Event, EventType
from interlock.workflows.outcome import Failed, Outcome, Paused

__all__ = ["Tape"]

_SETTLED: Final = ("success", "failed")
"""How what contains others ends where nothing of it runs again."""

_STANDING: Final = ("success", "failed", "bailed", "suspended")
"""The same of what contains none: it does not run again for now."""


class Tape:
    """The watch over one leg of a run.

    Args:
        run_id: The run.
        seq: The number of the last event so far.
        past: What is known from before.
        writer: Keeps the journal; None: there is none.
        buffer: What a reader takes events from; None: nobody reads.
        steps: How many steps may begin before the run pauses; None: any number.

    Attributes:
        ready: The paths of the steps that stand ready in a paused run.
        seq: The number of the last event.
    """

    def __init__(
        self,
        run_id: str,
        *,
        seq: int = 0,
        past: Past | None = None,
        writer: JournalWriter | None = None,
        buffer: EventBuffer | None = None,
        steps: int | None = None,
    ) -> None:
        self.seq = seq
        self.ready: list[str] = []
        self._run_id = run_id
        self._past = past
        self._writer = writer
        self._buffer = buffer
        self._steps = steps
        self._finished = False
        self._thread = threading.get_ident()
        self._soon = _soon()
        self._known_inside: dict[Operation, Mapping[str, tuple[Operation, bool]]] = {}

    def note(self, kind: EventType, data: Mapping[str, Any], path: str = "", at: tuple[int, ...] = ()) -> None:
        """Tell of something.

        Raises:
            UnrecordableValue: The journal cannot hold a value.
        """
        if self._finished:  # of somebody who was left behind, such as a thread
            return
        event = Event(self.seq + 1, kind, self._run_id, time(), path, at, data)
        if self._writer is not None:
            self._writer.add(self._writer.row(event))
        self.seq = event.seq
        if self._buffer is not None:
            self._buffer.add(event)

    def _tell(self, event: Event, row: JournalRow | None) -> None:
        if self._writer is not None and row is not None:
            self._writer.add(row)
        self.seq = event.seq
        if self._buffer is not None:
            self._buffer.add(event)

    async def recordable(self, outcome: Outcome[Any]) -> Outcome[Any]:
        """How a leg has ended: with what failed in the store, or of what it was to keep, where something did."""
        if self._writer is None:
            return outcome
        try:
            self._writer.row(self._last(outcome))
            await self._writer.flushed()
        except (StorageError, UnrecordableValue) as error:
            return _failed(outcome, error)
        return outcome

    async def finish(self, outcome: Outcome[Any] | Paused) -> Outcome[Any] | Paused:
        """Tell of a leg's end, once the journal knows of it; gives how it has ended, as :meth:`recordable` does."""
        self._finished = True
        if self._writer is not None:
            try:
                try:
                    row = self._writer.row(self._last(outcome))
                except UnrecordableValue as error:
                    outcome = _failed(outcome, error)
                    row = self._writer.row(self._last(outcome))
                self._writer.add(row)
                await self._writer.flushed()
            except StorageError as error:
                outcome = _failed(outcome, error)
        event = self._last(outcome)
        self.seq = event.seq
        if self._buffer is not None:
            self._buffer.add(event)
        return outcome

    def _last(self, outcome: Outcome[Any] | Paused) -> Event:
        return Event(self.seq + 1, "workflow-finish", self._run_id, time(), data={"outcome": outcome})

    def entries_before(self) -> list[Entry]:
        """What is known of the run's turns from before, in the order in which they started."""
        return [] if self._past is None else list(self._past.entries)

    def begin(self, op: Operation, strand: Strand) -> object:
        """Begin an operation, unless it ran before: :meth:`Operation.begin` of a watched run."""
        strand.begun = False
        known: Entry | None = None
        past = self._past
        if past is not None:
            known = past.known(op.path, strand.at)
            if past.given:
                strand.value = past.given.get((op.path, strand.at), strand.value)
            if known is not None and known.status in (_SETTLED if op.contains else _STANDING):
                return self._replayed(past, op, strand, known)
        if self._steps is not None and op.is_step:
            if not self._steps:
                self.ready.append(op.path)
                raise PauseSignal
            self._steps -= 1
        if known is None or not op.contains:
            self.note("step-start", {"input": strand.value, "kind": op.kind}, op.path, strand.at)
        if (self._writer is not None and op.is_step) or (self._buffer is not None and self._buffer.full):
            return self._held(op, strand)
        strand.begun = True
        return op.begin(strand)

    async def _held(self, op: Operation, strand: Strand) -> object:
        """Begin once the journal knows of it and the reader has room."""
        try:
            if self._writer is not None:
                await self._writer.flushed()
            if self._buffer is not None:
                await self._buffer.room()
            tripwire = strand.execution.latch.tripwire
            if tripwire is not None:
                raise AbortSignal(tripwire)
        except BaseException:
            self.dropped(op, strand)
            raise
        strand.begun = True
        result = op.begin(strand)
        if is_awaitable(result):
            return await result  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]
        return result

    def _replayed(self, past: Past, op: Operation, strand: Strand, known: Entry) -> object:
        """Take in what an operation did before, and what ran inside of it.

        Raises:
            BaseException: It failed, bailed or still waits.
        """
        strand.begun = True
        strand.entry = known
        _taken_over(known, op, strand)
        if op.contains:
            inside = self._inside(op)
            elsewhere = strand.execution.scope(None)
            for entry in past.inside(inside, strand.at):
                inner, same_scope = inside[entry.op.path]
                _taken_over(entry, inner, strand, settled=known)
                if entry.status == "success":
                    scratch = Strand((), entry.input, strand.execution, strand.run if same_scope else elsewhere)
                    scratch.entry = entry
                    inner.replay(scratch, entry.output)
        match known.status:
            case "failed" if known.error is not None:
                raise known.error
            case "bailed":
                raise strand.run.bail(known.output)
            case "suspended":
                strand.execution.waits(known, known.noted().suspension)
                raise SuspendSignal
            case _:
                op.replay(strand, known.output)
                return REPLAYED

    def _inside(self, op: Operation) -> Mapping[str, tuple[Operation, bool]]:
        """What an operation runs, by path, and whether that shares the scope which the operation stands in."""
        if op not in self._known_inside:
            self._known_inside[op] = dict(_operations_in(op, same_scope=op.step is None))
        return self._known_inside[op]

    def entered(self, strand: Strand, entry: Entry) -> None:
        """Give an operation that begins what is known of it from before, and its entry the place that it had."""
        past = self._past
        place = None if past is None else past.place(entry.op.path, entry.at)
        if past is None or place is None:
            return
        entries = strand.execution.entries
        entries.pop()
        entries[place] = entry
        old = past.entries[place].notes
        if old is None:
            return
        notes = entry.notes = TurnNotes()
        notes.attempts = old.attempts
        notes.checks = old.checks
        notes.resume_data = old.resume_data
        notes.chosen = old.chosen
        notes.answers = list(old.answers)
        notes.until = old.until

    def ended(self, op: Operation, strand: Strand) -> None:
        """Tell that an operation has ended well.

        Raises:
            UnrecordableValue: The journal cannot hold what it gave.
        """
        entry = strand.entry
        data: dict[str, Any] = {"status": "success", "output": entry.output, "duration": entry.duration}
        try:
            self._result(op, entry, data)
        except UnrecordableValue:
            if entry.notes is not None and entry.notes.deltas:
                strand.execution.state.revert(entry)
            raise

    def failed(self, op: Operation, strand: Strand, told: BaseException) -> None:
        """Tell that an operation has ended in another way."""
        entry = strand.entry
        if entry.replayed:
            return
        if isinstance(told, SuspendSignal) and not op.contains:
            try:
                self._suspended(entry)
            except UnrecordableValue as error:
                execution = strand.execution
                execution.suspensions = [one for one in execution.suspensions if one is not entry.noted().suspension]
                entry.noted().suspension = None
                entry.status, entry.error = "failed", error
                self._result(op, entry, {"status": "failed", "duration": entry.duration, "error": error})
                raise
        if isinstance(told, HaltSignal):
            return
        data: dict[str, Any] = {"status": entry.status, "duration": entry.duration}
        match told:
            case AbortSignal(tripwire=tripwire):
                if tripwire is not CANCELED:
                    data["tripwire"] = tripwire
            case BailSignal():
                if entry.notes is not None and entry.notes.signal is told and strand.run.bailed is not None:
                    data["output"] = entry.output = strand.run.bailed[0]
            case Exception():
                data["error"] = told
            case _:
                pass
        self._result(op, entry, data)

    def dropped(self, op: Operation, strand: Strand) -> None:
        """Tell that an operation will not go on, because nobody waits for it any more."""
        if not strand.begun:
            strand.enter(op).noted().attempts -= 1
        if op.contains and strand.execution.waiting_turns:
            strand.execution.stop_waiting(op, strand.at)
        self._result(op, strand.entry, {"status": strand.entry.status, "duration": strand.entry.duration})

    def _result(self, op: Operation, entry: Entry, data: dict[str, Any]) -> None:
        notes = entry.notes
        if notes is not None:
            data["attempts"] = notes.attempts
            if notes.chosen is not None:
                data["chosen"] = notes.chosen
            if notes.checks:
                data["checks"] = notes.checks
            if notes.deltas and entry.status == "success":
                data["state"] = notes.deltas
        if entry.verdict is not None:
            data["verdict"] = entry.verdict
        self.note("step-result", data, op.path, entry.at)

    def _suspended(self, entry: Entry) -> None:
        waits = entry.noted().suspension
        if waits is not None:
            data = {"token": waits.token, "label": waits.label, "payload": waits.payload, "index": waits.index}
            self.note("step-suspended", data, entry.op.path, entry.at)

    def stopped_waiting(self, entry: Entry) -> None:
        """Tell that a step that waited need not any more."""
        data = {"status": "canceled", "duration": entry.duration, "attempts": entry.noted().attempts}
        self.note("step-result", data, entry.op.path, entry.at)

    def written(self, turn: Turn, name: str, value: object) -> None:
        """Tell what a step wrote; from any thread.

        Raises:
            UnrecordableValue: The journal cannot hold it.
        """
        data = {"name": name, "value": value}
        if threading.get_ident() == self._thread:
            self.note("step-output", data, turn.op.path, turn.at)
            return
        event = Event(0, "step-output", self._run_id, time(), turn.op.path, turn.at, data)
        row = None if self._writer is None else self._writer.row(event)
        self._soon(lambda: self._tell_late(event, row))

    def _tell_late(self, event: Event, row: JournalRow | None) -> None:
        """Tell of what was written in another thread; events are numbered in the thread of the run."""
        if not self._finished:
            seq = self.seq + 1
            self._tell(replace(event, seq=seq), None if row is None else replace(row, seq=seq))

    def retries(self, entry: Entry, delay: float) -> None:
        """Tell that a step is tried again."""
        if self._past is not None and entry.op.contains:
            self._past.forget(entry.op.path, entry.at)
        data = {"attempt": entry.noted().attempts, "error": entry.error, "delay": delay}
        self.note("step-retry", data, entry.op.path, entry.at)

    def branch_chosen(self, entry: Entry, chosen: tuple[str, ...]) -> None:
        """Tell which arms are taken."""
        self.note("branch-chosen", {"chosen": chosen}, entry.op.path, entry.at)

    def foreach_progress(self, entry: Entry, done: int, total: int) -> None:
        """Tell that an item has ended."""
        self.note("foreach-progress", {"done": done, "total": total}, entry.op.path, entry.at)

    def loop_progress(self, entry: Entry, iteration: int, again: bool) -> None:
        """Tell what a loop's condition said."""
        self.note("loop-progress", {"iteration": iteration, "again": again}, entry.op.path, entry.at)

    def sleeps(self, entry: Entry, until: float) -> None:
        """Tell that a wait begins."""
        self.note("sleep", {"until": until}, entry.op.path, entry.at)

    def state_changed(self, entry: Entry, changed: Mapping[str, object]) -> None:
        """Tell of new values in the run's state."""
        self.note("state-changed", {"state": changed}, entry.op.path, entry.at)


def _failed(outcome: Outcome[Any] | Paused, error: Exception) -> Failed:
    """An outcome that could not be kept."""
    return Failed(
        error,
        run_id=outcome.run_id,
        steps=outcome.steps,
        checks=outcome.checks,
        state=outcome.state,
        duration=outcome.duration,
        callback_errors=outcome.callback_errors,
    )


def _taken_over(entry: Entry, op: Operation, strand: Strand, *, settled: object = None) -> None:
    """Note that an entry from before counts, and that its step has had its say on the run's state."""
    entry.op = op
    notes = entry.noted()
    notes.replayed = True
    if notes.deltas and entry.status == "success":
        strand.execution.state.claim(entry, op.site, notes.deltas, settled=settled)


def _operations_in(op: Operation, *, same_scope: bool) -> Iterator[tuple[str, tuple[Operation, bool]]]:
    for chain in op.chains():
        for inner in chain:
            yield inner.path, (inner, same_scope)
            yield from _operations_in(inner, same_scope=same_scope and inner.step is None)


def _soon() -> Callable[[Callable[[], object]], object]:
    """What calls a function in the running event loop soon, from any thread."""
    if not on_asyncio():
        return soon_on_trio()
    import asyncio

    return asyncio.get_running_loop().call_soon_threadsafe

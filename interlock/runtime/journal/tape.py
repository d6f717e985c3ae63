"""What a watched run tells, and what it is told: of what happens to its journal and its readers, of what has happened
before to its steps.

A run that nobody watches has no tape. With one, every operation is begun through it: what ran before is not run again,
and what begins may have to wait, until the journal knows of it or a slow reader has caught up.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import time
from typing import Any

from interlock.runtime.entry import REPLAYED, Entry
from interlock.runtime.journal.past import Past
from interlock.runtime.journal.reader import EventBuffer
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.strand import Operation, Strand, is_awaitable
from interlock.steps import Turn, TurnNotes
from interlock.verdict import AbortSignal, BailSignal, HaltSignal, PauseSignal, SuspendSignal
from interlock.workflows.events import Event, EventType

__all__ = ["Tape"]


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

    def note(self, kind: EventType, data: Mapping[str, Any], path: str = "", at: tuple[int, ...] = ()) -> None:
        """Tell of something.

        Raises:
            UnrecordableValue: The journal cannot hold a value.
        """
        event = Event(self.seq + 1, kind, self._run_id, time(), path, at, data)
        if self._writer is not None:
            self._writer.add(event)
        self.seq += 1
        if self._buffer is not None:
            self._buffer.add(event)

    def begin(self, op: Operation, strand: Strand) -> object:
        """Begin an operation, unless it ran before: :meth:`Operation.begin` of a watched run."""
        strand.begun = False
        past = self._past
        known = None if past is None else past.known(op.path, strand.at)
        if past is not None and past.given:
            strand.value = past.given.get((op.path, strand.at), strand.value)
        if op.contains:
            if known is None:
                self.note("step-start", {"input": strand.value, "kind": op.kind}, op.path, strand.at)
        else:
            if known is not None and known.status in ("success", "failed", "bailed", "suspended"):
                return self._replayed(op, strand, known)
            if strand.past_only:
                raise HaltSignal
            if self._steps is not None and op.is_step:
                if not self._steps:
                    self.ready.append(op.path)
                    raise PauseSignal
                self._steps -= 1
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

    def _replayed(self, op: Operation, strand: Strand, known: Entry) -> object:
        """Take in what an operation did before.

        Raises:
            BaseException: It failed, bailed or still waits.
        """
        strand.begun = True
        strand.entry = known
        known.op = op
        notes = known.noted()
        notes.replayed = True
        execution = strand.execution
        execution.entries.append(known)
        match known.status:
            case "failed" if known.error is not None:
                raise known.error
            case "bailed":
                raise strand.run.bail(known.output)
            case "suspended":
                execution.suspensions.append(notes.suspension)
                raise SuspendSignal
            case _:
                if notes.deltas:
                    execution.state.claim(known, op.site, notes.deltas)
                op.replay(strand, known.output)
                return REPLAYED

    def entered(self, strand: Strand, entry: Entry) -> None:
        """Give an operation that begins what is known of it from before."""
        known = None if self._past is None else self._past.known(entry.op.path, entry.at)
        if known is None or known.notes is None:
            return
        old, notes = known.notes, TurnNotes()
        notes.attempts = old.attempts
        notes.resume_data = old.resume_data
        notes.chosen = old.chosen
        notes.answers = list(old.answers)
        notes.until = old.until
        entry.notes = notes
        if entry.op.contains and known.status == "success":
            notes.replayed = True
            entry.began, entry.duration = known.began, known.duration

    def ended(self, op: Operation, strand: Strand) -> None:
        """Tell that an operation has ended well."""
        entry = strand.entry
        if entry.replayed:
            return
        data: dict[str, Any] = {"status": "success", "output": entry.output, "duration": entry.duration}
        self._result(op, entry, data)

    def failed(self, op: Operation, strand: Strand, told: BaseException) -> None:
        """Tell that an operation has ended in another way."""
        entry = strand.entry
        if entry.replayed and not op.contains:
            return
        if isinstance(told, SuspendSignal) and not op.contains:
            self._suspended(entry)
        if isinstance(told, HaltSignal):
            return
        data: dict[str, Any] = {"status": entry.status, "duration": entry.duration}
        match told:
            case AbortSignal(tripwire=tripwire):
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
        self._result(op, strand.entry, {"status": strand.entry.status, "duration": strand.entry.duration})

    def _result(self, op: Operation, entry: Entry, data: dict[str, Any]) -> None:
        notes = entry.notes
        if notes is not None:
            data["attempts"] = notes.attempts
            if notes.chosen is not None:
                data["chosen"] = notes.chosen
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

    def written(self, turn: Turn, name: str, value: object) -> None:
        """Tell what a step wrote."""
        self.note("step-output", {"name": name, "value": value}, turn.op.path, turn.at)

    def retries(self, entry: Entry, delay: float) -> None:
        """Tell that a step is tried again."""
        data = {"attempt": entry.noted().attempts - 1, "error": entry.error, "delay": delay}
        self.note("step-retry", data, entry.op.path, entry.at)

    def branch_chosen(self, entry: Entry, chosen: tuple[str, ...]) -> None:
        """Tell which arms are taken."""
        self.note("branch-chosen", {"chosen": chosen}, entry.op.path, entry.at)

    def foreach_progress(self, entry: Entry, done: int, total: int) -> None:
        """Tell that an item has ended."""
        if not entry.replayed:
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

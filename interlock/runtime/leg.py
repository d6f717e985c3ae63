"""One leg of a run: from where it stands to its end, or to where it can go no further for now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from time import perf_counter
from typing import Any, cast

import anyio

from interlock.errors import RunError, StepFailed
from interlock.runtime.cancellation import cancelled_itself, interrupts, lonely_cancellation
from interlock.runtime.checks import why_stopped
from interlock.runtime.execution import Execution
from interlock.runtime.join import on_asyncio
from interlock.runtime.journal.tape import Tape
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.operations.hooks_in import hooks_in
from interlock.runtime.primed import Primed
from interlock.runtime.records import Records
from interlock.runtime.strand import Operation, Strand, advance, as_failure, drive, is_awaitable
from interlock.runtime.turnstile import inside_now
from interlock.runtime.watchdog import Watchdog, watchdog
from interlock.schema import UNSET, is_set, validate
from interlock.steps import StepContext, StepRun, Turn
from interlock.tracing import warn
from interlock.verdict import CANCELED, AbortSignal, BailSignal, HaltSignal
from interlock.workflows import Workflow
from interlock.workflows.outcome import Blocked, Canceled, Completed, Failed, Outcome, Paused, Suspended

__all__ = ["Leg"]


class Leg:
    """One leg of a run.

    Args:
        workflow: The workflow.
        ops: What it is at this phase.
        execution: What its strands share.
        value: Its input.
        writer: Keeps the journal; None: there is none.
        first: Whether it is the run's first.
        key: What names it to whoever would wait for it.
        left: Told when it runs no more, with its outcome; with None where it was interrupted.

    Attributes:
        execution: What its strands share.
        writer: Keeps the journal; None: there is none.
        halted: Whether something in it waits for an answer, or for another step to be asked for.
    """

    __slots__ = (
        "_canceled",
        "_first",
        "_key",
        "_left",
        "_strand",
        "_through",
        "_watchdog",
        "_workflow",
        "execution",
        "halted",
        "writer",
    )

    def __init__(
        self,
        workflow: Workflow[Any, Any],
        ops: Sequence[Operation],
        execution: Execution,
        value: object,
        writer: JournalWriter | None,
        first: bool,
        key: object,
        left: Callable[[Leg, Outcome[Any] | Paused | None], object],
    ) -> None:
        self._workflow = workflow
        self.execution = execution
        facts = execution.facts  # as execution.scope(value) does, without a call a run
        scope = StepRun(facts.run_id, value, facts.request_context, facts.latch, execution.phase, execution)
        self._strand = Strand(ops, value, execution, scope)
        self.writer = writer
        self._first = first
        self._key = key
        self._left = left
        self._canceled = False
        self._through = False
        self.halted = False
        self._watchdog: Watchdog | None = None

    def cancel(self) -> None:
        """Stop it. Does nothing once it has ended."""
        self._canceled = True
        self.execution.latch.trip(CANCELED)
        if self._watchdog is not None:
            self._watchdog.cancel()

    async def run_recorded(self, writer: JournalWriter) -> Outcome[Any] | Paused:
        """Go as far as it goes, while a task of its own writes the journal, and tell the run."""
        interrupt: BaseException | None = None
        outcome: Outcome[Any] | Paused | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(writer.run)
            try:
                outcome = await self.run()
            except BaseException as error:  # would be wrapped by the group
                interrupt = error
            group.cancel_scope.cancel()
        if interrupt is not None:
            raise interrupt
        return cast("Outcome[Any]", outcome)

    async def run(self) -> Outcome[Any] | Paused:
        """Go as far as it goes, and tell the run."""
        began = perf_counter()
        tape = self.execution.tape
        inside = (self._key, inside_now.get())
        inside_now.set(inside)
        outcome: Outcome[Any] | Paused | None = None
        try:
            error: BaseException | None = None
            try:
                if not self._canceled:
                    rest = self._begun()
                    if rest is None:
                        self._through = True
                    else:
                        with watchdog(self.execution.latch, self.execution.is_waiting) as self._watchdog:
                            self._recall_cancel()
                            await rest
                            self._through = True  # in here, because a cancellation is swallowed on the way out
            except BailSignal:
                strand = self._strand
                if strand.run.bailed is not None:
                    strand.value = strand.run.bailed[0]
                    self._through = True
            except HaltSignal:
                self.halted = True
            except (Exception, AbortSignal) as ended_by:
                error = ended_by
            finally:
                self._watchdog = None
            workflow = self._workflow
            if self._through and workflow.output_schema is not UNSET:
                error = self._fault_in_output()
            outcome = self._outcome(error, perf_counter() - began)
            callbacks = workflow.on_finish is not None or workflow.on_error is not None
            if callbacks or tape is not None or self.execution.suspensions:
                outcome = await self._told_to_all(outcome, tape)
            return outcome
        finally:
            # A coroutine that nobody awaits any more is closed in whichever context: nothing is to be taken back there.
            if inside_now.get() is inside:
                inside_now.set(inside[1])
            self._left(self, outcome)

    async def _told_to_all(self, outcome: Outcome[Any] | Paused, tape: Tape | None) -> Outcome[Any] | Paused:
        """Tell of the end: those that still wait, the workflow's callbacks, who watches."""
        if not isinstance(outcome, Suspended | Paused):
            self.execution.over()
            if self._workflow.on_finish is not None or self._workflow.on_error is not None:
                outcome = await self._call_back(outcome if tape is None else await tape.recordable(outcome))
        return outcome if tape is None else await tape.finish(outcome)

    def _recall_cancel(self) -> None:
        """Take in that a step has cancelled the run before there was anything to cancel."""
        if self._canceled and self._watchdog is not None:
            self._watchdog.cancel()

    def _begun(self) -> Awaitable[object] | None:
        """Go as far as nothing suspends; gives the rest, which does. Until then there is nothing to watch over.

        On trio a watchdog is a scope, which must be around all that waits from the start.
        """
        strand = self._strand
        rest: Coroutine[Any, Any, None]
        if self._first and self._workflow.on_start is not None:
            rest = self._from_the_start()
        else:
            waits = advance(strand)
            if waits is None:
                return None
            rest = drive(strand, waits)
        if not on_asyncio():
            return rest
        try:
            yielded = rest.send(None)
        except StopIteration:
            return None
        return Primed(rest, yielded)

    async def _from_the_start(self) -> None:
        await self._started()
        await drive(self._strand)

    async def _started(self) -> None:
        """Call ``on_start``."""
        strand = self._strand
        turn = Turn(_Whole(self._workflow.id))
        latch = self.execution.latch
        try:
            given = cast("Callable[[StepContext[Any]], object]", self._workflow.on_start)(
                StepContext(strand.value, strand.run, turn)
            )
            if is_awaitable(given):
                await self.execution.in_hook(cast("Awaitable[object]", given))
        except BaseException as error:
            told = as_failure(latch, f"{self._workflow.id}.on_start", error, None, turn)
            if told is error:
                raise
            raise told from error
        if latch.tripwire is not None:
            raise AbortSignal(latch.tripwire)
        if strand.run.bailed is not None:
            raise BailSignal(strand.run)
        if turn.noted().deltas:
            raise RunError(
                f"on_start of {self._workflow.id!r} called set_state(): pass state= to start(), or set it in a step"
            )

    def _fault_in_output(self) -> StepFailed | None:
        """Validate what came out; what is wrong with it is the workflow's own failure."""
        if self.execution.phase is not None or not is_set(self._workflow.output_schema):
            return None
        try:
            self._strand.value = validate(self._workflow.output_schema, self._strand.value)
        except Exception as error:
            return StepFailed(self._workflow.id, error, part="the workflow's output does not fit its output_schema")
        return None

    def _outcome(self, error: BaseException | None, duration: float) -> Outcome[Any] | Paused:
        execution, strand = self.execution, self._strand
        tripwire = execution.latch.tripwire
        canceled = tripwire is CANCELED
        if not self._through and not self.halted and execution.phase is not None:
            execution.checks.stopped(hooks_in(strand.ops), why_stopped(tripwire, error))
        state: object
        try:
            state = {} if execution.known_state is None else execution.known_state.view()
        except Exception as fault:  # the state's schema has code that raises
            error = error or StepFailed(f"{self._workflow.id}.state", fault)
            state = dict(execution.state.values)
        failed_to_write = None if self.writer is None else self.writer.error
        if self._through and error is None and failed_to_write is None and (tripwire is None or canceled):
            return _completed(strand.value, execution, state, duration)
        told = self._told(state, duration)
        if failed_to_write is not None and (tripwire is None or canceled):
            return Failed(failed_to_write, **told)
        if tripwire is not None and not canceled:
            return Blocked(tripwire, **told)
        if isinstance(error, Exception):
            return Failed(error, **told)
        if canceled or not self.halted:
            return Canceled(**told)
        ready = execution.tape.ready if execution.tape is not None else ()
        if execution.suspensions and not ready:
            return Suspended(tuple(execution.suspensions), **told)
        return Paused(tuple(ready), **told)

    def _told(self, state: object, duration: float) -> dict[str, Any]:
        execution = self.execution
        return {
            "run_id": execution.facts.run_id,
            "steps": Records(execution.entries),
            "checks": execution.known_checks,
            "state": state,
            "duration": duration,
        }

    async def _call_back(self, outcome: Outcome[Any]) -> Outcome[Any]:
        """Tell the workflow's callbacks; what they raise is noted on the outcome."""
        workflow = self._workflow
        callbacks = [workflow.on_error] if isinstance(outcome, Failed) else []
        callbacks = [call for call in (*callbacks, workflow.on_finish) if call is not None]
        if not callbacks:
            return outcome
        errors: list[Exception] = []
        for call in callbacks:
            try:
                given = cast("Callable[[Outcome[Any]], object]", call)(outcome)
                if is_awaitable(given):
                    await cast("Awaitable[object]", given)
            except BaseException as raised:
                lonely = cancelled_itself(raised)
                if interrupts(raised) and not lonely:
                    raise
                error = lonely_cancellation(raised) if lonely else raised
                errors.append(error if isinstance(error, Exception) else StepFailed(f"{workflow.id}.callback", error))
                warn(
                    "a workflow's callback failed",
                    workflow_id=workflow.id,
                    run_id=outcome.run_id,
                    error=type(error).__name__,
                )
        if not errors:
            return outcome
        from dataclasses import replace

        return replace(outcome, callback_errors=tuple(errors))


def _completed(output: object, execution: Execution, state: object, duration: float) -> Completed[Any]:
    """The same as ``Completed(output, run_id=…, …)``. Keyword arguments would be a thirtieth of a short run."""
    made: Completed[Any] = object.__new__(Completed)  # pyright: ignore[reportUnknownVariableType]
    made.output = output
    made.run_id = execution.facts.run_id
    made.steps = Records(execution.entries)
    made.checks = execution.known_checks if execution.any_checks else []
    made.state = state
    made.duration = duration
    made.callback_errors = ()
    return made


class _Whole:
    """The place of the workflow as a whole."""

    step = None

    def __init__(self, workflow_id: str) -> None:
        self.step_id = workflow_id
        self.path = workflow_id

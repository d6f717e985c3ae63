"""One leg of a run: from where it stands to its end, or to where it can go no further for now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from time import perf_counter
from typing import Any, cast

import anyio

from interlock.errors import RunError, StepFailed
from interlock.processors.seat import RunFacts
from interlock.runtime.cancellation import cancelled_itself, interrupts, lonely_cancellation
from interlock.runtime.checks import why_stopped
from interlock.runtime.entry import Entry
from interlock.runtime.execution import Execution
from interlock.runtime.join import on_asyncio
from interlock.runtime.journal.tape import Tape
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.operations.hooks_in import hooks_in
from interlock.runtime.primed import primed
from interlock.runtime.records import Records
from interlock.runtime.run_state import RunState
from interlock.runtime.strand import Operation, Strand, advance, as_failure, drive, is_awaitable
from interlock.runtime.watchdog import Watchdog, watchdog
from interlock.schema import is_set, validate
from interlock.steps import StepContext, Turn
from interlock.tracing import warn
from interlock.verdict import CANCELED, AbortSignal, BailSignal, HaltSignal, Phase
from interlock.workflows import Workflow
from interlock.workflows.outcome import Blocked, Canceled, Completed, Failed, Outcome, Paused, Suspended, Suspension

__all__ = ["Leg"]


class Leg:
    """One leg of a run.

    Args:
        workflow: The workflow.
        ops: What it is at this phase.
        facts: The run.
        value: Its input.
        phase: The lifecycle phase; None for a typed workflow.
        state: The run's state; None: there is none yet.
        tape: Who watches; None: nobody.
        writer: Keeps the journal; None: there is none.
        first: Whether it is the run's first.
    """

    __slots__ = (
        "_canceled",
        "_execution",
        "_first",
        "_halted",
        "_strand",
        "_tape",
        "_through",
        "_watchdog",
        "_workflow",
        "_writer",
    )

    def __init__(
        self,
        workflow: Workflow[Any, Any],
        ops: Sequence[Operation],
        facts: RunFacts,
        value: object,
        phase: Phase | None,
        state: RunState | None = None,
        tape: Tape | None = None,
        writer: JournalWriter | None = None,
        *,
        first: bool = True,
    ) -> None:
        self._workflow = workflow
        self._execution = Execution(facts, phase, tape=tape, state=state)
        self._strand = Strand(ops, value, self._execution, self._execution.scope(value))
        self._tape = tape
        self._writer = writer
        self._first = first
        self._canceled = False
        self._through = False
        self._halted = False
        self._watchdog: Watchdog | None = None

    @property
    def entries(self) -> Sequence[Entry]:
        """What each step did."""
        return self._execution.entries

    @property
    def suspensions(self) -> Sequence[Suspension]:
        """What waits."""
        return self._execution.suspensions

    @property
    def state(self) -> RunState | None:
        """The run's state, where a step had to do with it."""
        return self._execution.known_state

    def cancel(self) -> None:
        """Stop it. Does nothing once it has ended."""
        self._canceled = True
        self._execution.latch.trip(CANCELED)
        if self._watchdog is not None:
            self._watchdog.cancel()

    async def run_recorded(self, writer: JournalWriter) -> Outcome[Any] | Paused:
        """Go as far as it goes, while a task of its own writes the journal."""
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
        """Go as far as it goes."""
        began = perf_counter()
        strand = self._strand
        error: BaseException | None = None
        try:
            if not self._canceled:
                rest = self._begun()
                if rest is None:
                    self._through = True
                else:
                    with watchdog(self._execution.latch, self._execution.is_waiting) as self._watchdog:
                        self._recall_cancel()
                        await rest
                        self._through = True  # in here, because a cancellation is swallowed on the way out
        except BailSignal:
            if strand.run.bailed is not None:
                strand.value = strand.run.bailed[0]
                self._through = True
        except HaltSignal:
            self._halted = True
        except (Exception, AbortSignal) as ended_by:
            error = ended_by
        finally:
            self._watchdog = None
        if self._through:
            error = self._fault_in_output()
        outcome = self._outcome(error, perf_counter() - began)
        if not isinstance(outcome, Suspended | Paused):
            self._execution.over()
        workflow = self._workflow
        if (workflow.on_finish or workflow.on_error) is not None and not isinstance(outcome, Suspended | Paused):
            outcome = await self._call_back(outcome if self._tape is None else await self._tape.recordable(outcome))
        return outcome if self._tape is None else await self._tape.finish(outcome)

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
        return primed(rest) if on_asyncio() else rest

    async def _from_the_start(self) -> None:
        await self._started()
        await drive(self._strand)

    async def _started(self) -> None:
        """Call ``on_start``."""
        strand = self._strand
        turn = Turn(_Whole(self._workflow.id))
        latch = self._execution.latch
        try:
            given = cast("Callable[[StepContext[Any]], object]", self._workflow.on_start)(
                StepContext(strand.value, strand.run, turn)
            )
            if is_awaitable(given):
                await self._execution.in_hook(cast("Awaitable[object]", given))
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
        if self._execution.phase is not None or not is_set(self._workflow.output_schema):
            return None
        try:
            self._strand.value = validate(self._workflow.output_schema, self._strand.value)
        except Exception as error:
            return StepFailed(self._workflow.id, error)
        return None

    def _outcome(self, error: BaseException | None, duration: float) -> Outcome[Any] | Paused:
        execution, strand = self._execution, self._strand
        tripwire = execution.latch.tripwire
        canceled = tripwire is CANCELED
        if not self._through and not self._halted and execution.phase is not None:
            execution.checks.stopped(hooks_in(strand.ops), why_stopped(tripwire, error))
        state: object
        try:
            state = {} if execution.known_state is None else execution.known_state.view()
        except Exception as fault:  # the state's schema has code that raises
            error = error or StepFailed(f"{self._workflow.id}.state", fault)
            state = dict(execution.state.values)
        told = self._told(state, duration)
        if self._writer is not None and self._writer.error is not None and (tripwire is None or canceled):
            return Failed(self._writer.error, **told)
        if self._through and error is None and (tripwire is None or canceled):
            return Completed(
                strand.value,
                run_id=execution.facts.run_id,
                steps=Records(execution.entries),
                checks=execution.known_checks,
                state=state,
                duration=duration,
            )
        if tripwire is not None and not canceled:
            return Blocked(tripwire, **told)
        if isinstance(error, Exception):
            return Failed(error, **told)
        if canceled or not self._halted:
            return Canceled(**told)
        ready = self._tape.ready if self._tape is not None else ()
        if execution.suspensions and not ready:
            return Suspended(tuple(execution.suspensions), **told)
        return Paused(tuple(ready), **told)

    def _told(self, state: object, duration: float) -> dict[str, Any]:
        execution = self._execution
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


class _Whole:
    """The place of the workflow as a whole."""

    step = None

    def __init__(self, workflow_id: str) -> None:
        self.step_id = workflow_id
        self.path = workflow_id

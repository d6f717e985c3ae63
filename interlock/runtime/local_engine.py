"""The library's own engine: runs a committed workflow in this process, and makes an outcome of whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any, Generic, TypeVar, overload
from weakref import WeakKeyDictionary

from interlock.context import RequestContext
from interlock.errors import AlreadyStarted, DefinitionError, RunError, StepFailed
from interlock.ids import new_id
from interlock.processors.contexts import ProcessorStepSchema
from interlock.processors.hook_context import HookContext
from interlock.processors.seat import RunFacts
from interlock.runtime.checks import why_stopped
from interlock.runtime.chunk_op import ChunkOp
from interlock.runtime.lower import Place, hooks_in, lower
from interlock.runtime.operations import Entry
from interlock.runtime.strand import Execution, Operation, Strand, advance, drive
from interlock.runtime.watchdog import Watchdog, watchdog
from interlock.schema import validate
from interlock.verdict import AbortSignal, Phase
from interlock.workflows import (
    Blocked,
    Canceled,
    Completed,
    Failed,
    Outcome,
    StepRecord,
    Workflow,
)

__all__ = ["LocalEngine", "LocalRun"]

I_contra = TypeVar("I_contra", contravariant=True)
O_co = TypeVar("O_co", covariant=True)


class LocalEngine:
    """Runs workflows in the event loop of whoever awaits them."""

    def __init__(self) -> None:
        self._lowered: WeakKeyDictionary[Workflow[Any, Any], dict[Phase | None, tuple[Operation, ...]]] = (
            WeakKeyDictionary()
        )

    def create_run(self, workflow: Workflow[Any, Any], run_id: str | None = None) -> LocalRun[Any, Any]:
        """A run that has not started."""
        return LocalRun(workflow, run_id if run_id is not None else new_id("run"), self.operations)

    def operations(self, workflow: Workflow[Any, Any], phase: Phase | None) -> tuple[Operation, ...]:
        """A workflow's operations at a phase; made once."""
        by_phase = self._lowered.setdefault(workflow, {})
        if phase not in by_phase:
            by_phase[phase] = _lowered(workflow, phase)
        return by_phase[phase]


def _lowered(workflow: Workflow[Any, Any], phase: Phase | None) -> tuple[Operation, ...]:
    plan = workflow.plan if phase is None else workflow.plan_for(phase)
    if plan is None:
        return ()
    if phase is Phase.OUTPUT_STREAM:
        return (ChunkOp(plan),)
    return lower(plan, Place(phase), given=workflow.input_schema)


class LocalRun(Generic[I_contra, O_co]):
    """One run of one workflow in this process.

    Attributes:
        run_id: Its id.
    """

    def __init__(
        self,
        workflow: Workflow[I_contra, O_co],
        run_id: str,
        operations: Callable[[Workflow[Any, Any], Phase | None], tuple[Operation, ...]],
    ) -> None:
        self.run_id = run_id
        self._workflow = workflow
        self._operations = operations
        self._started = False
        self._canceled = False
        self._watchdog: Watchdog | None = None

    async def start(
        self,
        value: I_contra,
        /,
        *,
        request_context: RequestContext | None = None,
    ) -> Outcome[O_co]:
        """Run it to its end.

        A workflow of processors takes the context of any phase, and runs what acts there.

        Args:
            value: The workflow's input.
            request_context: What steps may read.

        Raises:
            pydantic.ValidationError: The input does not fit the workflow's schema.
            DefinitionError: A workflow of processors was given something else than a context.
            AlreadyStarted: It was started before.
        """
        if self._started:
            raise AlreadyStarted(self.run_id)
        checked = self._checked(value)
        self._started = True
        phase = checked.phase if isinstance(checked, HookContext) else None
        try:
            ops = self._operations(self._workflow, phase)
        except RecursionError:
            deep = f"workflow {self._workflow.id!r} is nested deeper than Python's recursion limit allows"
            return Failed(RunError(deep), run_id=self.run_id)
        facts = RunFacts(run_id=self.run_id, request_context=request_context)
        execution = Execution(facts, phase)
        strand = Strand(ops, checked, execution, execution.scope(checked))
        began = perf_counter()
        error: BaseException | None = None
        if not self._canceled:
            error = await self._drive(strand, execution)
        return self._outcome(strand, execution, error, perf_counter() - began)

    def _checked(self, value: object) -> Any:
        """The input, validated."""
        schema = self._workflow.input_schema
        if schema is ProcessorStepSchema and not isinstance(value, HookContext):
            raise DefinitionError(
                f"it takes the context of a phase, not a {type(value).__name__}: "
                'make one with InputContext("text"), from interlock.processors',
                subject=f"workflow {self._workflow.id!r}",
            )
        return validate(schema, value)

    def cancel(self) -> None:
        """Stop it; the outcome is ``Canceled``. Does nothing once it has ended."""
        self._canceled = True
        if self._watchdog is not None:
            self._watchdog.cancel()

    async def _drive(self, strand: Strand, execution: Execution) -> BaseException | None:
        """Take the strand to its end; give back what ended it early."""
        try:
            awaitable = advance(strand)
            if awaitable is None:
                return self._fault_in_output(strand)
            with watchdog(execution.latch, lambda: execution.waiting) as self._watchdog:
                if self._canceled:  # by a step, before anything was awaited
                    self._watchdog.cancel()
                await drive(strand, awaitable)
        except (Exception, AbortSignal) as error:
            return error
        finally:
            self._watchdog = None
        return self._fault_in_output(strand) if strand.index == len(strand.ops) else None

    def _fault_in_output(self, strand: Strand) -> StepFailed | None:
        """Validate what came out; what is wrong with it is the workflow's own failure."""
        if strand.execution.phase is not None:
            return None
        try:
            strand.value = validate(self._workflow.output_schema, strand.value)
        except ValueError as error:
            return StepFailed(self._workflow.id, error)
        return None

    def _outcome(
        self, strand: Strand, execution: Execution, error: BaseException | None, duration: float
    ) -> Outcome[O_co]:
        tripwire = execution.latch.tripwire
        if strand.index < len(strand.ops):
            execution.checks.stopped(hooks_in(strand.ops), why_stopped(tripwire, error))
        steps, checks = Records(execution.entries), execution.checks.records()
        if tripwire is not None:
            return Blocked(tripwire, run_id=self.run_id, steps=steps, checks=checks, duration=duration)
        if isinstance(error, Exception):
            return Failed(error, run_id=self.run_id, steps=steps, checks=checks, duration=duration)
        if strand.index < len(strand.ops):
            return Canceled(run_id=self.run_id, steps=steps, checks=checks, duration=duration)
        return Completed(strand.value, run_id=self.run_id, steps=steps, checks=checks, duration=duration)


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

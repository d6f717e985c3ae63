"""Functions: those of steps, and those of maps."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, ClassVar, cast

from interlock.errors import InvalidProcessorReturn, UnrecordableValue
from interlock.processors.hook_context import HookContext
from interlock.runtime.entry import Entry
from interlock.runtime.operations.fork import BranchOutputs
from interlock.runtime.run_state import Site
from interlock.runtime.strand import Operation, Strand, part_failed
from interlock.schema import is_set, plain_type, validate
from interlock.steps import FunctionStep, Step, StepContext
from interlock.verdict import Phase
from interlock.workflows import MapNode

__all__ = ["BlockingStepOp", "MapOp", "StepOp", "checked_input", "settle"]


class StepOp(Operation):
    """A step made of a function."""

    __slots__ = ("_check_output", "_plain_output", "_step", "check_input", "function", "kind")
    waits_in_hook: ClassVar[bool] = True
    is_step: ClassVar[bool] = True

    def __init__(self, step: FunctionStep[Any, Any], path: str, site: Site = (), *, check_input: bool) -> None:
        super().__init__(step.id, path, site)
        self._step = step
        self.kind = step.kind
        self.function: Callable[[StepContext[Any]], object] = step.function
        self.check_input = check_input and is_set(step.input_schema)
        self._check_output = is_set(step.output_schema)
        self._plain_output = plain_type(step.output_schema)

    @property
    def step(self) -> Step[Any, Any]:
        """The step it is made of."""
        return self._step

    def begin(self, strand: Strand) -> object:
        execution = strand.execution
        entry = strand.entry = Entry(self, strand.value, strand.at, strand.run)
        execution.entries.append(entry)
        if execution.tape is not None:
            execution.tape.entered(strand, entry)
        if self.check_input and execution.phase is None:
            entry._input = checked_input(self._step, strand)
        return self.function(entry)

    def prepare(self, strand: Strand) -> Any:
        """Begin, once for all attempts; gives the input as the step's schema has it."""
        entry = strand.enter(self)
        if self.check_input and strand.execution.phase is None:
            entry._input = checked_input(self._step, strand)
        return entry.input

    def call(self, strand: Strand, value: Any) -> object:
        """One attempt, with a context of its own: what an earlier one left running has another."""
        return self.function(StepContext(value, strand.run, strand.entry))

    def end(self, strand: Strand, result: Any) -> None:
        phase = strand.execution.phase
        entry = strand.entry
        notes = entry.notes
        if notes is not None and notes.signal is not None:
            raise notes.signal
        if phase is not None:
            checked_context(self.path, phase, result)
        elif self._check_output and type(result) is not self._plain_output:
            result = self._checked_output(strand, result)
        if notes is not None:
            settle(strand, entry)
        entry.duration = perf_counter() - entry.began
        entry.output = strand.value = strand.run.outputs[self._step] = result
        entry.status = "success"

    def _checked_output(self, strand: Strand, result: Any) -> Any:
        try:
            return validate(self._step.output_schema, result)
        except ValueError as error:
            raise part_failed(strand, error, "its output does not fit its output_schema") from error

    def replay(self, strand: Strand, output: Any) -> None:
        strand.run.outputs[self._step] = output
        strand.value = output


class BlockingStepOp(StepOp):
    """A step made of a function that blocks: it runs in a worker thread, and is left alone when it is cancelled."""

    __slots__ = ()

    def begin(self, strand: Strand) -> object:
        return self.call(strand, self.prepare(strand))

    def call(self, strand: Strand, value: Any) -> object:
        from anyio import to_thread

        context = StepContext(value, strand.run, strand.entry)
        return to_thread.run_sync(self.function, context, abandon_on_cancel=True)


class MapOp(Operation):
    """A function that reshapes what flows."""

    __slots__ = ("function",)
    kind: str = "map"
    waits_in_hook: ClassVar[bool] = True

    def __init__(self, node: MapNode, path: str, site: Site = ()) -> None:
        super().__init__(node.id, path, site)
        self.function = node.function

    def begin(self, strand: Strand) -> object:
        return self.function(strand.enter(self))

    def end(self, strand: Strand, result: Any) -> None:
        execution = strand.execution
        entry = strand.entry
        if entry.notes is not None:
            if entry.notes.signal is not None:
                raise entry.notes.signal
            settle(strand, entry)
        if execution.phase is not None:
            checked_context(self.path, execution.phase, result)
            if isinstance(strand.value, BranchOutputs):
                execution.checks.picked(strand.value.order, strand.value, result)
        entry.succeeded(result)
        strand.value = result


def checked_input(step: Step[Any, Any], strand: Strand) -> Any:
    """The input as the step's schema has it.

    Raises:
        StepFailed: It does not fit. No attempt was made, and none would help.
    """
    try:
        return validate(step.input_schema, strand.value)
    except ValueError as error:
        strand.entry.noted().attempts = 0
        raise part_failed(strand, error, "its input does not fit its input_schema") from error


def settle(strand: Strand, entry: Entry) -> None:
    """Apply what a step that succeeded has changed of the run's state."""
    notes = entry.notes
    if notes is None or not notes.deltas:
        return
    execution = strand.execution
    state = execution.state_of(strand.run)
    changed = state.apply(entry, cast("Operation", entry.op).site, notes.deltas)
    if execution.tape is not None:
        try:
            execution.tape.state_changed(entry, changed)
        except UnrecordableValue:
            state.revert(entry)
            raise


def checked_context(path: str, phase: Phase, result: object) -> None:
    """Refuse what is no context of the phase.

    Raises:
        InvalidProcessorReturn: It is none.
    """
    if not isinstance(result, HookContext) or result.phase is not phase:
        raise InvalidProcessorReturn(
            path,
            str(phase),
            result,
            "the context of this phase, as it came in ctx.input or from one of its branches",
        )

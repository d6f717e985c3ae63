"""What the nodes of a plan become when they run. One class a node kind."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum
from time import perf_counter, time
from typing import Any, cast

from interlock.errors import InvalidProcessorReturn, RunError
from interlock.processors.base import HOOKS, ProcessorStep
from interlock.processors.hook_context import HookContext
from interlock.processors.returns import apply_return
from interlock.processors.seat import Seat
from interlock.runtime.join import join
from interlock.runtime.strand import Operation, Strand, abandon, advance, as_failure, drive
from interlock.schema import is_set, plain_type, validate
from interlock.steps import FunctionStep, Step, StepContext
from interlock.verdict import AbortSignal, Phase, Verdict
from interlock.workflows import MapNode, MergeNode, StepRecord
from interlock.workflows.outcome import StepStatus

__all__ = ["BranchOutputs", "Entry", "HookOp", "MapOp", "MergeOp", "NestedOp", "ParallelOp", "StepOp", "fork_value"]

_SHARED = (type(None), bool, int, float, complex, str, bytes, Enum, type)


Waiting = tuple[Strand, Awaitable[object]]
"""A strand that waits, and for what."""


class BranchOutputs(dict[str, Any]):
    """The keyed output of a parallel block; remembers the block's input, which ``merge`` compares the branches with."""

    __slots__ = ("base", "order")

    def __init__(self, base: object, order: tuple[int, ...], outputs: Mapping[str, Any]) -> None:
        super().__init__(outputs)
        self.base = base
        self.order = order

    def __missing__(self, key: str) -> Any:
        raise KeyError(f"there is no branch {key!r}; the branches are {', '.join(map(repr, self))}")


class Entry:
    """What one step is doing or did; becomes a :class:`StepRecord` when somebody asks."""

    __slots__ = ("began", "duration", "error", "input", "op", "output", "status")

    def __init__(self, op: StepOp | HookOp, value: object, began: float) -> None:
        self.op = op
        self.input = value
        self.began = began
        self.status: StepStatus = "canceled"  # until it has ended in another way
        self.output: object = None
        self.error: BaseException | None = None
        self.duration = 0.0

    def record(self) -> StepRecord:
        """The record of it."""
        return StepRecord(
            self.op.step_id,
            self.op.path,
            self.status,
            self.input,
            self.output,
            self.error,
            time() - (perf_counter() - self.began),
            self.duration,
        )


class StepOp(Operation):
    """A step made of a function."""

    __slots__ = ("check_input", "check_output", "function", "path", "plain_output", "step", "step_id")
    waits_in_hook = True

    def __init__(self, step: FunctionStep[Any, Any], path: str, *, check_input: bool) -> None:
        self.step = step
        self.step_id = step.id
        self.path = path
        self.function: Callable[[StepContext[Any]], object] = step.function
        self.check_input = check_input and is_set(step.input_schema)
        self.check_output = is_set(step.output_schema)
        self.plain_output = plain_type(step.output_schema)

    def begin(self, strand: Strand) -> object:
        value = strand.value
        entry = Entry(self, value, perf_counter())
        strand.note = entry
        strand.execution.entries.append(entry)
        if self.check_input and strand.execution.phase is None:
            value = validate(self.step.input_schema, value)
        return self.function(StepContext(value, strand.run, self.step_id))

    def end(self, strand: Strand, result: object) -> None:
        phase = strand.execution.phase
        if phase is not None:
            _checked_context(self.step_id, phase, result)
        elif self.check_output and type(result) is not self.plain_output:
            result = validate(self.step.output_schema, result)
        entry: Entry = strand.note
        entry.output = result
        entry.duration = perf_counter() - entry.began
        entry.status = "success"
        strand.run.outputs[self.step] = result
        strand.value = result

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        told = as_failure(strand.execution.latch, self.path, error, strand.execution.phase)
        _note_failure(strand.note, told)
        return told


class HookOp(Operation):
    """A processor's hook at one phase. It works on a fork; what it leaves there is what goes on."""

    __slots__ = ("hook", "list", "order", "path", "phase", "processor", "step", "step_id")
    waits_in_hook = True

    def __init__(
        self,
        step: ProcessorStep,
        phase: Phase,
        path: str,
        list: str,  # noqa: A002
        order: tuple[int, ...],
    ) -> None:
        self.step = step
        self.step_id = step.id
        self.processor = step.processor
        self.phase = phase
        self.path = path
        self.list = list
        self.order = order
        self.hook = cast("Callable[[HookContext], object]", getattr(step.processor, HOOKS[phase]))

    def begin(self, strand: Strand) -> object:
        flowing = strand.value
        entry = Entry(self, flowing, perf_counter())
        strand.note = entry
        strand.execution.entries.append(entry)
        if not isinstance(flowing, HookContext):
            raise RunError(f"{self.path!r} takes a context, but {type(flowing).__name__} flows there")
        entry.output = seated = flowing.seated(strand.execution.seat(self.processor))
        return self.hook(seated)

    def end(self, strand: Strand, result: object) -> None:
        entry: Entry = strand.note
        seated: Any = entry.output
        apply_return(seated, result)
        entry.duration = perf_counter() - entry.began
        entry.status = "success"
        seat: Seat = seated._seat
        changed = seated.changed_from(strand.value)
        quiet: Verdict = "passed" if seat.not_checked is None else "not-checked"
        strand.execution.checks.note(
            self,
            "warned" if seat.warnings else "changed" if changed else quiet,
            duration=entry.duration,
            reason="; ".join(w.message for w in seat.warnings) or seat.not_checked,
        )
        strand.run.outputs[self.step] = seated
        strand.value = seated

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        execution = strand.execution
        told = as_failure(execution.latch, self.path, error, self.phase)
        entry: Entry = strand.note
        _note_failure(entry, told)
        tripwire = execution.latch.tripwire
        if tripwire is not None and tripwire.processor_id == self.processor.id:
            execution.checks.note(
                self, "blocked", duration=entry.duration, reason=tripwire.reason, metadata=tripwire.metadata
            )
        elif tripwire is None and isinstance(told, Exception):
            cause = told.__cause__ or error
            execution.checks.note(
                self, "not-checked", duration=entry.duration, reason=f"failed: {type(cause).__name__}"
            )
        return told


class NestedOp(Operation):
    """A workflow inside a workflow."""

    __slots__ = ("check_input", "ops", "path", "step")
    waits_in_hook = False

    def __init__(self, step: Step[Any, Any], path: str, ops: Sequence[Operation], *, check_input: bool) -> None:
        self.step = step
        self.path = path
        self.ops = ops
        self.check_input = check_input

    def begin(self, strand: Strand) -> object:
        value = strand.value
        if self.check_input and strand.execution.phase is None:
            value = validate(self.step.input_schema, value)
        inner = Strand(self.ops, value, strand.execution, strand.execution.scope(value))
        awaitable = advance(inner)
        if awaitable is None:
            return inner.value
        strand.note = (inner, awaitable)
        return _driven(inner, awaitable)

    def end(self, strand: Strand, result: object) -> None:
        if strand.execution.phase is None:
            result = validate(self.step.output_schema, result)
        strand.run.outputs[self.step] = result
        strand.value = result

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        return as_failure(strand.execution.latch, self.path, error, strand.execution.phase)

    def abandon(self, strand: Strand) -> None:
        abandon(*strand.note)


class ParallelOp(Operation):
    """All arms at once, each on a fork of its own."""

    __slots__ = ("arms", "id", "order", "path")
    waits_in_hook = False

    def __init__(
        self,
        id: str,  # noqa: A002
        path: str,
        order: tuple[int, ...],
        arms: Sequence[tuple[str, Sequence[Operation]]],
    ) -> None:
        self.id = id
        self.path = path
        self.order = order
        self.arms = arms

    def begin(self, strand: Strand) -> object:
        value, execution, run = strand.value, strand.execution, strand.run
        inner = [Strand(ops, fork_value(value, key, self.path), execution, run) for key, ops in self.arms]
        waiting: list[Waiting] = []
        try:
            for one in inner:
                awaitable = advance(one)
                if awaitable is not None:
                    waiting.append((one, awaitable))
        except BaseException:
            for left in waiting:
                abandon(*left)
            raise
        if not waiting:
            return self._keyed(value, inner)
        strand.note = waiting
        return self._joined(strand, inner, waiting)

    async def _joined(self, strand: Strand, inner: Sequence[Strand], waiting: Sequence[Waiting]) -> BranchOutputs:
        if len(waiting) == 1:
            await drive(*waiting[0])
            return self._keyed(strand.value, inner)
        execution = strand.execution
        execution.joins += 1
        try:
            await join([drive(one, awaitable) for one, awaitable in waiting], execution.latch)
        finally:
            execution.joins -= 1
        return self._keyed(strand.value, inner)

    def abandon(self, strand: Strand) -> None:
        for left in strand.note:
            abandon(*left)

    def _keyed(self, base: object, inner: Sequence[Strand]) -> BranchOutputs:
        return BranchOutputs(base, self.order, {key: one.value for (key, _), one in zip(self.arms, inner, strict=True)})

    def end(self, strand: Strand, result: object) -> None:
        strand.value = result

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        return as_failure(strand.execution.latch, self.path, error, strand.execution.phase)


class MapOp(Operation):
    """A function that reshapes what flows."""

    __slots__ = ("function", "id", "path")
    waits_in_hook = True

    def __init__(self, node: MapNode, path: str) -> None:
        self.id = node.id
        self.path = path
        self.function = node.function

    def begin(self, strand: Strand) -> object:
        return self.function(StepContext(strand.value, strand.run, self.id))

    def end(self, strand: Strand, result: object) -> None:
        execution = strand.execution
        if execution.phase is not None:
            _checked_context(self.id, execution.phase, result)
            if isinstance(strand.value, BranchOutputs):
                execution.checks.picked(strand.value.order, strand.value, result)
        strand.value = result

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        return as_failure(strand.execution.latch, self.path, error, strand.execution.phase)


class MergeOp(Operation):
    """One value from the branches of the block before."""

    __slots__ = ("id", "path", "prefer")
    waits_in_hook = False

    def __init__(self, node: MergeNode, path: str) -> None:
        self.id = node.id
        self.path = path
        self.prefer = node.prefer

    def begin(self, strand: Strand) -> object:
        outputs: BranchOutputs = strand.value
        if len(outputs) == 1:
            return next(iter(outputs.values()))
        base = outputs.base
        if not hasattr(base, "merge_forks"):
            raise RunError(
                f"{self.path!r} cannot join plain values ({type(base).__name__}): use .map(…) to say what continues"
            )
        return cast("Any", base).merge_forks(outputs, self.prefer)

    def end(self, strand: Strand, result: object) -> None:
        strand.value = result

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        return as_failure(strand.execution.latch, self.path, error, strand.execution.phase)


def fork_value(value: Any, branch: str, path: str) -> Any:
    """A branch's own copy of what flows.

    Raises:
        RunError: It cannot be copied.
    """
    if isinstance(value, _SHARED):
        return value
    fork = getattr(value, "fork", None)
    if callable(fork):
        return fork()
    try:
        return copy.deepcopy(value)
    except Exception as error:
        raise RunError(
            f"the input of branch {branch!r} of {path!r} cannot be copied for it: a {type(value).__name__} "
            f"({error}); give the class a fork() method, or pass plain data"
        ) from error


async def _driven(strand: Strand, awaitable: Awaitable[object]) -> object:
    await drive(strand, awaitable)
    return strand.value


def _note_failure(entry: Entry, told: BaseException) -> None:
    entry.duration = perf_counter() - entry.began
    if isinstance(told, Exception):
        entry.status = "failed"
        entry.error = told
    elif isinstance(told, AbortSignal):
        entry.status = "tripwire"


def _checked_context(step_id: str, phase: Phase, result: object) -> None:
    if not isinstance(result, HookContext) or result.phase is not phase:
        raise InvalidProcessorReturn(
            step_id,
            str(phase),
            result,
            "the context of this phase, as it came in ctx.input or from one of its branches",
        )

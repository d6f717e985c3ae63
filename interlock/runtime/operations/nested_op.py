"""A workflow inside a workflow."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, ClassVar

from interlock.runtime.operations.step_op import checked_input
from interlock.runtime.run_state import Site
from interlock.runtime.strand import Operation, Strand, abandon, advance, drive
from interlock.schema import validate
from interlock.steps import Step
from interlock.verdict import BailSignal

__all__ = ["NestedOp"]


class NestedOp(Operation):
    """A workflow inside a workflow: a chain with a scope of its own, which a step in it can end."""

    __slots__ = ("_step", "check_input", "ops")
    kind: str = "workflow"
    contains: ClassVar[bool] = True

    def __init__(
        self, step: Step[Any, Any], path: str, ops: Sequence[Operation], site: Site = (), *, check_input: bool
    ) -> None:
        super().__init__(step.id, path, site)
        self._step = step
        self.ops = ops
        self.check_input = check_input

    @property
    def step(self) -> Step[Any, Any]:
        """The step it is made of."""
        return self._step

    def begin(self, strand: Strand) -> object:
        return self.call(strand, self.prepare(strand))

    def prepare(self, strand: Strand) -> Any:
        """Begin, once for all attempts; gives the input as the workflow's schema has it."""
        strand.enter(self)
        if self.check_input and strand.execution.phase is None:
            return checked_input(self._step, strand)
        return strand.value

    def call(self, strand: Strand, value: Any) -> object:
        """One attempt."""
        inner = strand.inner(self.ops, value, run=strand.execution.nested_scope(strand.run, self._step, value))
        try:
            awaitable = advance(inner)
        except BailSignal as signal:
            return _given(inner, signal)
        if awaitable is None:
            return inner.value
        strand.note = (inner, awaitable)
        return _driven(inner, awaitable)

    def end(self, strand: Strand, result: Any) -> None:
        if strand.execution.phase is None:
            result = validate(self._step.output_schema, result)
        super().end(strand, result)
        strand.run.outputs[self._step] = result

    def replay(self, strand: Strand, output: Any) -> None:
        strand.run.outputs[self._step] = output
        strand.value = output

    def abandon(self, strand: Strand) -> None:
        abandon(*strand.note)

    def chains(self) -> Sequence[Sequence[Operation]]:
        return (self.ops,)


async def _driven(inner: Strand, awaitable: Awaitable[object]) -> object:
    try:
        await drive(inner, awaitable)
    except BailSignal as signal:
        return _given(inner, signal)
    return inner.value


def _given(inner: Strand, signal: BailSignal) -> object:
    """What a step ended the workflow with; where it ended one around it, that is not for here."""
    if signal.scope is not inner.run or inner.run.bailed is None:
        raise signal
    return inner.run.bailed[0]

"""A processor's hook at one point of an agent's run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, cast

from interlock.errors import RunError
from interlock.processors.base import HOOKS, ProcessorStep
from interlock.processors.hook_context import HookContext
from interlock.processors.returns import apply_return
from interlock.runtime.strand import Operation, Strand
from interlock.steps import Step
from interlock.verdict import Phase, Verdict

__all__ = ["HookOp"]


class HookOp(Operation):
    """A processor's hook at one phase. It works on a fork; what it leaves there is what goes on."""

    __slots__ = ("_step", "hook", "list", "order", "phase", "processor")
    kind: str = "processor"
    waits_in_hook: ClassVar[bool] = True
    is_step: ClassVar[bool] = True

    def __init__(
        self,
        step: ProcessorStep,
        phase: Phase,
        path: str,
        list: str,  # noqa: A002
        order: tuple[int, ...],
    ) -> None:
        super().__init__(step.id, path)
        self._step = step
        self.processor = step.processor
        self.phase = phase
        self.list = list
        self.order = order
        self.hook = cast("Callable[[HookContext], object]", getattr(step.processor, HOOKS[phase]))

    @property
    def step(self) -> Step[Any, Any]:
        """The step it is made of."""
        return self._step

    def begin(self, strand: Strand) -> object:
        return self.call(strand, self.prepare(strand))

    def prepare(self, strand: Strand) -> HookContext:
        """Begin, once for all attempts; gives what flows."""
        flowing = strand.value
        strand.enter(self)
        if not isinstance(flowing, HookContext):
            raise RunError(f"{self.path!r} takes a context, but {type(flowing).__name__} flows there")
        return flowing

    def call(self, strand: Strand, flowing: HookContext) -> object:
        """One attempt, on a fork of its own."""
        seated = strand.note = flowing.seated(strand.execution.seat(self.processor))
        return self.hook(seated)

    def end(self, strand: Strand, result: Any) -> None:
        entry = strand.entry
        seated: HookContext = strand.note
        apply_return(cast("Any", seated), result)
        entry.succeeded(seated)
        seat = seated._seat
        changed = seated.changed_from(strand.value)
        quiet: Verdict = "passed" if seat.not_checked is None else "not-checked"
        entry.verdict = "warned" if seat.warnings else "changed" if changed else quiet
        strand.execution.checks.note(
            self,
            entry.verdict,
            duration=entry.duration,
            reason="; ".join(w.message for w in seat.warnings) or seat.not_checked,
        )
        strand.run.outputs[self._step] = seated
        strand.value = seated

    def replay(self, strand: Strand, output: Any) -> None:
        entry = strand.entry
        if entry.verdict is not None:
            strand.execution.checks.note(self, entry.verdict, duration=entry.duration)
        strand.run.outputs[self._step] = output
        strand.value = output

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        execution = strand.execution
        entry = strand.entry
        told = super().failed(strand, error)
        tripwire = execution.latch.tripwire
        if tripwire is not None and tripwire.processor_id == self.processor.id:
            entry.verdict = "blocked"
            execution.checks.note(
                self, "blocked", duration=entry.duration, reason=tripwire.reason, metadata=tripwire.metadata
            )
        elif tripwire is None and isinstance(told, Exception):
            entry.verdict = "not-checked"
            cause = told.__cause__ or error
            execution.checks.note(
                self, "not-checked", duration=entry.duration, reason=f"failed: {type(cause).__name__}"
            )
        return told

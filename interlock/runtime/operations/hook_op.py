"""A processor's hook at one point of an agent's run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, ClassVar, cast

from interlock.errors import RunError
from interlock.processors.base import HOOKS, ProcessorStep
from interlock.processors.contexts import ToolCallContext
from interlock.processors.hook_context import HookContext
from interlock.processors.returns import apply_return
from interlock.runtime.limited import UntilDecided
from interlock.runtime.policy import Policy, detail_of, shadow_seat, why_failed, would_have
from interlock.runtime.strand import Operation, Strand, is_awaitable
from interlock.steps import Step
from interlock.verdict import AbortSignal, Phase, Verdict

__all__ = ["HookOp"]


class HookOp(Operation):
    """A processor's hook at one phase. It works on a fork; what it leaves there is what goes on."""

    __slots__ = ("_policy", "_step", "hook", "list", "order", "phase", "processor")
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
        self._policy = Policy(step)
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
        policy = self._policy
        execution = strand.execution
        notes = strand.entry.notes
        if notes is not None and notes.attempts > 1:
            self.retire(strand)
        seat = shadow_seat(execution, self.processor) if policy.shadow else execution.seat(self.processor)
        seated = strand.note = flowing.seated(seat)
        if policy.blocking:
            from anyio import to_thread

            given: object = to_thread.run_sync(self.hook, seated, abandon_on_cancel=True)
        else:
            given = self.hook(seated)
        if seat.own_latch is not None and is_awaitable(given):
            return UntilDecided(cast("Awaitable[object]", given), seat.own_latch)
        return given

    def end(self, strand: Strand, result: Any) -> None:
        entry = strand.entry
        seated: HookContext = strand.note
        apply_return(cast("Any", seated), result)
        entry.succeeded(seated)
        seat = seated._seat
        changed = seated.changed_from(strand.value)
        quiet: Verdict = "passed" if seat.not_checked is None else "not-checked"
        done: Verdict = "shadow-changed" if self._policy.shadow else "changed"
        entry.verdict = quiet if quiet == "not-checked" else "warned" if seat.warnings else done if changed else quiet
        reasons = [w.message for w in seat.warnings]
        denied: str | None = None
        if isinstance(seated, ToolCallContext) and seated.denied not in (None, strand.value.denied):
            if self._policy.shadow:
                reasons.append(f"would have denied the call: {seated.denied}")
            else:
                reasons.append(seated.denied or "")
                denied = seated.tool_call_id
        strand.execution.checks.note(
            self,
            entry.verdict,
            duration=entry.duration,
            reason=seat.not_checked or "; ".join(reasons) or None,
            metadata=detail_of(seat.warnings) if entry.verdict == "warned" else None,
            looked_at=frozenset(seat.looked_at),
            denied=denied,
        )
        if not self._policy.shadow:
            strand.value = seated
        strand.run.outputs[self._step] = strand.value

    def own_verdict(self, strand: Strand) -> None:
        """See whether a hook that only shadows has recorded a verdict, however it then ended.

        Raises:
            AbortSignal: It has.
        """
        if self._policy.shadow:
            seated: HookContext = strand.note
            latch = seated._seat.own_latch
            if latch is not None and latch.tripwire is not None:
                raise AbortSignal(latch.tripwire)

    def note_shadow_block(self, strand: Strand) -> bool:
        """Note what a hook that only shadows would have stopped the run for; False: for nothing."""
        seated: HookContext | None = strand.note
        latch = None if seated is None else seated._seat.own_latch
        if seated is None or latch is None or latch.tripwire is None:
            return False
        tripwire = latch.tripwire
        strand.entry.verdict = "shadow-blocked"
        strand.execution.checks.note(
            self,
            "shadow-blocked",
            duration=perf_counter() - strand.entry.began,
            reason=would_have(tripwire),
            metadata=tripwire.metadata,
            looked_at=frozenset(seated._seat.looked_at),
        )
        return True

    def note_not_checked(self, strand: Strand, error: BaseException) -> None:
        """Note that the hook is passed over because of its failure."""
        strand.entry.verdict = "not-checked"
        seated: HookContext | None = strand.note
        looked_at = frozenset[tuple[str, str]]() if seated is None else frozenset(seated._seat.looked_at)
        strand.execution.checks.note(
            self,
            "not-checked",
            duration=perf_counter() - strand.entry.began,
            reason=why_failed(error),
            looked_at=looked_at,
            failed=True,
        )

    def note_undecided(self, strand: Strand) -> None:
        """Note that the verdict to come is its policy's: the hook itself has failed."""
        seated: HookContext | None = strand.note
        if seated is not None:
            seated._seat.undecided = True

    def retire(self, strand: Strand) -> None:
        """Have what an attempt that failed has left running come too late."""
        seated: object = strand.note
        if isinstance(seated, HookContext):
            seated._seat.retire()

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
            seated: HookContext | None = strand.note
            execution.checks.note(
                self,
                "blocked",
                duration=entry.duration,
                reason=tripwire.reason,
                metadata=tripwire.metadata,
                looked_at=frozenset() if seated is None else frozenset(seated._seat.looked_at),
                failed=seated is not None and seated._seat.undecided,
            )
        elif tripwire is None and isinstance(told, Exception):
            entry.verdict = "not-checked"
            cause = told.__cause__ or error
            execution.checks.note(
                self, "not-checked", duration=entry.duration, reason=f"failed: {type(cause).__name__}", failed=True
            )
        return told

"""A processor's hook whose failure does not fail the run, or which only shadows."""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Any, ClassVar, cast

from interlock.runtime.operations.hook_op import HookOp
from interlock.runtime.policy import Policy, could_not_decide
from interlock.runtime.strand import Operation, Strand, as_failure, close, is_awaitable
from interlock.steps import Step

__all__ = ["PolicyOp"]


class _Skipped:
    """Stands for the result of a hook that is passed over."""


_SKIPPED = _Skipped()


class PolicyOp(Operation):
    """A hook, as its policy says.

    Args:
        inner: The hook, tried as often as need be.
        hook: The hook itself.
        policy: What its failure means.
    """

    __slots__ = ("_hook", "_policy", "inner", "kind")
    waits_in_hook: ClassVar[bool] = True
    is_step: ClassVar[bool] = True

    def __init__(self, inner: Operation, hook: HookOp, policy: Policy) -> None:
        super().__init__(inner.step_id, inner.path, inner.site)
        self.inner = inner
        self.kind = inner.kind
        self._hook = hook
        self._policy = policy

    @property
    def step(self) -> Step[Any, Any] | None:
        """As the hook."""
        return self.inner.step

    def begin(self, strand: Strand) -> object:
        try:
            result = self.inner.begin(strand)
        except BaseException as error:
            return self._decided(strand, error)
        return _Waiting(self, strand, cast("Awaitable[object]", result)) if is_awaitable(result) else result

    async def waited(self, strand: Strand, awaitable: Awaitable[object]) -> object:
        """What the hook gave that waits."""
        try:
            return await awaitable
        except BaseException as error:
            return self._decided(strand, error)

    def end(self, strand: Strand, result: Any) -> None:
        if result is not _SKIPPED:
            try:
                self._hook.own_verdict(strand)
                self.inner.end(strand, result)
            except BaseException as error:
                self._decided(strand, error)
            else:
                return
        strand.entry.succeeded(strand.value)
        strand.run.outputs[self._hook.step] = strand.value

    def _decided(self, strand: Strand, error: BaseException) -> object:
        """Pass the hook over, or stop the run, as the policy says.

        Raises:
            BaseException: The error itself: it is no failure of the hook, or fails the run.
        """
        execution = strand.execution
        if self._policy.shadow and self._hook.note_shadow_block(strand):
            return _SKIPPED
        told = as_failure(execution.latch, self.path, error, execution.phase, strand.entry)
        if not isinstance(told, Exception) or execution.latch.tripwire is not None:
            raise error
        if self._policy.shadow or self._policy.on_failure == "skip":
            self._hook.note_not_checked(strand, told)
            self._hook.retire(strand)
            return _SKIPPED
        if self._policy.on_failure == "block":
            self._hook.note_undecided(strand)
            seat = execution.seat(self._hook.processor)
            raise could_not_decide(seat, self._hook.phase, told, self._policy.timeout) from error
        raise error

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        return self.inner.failed(strand, error)

    def replay(self, strand: Strand, output: Any) -> None:
        self.inner.replay(strand, output)

    def abandon(self, strand: Strand) -> None:
        self.inner.abandon(strand)


class _Waiting:
    """A hook that waits."""

    __slots__ = ("_awaitable", "_op", "_strand")

    def __init__(self, op: PolicyOp, strand: Strand, awaitable: Awaitable[object]) -> None:
        self._op = op
        self._strand = strand
        self._awaitable = awaitable

    def __await__(self) -> Generator[Any, Any, object]:
        return self._op.waited(self._strand, self._awaitable).__await__()

    def close(self) -> None:
        """Drop it."""
        close(self._awaitable)

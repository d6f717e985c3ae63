"""Trying a step again, and giving it only so much time."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from time import perf_counter
from typing import Any, ClassVar, Protocol, cast

import anyio

from interlock.errors import StateConflict, StepFailed
from interlock.runtime.entry import Entry
from interlock.runtime.limited import Limited
from interlock.runtime.operations.hook_op import HookOp
from interlock.runtime.policy import late
from interlock.runtime.strand import Operation, Strand, close, is_awaitable, stop_if_cut
from interlock.steps import RetryPolicy, Step
from interlock.verdict import AbortSignal, Signal

__all__ = ["AttemptsOp", "Repeatable"]


class Repeatable(Protocol):
    """An operation that is begun once and tried as often as need be."""

    step_id: str
    path: str

    def prepare(self, strand: Strand) -> Any:
        """Begin; gives what each attempt is called with."""
        ...

    def call(self, strand: Strand, value: Any) -> object:
        """One attempt: its result, or something to await that gives it."""
        ...

    def end(self, strand: Strand, result: Any) -> None:
        """Take an attempt's result in; where that fails, the attempt has."""
        ...


class AttemptsOp(Operation):
    """An operation with a retry policy, a time-out, or both.

    Args:
        inner: What is tried.
        retry: How often; None: once.
        timeout: Seconds that one attempt may take; None: any number. The clock of a processor's hook starts when it
            first waits.
    """

    __slots__ = ("_hook", "_retry", "_timeout", "inner", "kind")
    waits_in_hook: ClassVar[bool] = True

    def __init__(self, inner: Operation, retry: RetryPolicy | None, timeout: float | None) -> None:
        super().__init__(inner.step_id, inner.path, inner.site)
        self.inner = inner
        self.kind = inner.kind
        self._hook = inner if isinstance(inner, HookOp) else None
        self._retry = retry
        self._timeout = timeout

    @property
    def step(self) -> Step[Any, Any] | None:
        """As what is tried."""
        return self.inner.step

    @property
    def contains(self) -> bool:  # type: ignore[override]
        """As what is tried."""
        return self.inner.contains

    @property
    def is_step(self) -> bool:  # type: ignore[override]
        """As what is tried."""
        return self.inner.is_step

    def begin(self, strand: Strand) -> object:
        inner = cast("Repeatable", self.inner)
        value = inner.prepare(strand)
        began = perf_counter()
        try:
            result = inner.call(strand, value)
            if not is_awaitable(result):
                self._take(strand, result, perf_counter() - began)
                return None
        except Exception as error:
            strand.pending = None
            return self._tried(strand, value, self._wait_after(strand, error))
        strand.pending = cast("Awaitable[object]", result)
        return self._tried(strand, value, None, strand.pending)

    async def _tried(
        self, strand: Strand, value: Any, wait: float | None, awaitable: Awaitable[object] | None = None
    ) -> None:
        """The attempts from the first that waits, or from the second."""
        inner = cast("Repeatable", self.inner)
        while True:
            if wait is not None:
                self._tell(strand, wait)
                await anyio.sleep(wait)
                strand.entry.noted().attempts += 1
                if strand.execution.latch.tripwire is not None:
                    raise AbortSignal(strand.execution.latch.tripwire)
            began = perf_counter()
            try:
                result: object = inner.call(strand, value) if awaitable is None else awaitable
                if is_awaitable(result):
                    result = await self._in_time(cast("Awaitable[object]", result))
                    if self._hook is not None:  # which has been looked at, by a clock of its own
                        began = perf_counter()
                self._take(strand, result, perf_counter() - began)
            except Exception as error:
                wait, awaitable = self._wait_after(strand, error), None
            else:
                return

    async def _in_time(self, awaitable: Awaitable[object]) -> object:
        if self._timeout is None:
            return await awaitable
        if self._hook is not None:
            return await Limited(awaitable, self._timeout)
        result: object = None
        with anyio.CancelScope(deadline=anyio.current_time() + self._timeout) as scope:
            result = await awaitable
        if scope.cancelled_caught:
            raise late(self._timeout)
        return result

    def _take(self, strand: Strand, result: object, seconds: float) -> None:
        """Take a result in, unless something else was decided meanwhile or it came too late."""
        tripwire = strand.execution.latch.tripwire
        if tripwire is not None:
            raise AbortSignal(tripwire)
        stop_if_cut(strand)
        if self._timeout is not None and seconds > self._timeout and _signal(strand) is None:
            raise late(self._timeout)
        self.inner.end(strand, result)
        strand.entry.error = None  # of an attempt before
        if strand.entry.notes is not None:
            strand.entry.notes.over = True

    def _wait_after(self, strand: Strand, error: Exception) -> float:
        """Seconds to wait before the next attempt.

        Raises:
            BaseException: There is none: what the step's failure is.
        """
        tripwire = strand.execution.latch.tripwire
        if tripwire is not None:
            raise AbortSignal(tripwire)
        signal = _signal(strand)
        if signal is not None:
            raise signal
        if self._hook is not None:
            self._hook.own_verdict(strand)
        if isinstance(error, StateConflict) or strand.entry.noted().cut:
            raise error
        attempt = strand.entry.noted().attempts
        cause = error.__cause__ if isinstance(error, StepFailed) and isinstance(error.__cause__, Exception) else error
        if self._retry is None or not self._retry.allows(attempt, cause):
            strand.entry.noted().over = True
            raise error
        strand.entry.notes = strand.entry.noted().again()
        strand.entry.error = error
        if self.inner.contains:
            _outdate(strand.execution.entries, self.path, strand.at)
        return self._retry.wait_after(attempt)

    def _tell(self, strand: Strand, wait: float) -> None:
        tape = strand.execution.tape
        if tape is not None:
            tape.retries(strand.entry, wait)

    def end(self, strand: Strand, result: Any) -> None:
        """Nothing: the attempt that ended well has taken its result in."""

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        return self.inner.failed(strand, error)

    def replay(self, strand: Strand, output: Any) -> None:
        self.inner.replay(strand, output)

    def abandon(self, strand: Strand) -> None:
        if strand.pending is not None:  # else the first attempt has failed, and the second not begun
            close(strand.pending)
            self.inner.abandon(strand)

    def chains(self) -> Any:
        return self.inner.chains()


def _outdate(entries: Sequence[Entry], path: str, at: tuple[int, ...]) -> None:
    """Note of what ran inside an attempt that failed that a further one runs it anew."""
    for entry in entries:
        if entry.op.path.startswith(f"{path}/") and entry.at[: len(at)] == at:
            entry.noted().stale = True


def _signal(strand: Strand) -> Signal | None:
    """The signal that the step has recorded."""
    notes = strand.entry.notes
    return None if notes is None else notes.signal

"""Trying a hook, a function or a nested workflow again, and giving it only so much time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from time import perf_counter
from typing import Any, cast

import anyio

from interlock.errors import RunError, StepFailed
from interlock.messages import Chunk
from interlock.runtime.chunk_chain import ChunkChain
from interlock.runtime.chunk_stages.call import Call
from interlock.runtime.chunk_stages.failures import failure_of
from interlock.runtime.chunk_stages.values import Value, Values
from interlock.runtime.execution import Execution
from interlock.runtime.strand import close, is_awaitable
from interlock.steps import RetryPolicy
from interlock.verdict import AbortSignal, Latch, Phase

__all__ = ["NestedStage", "Tried"]


class Tried:
    """What a stage calls, with a retry policy, a time-out, or both.

    Args:
        call: What the stage calls without them.
        path: Where it stands.
        execution: The run's.
        retry: How often; None: once.
        timeout: Seconds that one attempt may take; None: any number.
        subject: The function that is told which attempt it is, and whose signals count; None: there is none.
        again: Called before each attempt but the first.
        own_latch: Where the verdicts of a hook that only shadows are written; one that has decided is not tried again.
    """

    def __init__(
        self,
        call: Callable[[Any], object],
        path: str,
        execution: Execution,
        *,
        retry: RetryPolicy | None,
        timeout: float | None,
        subject: Call | None = None,
        again: Callable[[], object] | None = None,
        own_latch: Latch | None = None,
    ) -> None:
        self._call = call
        self._path = path
        self._latch = execution.latch
        self._retry = retry
        self._timeout = timeout
        self._subject = subject
        self._again = again
        self._own_latch = own_latch

    def __call__(self, target: object) -> object:
        """The first attempt; gives what it gave, or something to await that gives what this or a later one did."""
        began = perf_counter()
        try:
            out = self._attempt(target, 1)
            if not is_awaitable(out):
                self._in_time(perf_counter() - began)
                return out
        except Exception as error:
            return _Trying(self, target, None, self._wait_after(1, error))
        return _Trying(self, target, cast("Awaitable[object]", out), 0.0)

    async def continued(self, target: object, awaitable: Awaitable[object] | None, wait: float) -> object:
        """The attempts from the first that waits, or from the second."""
        attempt = 1
        while True:
            if awaitable is None:
                attempt += 1
                await anyio.sleep(wait)
                if self._latch.tripwire is not None:
                    raise AbortSignal(self._latch.tripwire)
                if self._again is not None:
                    self._again()
            began = perf_counter()
            try:
                out = self._attempt(target, attempt) if awaitable is None else awaitable
                if is_awaitable(out):
                    out = await self._limited(cast("Awaitable[object]", out))
                self._in_time(perf_counter() - began)
            except Exception as error:
                awaitable, wait = None, self._wait_after(attempt, error)
            else:
                return out

    def _attempt(self, target: object, attempt: int) -> object:
        if self._subject is not None:
            self._subject.attempt = attempt
        return self._call(target)

    async def _limited(self, awaitable: Awaitable[object]) -> object:
        if self._timeout is None:
            return await awaitable
        out: object = None
        with anyio.CancelScope(deadline=anyio.current_time() + self._timeout) as scope:
            out = await awaitable
        if scope.cancelled_caught:
            raise self._late()
        return out

    def _in_time(self, seconds: float) -> None:
        if self._timeout is not None and seconds > self._timeout:
            raise self._late()

    def _late(self) -> TimeoutError:
        return TimeoutError(f"it took longer than {self._timeout:g} s")

    def _wait_after(self, attempt: int, error: Exception) -> float:
        """Seconds to wait before the next attempt.

        Raises:
            BaseException: There is none: what the failure is.
        """
        for latch in (self._latch, self._own_latch):
            if latch is not None and latch.tripwire is not None:
                raise AbortSignal(latch.tripwire)
        if self._subject is not None and self._subject.signal is not None:
            raise self._subject.signal
        cause = error.__cause__ if isinstance(error, StepFailed) and isinstance(error.__cause__, Exception) else error
        if self._retry is None or not self._retry.allows(attempt, cause):
            if isinstance(error, RunError):
                raise error
            raise StepFailed(self._path, error, attempt=attempt, phase=Phase.OUTPUT_STREAM) from error
        return self._retry.wait_after(attempt)


class _Trying:
    """Attempts to be awaited."""

    __slots__ = ("_awaitable", "_target", "_tried", "_wait")

    def __init__(self, tried: Tried, target: object, awaitable: Awaitable[object] | None, wait: float) -> None:
        self._tried = tried
        self._target = target
        self._awaitable = awaitable
        self._wait = wait

    def __await__(self) -> Generator[Any, Any, object]:
        return self._tried.continued(self._target, self._awaitable, self._wait).__await__()

    def close(self) -> None:
        """Drop what the first attempt waits for."""
        if self._awaitable is not None:
            close(self._awaitable)


class NestedStage:
    """A nested workflow that is tried again, or given only so much time: a stage of its own.

    Args:
        path: Where it stands.
        chain: Its stages.
        execution: The run's.
    """

    __slots__ = ("_chain", "_execution", "_path", "call", "chunk")
    waits_in_hook = False

    def __init__(self, path: str, chain: ChunkChain, execution: Execution) -> None:
        self._path = path
        self._chain = chain
        self._execution = execution
        self.call: Callable[[Any], object] = self._pushed
        self.chunk: Any = None

    def row(self) -> tuple[Callable[[Any], object], Any]:
        """The chain, and this stage."""
        return self.call, self

    def _pushed(self, _: object) -> object:
        return self._chain.push(self.chunk)

    def again(self) -> None:
        """Note that the chunk comes to the chain once more."""
        self._chain.also(1)

    async def flush(self, end: Chunk) -> tuple[Chunk, ...]:
        """What guards in the chain hold back of a text whose end does not come to it."""
        return await self._chain.flush(end)

    def settle(self, chunk: Value, out: Values) -> Values:
        """What the chain gave."""
        return out

    def failed(self, error: BaseException) -> BaseException:
        """What is raised for an error in it."""
        return failure_of(self._execution.latch, self._path, error)

    def also(self, runs: int) -> None:
        """Count them for the chain."""
        self._chain.also(runs)

    def missed(self, error: BaseException) -> None:
        """Note for the chain that it was not asked."""
        self._chain.missed(error)

    def abandon(self, error: BaseException) -> None:
        """Drop what the chain waits for."""
        self._chain.abandon(error)

"""How a processor's stream hook is run: its time-out, its thread, what its failure means, and shadowing."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from inspect import iscoroutinefunction
from time import perf_counter
from types import coroutine
from typing import TYPE_CHECKING, Any, cast

from interlock.messages import Chunk
from interlock.processors.returns import chunks_returned
from interlock.processors.stream_context import OutputStreamContext
from interlock.runtime.chunk_stages.failures import failure_of
from interlock.runtime.execution import Execution
from interlock.runtime.join import on_asyncio
from interlock.runtime.limited import Limited, UntilDecided, limited
from interlock.runtime.policy import Policy, could_not_decide, late
from interlock.runtime.primed import Primed
from interlock.runtime.strand import close, is_awaitable
from interlock.verdict import Phase

if TYPE_CHECKING:
    from interlock.runtime.chunk_stages.hook import HookStage

__all__ = ["PolicyCall", "threaded", "timed"]

Call = Callable[[Any], object]


def threaded(call: Call) -> Call:
    """A hook in a worker thread, left alone where it is cancelled."""

    def called(target: object) -> object:
        from anyio import to_thread

        return to_thread.run_sync(call, target, abandon_on_cancel=True)

    return called


def timed(call: Call, seconds: float, execution: Execution) -> Call:
    """A hook that may take so long, from when it first waits.

    Args:
        call: The hook.
        seconds: How long.
        execution: The run's.
    """
    return (
        _timed_coroutine(call, seconds, execution)
        if iscoroutinefunction(call)
        else _TimedCall(call, seconds, execution)
    )


def _timed_coroutine(call: Call, seconds: float, execution: Execution) -> Call:
    """The same for a coroutine function: where it never waits, no timer is touched.

    Its first part is run by hand, to see whether it waits. It is one generator, since this is done for each chunk.
    """
    begun = cast("Callable[[object], Coroutine[Any, Any, object]]", call)
    begin: Callable[[float], Any] | None = None
    end: Callable[[Any], bool]

    @coroutine
    def run(target: object) -> Generator[Any, Any, object]:
        nonlocal begin, end
        if begin is None and not on_asyncio():
            return (yield from limited(begun(target), seconds))
        hook = begun(target)
        try:
            yielded: object = hook.send(None)
        except StopIteration as done:
            result: object = done.value
            return result
        if begin is None:  # looked up once: it takes as long as the rest
            begin, end = execution.timekeeper.begin, execution.timekeeper.end
        task = begin(seconds)
        try:
            try:
                yield yielded
            except BaseException as error:
                result = yield from _thrown(hook, error)
            else:  # asyncio sends nothing but None, so the rest needs no hand in between
                result = yield from hook.__await__()
        except CancelledError:
            if end(task):
                raise late(seconds) from None
            raise
        except BaseException:
            end(task)
            raise
        if end(task):  # it was told that its time was up, and has swallowed that
            raise late(seconds)
        return result

    async def timed_hook(target: object) -> object:
        return await run(target)

    return timed_hook


def _thrown(hook: Coroutine[Any, Any, object], error: BaseException) -> Generator[Any, Any, object]:
    """The rest of a coroutine that an error comes to where it waits for the first time."""
    if isinstance(error, GeneratorExit):
        hook.close()
        raise error
    try:
        yielded: object = hook.throw(error)
    except StopIteration as done:
        result: object = done.value
        return result
    return (yield from Primed(hook, yielded).__await__())


class _TimedCall:
    __slots__ = ("_call", "_execution", "_seconds")

    def __init__(self, call: Call, seconds: float, execution: Execution) -> None:
        self._call = call
        self._seconds = seconds
        self._execution = execution

    def __call__(self, target: object) -> object:
        began = perf_counter()
        out = self._call(target)
        if is_awaitable(out):
            return Limited(cast("Awaitable[object]", out), self._seconds)
        if perf_counter() - began > self._seconds:
            raise late(self._seconds)
        return out


class PolicyCall:
    """A hook whose failure does not fail the run, or which only shadows.

    Args:
        call: The hook, within its time-out.
        stage: Its stage, for records.
        policy: How it is run.
        execution: The run's.
    """

    __slots__ = ("_call", "_execution", "_policy", "_stage")

    def __init__(self, call: Call, stage: HookStage, policy: Policy, execution: Execution) -> None:
        self._call = call
        self._stage = stage
        self._policy = policy
        self._execution = execution

    def __call__(self, target: OutputStreamContext) -> object:
        told = 0 if target.pieces is None else len(target.pieces)
        try:
            out = self._call(target)
        except BaseException as error:
            return self._decided(target, error, told)
        if is_awaitable(out):
            waits = cast("Awaitable[object]", out)
            own = self._stage.seat.own_latch
            return _Watched(self, target, waits if own is None else UntilDecided(waits, own), told)
        return self._looked(target, out, told)

    async def waited(self, target: OutputStreamContext, awaitable: Awaitable[object], told: int) -> object:
        """The same for a hook that waits."""
        try:
            out = await awaitable
        except BaseException as error:
            return self._decided(target, error, told)
        return self._looked(target, out, told)

    def _looked(self, target: OutputStreamContext, out: object, told: int) -> object:
        """Look at what the hook returned."""
        chunk = target.chunk
        try:
            flow = (chunk,) if out is chunk else chunks_returned(target, out)
        except Exception as error:
            return self._decided(target, error, told)
        if not self._policy.shadow:
            return out
        if not self._stage.shadow_blocked():
            edited = target.edited
            if edited or (edited is None and flow != (chunk,)):
                self._stage.shadow_changed()
        return self._untouched(target, told)

    def _decided(self, target: OutputStreamContext, error: BaseException, told: int) -> object:
        """Pass the hook over, or stop the run, as the policy says.

        Raises:
            BaseException: The error itself: it is no failure of the hook, or fails the run.
        """
        policy, stage = self._policy, self._stage
        if policy.shadow and stage.shadow_blocked():
            return self._untouched(target, told)
        latch = self._execution.latch
        failure = failure_of(latch, stage.path, error)
        if not isinstance(failure, Exception) or latch.tripwire is not None:
            raise error
        if policy.shadow or policy.on_failure == "skip":
            stage.passed_over(failure)
            return self._untouched(target, told) if policy.shadow else self._given_up(target)
        if policy.on_failure == "block":
            raise could_not_decide(stage.seat, Phase.OUTPUT_STREAM, failure, policy.timeout) from error
        raise error

    def _untouched(self, target: OutputStreamContext, told: int) -> Chunk:
        """What came in; nothing that a shadow has told or kept of it counts for others."""
        if target.pieces is not None:
            del target.pieces[told:]
        target.edited = None
        return target.chunk

    def _given_up(self, target: OutputStreamContext) -> Chunk | Sequence[Chunk]:
        """What came in, behind what the hook has held back."""
        held = target.held
        target.edited = False
        give_up: Callable[[OutputStreamContext], list[Chunk]] | None = getattr(held, "give_up", None)
        if give_up is None:
            return target.chunk
        return [*give_up(target), target.chunk]


class _Watched:
    """A hook that waits."""

    __slots__ = ("_awaitable", "_call", "_target", "_told")

    def __init__(self, call: PolicyCall, target: OutputStreamContext, awaitable: Awaitable[object], told: int) -> None:
        self._call = call
        self._target = target
        self._awaitable = awaitable
        self._told = told

    def __await__(self) -> Generator[Any, Any, object]:
        return self._call.waited(self._target, self._awaitable, self._told).__await__()

    def close(self) -> None:
        """Drop it."""
        close(self._awaitable)

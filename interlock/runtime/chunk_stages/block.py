"""Plain parallel branches and the map or merge right behind them, as one stage: the shape that must be quickest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from types import CoroutineType
from typing import Any, cast

from interlock.messages import Chunk
from interlock.processors.hook_context import own_copy
from interlock.processors.stream_context import OutputStreamContext, merge_outs
from interlock.runtime.chunk_chain import Flow, Halt, as_tuple
from interlock.runtime.chunk_stages.arm import Arm
from interlock.runtime.chunk_stages.call import Asked, Call, Function
from interlock.runtime.chunk_stages.failures import failure_of
from interlock.runtime.chunk_stages.scope import Scope
from interlock.runtime.chunk_stages.values import CARRYING, Keyed, Values, flow_of
from interlock.runtime.chunk_stages.woven import Hooked
from interlock.runtime.join import Stop, join
from interlock.runtime.strand import is_awaitable
from interlock.steps import StepContext, Turn
from interlock.verdict import AbortSignal, BailSignal

__all__ = ["BlockStage", "Reducer"]

Waiting = tuple[Arm, "Coroutine[Any, Any, Flow]"]
"""A branch that waits, and for what."""


class Reducer(Call):
    """A map or function step that makes one context of a plain block's branches.

    Args:
        outputs: By branch its context, in a dict that is used again for every chunk.
    """

    __slots__ = ("_reducing",)

    def __init__(
        self, function: Function, asked: Asked, scope: Scope, context: OutputStreamContext, outputs: Keyed
    ) -> None:
        super().__init__(function, asked, scope, context)
        self._reducing: StepContext[Any] = StepContext(outputs.shown(), scope.run, Turn(asked))

    def called(self, _: object = None) -> object:
        """Ask it about the branches."""
        return self.ask(self._reducing)


class BlockStage:
    """Parallel branches and the map or merge behind them, as one stage.

    Args:
        path: Where it stands.
        arms: The branches.
        scope: The workflow it stands in.
        halt: Why its branches are stopped.
        stop: What stops them while they wait.
        reducer: The map; None: the branches are merged.
        prefer: The branch that wins a conflict in a merge.
    """

    __slots__ = ("_arms", "_execution", "_halt", "_prefer", "_reducer", "_run", "_stop", "_waiting", "chunk", "path")
    waits_in_hook = False

    def __init__(
        self,
        path: str,
        arms: Sequence[Arm],
        scope: Scope,
        halt: Halt,
        stop: Stop,
        *,
        reducer: Call | None,
        prefer: str | None = None,
    ) -> None:
        self.path = path
        self.chunk: Any = None
        self._arms = tuple(arms)
        self._execution = scope.execution
        self._run = scope.run
        self._halt = halt
        self._stop = stop
        self._prefer = prefer
        self._waiting: Sequence[Waiting] = ()
        self._reducer = reducer

    def row(self) -> tuple[Callable[[Any], object], Any]:
        """All branches, and this stage."""
        return self._branched, self

    def _branched(self, _: object) -> object:
        """The chunk through all branches; gives what goes on, or something to await."""
        chunk = self.chunk
        same = (chunk,)
        carries = isinstance(chunk, CARRYING)
        waiting: list[Waiting] = []
        reached = 0
        try:
            for arm in self._arms:
                reached += 1
                context = arm.context
                own: Any = own_copy(chunk) if carries else chunk
                context.chunk = own
                context.out = same
                out: Any = arm.chain.push(own)
                if out is chunk or (carries and out == chunk):
                    continue
                if out.__class__ is CoroutineType:
                    waiting.append((arm, out))
                else:
                    context.out = as_tuple(cast("Flow", out))
        except BaseException as error:
            _abandon(waiting, error)
            for arm in self._arms[reached:]:
                arm.chain.missed(error)
            raise
        if waiting:
            self._waiting = waiting
            return self._joined(chunk, same, waiting)
        reduced = self._reduced(chunk, same)
        if self._reducer is not None and is_awaitable(reduced):
            return Hooked(cast("Awaitable[object]", reduced), self._execution)
        return reduced

    async def _joined(self, chunk: Chunk, same: tuple[Chunk, ...], waiting: Sequence[Waiting]) -> object:
        self._waiting = ()
        execution = self._execution
        if len(waiting) == 1:
            outs = [await waiting[0][1]]
        else:
            execution.joins += 1
            try:
                outs = await join([awaitable for _, awaitable in waiting], self._stop)
            except BaseException as error:
                _abandon(waiting, error)  # what was stopped before it began
                raise
            finally:
                execution.joins -= 1
        if self._stop.stopped:
            signal = self._signal()
            _abandon(waiting, signal)
            raise signal
        for (arm, _), out in zip(waiting, outs, strict=True):
            if out is not chunk and out != chunk:
                arm.context.out = as_tuple(out)
        reduced = self._reduced(chunk, same)
        if is_awaitable(reduced):
            return await Hooked(cast("Awaitable[object]", reduced), execution)
        return reduced

    def _signal(self) -> BaseException:
        """What stopped the branches, whatever became of its signal."""
        tripwire = self._execution.latch.tripwire
        return BailSignal(self._run) if tripwire is None else AbortSignal(tripwire)

    def _reduced(self, chunk: Chunk, same: tuple[Chunk, ...]) -> object:
        """What goes on of what the branches made."""
        if self._reducer is not None:
            return self._reducer.called()
        outs = {arm.key: arm.context.out for arm in self._arms if arm.context.out is not same}
        if not outs:
            return chunk
        return merge_outs(same, {arm.key: arm.context.out for arm in self._arms}, self._prefer)

    def settle(self, chunk: Chunk, out: object) -> Values:
        """What goes on: a merge's chunks, or the ``out`` of the context that a map returned."""
        reducer = self._reducer
        if reducer is None:
            flow = cast("tuple[Chunk, ...]", out)
            return flow[0] if len(flow) == 1 else flow
        reducer.ended()
        if any(arm.context is out for arm in self._arms):  # else the map made something of its own of them
            for arm in self._arms:
                if arm.context is not out and arm.context.out != (chunk,):
                    for hook in arm.hooks:
                        hook.leave_behind()
        return flow_of(out, reducer.asked.path)

    def failed(self, error: BaseException) -> BaseException:
        """What is raised for an error of a branch or of the map."""
        self._halt.why = None
        if self._reducer is not None:
            return self._reducer.failed(error)  # a branch's own is what it is already
        return failure_of(self._execution.latch, self.path, error)

    def also(self, runs: int) -> None:
        """Count them for every branch."""
        for arm in self._arms:
            arm.chain.also(runs)

    def missed(self, error: BaseException) -> None:
        """Note for every branch that it was not asked."""
        for arm in self._arms:
            arm.chain.missed(error)

    def abandon(self, error: BaseException) -> None:
        """Drop what the branches wait for."""
        _abandon(self._waiting, error)
        self._waiting = ()


def _abandon(waiting: Sequence[Waiting], error: BaseException) -> None:
    for arm, awaitable in waiting:
        awaitable.close()
        arm.chain.abandon(error)

"""A chain of stages that a chunk goes through, one after the other.

What goes in is one chunk. What comes out is that chunk, another, or a tuple where a stage made none or several of it
(each of which then takes the rest of the chain by itself), or something to await that gives one of these.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import CoroutineType
from typing import Any, NoReturn, Protocol, cast

from interlock.messages import Chunk
from interlock.runtime.execution import Execution
from interlock.runtime.strand import close, is_awaitable
from interlock.verdict import AbortSignal

__all__ = ["ChunkChain", "Flow", "MaybeFlow", "Stage", "as_tuple"]

Flow = Chunk | tuple[Chunk, ...]
MaybeFlow = Flow | Awaitable[Flow]


class Stage(Protocol):
    """One node of the per-chunk plan, bound to a run."""

    waits_in_hook: bool
    """Whether waiting for it means waiting for the user's own code."""

    def row(self) -> tuple[Callable[[Any], object], Any]:
        """What is called for a chunk, and with what: its attribute ``chunk`` is set before.

        The call gives what goes on, or something to await that gives it.
        """
        ...

    def settle(self, chunk: Chunk, out: Any) -> Flow:
        """What goes on, for what the call gave (awaited) when that is not the chunk itself."""
        ...

    def failed(self, error: BaseException) -> BaseException:
        """Note the failure; give back what is to be raised (``error`` itself to let it pass)."""
        ...

    def also(self, runs: int) -> None:
        """Note that a chunk came to it as more chunks than one, or (-1) as none."""
        ...

    def missed(self, error: BaseException) -> None:
        """Note that it was not asked about a chunk, because of ``error``."""
        ...

    def abandon(self) -> None:
        """Drop what it waits for inside what the call gave, because nobody will await that."""
        ...


class ChunkChain:
    """Stages in a row.

    Args:
        stages: In order.
        execution: The run's.
    """

    __slots__ = ("_behind", "_execution", "_latch", "_pending", "_rows", "stages")

    def __init__(self, stages: Sequence[Stage], execution: Execution) -> None:
        self.stages = tuple(stages)
        self._rows: tuple[tuple[Callable[[Any], object], Any], ...] = tuple(stage.row() for stage in stages)
        self._execution = execution
        self._latch = execution.latch
        self._behind: dict[int, ChunkChain] = {}
        self._pending: tuple[int, Awaitable[object]] | None = None

    def push(self, chunk: Chunk) -> MaybeFlow:
        """Take a chunk through all stages."""
        latch = self._latch
        index = 0
        out: Any = chunk
        try:
            for call, target in self._rows:
                target.chunk = chunk
                out = call(target)
                if out is not chunk or latch.tripwire is not None:
                    break
                index += 1
            else:
                return chunk
        except BaseException as error:
            self._fail(index, error)
        kind: Any = out.__class__
        if kind is CoroutineType or hasattr(kind, "__await__"):
            self._pending = (index, out)
            return self._awaited(index, chunk, out)
        try:
            flow = self._settled(index, chunk, out)
        except BaseException as error:
            self._fail(index, error)
        return self._rest(index + 1, flow)

    async def _awaited(self, index: int, chunk: Chunk, awaitable: Awaitable[object]) -> Flow:
        """The rest of the way, from a stage that waits."""
        count = len(self.stages)
        latch = self._latch
        flow: Any = chunk
        if latch.tripwire is not None:  # a sibling was quicker: what has not begun does not begin
            self.abandon()
            self._fail(index, AbortSignal(latch.tripwire))
        while True:
            try:
                out: Any = await (awaitable if self._execution.joins else self._waited(index, awaitable))
                flow = chunk if out is chunk and latch.tripwire is None else self._settled(index, chunk, out)
                index += 1
                while index < count and flow.__class__ is not tuple:
                    chunk = flow
                    call, target = self._rows[index]
                    target.chunk = chunk
                    out = call(target)
                    kind: Any = out.__class__
                    if kind is CoroutineType or hasattr(kind, "__await__"):
                        awaitable = out
                        break
                    flow = self._settled(index, chunk, out)
                    index += 1
                else:
                    break
            except BaseException as error:
                self._fail(index, error)
        came_out: Flow = flow
        if index == count:
            return came_out
        rest = self._rest(index, flow)
        return await cast("Awaitable[Flow]", rest) if is_awaitable(rest) else cast("Flow", rest)

    def _waited(self, index: int, awaitable: Awaitable[object]) -> Awaitable[object]:
        """The awaitable; where it is the user's code (in the run's own task), that is noted meanwhile."""
        if self.stages[index].waits_in_hook:
            return self._execution.in_hook(awaitable)
        return awaitable

    def _settled(self, index: int, chunk: Chunk, out: object) -> Flow:
        if self._latch.tripwire is not None:
            raise AbortSignal(self._latch.tripwire)
        return chunk if out is chunk else self.stages[index].settle(chunk, out)

    def _rest(self, start: int, flow: Flow) -> MaybeFlow:
        """Take what a stage made through the stages behind it."""
        if start == len(self.stages):
            return flow
        if isinstance(flow, tuple):
            for stage in self.stages[start:]:
                stage.also(len(flow) - 1)
            if not flow:
                return flow
        behind = self._behind.get(start)
        if behind is None:
            behind = self._behind[start] = ChunkChain(self.stages[start:], self._execution)
        return self._each(behind, flow) if isinstance(flow, tuple) else behind.push(flow)

    def _each(self, behind: ChunkChain, flow: tuple[Chunk, ...]) -> MaybeFlow:
        """Each chunk of a flow through the stages behind, one after the other."""
        done: list[Chunk] = []
        for number, chunk in enumerate(flow):
            out = behind.push(chunk)
            if is_awaitable(out):
                return self._each_awaited(behind, flow[number + 1 :], done, cast("Awaitable[Flow]", out))
            done += as_tuple(cast("Flow", out))
        return tuple(done)

    async def _each_awaited(
        self, behind: ChunkChain, left: tuple[Chunk, ...], done: list[Chunk], awaitable: Awaitable[Flow]
    ) -> Flow:
        """The same from a chunk that waits."""
        done += as_tuple(await awaitable)
        for chunk in left:
            out = behind.push(chunk)
            done += as_tuple(await cast("Awaitable[Flow]", out) if is_awaitable(out) else cast("Flow", out))
        return tuple(done)

    def also(self, runs: int) -> None:
        """Note for all stages that a chunk came to them as more chunks than one, or (-1) as none."""
        for stage in self.stages:
            stage.also(runs)

    def missed(self, error: BaseException) -> None:
        """Note for all stages that they were not asked about a chunk, because of ``error``."""
        for stage in self.stages:
            stage.missed(error)

    def abandon(self) -> None:
        """Drop what ``push`` gave to be awaited, because nobody will await it."""
        if self._pending is not None:
            index, awaitable = self._pending
            close(awaitable)
            self.stages[index].abandon()
        for behind in self._behind.values():
            behind.abandon()

    def _fail(self, index: int, error: BaseException) -> NoReturn:
        told = self.stages[index].failed(error)
        for stage in self.stages[index + 1 :]:
            stage.missed(error)
        if told is error:
            raise error
        raise told from error


def as_tuple(flow: Flow) -> tuple[Chunk, ...]:
    """A flow as a tuple of chunks."""
    return flow if isinstance(flow, tuple) else (flow,)

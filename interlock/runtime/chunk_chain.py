"""A chain of stages that a chunk goes through, one after the other.

What goes in is one chunk. What comes out is that chunk, another, or a tuple where a stage made none or several of it
(each of which then takes the rest of the chain by itself), or something to await that gives one of these. Between a
block and what makes one value of its branches, what flows is their keyed output, and takes the place of a chunk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import CoroutineType
from typing import Any, Protocol, cast

from interlock.errors import InvalidProcessorReturn
from interlock.messages import Chunk
from interlock.runtime.chunk_stages.values import MaybeValues, Value, Values, as_tuple, flow_of
from interlock.runtime.execution import Execution
from interlock.runtime.strand import close, is_awaitable
from interlock.steps import StepRun
from interlock.verdict import AbortSignal, BailSignal

__all__ = ["ChunkChain", "Flow", "Halt", "MaybeFlow", "Stage", "as_tuple"]

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

    def settle(self, chunk: Any, out: Any) -> Values:
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

    def abandon(self, error: BaseException) -> None:
        """Drop what the call gave, because nobody will await that; it was not asked, because of ``error``."""
        ...


class Halt:
    """Why a block stops its branches, while it does.

    Args:
        at_failure: Whether one that fails stops the others.

    Attributes:
        why: In words, for records; None while it does not.
    """

    __slots__ = ("at_failure", "why")

    def __init__(self, *, at_failure: bool = True) -> None:
        self.at_failure = at_failure
        self.why: str | None = None


class ChunkChain:
    """Stages in a row.

    Args:
        stages: In order.
        execution: The run's.
        ends: Of the workflows laid out in the chain, the place of the first stage behind each.
        halt: Of the block whose branch it is.
    """

    __slots__ = ("_behind", "_ends", "_execution", "_halt", "_latch", "_owed", "_pending", "_rows", "stages")

    def __init__(
        self,
        stages: Sequence[Stage],
        execution: Execution,
        ends: Mapping[StepRun, int] | None = None,
        halt: Halt | None = None,
    ) -> None:
        self.stages = tuple(stages)
        self._rows: tuple[tuple[Callable[[Any], object], Any], ...] = tuple(stage.row() for stage in stages)
        self._execution = execution
        self._ends = ends or {}
        self._halt = halt
        self._latch = execution.latch
        self._behind: dict[int, ChunkChain] = {}
        self._pending: tuple[int, Awaitable[object]] | None = None
        self._owed: tuple[int, Awaitable[object]] | None = None

    def push(self, chunk: Value) -> MaybeValues:
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
            return self._rest(*self._fail(index, error))
        kind: Any = out.__class__
        if kind is CoroutineType or hasattr(kind, "__await__"):
            self._pending = (index, out)
            return self._awaited(index, chunk, out)
        try:
            flow = self._settled(index, chunk, out)
        except BaseException as error:
            return self._rest(*self._fail(index, error))
        return self._rest(index + 1, flow)

    def take(self, flow: Values) -> MaybeValues:
        """Take what a chain before gave through all stages."""
        return self._rest(0, flow)

    async def _awaited(self, index: int, chunk: Value, awaitable: Awaitable[object]) -> Values:
        """The rest of the way, from a stage that waits."""
        count = len(self.stages)
        latch = self._latch
        flow: Any = chunk
        if latch.tripwire is not None:  # a sibling was quicker: what has not begun does not begin
            signal = AbortSignal(latch.tripwire)
            self.abandon(signal)
            raise signal
        self._pending = None
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
                index, flow = self._fail(index, error)
                break
        came_out: Values = flow
        if index == count:
            return came_out
        rest = self._rest(index, flow)
        return await cast("Awaitable[Values]", rest) if is_awaitable(rest) else cast("Values", rest)

    def _waited(self, index: int, awaitable: Awaitable[object]) -> Awaitable[object]:
        """The awaitable; where it is the user's code (in the run's own task), that is noted meanwhile."""
        if self.stages[index].waits_in_hook:
            return self._execution.in_hook(awaitable)
        return awaitable

    def _settled(self, index: int, chunk: Value, out: object) -> Values:
        if self._latch.tripwire is not None:
            raise AbortSignal(self._latch.tripwire)
        return chunk if out is chunk else self.stages[index].settle(chunk, out)

    def _rest(self, start: int, flow: Values) -> MaybeValues:
        """Take what a stage made through the stages behind it."""
        if start == len(self.stages):
            return flow
        if isinstance(flow, tuple):
            for stage in self.stages[start:]:
                stage.also(len(flow) - 1)
            if not flow:
                return flow
        behind = self._behind_at(start)
        return self._each(behind, flow) if isinstance(flow, tuple) else behind.push(flow)

    def _behind_at(self, start: int) -> ChunkChain:
        """The stages from there on, as a chain."""
        if not start:
            return self
        if start not in self._behind:
            ends = {run: end - start for run, end in self._ends.items() if end > start}
            self._behind[start] = ChunkChain(self.stages[start:], self._execution, ends, self._halt)
        return self._behind[start]

    def _each(self, behind: ChunkChain, flow: tuple[Value, ...]) -> MaybeValues:
        """Each chunk of a flow through the stages behind, one after the other."""
        done: list[Value] = []
        for number, chunk in enumerate(flow, 1):
            try:
                out = behind.push(chunk)
            except BaseException as error:
                behind.skip(len(flow) - number, error)
                raise
            if is_awaitable(out):
                waits = cast("Awaitable[Values]", out)
                behind._owed = (len(flow) - number, waits)
                return self._each_awaited(behind, flow[number:], done, waits)
            done += as_tuple(cast("Values", out))
        return tuple(done)

    async def _each_awaited(
        self, behind: ChunkChain, left: tuple[Value, ...], done: list[Value], awaitable: Awaitable[Values]
    ) -> Values:
        """The same from a chunk that waits."""
        behind._owed = None
        queue = deque(left)
        try:
            done += as_tuple(await awaitable)
            while queue:
                out = behind.push(queue.popleft())
                done += as_tuple(await cast("Awaitable[Values]", out) if is_awaitable(out) else cast("Values", out))
        except BaseException as error:
            behind.skip(len(queue), error)
            raise
        return tuple(done)

    async def flush(self, end: Chunk) -> tuple[Chunk, ...]:
        """What its guards hold back of a text whose end does not come to them, through the stages behind each.

        Args:
            end: The chunk that ends it; the stages behind are not asked about that.
        """
        done: tuple[Value, ...] = ()
        for index, stage in enumerate(self.stages):
            flush = getattr(stage, "flush", None)
            if flush is None:
                continue
            try:
                waits: Awaitable[object] = flush(end)
                held: Any = await (waits if self._execution.joins else self._waited(index, waits))
                if self._latch.tripwire is not None:
                    raise AbortSignal(self._latch.tripwire)
            except BaseException as error:
                self._fail(index, error)
                raise
            if held:
                rest = self._rest(index + 1, held)
                done += as_tuple(await cast("Awaitable[Values]", rest) if is_awaitable(rest) else cast("Values", rest))
        return cast("tuple[Chunk, ...]", done)

    def also(self, runs: int) -> None:
        """Note for all stages that a chunk came to them as more chunks than one, or (-1) as none."""
        for stage in self.stages:
            stage.also(runs)

    def missed(self, error: BaseException) -> None:
        """Note for all stages that they were not asked about a chunk, because of ``error``."""
        for stage in self.stages:
            stage.missed(error)

    def skip(self, count: int, error: BaseException) -> None:
        """Note for all stages that so many chunks did not come to them, because of ``error``."""
        for _ in range(count):
            self.missed(error)

    def abandon(self, error: BaseException) -> None:
        """Drop what ``push`` gave to be awaited, because nobody will await it. Does nothing where somebody has."""
        pending, self._pending = self._pending, None
        if pending is not None:
            index, awaitable = pending
            close(awaitable)
            self.stages[index].abandon(error)
            for stage in self.stages[index + 1 :]:
                stage.missed(error)
        owed, self._owed = self._owed, None
        if owed is not None:
            count, each = owed
            close(each)
            self.skip(count, error)
        for behind in self._behind.values():
            behind.abandon(error)

    def _fail(self, index: int, error: BaseException) -> tuple[int, Values]:
        """Note how a stage failed; gives where to go on, and with what, where it ended a workflow of this chain.

        Raises:
            BaseException: What the failure becomes.
        """
        told = self.stages[index].failed(error)
        if isinstance(told, BailSignal):
            run = cast("StepRun", told.scope)
            end = self._ends.get(run)
            for stage in self.stages[index + 1 : end]:
                stage.also(-1)
            if end is not None:
                try:
                    return end, _bailed(run)
                except InvalidProcessorReturn as refused:
                    told = refused
                    index = end - 1
        if self._halt is not None:
            self._note_halt(self._halt, told)
        if not isinstance(told, BailSignal):
            for stage in self.stages[index + 1 :]:
                stage.missed(told)
        if told is error:
            raise error
        raise told from error

    def _note_halt(self, halt: Halt, told: BaseException) -> None:
        """Note why the siblings of this branch are about to be stopped."""
        if halt.why is not None:
            return
        if isinstance(told, BailSignal):
            halt.why = ENDED
        elif isinstance(told, Exception) and halt.at_failure:
            halt.why = "the run failed first"


ENDED = "its workflow was ended first"


def _bailed(run: StepRun) -> Values:
    """What a step ended its workflow with; from then on the workflow can run again."""
    result, run.bailed = run.bailed, None
    return flow_of(None if result is None else result[0], "ctx.bail()")

"""The stages of a chunk's path: a processor's hook, a function, a block of parallel branches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from types import CoroutineType
from typing import Any, cast

from interlock.errors import InvalidProcessorReturn
from interlock.messages import Chunk, ToolCall, ToolError, ToolResult
from interlock.processors.base import Processor, ProcessorStep
from interlock.processors.hook_context import own_copy
from interlock.processors.returns import chunks_returned
from interlock.processors.stream_context import OutputStreamContext, merge_outs
from interlock.runtime.checks import why_stopped
from interlock.runtime.chunk_chain import ChunkChain, Flow, as_tuple
from interlock.runtime.execution import Execution
from interlock.runtime.join import join
from interlock.runtime.operations import BranchOutputs
from interlock.runtime.strand import as_failure, close, is_awaitable
from interlock.steps import StepContext, StepRun
from interlock.verdict import Phase, Verdict

__all__ = ["Arm", "BlockStage", "FunctionStage", "HookStage", "Reducer"]


class HookStage:
    """A processor's ``process_output_stream``, with the one context it is given for every chunk.

    Attributes:
        verdict: What it has decided so far, over all chunks.
        left_behind: Whether something it changed did not go on.
        extra_runs: How many chunks more (or fewer) came to it than to the path: earlier stages split and drop.
    """

    __slots__ = (
        "_execution",
        "_seat",
        "extra_runs",
        "left_behind",
        "list",
        "order",
        "path",
        "phase",
        "processor",
        "reason",
        "target",
        "verdict",
    )
    waits_in_hook = True

    def __init__(
        self,
        step: ProcessorStep,
        context: OutputStreamContext,
        execution: Execution,
        path: str,
        list: str,  # noqa: A002
        order: tuple[int, ...],
    ) -> None:
        self.processor: Processor = step.processor
        self.phase = Phase.OUTPUT_STREAM
        self.path = path
        self.list = list
        self.order = order
        self._execution = execution
        self._seat = execution.seat(step.processor)
        self.target = context.seated(self._seat)
        self.verdict: Verdict = "passed"
        self.reason: str | None = None
        self.left_behind = False
        self.extra_runs = 0

    def row(self) -> tuple[Callable[[Any], object], Any]:
        """The hook, and its context."""
        return self.processor.process_output_stream, self.target

    def settle(self, chunk: Chunk, out: object) -> Flow:
        """What goes on for what the hook returned."""
        flow = chunks_returned(self.target, out)
        if flow == (chunk,):
            return chunk
        if self.verdict == "passed":
            self.verdict = "changed"
        return flow[0] if len(flow) == 1 else flow

    def failed(self, error: BaseException) -> BaseException:
        """Note a block or a failure."""
        latch = self._execution.latch
        told = as_failure(latch, self.path, error, self.phase)
        if latch.tripwire is not None and latch.tripwire.processor_id == self.processor.id:
            self.verdict, self.reason = "blocked", latch.tripwire.reason
        elif latch.tripwire is None and isinstance(told, Exception):
            self.verdict, self.reason = "not-checked", f"failed: {type(told.__cause__ or error).__name__}"
        else:
            self.missed(error)
        return told

    def also(self, runs: int) -> None:
        """Count the chunks that came to it."""
        self.extra_runs += runs

    def missed(self, error: BaseException) -> None:
        """Note that it came to no verdict on a chunk."""
        if self.verdict not in ("blocked", "not-checked"):
            self.verdict, self.reason = "not-checked", why_stopped(self._execution.latch.tripwire, error)

    def abandon(self) -> None:
        """It waits for nothing but the hook."""

    @property
    def not_checked(self) -> str | None:
        """Why it did not look at something, where it has said so."""
        return self._seat.not_checked

    def warnings(self) -> Sequence[str]:
        """What it warned of so far."""
        return [violation.message for violation in self._seat.warnings]


class FunctionStage:
    """A function step or a map that stands by itself: a context in, a context out."""

    __slots__ = ("_context", "_execution", "_function", "_step_context", "chunk", "path")
    waits_in_hook = True

    def __init__(
        self,
        function: Callable[[StepContext[Any]], object],
        step_id: str,
        path: str,
        context: OutputStreamContext,
        execution: Execution,
        run: StepRun,
    ) -> None:
        self.path = path
        self.chunk = context.chunk
        self._execution = execution
        self._context = context
        self._function = function
        self._step_context = StepContext(context, run, step_id)

    def row(self) -> tuple[Callable[[Any], object], Any]:
        """The function behind its context, and this stage."""
        return self._called, self

    def _called(self, _: object) -> object:
        self._context.chunk = self.chunk
        self._context.out = (self.chunk,)
        return self._function(self._step_context)

    def settle(self, chunk: Chunk, out: object) -> Flow:
        """What goes on: the context's ``out``."""
        return flow_of(chunk, out, self._step_context.step_id)

    def failed(self, error: BaseException) -> BaseException:
        """What is raised for an error of the function."""
        return as_failure(self._execution.latch, self.path, error, Phase.OUTPUT_STREAM)

    def also(self, runs: int) -> None:
        """A function keeps no record."""

    def missed(self, error: BaseException) -> None:
        """A function keeps no record."""

    def abandon(self) -> None:
        """It waits for nothing but the function."""


class Arm:
    """One branch of a block.

    Args:
        key: What its output is keyed by.
        chain: Its stages; empty where it does not act.
        context: What a map sees of it: ``chunk`` came in, ``out`` goes on.
        hooks: The processors in it, for records.
    """

    __slots__ = ("chain", "context", "hooks", "key")

    def __init__(self, key: str, chain: ChunkChain, context: OutputStreamContext, hooks: Sequence[HookStage]) -> None:
        self.key = key
        self.chain = chain
        self.context = context
        self.hooks = hooks


Waiting = tuple[Arm, "Coroutine[Any, Any, Flow]"]
"""A branch that waits, and for what."""

_CARRYING = (ToolCall, ToolResult, ToolError)
"""Chunks that carry what could be changed in place: each branch looks at a copy."""

Reducer = Callable[[StepContext[Any]], object]
"""What a map does with the branches."""


class BlockStage:
    """Parallel branches and the map or merge behind them, as one stage.

    Args:
        path: Where it stands.
        arms: The branches.
        reducer: The map's function and id; None: the branches are merged.
        prefer: The branch that wins a conflict in a merge.
    """

    __slots__ = ("_arms", "_execution", "_prefer", "_reducer", "_step_context", "_waiting", "chunk", "path")
    waits_in_hook = False

    def __init__(
        self,
        path: str,
        arms: Sequence[Arm],
        base: OutputStreamContext,
        execution: Execution,
        run: StepRun,
        *,
        reducer: tuple[Reducer, str] | None,
        prefer: str | None = None,
    ) -> None:
        self.path = path
        self.chunk = base.chunk
        self._arms = tuple(arms)
        self._execution = execution
        self._prefer = prefer
        self._waiting: Sequence[Waiting] = ()
        self._reducer = None if reducer is None else reducer[0]
        outputs = BranchOutputs(base, (), {arm.key: arm.context for arm in arms})
        self._step_context = StepContext(outputs, run, "" if reducer is None else reducer[1])

    def row(self) -> tuple[Callable[[Any], object], Any]:
        """All branches, and this stage."""
        return self._branched, self

    def _branched(self, _: object) -> object:
        """The chunk through all branches; gives what goes on, or something to await."""
        chunk = self.chunk
        same = (chunk,)
        carries = isinstance(chunk, _CARRYING)
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
                    context.out = as_tuple(out)
        except BaseException as error:
            _abandon(waiting)
            for arm in (*(arm for arm, _ in waiting), *self._arms[reached:]):
                arm.chain.missed(error)
            raise
        if waiting:
            self._waiting = waiting
            return self._joined(chunk, same, waiting)
        return self._in_hook(self._reduced(chunk, same))

    async def _joined(self, chunk: Chunk, same: tuple[Chunk, ...], waiting: Sequence[Waiting]) -> object:
        execution = self._execution
        if len(waiting) == 1:
            outs = [await waiting[0][1]]
        else:
            execution.joins += 1
            try:
                outs = await join([awaitable for _, awaitable in waiting], execution.latch)
            finally:
                execution.joins -= 1
        if execution.latch.tripwire is not None:
            return chunk  # the chain looks at the latch before it goes on
        for (arm, _), out in zip(waiting, outs, strict=True):
            if out is not chunk and out != chunk:
                arm.context.out = as_tuple(out)
        reduced = self._in_hook(self._reduced(chunk, same))
        return await cast("Awaitable[object]", reduced) if is_awaitable(reduced) else reduced

    def _in_hook(self, reduced: object) -> object:
        """What a map gave; where it is to be awaited, that is noted as waiting for the user's own code."""
        if self._reducer is None or self._execution.joins or not is_awaitable(reduced):
            return reduced
        return self._execution.in_hook(cast("Awaitable[object]", reduced))

    def _reduced(self, chunk: Chunk, same: tuple[Chunk, ...]) -> object:
        """What goes on of what the branches made."""
        if self._reducer is not None:
            return self._reducer(self._step_context)
        outs = {arm.key: arm.context.out for arm in self._arms if arm.context.out is not same}
        if not outs:
            return chunk
        return merge_outs(same, {arm.key: arm.context.out for arm in self._arms}, self._prefer)

    def settle(self, chunk: Chunk, out: object) -> Flow:
        """What goes on: a merge's chunks, or the ``out`` of the context that a map returned."""
        if self._reducer is None:
            flow = cast("tuple[Chunk, ...]", out)
            return flow[0] if len(flow) == 1 else flow
        if any(arm.context is out for arm in self._arms):  # else the map made something of its own of them
            for arm in self._arms:
                if arm.context is not out and arm.context.out != (chunk,):
                    for hook in arm.hooks:
                        hook.left_behind = hook.verdict == "changed"
        return flow_of(chunk, out, self._step_context.step_id)

    def failed(self, error: BaseException) -> BaseException:
        """What is raised for an error of a branch or of the map."""
        return as_failure(self._execution.latch, self.path, error, Phase.OUTPUT_STREAM)

    def also(self, runs: int) -> None:
        """Count them for every branch."""
        for arm in self._arms:
            arm.chain.also(runs)

    def missed(self, error: BaseException) -> None:
        """Note for every branch that it was not asked."""
        for arm in self._arms:
            arm.chain.missed(error)

    def abandon(self) -> None:
        """Drop what the branches wait for."""
        _abandon(self._waiting)


def _abandon(waiting: Sequence[Waiting]) -> None:
    for arm, awaitable in waiting:
        close(awaitable)
        arm.chain.abandon()


def flow_of(chunk: Chunk, returned: object, step_id: str) -> Flow:
    """The chunks that a returned context lets go on.

    Raises:
        InvalidProcessorReturn: It is no context of this phase.
    """
    if not isinstance(returned, OutputStreamContext):
        raise InvalidProcessorReturn(
            step_id,
            str(Phase.OUTPUT_STREAM),
            returned,
            "the context of this phase, as it came in ctx.input or from one of its branches",
        )
    out = returned.out
    if len(out) == 1:
        return chunk if out[0] is chunk else out[0]
    return out

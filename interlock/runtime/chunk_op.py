"""The per-chunk point as one operation: for a workflow of processors that is run by itself, on one chunk's context."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, ClassVar, cast

from interlock.messages import Chunk, StepFinish
from interlock.processors.stream_context import OutputStreamContext
from interlock.runtime.chunk_chain import Flow, as_tuple
from interlock.runtime.chunk_path import ChunkPath
from interlock.runtime.strand import Operation, Strand, is_awaitable
from interlock.steps import RetryPolicy
from interlock.verdict import AbortSignal
from interlock.workflows import Plan

__all__ = ["ChunkOp"]


class ChunkOp(Operation):
    """Takes the chunks of a context through a plan, on the path they would take in an agent.

    Its steps have no records of their own: what the processors decided stands in the run's checks.

    Args:
        plan: Specialised for the per-chunk point.
        retry: The policy of steps that have none.
    """

    __slots__ = ("_plan", "_retry")
    kind: str = "workflow"
    contains: ClassVar[bool] = True

    def __init__(self, plan: Plan, *, retry: RetryPolicy | None = None) -> None:
        super().__init__(plan.id, plan.id)
        self._plan = plan
        self._retry = retry

    def begin(self, strand: Strand) -> object:
        strand.enter(self)
        context = cast("OutputStreamContext", strand.value)
        path = ChunkPath([("", self._plan)], strand.execution, context.message_list, retry=self._retry)
        path.begin_step(context.step_number, context.message_list)
        strand.note = path
        if len(context.out) == 1 and not path.keeps_lanes:
            return path.feed(context.out[0])
        return _each(path, context.out)

    def end(self, strand: Strand, result: Any) -> None:
        cast("ChunkPath", strand.note).note_checks(strand.execution.checks)
        made = cast("OutputStreamContext", strand.value).fork()
        made.out = as_tuple(cast("Flow", result))
        super().end(strand, made)

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        if strand.note is not None:
            cast("ChunkPath", strand.note).note_checks(strand.execution.checks)
        strand.entry.ended_early(error, strand.execution)
        return error

    def abandon(self, strand: Strand) -> None:
        tripwire = strand.execution.latch.tripwire
        path = cast("ChunkPath", strand.note)
        path.abandon(GeneratorExit() if tripwire is None else AbortSignal(tripwire))
        path.note_checks(strand.execution.checks)


async def _each(path: ChunkPath, chunks: tuple[Chunk, ...]) -> Flow:
    done: tuple[Chunk, ...] = ()
    for chunk in chunks:
        out = path.feed(chunk)
        done += as_tuple(await cast("Awaitable[Flow]", out) if is_awaitable(out) else cast("Flow", out))
    return done + await path.flush(StepFinish())  # nothing comes behind them

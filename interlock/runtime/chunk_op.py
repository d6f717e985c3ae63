"""The per-chunk point as one operation: for a workflow of processors that is run by itself, on one chunk's context."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import cast

from interlock.messages import Chunk
from interlock.processors.stream_context import OutputStreamContext
from interlock.runtime.chunk_chain import Flow, as_tuple
from interlock.runtime.chunk_path import ChunkPath
from interlock.runtime.strand import Operation, Strand, is_awaitable
from interlock.workflows import Plan

__all__ = ["ChunkOp"]


class ChunkOp(Operation):
    """Takes the chunks of a context through a plan, on the path they would take in an agent.

    Args:
        plan: Specialised for the per-chunk point.
    """

    waits_in_hook = False  # the path notes that itself

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def begin(self, strand: Strand) -> object:
        context = cast("OutputStreamContext", strand.value)
        path = ChunkPath([("", self.plan)], strand.execution, context.message_list)
        path.begin_step(context.step_number, context.message_list)
        strand.note = path
        return path.feed(context.out[0]) if len(context.out) == 1 else _each(path, context.out)

    def end(self, strand: Strand, result: object) -> None:
        cast("ChunkPath", strand.note).note_checks(strand.execution.checks)
        made = cast("OutputStreamContext", strand.value).fork()
        made.out = as_tuple(cast("Flow", result))
        strand.value = made

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        if strand.note is not None:
            cast("ChunkPath", strand.note).note_checks(strand.execution.checks)
        return error


async def _each(path: ChunkPath, chunks: tuple[Chunk, ...]) -> Flow:
    done: tuple[Chunk, ...] = ()
    for chunk in chunks:
        out = path.feed(chunk)
        done += as_tuple(await cast("Awaitable[Flow]", out) if is_awaitable(out) else cast("Flow", out))
    return done

"""What hooks and tools write for the client: given out as the guards let it pass, and stored with the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Final, cast

from interlock.errors import RunError
from interlock.messages import Chunk, ChunkBase, DataChunk, ToolOutput
from interlock.runtime.agent_run import AgentRun
from interlock.runtime.assembly import Assembly
from interlock.runtime.chunk_chain import Flow, as_tuple
from interlock.runtime.strand import is_awaitable
from interlock.verdict import AbortSignal

if TYPE_CHECKING:
    from interlock.runtime.chunk_path import ChunkPath
    from interlock.runtime.refused_calls import RefusedCalls

__all__ = ["looked_at", "unread", "written"]

LONGEST_ECHO: Final = 100
"""How often hooks may write in answer to what hooks wrote, before that is taken for something that has no end."""


async def written(
    run: AgentRun, into: Assembly | None = None, *, rejected: bool = False, refused: RefusedCalls | None = None
) -> Sequence[Chunk]:
    """What was written since anybody asked, in its order.

    Args:
        run: The run.
        into: The answer that is coming in, where one is: what is stored is a part of it. Default: of the message as it
            stands.
        rejected: Whether it belongs to an answer that was not accepted, so that nothing of it is stored.
        refused: The calls that are stopped for what is refused, where tools are running. Nothing more of them goes out.

    Raises:
        AbortSignal: A guard stopped the run because of it.
        RunError: Hooks that look at data write data whenever they do.
    """
    outbox = run.facts.outbox
    if not outbox:
        return ()
    out: list[Chunk] = []
    for _ in range(LONGEST_ECHO):
        for chunk in outbox.take():
            if refused is not None and chunk in refused:
                continue
            try:
                flow = await looked_at(run, chunk)
            except AbortSignal:
                if refused is None or not refused.refuse(chunk):
                    raise
                continue
            for passed in flow:
                if type(passed) is DataChunk and not rejected:
                    run.keep_data(passed, into)
                out.append(passed)
        if not outbox:
            return out
    raise RunError(
        f"run {run.facts.run_id!r}: processors with process_data_parts write data each time they see some, which would "
        "never end: have them write only for chunks of another type or name"
    )


async def looked_at(run: AgentRun, chunk: Chunk) -> tuple[Chunk, ...]:
    """What the client is given for a chunk: the chunk itself where nothing looks at chunks.

    What an agent streams that a tool has asked is looked at by the same guards as what the run's own model says.
    """
    path = run.points.chunk_path
    run.look_at_latch()
    if path is None:
        return (chunk,)
    if type(chunk) is ToolOutput and isinstance(chunk.output, ChunkBase):
        return await _inside(run, chunk, ())
    return await _fed(run, path, chunk)


async def _inside(run: AgentRun, outer: ToolOutput, around: tuple[str, ...]) -> tuple[Chunk, ...]:
    """What goes on of another agent's chunk, in the form in which it came."""
    inside = (*around, outer.tool_call_id)
    inner = cast("Chunk", outer.output)
    if type(inner) is ToolOutput and isinstance(inner.output, ChunkBase):
        flow = await _inside(run, inner, inside)
    else:
        flow = await _fed(run, run.points.inner_path(inside, run.steps[-1].step_number), inner)
    return tuple(outer if one is inner else outer.replace(output=one) for one in flow)


async def _fed(run: AgentRun, path: ChunkPath, chunk: Chunk) -> tuple[Chunk, ...]:
    out = path.feed(chunk)
    flow = await cast("Awaitable[Flow]", out) if is_awaitable(out) else cast("Flow", out)
    run.look_at_latch()
    return as_tuple(flow)


def unread(run: AgentRun) -> Sequence[Chunk]:
    """What was written before the run was stopped. No hook looks at anything any more, so what one would have looked at
    does not go out."""
    outbox = run.facts.outbox
    if not outbox:
        return ()
    path = run.points.chunk_path
    chunks = outbox.take()
    return () if path is not None and path.looks_at_data else [c for c in chunks if type(c) is DataChunk]

"""One call of a model: opened, read chunk by chunk, and closed whatever happens; its failures told from all others."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Final, cast

import anyio

from interlock.errors import InterlockError
from interlock.messages import (
    Chunk,
    ChunkBase,
    ErrorChunk,
    ReasoningDelta,
    StepFinish,
    TextDelta,
    ToolCallApproval,
    ToolCallSuspended,
    Usage,
)
from interlock.models import LanguageModel, ModelRequest
from interlock.processors.returns import RUNS_OWN
from interlock.runtime.agent_run import AgentRun
from interlock.runtime.cancellation import cancelled_itself, lonely_cancellation
from interlock.shown import shown

__all__ = ["ModelFailed", "model_chunks"]

_NEVER: Final = (*RUNS_OWN, ToolCallApproval, ToolCallSuspended)
_ENDS: Final = ("stop", "length", "tool-calls", "content-filter", "error", "other")
"""Why a model's answer may end; the other reasons are the run's own."""


class ModelFailed(Exception):
    """Wraps what a model call raised, to tell it from what a hook raised."""

    def __init__(self, error: Exception) -> None:
        self.error = error


async def model_chunks(
    run: AgentRun, model: LanguageModel, request: ModelRequest, cached: Sequence[Chunk] | None = None
) -> AsyncGenerator[Chunk, None]:
    """A model's chunks, or those of the answer that a processor gave in its place.

    Args:
        run: The run.
        model: Who is asked.
        request: What.
        cached: The answer that is there already; None: the model is called.

    Raises:
        ModelFailed: The call failed. (A failure to close it after the reader has left is raised as it is: nobody waits
            for an answer then. After a cancellation, that goes on.)
    """
    if cached is not None:
        for chunk in cached:
            fault = _fault_in(chunk, "the answer that a processor gave")
            if fault is not None:
                raise ModelFailed(fault)
            yield chunk
        return
    left: BaseException | None = None
    try:
        async with _Call(run, model.stream(request)) as chunks:
            try:
                while True:
                    run.waits = True
                    try:
                        chunk = await anext(chunks)
                    except StopAsyncIteration:
                        break
                    finally:
                        run.waits = False
                    fault = _fault_in(chunk, f"model {model.id}")
                    if fault is not None:
                        raise fault
                    yield chunk
            except BaseException as error:
                left = error
                raise
    except Exception as error:
        if left is None or isinstance(left, Exception):
            raise ModelFailed(error) from error
        if isinstance(left, GeneratorExit):
            raise
        raise left from error
    except BaseException as error:
        if cancelled_itself(error):
            raise ModelFailed(lonely_cancellation(error)) from error
        raise


def _fault_in(chunk: object, who: str) -> Exception | None:
    """What is wrong with a chunk that a model gave; its own error, where it is one."""
    if type(chunk) is TextDelta and type(chunk.text) is str:  # most are
        return None
    if isinstance(chunk, ErrorChunk):
        return chunk.error
    if not isinstance(chunk, ChunkBase):
        return InterlockError(f"{who} gave a {type(chunk).__name__} in its stream, which is no chunk")
    if isinstance(chunk, _NEVER):
        return InterlockError(f"{who} gave a {type(chunk).__name__} chunk, which only the run itself gives")
    if isinstance(chunk, TextDelta | ReasoningDelta) and not isinstance(cast("object", chunk.text), str):
        return InterlockError(f"{who} gave a {type(chunk).__name__} whose text is a {type(chunk.text).__name__}")
    return _fault_in_end(chunk, who) if isinstance(chunk, StepFinish) else None


def _fault_in_end(chunk: StepFinish, who: str) -> Exception | None:
    """What is wrong with what a model says of the end of its answer."""
    if chunk.finish_reason not in _ENDS:
        said = shown(chunk.finish_reason)
        return InterlockError(f"{who} ended its answer with the finish reason {said}; a model's are {', '.join(_ENDS)}")
    if not isinstance(cast("object", chunk.usage), Usage):
        return InterlockError(f"{who} ended its answer with a {type(chunk.usage).__name__} as its usage, not a Usage")
    return None


class _Call:
    """A model's stream, opened and closed. Waiting for it is noted: a verdict that comes meanwhile interrupts it."""

    def __init__(self, run: AgentRun, stream: AbstractAsyncContextManager[AsyncIterator[Chunk]]) -> None:
        self._run = run
        self._stream = stream

    async def __aenter__(self) -> AsyncIterator[Chunk]:
        self._run.waits = True
        try:
            return await self._stream.__aenter__()
        finally:
            self._run.waits = False

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._run.facts.latch.tripwire is None:
            await self._stream.__aexit__(kind, error, traceback)
            return
        with anyio.CancelScope(shield=True):  # what interrupts a hook that swallowed its verdict stops here
            await self._stream.__aexit__(kind, error, traceback)

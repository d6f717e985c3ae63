"""Processors for tests: one that has all ten hooks, notes every call, and does what it is told to do at one of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

import anyio.lowlevel

from interlock import Agent, AgentResult, Phase, Processor, StepContext, create_workflow
from interlock.messages import Chunk
from interlock.models import ModelRequest
from interlock.processors import (
    APIErrorContext,
    InputContext,
    InputStepContext,
    LLMRequestContext,
    LLMResponseContext,
    OutputResultContext,
    OutputStepContext,
    OutputStreamContext,
    PhaseContext,
    ProcessorStepSchema,
    ToolCallContext,
    ToolResultContext,
)
from interlock.processors.hook_context import HookContext
from interlock.testing import ScriptedModel
from interlock.workflows import WorkflowBuilder

Act = Callable[[Any], object]
"""What a processor does at a phase, given the context."""


def aborting(reason: str | None = "not here", **more: Any) -> Act:
    """Calls ``ctx.abort``; in the stream at the first text, everything before it passes."""

    def act(ctx: HookContext) -> object:
        if not isinstance(ctx, OutputStreamContext) or ctx.chunk.type == "text-delta":
            ctx.abort(reason, **more)
        return ctx.chunk

    return act


class Everywhere(Processor):
    """Has all ten hooks; notes each call as ``"id:phase"``, then does what it was told to do at that phase.

    Args:
        acts: By phase; what one returns, the hook returns.
        log: Where it notes its calls.
    """

    def __init__(
        self,
        id: str = "everywhere",  # noqa: A002
        acts: Mapping[Phase, Act] | None = None,
        *,
        log: list[str] | None = None,
    ) -> None:
        super().__init__(id=id)
        self.log = log if log is not None else []
        self.acts = dict(acts or {})

    def _seen(self, ctx: HookContext, default: object = None) -> Any:
        self._note(ctx)
        return self._done(ctx, default)

    def _note(self, ctx: HookContext) -> None:
        self.log.append(f"{self.id}:{ctx.phase}")

    def _done(self, ctx: HookContext, default: object) -> Any:
        act = self.acts.get(ctx.phase)
        return default if act is None else act(ctx)

    def process_input(self, ctx: InputContext) -> Any:
        return self._seen(ctx)

    def process_input_step(self, ctx: InputStepContext) -> Any:
        return self._seen(ctx)

    def process_llm_request(self, ctx: LLMRequestContext) -> Any:
        return self._seen(ctx)

    def process_api_error(self, ctx: APIErrorContext) -> Any:
        return self._seen(ctx)

    def process_output_stream(self, ctx: OutputStreamContext) -> Any:
        return self._seen(ctx, ctx.chunk)

    def process_llm_response(self, ctx: LLMResponseContext) -> Any:
        return self._seen(ctx)

    def process_output_step(self, ctx: OutputStepContext) -> Any:
        return self._seen(ctx)

    def process_tool_call(self, ctx: ToolCallContext) -> Any:
        return self._seen(ctx)

    def process_tool_result(self, ctx: ToolResultContext) -> Any:
        return self._seen(ctx)

    def process_output_result(self, ctx: OutputResultContext) -> Any:
        return self._seen(ctx)


class Patient(Everywhere):
    """The same with ``async def`` hooks, each of which lets other tasks run first.

    Args:
        turns: How many times each hook lets others run before it does anything.
    """

    def __init__(
        self,
        id: str = "patient",  # noqa: A002
        acts: Mapping[Phase, Act] | None = None,
        *,
        turns: int = 1,
        log: list[str] | None = None,
    ) -> None:
        super().__init__(id, acts, log=log)
        self.turns = turns

    async def _waited(self, ctx: HookContext, default: object = None) -> Any:
        self._note(ctx)
        for _ in range(self.turns):
            await anyio.lowlevel.checkpoint()
        done = self._done(ctx, default)
        return await cast("Awaitable[Any]", done) if isinstance(done, Awaitable) else done

    async def process_input(self, ctx: InputContext) -> Any:
        return await self._waited(ctx)

    async def process_input_step(self, ctx: InputStepContext) -> Any:
        return await self._waited(ctx)

    async def process_llm_request(self, ctx: LLMRequestContext) -> Any:
        return await self._waited(ctx)

    async def process_api_error(self, ctx: APIErrorContext) -> Any:
        return await self._waited(ctx)

    async def process_output_stream(self, ctx: OutputStreamContext) -> Any:
        return await self._waited(ctx, ctx.chunk)

    async def process_llm_response(self, ctx: LLMResponseContext) -> Any:
        return await self._waited(ctx)

    async def process_output_step(self, ctx: OutputStepContext) -> Any:
        return await self._waited(ctx)

    async def process_tool_call(self, ctx: ToolCallContext) -> Any:
        return await self._waited(ctx)

    async def process_tool_result(self, ctx: ToolResultContext) -> Any:
        return await self._waited(ctx)

    async def process_output_result(self, ctx: OutputResultContext) -> Any:
        return await self._waited(ctx)


def acting_at(phase: Phase, act: Act, id: str = "guard", *, waits: bool) -> Processor:  # noqa: A002
    """A processor that has this one hook: what is limited in time at others as well could be late there by chance.

    Args:
        phase: Where it acts.
        act: What it does there.
        id: Its id.
        waits: Whether it is a coroutine function that lets others run first.
    """

    async def waiting(self: object, ctx: Any) -> object:
        await anyio.lowlevel.checkpoint()
        done = act(ctx)
        return await cast("Awaitable[object]", done) if isinstance(done, Awaitable) else done

    def plain(self: object, ctx: Any) -> object:
        return act(ctx)

    made: Any = type("ActingAt", (Processor,), {"id": id, f"process_{phase}": waiting if waits else plain})
    processor: Processor = made()
    return processor


def flow(name: str = "flow") -> WorkflowBuilder[PhaseContext, PhaseContext, PhaseContext]:
    """The beginning of a workflow of processors."""
    return create_workflow(id=name, input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)


def picking(key: str) -> Callable[[StepContext[Any]], Any]:
    """For ``.map``: the branch that continues; a name without a colon is a processor's id."""
    whole = key if ":" in key or "/" in key else f"processor:{key}"
    return lambda ctx: ctx.input[whole if whole in ctx.input else key]


async def chunks_and_result(agent: Agent, text: str = "hello", **options: Any) -> tuple[list[Chunk], AgentResult]:
    """All chunks of a stream, and its result."""
    async with agent.stream(text, **options) as stream:
        chunks = [chunk async for chunk in stream]
        return chunks, await stream.result()


def kinds(chunks: Sequence[Chunk]) -> list[str]:
    """The chunks' types."""
    return [chunk.type for chunk in chunks]


def model_that_calls(*names: str, then: str = "It is done.", text: str = "Let me see. ") -> ScriptedModel:
    """A model that says something and calls these tools at once, and when asked again answers."""
    return ScriptedModel([[text, *(ScriptedModel.tool_call(name) for name in names)], then])


def prompt_roles(request: ModelRequest) -> list[str]:
    """The roles of a prompt's messages."""
    return [message.role for message in request.prompt]

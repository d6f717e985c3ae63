"""A run that is left by another task than the one that entered it, as web servers do with a generator of theirs."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from interlock import Agent, tool
from interlock.testing import ScriptedModel
from interlock.tools import ToolContext

stopped: list[str] = []


@tool
async def slow(ctx: ToolContext) -> str:
    """Take long."""
    try:
        ctx.write("begun")
        await anyio.sleep_forever()
    finally:
        stopped.append("slow")
    return "never"


async def body(agent: Agent) -> AsyncGenerator[str, None]:
    """What a handler yields to its server."""
    async with agent.stream("hello") as stream:
        async for chunk in stream:
            yield chunk.type


def model() -> ScriptedModel:
    return ScriptedModel([[ScriptedModel.tool_call("slow", {}), *["word "] * 50]])


@pytest.mark.parametrize("until", ["text-delta", "data"])
@pytest.mark.parametrize("way", ["closed", "dropped"])
def test_whoever_closes_it_stops_the_model_and_the_tools(until: str, way: str) -> None:
    stopped.clear()
    told: list[dict[str, Any]] = []
    answers = model()

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        chunks = body(Agent(model=answers, tools=[slow]))

        async def serve(given: AsyncGenerator[str, None]) -> None:
            async for kind in given:
                if kind == until:
                    return

        await asyncio.create_task(serve(chunks))
        if way == "closed":
            await asyncio.create_task(chunks.aclose())
            return
        del chunks
        gc.collect()  # the event loop closes it in a task of its own
        for _ in range(20):
            await asyncio.sleep(0)

    asyncio.run(main())
    assert told == []
    assert stopped == (["slow"] if until == "data" else [])
    assert answers.closed == (1 if until == "text-delta" else 0)


def test_what_a_tool_raises_to_end_the_program_ends_it() -> None:
    @tool
    async def leave() -> str:
        raise SystemExit(3)

    agent = Agent(model=ScriptedModel([ScriptedModel.tool_call("leave", {})]), tools=[leave])
    with pytest.raises(SystemExit):
        agent.generate_sync("hello")

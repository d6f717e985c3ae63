"""A verdict of something that a hook left running counts as soon as anything moves, and interrupts what waits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import Agent, AgentResult, Phase, tool
from interlock.errors import ModelError
from interlock.messages import Chunk
from interlock.models import ModelRequest
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, chunks_and_result, kinds

pytestmark = pytest.mark.anyio

call = ScriptedModel.tool_call


class Late:
    """A guard that keeps its context, so that it can abort later; and what has happened since."""

    def __init__(self) -> None:
        self.kept: list[Any] = []
        self.guard = Everywhere("late", {Phase.INPUT: self.kept.append})
        self.mark = 0

    def now(self) -> None:
        """Abort."""
        self.mark = len(self.guard.log)
        with contextlib.suppress(BaseException):
            self.kept[0].abort("late")

    async def in_the_model(self) -> None:
        """Abort; an item of a script."""
        self.now()

    def agent(self, model: ScriptedModel, **options: Any) -> Agent:
        """An agent with the guard in all lists."""
        guards = [self.guard]
        return Agent(model=model, input_processors=guards, output_processors=guards, error_processors=guards, **options)

    def is_blocked(self, result: AgentResult) -> bool:
        """Whether the run ended with this verdict, and no hook began behind it."""
        assert result.tripwire is not None
        assert (result.status, result.tripwire.reason) == ("tripwire", "late")
        return self.guard.log[self.mark :] == []


async def test_the_next_chunk_is_not_looked_at_nor_emitted() -> None:
    late = Late()
    agent = late.agent(ScriptedModel([["before", late.in_the_model, "after"]]))
    chunks, result = await chunks_and_result(agent)
    assert late.is_blocked(result)
    assert kinds(chunks)[-2:] == ["text-delta", "tripwire"]
    assert result.text == "before"


async def test_without_anybody_who_looks_at_chunks_the_next_one_is_not_emitted_either() -> None:
    late = Late()
    agent = Agent(model=ScriptedModel([["before", late.in_the_model, "after"]]), input_processors=[late.guard])
    _, result = await chunks_and_result(agent)
    assert late.is_blocked(result)
    assert result.text == "before"


async def test_a_model_that_fails_behind_it_is_not_asked_about() -> None:
    late = Late()
    agent = late.agent(ScriptedModel([["text", late.in_the_model, ModelError("gone")]]))
    assert late.is_blocked(await agent.generate("hello"))
    assert "late:api_error" not in late.guard.log


async def test_no_tool_starts_behind_it() -> None:
    late = Late()
    ran: list[str] = []

    @tool
    def note() -> None:
        ran.append("ran")

    class AbortsOnClose(ScriptedModel):
        @contextlib.asynccontextmanager
        async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[Chunk]]:
            async with super().stream(request) as chunks:
                yield chunks
            late.now()

    agent = Agent(model=AbortsOnClose([[call("note")], "done"]), tools=[note], input_processors=[Everywhere("x")])
    result = await agent.generate("hello", output_processors=[late_output(late)])
    assert result.status == "tripwire"
    assert ran == []


def late_output(late: Late) -> Everywhere:
    """A guard of the output list that keeps its first context."""

    def keep(ctx: Any) -> object:
        late.kept.append(ctx)
        return ctx.chunk

    return Everywhere("late", {Phase.OUTPUT_STREAM: keep})


async def test_a_tool_that_is_waited_for_is_ended() -> None:
    late = Late()
    ended: list[str] = []

    @tool
    async def waits() -> None:
        late.now()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("ended")

    agent = late.agent(ScriptedModel([[call("waits")], "done"]), tools=[waits])
    with anyio.fail_after(5):
        assert late.is_blocked(await agent.generate("hello"))
    assert ended == ["ended"]


async def test_a_model_that_is_waited_for_is_closed() -> None:
    late = Late()
    model = ScriptedModel([["text", anyio.sleep_forever, "more"]])
    agent = late.agent(model)

    async def aborts_when_it_waits() -> None:
        while model.pulled < 3:
            await anyio.lowlevel.checkpoint()
        late.now()

    async with anyio.create_task_group() as group:
        group.start_soon(aborts_when_it_waits)
        assert late.is_blocked(await agent.generate("hello"))
    assert model.closed == 1


async def test_at_the_very_end_it_still_counts() -> None:
    late = Late()

    def last(ctx: Any) -> None:
        late.kept.append(ctx)
        late.now()

    agent = Agent(model="embedded/echo", output_processors=[Everywhere("late", {Phase.OUTPUT_RESULT: last})])
    result = await agent.generate("hello")
    assert result.status == "tripwire"


async def test_after_the_end_it_changes_nothing() -> None:
    late = Late()
    result = await late.agent(ScriptedModel(["done"])).generate("hello")
    late.now()
    assert (result.status, result.tripwire, result.text) == ("success", None, "done")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_that_a_hook_started_and_forgot_may_block_the_run() -> None:
    tasks: list[Any] = []

    async def aborts(ctx: Any) -> None:
        await asyncio.sleep(0)
        with contextlib.suppress(BaseException):
            ctx.abort("forgotten")

    async def task_has_ended() -> None:
        await asyncio.wait(tasks)

    guard = Everywhere("guard", {Phase.INPUT: lambda ctx: tasks.append(asyncio.ensure_future(aborts(ctx)))})
    model = ScriptedModel([["a", task_has_ended, "b"]])
    result = await Agent(model=model, input_processors=[guard]).generate("hello")
    assert result.status == "tripwire"

"""Runs inside runs: a hook or a tool that asks another agent, or runs a workflow; and time-outs of their own."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import Agent, Phase, tool
from interlock.errors import StepFailed
from interlock.processors import InputContext
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, Patient, aborting, chunks_and_result, flow, kinds, model_that_calls

pytestmark = pytest.mark.anyio


def judge(model: ScriptedModel, **acts: Any) -> Agent:
    """An agent that a guard asks."""
    return Agent(id="judge", model=model, input_processors=[Everywhere("inner", **acts)])


@pytest.mark.parametrize("phase", [Phase.INPUT, Phase.OUTPUT_STREAM, Phase.TOOL_RESULT, Phase.OUTPUT_RESULT])
async def test_a_hook_may_ask_another_agent(phase: Phase) -> None:
    answers: list[str] = []

    async def ask(ctx: Any) -> object:
        answers.append((await judge(ScriptedModel(["fine"])).generate("is this fine?")).text)
        return getattr(ctx, "chunk", None)

    guard = Patient("guard", {phase: ask}, turns=0)
    block = flow().parallel([guard, Patient("other")]).merge().commit()
    agent = Agent(model=model_that_calls("track"), tools=[track], output_processors=[block])
    result = await agent.generate("hello", input_processors=[guard] if phase is Phase.INPUT else [])
    assert result.status == "success"
    assert set(answers) == {"fine"}


@tool
def track(n: int = 0) -> str:
    """Where a parcel is."""
    return "in Leipzig"


async def test_a_block_of_the_inner_run_is_none_of_the_outer_one() -> None:
    inner_results: list[str] = []

    async def ask(ctx: Any) -> None:
        inner = judge(ScriptedModel(["fine"]), acts={Phase.INPUT: aborting("inner no")})
        inner_results.append((await inner.generate("is this fine?")).status)

    result = await Agent(model="embedded/echo", input_processors=[Patient("guard", {Phase.INPUT: ask})]).generate(
        "hello"
    )
    assert inner_results == ["tripwire"]
    assert (result.status, result.text) == ("success", "hello")


async def test_a_block_of_the_outer_run_closes_the_inner_ones_model() -> None:
    model = ScriptedModel([["thinking", anyio.sleep_forever]])

    async def ask(ctx: Any) -> None:
        await judge(model).generate("is this fine?")

    async def abort_when_asked(ctx: Any) -> None:
        while model.pulled < 3:
            await anyio.lowlevel.checkpoint()
        ctx.abort("enough")

    guards = [Patient("asks", {Phase.INPUT: ask}), Patient("guard", {Phase.INPUT: abort_when_asked})]
    with anyio.fail_after(5):
        result = await Agent(
            model="embedded/echo", input_processors=[flow().parallel(guards).merge().commit()]
        ).generate("hello")
    assert result.status == "tripwire"
    assert model.closed == 1


async def test_a_tool_may_stream_another_agent_and_is_ended_with_it() -> None:
    model = ScriptedModel([["one ", "two ", anyio.sleep_forever]])
    read: list[str] = []

    @tool
    async def ask() -> str:
        async with judge(model).stream("go on") as stream:
            async for chunk in stream:
                if chunk.type == "text-delta":
                    read.append(chunk.text)
        return "never"

    async def abort_when_read(ctx: Any) -> None:
        while len(read) < 2:
            await anyio.lowlevel.checkpoint()
        ctx.abort("enough")

    agent = Agent(
        model=model_that_calls("track", "ask"),
        tools=[ask, track],
        output_processors=[Patient("guard", {Phase.TOOL_RESULT: abort_when_read})],
    )
    with anyio.fail_after(5):
        chunks, result = await chunks_and_result(agent)
    assert kinds(chunks)[-1] == "tripwire"
    assert result.status == "tripwire"
    assert model.closed == 1


async def test_a_hook_may_run_a_workflow_of_processors() -> None:
    checks = flow("checks").parallel([Everywhere("a"), Patient("b", {Phase.INPUT: aborting("no")})]).merge().commit()

    async def ask(ctx: InputContext) -> None:
        outcome = await checks.run(InputContext(ctx.messages[0].text))
        if outcome.status == "tripwire":
            ctx.abort("the checks said no")

    result = await Agent(model="embedded/echo", input_processors=[Patient("guard", {Phase.INPUT: ask})]).generate(
        "hello"
    )
    assert result.tripwire is not None
    assert (result.tripwire.processor_id, result.tripwire.reason) == ("guard", "the checks said no")


@pytest.mark.parametrize("alone", [True, False])
async def test_a_hooks_own_time_out_is_its_own(alone: bool) -> None:
    async def gives_up(ctx: Any) -> None:
        with anyio.move_on_after(0):
            await anyio.sleep_forever()

    async def fails(ctx: Any) -> None:
        with anyio.fail_after(0):
            await anyio.sleep_forever()

    for act, status in ((gives_up, "success"), (fails, "failed")):
        guard = Patient("guard", {Phase.INPUT: act}, turns=0)
        entries = [guard] if alone else [flow().parallel([guard, Patient("other")]).merge().commit()]
        agent = Agent(model="embedded/echo")
        async with agent.stream("hello", input_processors=entries) as stream:
            result = await stream.result()
        assert result.status == status
        if status == "failed":
            assert isinstance(result.error, StepFailed)
            assert isinstance(result.error.cause, TimeoutError)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_asyncios_own_time_outs_and_groups_work_inside_and_around_a_run() -> None:
    async def waits(ctx: Any) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(60))

    async def gives_up(ctx: Any) -> None:
        try:
            async with asyncio.timeout(0):
                await waits(ctx)
        except TimeoutError:
            pass

    agent = Agent(model="embedded/echo")
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    for _ in range(2):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await agent.generate("hello", input_processors=[Patient("guard", {Phase.INPUT: waits}, turns=0)])
        block = flow().parallel([Patient("guard", {Phase.INPUT: gives_up}), Patient("other")]).merge().commit()
        assert (await agent.generate("hello", input_processors=[block])).status == "success"
    assert task.cancelling() == before

"""What a client is given of steps that are done again, and what a verdict on a tool's result does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import Agent, Phase, tool
from interlock.messages import DataChunk, DataPart, ToolError
from interlock.processors import OutputStreamContext, ToolResultContext
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, Patient, chunks_and_result, kinds
from tests.lifecycle.test_retries import RAN, REPEATING, both_lists, refusing, track, with_a_call

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def no_tool_has_run() -> None:
    RAN.clear()


@pytest.mark.parametrize("kind", [Everywhere, Patient])
@pytest.mark.parametrize("phase", [p for p in REPEATING if p is not Phase.OUTPUT_RESULT])
async def test_an_attempt_of_which_the_client_saw_no_beginning_has_no_end(phase: Phase, kind: type[Everywhere]) -> None:
    guard = kind("guard", {phase: refusing(1)})
    begins = phase in (Phase.INPUT_STEP, Phase.LLM_REQUEST)
    model = ScriptedModel([*([] if begins else [with_a_call("rejected")]), "accepted"])
    agent = Agent(model=model, tools=[track], max_processor_retries=1, **both_lists(guard))
    chunks, _ = await chunks_and_result(agent)
    seen = [kind for kind in kinds(chunks) if kind in ("step-start", "step-finish")]
    assert seen == ["step-start", "step-finish"] * (1 if begins else 2)


@pytest.mark.parametrize("phase", [Phase.OUTPUT_STREAM, Phase.OUTPUT_STEP, Phase.OUTPUT_RESULT])
@pytest.mark.parametrize("swallows", [False, True])
async def test_data_of_a_rejected_answer_is_sent_and_not_stored(phase: Phase, swallows: bool) -> None:
    async def refuse(ctx: Any) -> object:
        if isinstance(ctx, OutputStreamContext) and ctx.chunk.type != "text-delta":
            return ctx.chunk
        ctx.write("seen", ctx.retry_count)
        if not ctx.retry_count:
            try:
                ctx.abort("again", retry=True)
            except BaseException:
                if not swallows:
                    raise
                await anyio.sleep_forever()
        return getattr(ctx, "chunk", None)

    guard = Patient("guard", {phase: refuse})
    agent = Agent(model=ScriptedModel(["one", "two"]), max_processor_retries=1, output_processors=[guard])
    with anyio.fail_after(20):
        chunks, result = await chunks_and_result(agent)
    assert [c.data for c in chunks if isinstance(c, DataChunk)] == [0, 1]
    assert [p.data for m in result.messages for p in m.parts if isinstance(p, DataPart)] == [1]


@pytest.mark.parametrize("kind", [Everywhere, Patient])
@pytest.mark.parametrize(("release", "told"), [("chunk", True), ("step", True), ("run", False)])
async def test_a_client_that_was_shown_an_answer_is_told_that_the_last_guards_refused_it(
    release: Any, told: bool, kind: type[Everywhere]
) -> None:
    guard = kind("guard", {Phase.OUTPUT_RESULT: refusing(1)})
    agent = Agent(model=ScriptedModel(["one", "two"]), max_processor_retries=1, **both_lists(guard))
    chunks, result = await chunks_and_result(agent, release=release)
    assert result.text == "two"
    ends = [chunk.finish_reason for chunk in chunks if chunk.type == "step-finish"]
    assert ends == (["stop", "retry", "stop"] if told else ["stop"])


async def test_where_only_the_words_behind_tool_results_are_refused_the_step_stands() -> None:
    guard = Everywhere("guard", {Phase.OUTPUT_RESULT: refusing(1)})
    agent = Agent(
        model=ScriptedModel([with_a_call("see. "), "done"]),
        tools=[track],
        max_steps=1,
        max_processor_retries=1,
        **both_lists(guard),
    )
    chunks, result = await chunks_and_result(agent)
    assert result.text == "done"
    ends = [chunk.finish_reason for chunk in chunks if chunk.type == "step-finish"]
    assert ends == ["tool-calls", "stop"]


@pytest.mark.parametrize("budget", [0, 1])
@pytest.mark.parametrize("waits", [anyio.lowlevel.checkpoint, anyio.sleep_forever])
async def test_a_hook_that_swallows_its_verdict_on_a_tools_result_has_the_model_asked_on_all_the_same(
    waits: Callable[[], Awaitable[object]], budget: int
) -> None:
    async def stubborn(ctx: ToolResultContext) -> None:
        if not ctx.retry_count and ctx.args == {"parcel": "1"}:
            with suppress(BaseException):
                ctx.abort("too private", retry=True)
            await waits()

    ended: list[str] = []

    @tool
    async def slow() -> str:
        """Still runs when the result of the first is looked at."""
        try:
            await anyio.sleep(0 if budget else 60)
        finally:
            ended.append("slow")
        return "slow and sure"

    calls = [ScriptedModel.tool_call("track", {"parcel": "1"}), ScriptedModel.tool_call("slow")]
    model = ScriptedModel([calls, "done"])
    guard = Patient("guard", {Phase.TOOL_RESULT: stubborn})
    agent = Agent(model=model, tools=[track, slow], max_processor_retries=budget, output_processors=[guard])
    with anyio.fail_after(20):
        chunks, result = await chunks_and_result(agent)
    assert ended == ["slow"]
    assert RAN == ["1"]
    if not budget:
        assert (result.status, kinds(chunks)[-1]) == ("tripwire", "tripwire")
        return
    assert (result.status, result.text, result.finish_reason) == ("success", "done", "stop")
    assert [c.error for c in chunks if isinstance(c, ToolError)] == ["too private"]
    assert "slow and sure" in model.received(1)
    assert "too private" in model.received(1)

"""``abort(retry=True)`` in the stream, of what comes of a step's tools: none runs twice, and the model is told why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from interlock import Agent, AgentResult, Phase, tool
from interlock.messages import Chunk, DataChunk, ToolCall, ToolError, ToolInvocationPart, ToolOutput, ToolResult
from interlock.processors import OutputStreamContext
from interlock.runtime import MemoryRunStore
from interlock.testing import ScriptedModel
from interlock.tools import ToolContext
from tests.lifecycle.acting import Act, Everywhere, Patient, chunks_and_result, kinds
from tests.lifecycle.valid_history import assert_valid_history

pytestmark = pytest.mark.anyio

call = ScriptedModel.tool_call
RAN: list[str] = []


@pytest.fixture(autouse=True)
def no_tool_has_run() -> None:
    RAN.clear()


@tool
def track() -> str:
    """Where the parcel is."""
    RAN.append("track")
    return "in Leipzig"


@tool
def fails() -> str:
    """Fail."""
    RAN.append("fails")
    raise RuntimeError("a secret address")


@tool
async def tells(ctx: ToolContext) -> str:
    """Say something, and wait."""
    RAN.append("tells")
    ctx.stream("a secret")
    ctx.stream("and another")
    await anyio.sleep_forever()
    return "never"


@tool
def asks(ctx: ToolContext) -> str:
    """Ask something."""
    RAN.append("asks")
    if ctx.resume_data is None:
        ctx.suspend("how many?")
    return f"{ctx.resume_data} of them"


def refusing(wanted: Callable[[Chunk], bool], times: int = 1) -> Act:
    """Asks for another try at such a chunk, so many times."""
    asked = 0

    def act(ctx: Any) -> object:
        nonlocal asked
        assert isinstance(ctx, OutputStreamContext)
        if asked < times and wanted(ctx.chunk):
            asked += 1
            ctx.abort(f"not this {asked}", retry=True)
        return ctx.chunk

    return act


def of_type(name: str) -> Callable[[Chunk], bool]:
    return lambda chunk: chunk.type == name


def errors(result: AgentResult) -> list[str | None]:
    return [part.error for m in result.messages for part in m.parts if isinstance(part, ToolInvocationPart)]


def agent_with(act: Act, script: Any, kind: type[Everywhere] = Everywhere, **options: Any) -> Agent:
    guard = kind("guard", {Phase.OUTPUT_STREAM: act})
    options = {"max_processor_retries": 1, **options}
    return Agent(model=ScriptedModel(script), tools=[track, fails, tells, asks], output_processors=[guard], **options)


def model_of(agent: Agent) -> ScriptedModel:
    assert isinstance(agent.model, ScriptedModel)
    return agent.model


@pytest.mark.parametrize("release", ["chunk", "step", "run"])
@pytest.mark.parametrize("kind", [Everywhere, Patient])
@pytest.mark.parametrize(("name", "came"), [("track", "tool-result"), ("fails", "tool-error")])
async def test_a_refused_outcome_becomes_the_tools_error_and_the_model_goes_on_from_there(
    name: str, came: str, kind: type[Everywhere], release: Any
) -> None:
    agent = agent_with(refusing(of_type(came)), [["I look. ", call(name)], "Well."], kind, max_steps=1)
    chunks, result = await chunks_and_result(agent, release=release)
    assert (result.status, result.text, RAN) == ("success", "I look. Well.", [name])
    assert [(s.step_number, s.finish_reason, s.reason) for s in result.steps] == [
        (0, "tool-calls", None),
        (1, "stop", None),
    ]
    assert [chunk.error for chunk in chunks if isinstance(chunk, ToolError)] == ["not this 1"]
    assert not any(isinstance(chunk, ToolResult) for chunk in chunks)
    assert errors(result) == ["not this 1"]
    assert [type(one) for one in result.steps[0].tool_results] == [ToolError]
    told = model_of(agent).received(1)
    assert "not this 1" in told
    assert "Leipzig" not in told + str(result.messages.to_json())
    assert "secret" not in told + str(result.messages.to_json())
    assert_valid_history(model_of(agent).requests[1].prompt)


async def test_the_error_in_its_place_is_looked_at_in_turn_until_the_budget_is_used_up() -> None:
    act = refusing(lambda chunk: isinstance(chunk, ToolResult | ToolError), times=9)
    agent = agent_with(act, [[call("track")], "Well."], max_processor_retries=2)
    result = await agent.generate("hello")
    assert result.tripwire is not None
    assert (result.status, result.tripwire.reason, RAN) == ("tripwire", "not this 3", ["track"])
    assert model_of(agent).calls == 1


async def test_without_budget_it_is_a_plain_block() -> None:
    agent = agent_with(refusing(of_type("tool-result")), [[call("track")], "Well."], max_processor_retries=0)
    result = await agent.generate("hello")
    assert result.tripwire is not None
    assert (result.tripwire.reason, result.tripwire.retry) == ("not this 1", True)


async def test_a_hook_that_swallows_the_verdict_and_waits_on_is_interrupted() -> None:
    async def stubborn(ctx: Any) -> object:
        if ctx.chunk.type == "tool-result":
            try:
                ctx.abort("not this", retry=True)
            except BaseException:  # what a careless hook does
                await anyio.sleep_forever()
        return ctx.chunk

    agent = agent_with(stubborn, [[call("track")], "Well."], Patient)
    with anyio.fail_after(20):
        result = await agent.generate("hello")
    assert (result.status, errors(result), RAN) == ("success", ["not this"], ["track"])


async def test_a_tool_is_stopped_for_what_it_gives_while_it_runs_and_the_others_go_on() -> None:
    agent = agent_with(refusing(of_type("tool-output")), [[call("tells"), call("track")], "Well."])
    with anyio.fail_after(20):
        chunks, result = await chunks_and_result(agent)
    assert (result.status, sorted(RAN)) == ("success", ["tells", "track"])
    assert errors(result) == ["not this 1", None]
    assert not any(isinstance(chunk, ToolOutput) for chunk in chunks)  # also none that came behind the refused one
    assert "not this 1" in model_of(agent).received(1)
    assert "in Leipzig" in model_of(agent).received(1)


async def test_so_is_an_agent_for_what_it_streams() -> None:
    inner = Agent(id="inner", model=ScriptedModel([["a secret", anyio.sleep_forever]]))
    guard = Everywhere("guard", {Phase.OUTPUT_STREAM: refusing(lambda chunk: getattr(chunk, "text", "") == "a secret")})
    model = ScriptedModel([[call("inner", {"prompt": "?"})], "Well."])
    agent = Agent(model=model, tools=[inner.as_tool()], output_processors=[guard], max_processor_retries=1)
    with anyio.fail_after(20):
        _, result = await chunks_and_result(agent)
    assert (result.status, result.text, errors(result)) == ("success", "Well.", ["not this 1"])
    assert "secret" not in model.received(1)


async def test_what_a_tool_has_given_is_not_held_against_another_that_has_ended() -> None:
    looking, ended = anyio.Event(), anyio.Event()

    @tool
    async def returns() -> str:
        await looking.wait()
        return "returned"

    @tool
    async def gives(ctx: ToolContext) -> str:
        await looking.wait()
        ctx.stream("a secret")
        ended.set()
        return "given"

    refuses = refusing(of_type("tool-output"))

    async def act(ctx: Any) -> object:
        if ctx.chunk.type == "tool-result" and ctx.chunk.tool_name == "track":
            looking.set()
            await ended.wait()
        return refuses(ctx)

    looked_at: list[str] = []
    acts: dict[Phase, Act] = {
        Phase.OUTPUT_STREAM: act,
        Phase.TOOL_RESULT: lambda ctx: looked_at.append(getattr(ctx, "tool_name", "")),
    }
    guard = Patient("guard", acts)
    model = ScriptedModel([[call("track"), call("returns"), call("gives")], "Well."])
    agent = Agent(model=model, tools=[track, returns, gives], output_processors=[guard], max_processor_retries=1)
    with anyio.fail_after(20):
        result = await agent.generate("hello")
    assert (result.status, errors(result)) == ("success", [None, None, "not this 1"])
    assert looked_at == ["track", "returns"]


async def test_where_what_the_provider_ran_is_refused_the_model_is_asked_again_and_told_why() -> None:
    answer: list[Any] = [
        "I look. ",
        ToolCall("c1", "search", {"n": 1}, provider_executed=True),
        ToolResult("c1", "search", {"n": 1}, result="secret", provider_executed=True),
        "it says secret",
    ]
    agent = agent_with(refusing(of_type("tool-result")), [answer, "Then not."])
    result = await agent.generate("hello")
    assert (result.status, result.text, errors(result)) == ("success", "I look. Then not.", ["not this 1"])
    assert "not this 1" in model_of(agent).received(1)
    assert "secret" not in model_of(agent).received(1)


@pytest.mark.parametrize("name", ["data", "tool-call-suspended"])
async def test_anything_else_that_is_refused_when_a_tool_has_begun_is_a_block(name: str) -> None:
    @tool
    def writes(ctx: ToolContext) -> str:
        RAN.append("writes")
        ctx.write("note", 1)
        return "written"

    guard = Everywhere("guard", {Phase.OUTPUT_STREAM: refusing(of_type(name))})
    guard.process_data_parts = True
    model = ScriptedModel([[call("writes" if name == "data" else "asks")], "Well."])
    agent = Agent(model=model, tools=[writes, asks], output_processors=[guard], max_processor_retries=1)
    chunks, result = await chunks_and_result(agent)
    assert result.tripwire is not None
    assert (result.status, result.tripwire.retry, len(RAN), model.calls) == ("tripwire", True, 1, 1)
    assert kinds(chunks)[-1] == "tripwire"


async def test_a_tool_that_ran_before_the_run_waited_does_not_run_again_either() -> None:
    """Two tools ask; one is answered, and the question of the other, put once more, is refused then."""
    store = MemoryRunStore()

    def agent(script: Any, *guards: Everywhere) -> Agent:
        model = ScriptedModel(script)
        return Agent(model=model, tools=[asks], output_processors=guards, run_store=store, max_processor_retries=1)

    waits = await agent([[call("asks", id="c1"), call("asks", id="c2")]]).generate("hello")
    assert len(RAN) == 2
    guard = Everywhere("guard", {Phase.OUTPUT_STREAM: refusing(of_type("tool-call-suspended"))})
    result = await agent(["Well."], guard).resume(waits.run_id, tool_call_id="c1", data=3)
    assert (result.status, len(RAN)) == ("tripwire", 2)


async def test_data_that_is_refused_while_a_result_is_looked_at_does_not_cost_that_result() -> None:
    begun, written = anyio.Event(), anyio.Event()

    @tool
    async def fast() -> str:
        """Be quick."""
        return "a fine result"

    @tool
    async def slow(ctx: ToolContext) -> str:
        """Write something while the result of the other is looked at."""
        await begun.wait()
        ctx.write("secret", 42)
        written.set()
        await anyio.sleep_forever()
        return "never"

    class Looks(Everywhere):
        process_data_parts = True

        async def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            if isinstance(ctx.chunk, ToolResult):
                begun.set()
                await written.wait()
            if isinstance(ctx.chunk, DataChunk):
                ctx.abort("the data is bad", retry=True)
            return ctx.chunk

    model = ScriptedModel([[call("fast"), call("slow")], "never asked"])
    agent = Agent(model=model, tools=[fast, slow], output_processors=[Looks("guard")], max_processor_retries=5)
    with anyio.fail_after(20):
        _, result = await chunks_and_result(agent)
    assert result.tripwire is not None
    assert result.tripwire.reason == "the data is bad"
    assert model.calls == 1

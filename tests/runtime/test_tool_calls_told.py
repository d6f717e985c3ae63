"""What is told of a call: whether the tool was started and came to an end, waits, failed, or was denied and by whom."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import Agent, AgentResult, Phase, Processor, create_step, tool
from interlock.processors import Deny, OutputStreamContext, ToolCallContext, ToolResultContext
from interlock.runtime.agent_run import AgentRun
from interlock.storage import MemoryRunStore
from interlock.testing import ScriptedModel
from interlock.tools import ToolContext

pytestmark = pytest.mark.anyio


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"seen {at}"


@tool
def ask(ctx: ToolContext) -> str:
    """Ask something."""
    return f"told {ctx.suspend({'question': 'really?'})}"


@tool(needs_approval=True)
def pay() -> str:
    """Pay."""
    return "paid"


@tool
def crash() -> str:
    """Crash."""
    raise ValueError("no")


class Policy(Processor):
    """Denies every call of ``look``."""

    id = "policy"

    def process_tool_call(self, ctx: ToolCallContext) -> Deny | None:
        return Deny("root stays") if ctx.tool_name == "look" else None


class Warns(Processor):
    """Denies every call, and warns of it."""

    id = "warns"

    def process_tool_call(self, ctx: ToolCallContext) -> Deny:
        ctx.warn("so it goes")
        return Deny("not here")


def calling(*names: str, **options: Any) -> Agent:
    """An agent whose model calls tools in its first step."""
    calls = [ScriptedModel.tool_call(name, {"at": "x"} if name == "look" else {}) for name in names]
    return Agent(id="a", model=ScriptedModel([[*calls], "done"]), tools=[look, ask, pay, crash], **options)


async def called(agent: Agent, *more: Any) -> tuple[AgentResult, str]:
    """A run, and what it tells of its first step."""
    async with agent.stream("hi", *more) as stream:
        result = await stream.result()
    [line] = [line for line in result.explain().splitlines() if line.startswith("step 0: ")]
    return result, line.partition(" called ")[2]


async def canceled(agent: Agent, begun: anyio.Event) -> AgentResult:
    """A run that is cancelled as soon as something has begun."""
    async with agent.stream("hi") as stream, anyio.create_task_group() as tasks:

        async def cancel() -> None:
            await begun.wait()
            stream.cancel()

        tasks.start_soon(cancel)
        await stream.result()
    return await stream.result()


async def test_a_tool_that_was_cancelled_is_told_as_started() -> None:
    begun = anyio.Event()

    @tool
    async def wire() -> str:
        begun.set()
        await anyio.sleep_forever()
        return "sent"

    model = ScriptedModel([[ScriptedModel.tool_call("wire", {})]])
    agent = Agent(id="a", model=model, tools=[wire])
    result = await canceled(agent, begun)
    assert result.status == "canceled"
    assert "called wire (started, and was cancelled before it ended)" in result.explain()
    assert "wire (1 call in this run)" in agent.to_text(run=result)
    title = agent.to_svg(run=result).partition("<title>tools</title>")[0][-30:]
    assert "opacity" not in title


async def test_a_tool_that_had_ended_when_another_was_cancelled_is_not_said_to_be_cancelled() -> None:
    begun = anyio.Event()

    @tool
    async def wire() -> str:
        await anyio.sleep_forever()
        return "sent"

    @tool
    async def count() -> int:
        begun.set()
        return 1

    model = ScriptedModel([[ScriptedModel.tool_call("wire", {}), ScriptedModel.tool_call("count", {})]])
    told = (await canceled(Agent(id="a", model=model, tools=[wire, count]), begun)).explain()
    assert "called wire (started, and was cancelled before it ended), count (nothing of it went on)" in told


async def test_a_tool_that_asks_is_told_as_started_and_one_that_needs_an_approval_is_not() -> None:
    result, told = await called(calling("ask", "look"))
    assert result.status == "suspended"
    assert told == "ask (asked something, and waits), look (ran)"
    agent = calling("pay", "look")
    result, told = await called(agent)
    assert told == "pay (waits for an approval), look (did not run)"
    assert "(2 calls in this run, 2 did not run)" in agent.to_text(run=result)


async def test_how_far_a_tool_came_before_its_run_waited_in_a_store_is_still_told() -> None:
    store = MemoryRunStore()
    waits = await calling("ask", "crash", run_store=store).generate("hi")
    result = await calling("ask", run_store=store).resume(waits.run_id, approve=False)
    assert "called ask (started, and did not end), crash (failed)" in result.explain()


async def test_a_run_goes_on_though_it_was_written_without_how_far_its_tools_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryRunStore()
    stands = AgentRun.stands

    def before(run: AgentRun) -> dict[str, object]:
        return {name: value for name, value in stands(run).items() if name != "tool_progress"}

    monkeypatch.setattr(AgentRun, "stands", before)
    waits = await calling("ask", run_store=store).generate("hi")
    result = await calling("ask", run_store=store).resume(waits.run_id, approve=False)
    assert "called ask (did not run)" in result.explain()


async def test_a_call_that_was_denied_is_told_with_the_reason_and_by_whom() -> None:
    agent = calling("look", "crash", input_processors=[Policy()])
    result, told = await called(agent)
    assert told == "look (denied: root stays, by policy), crash (failed)"
    assert "tool_call: policy denied the call of look: root stays" in result.explain()
    first, second = (check for check in result.checks if check.phase is Phase.TOOL_CALL)
    assert (first.verdict, first.reason, first.denied) == ("changed", "root stays", "call_1")
    assert (second.verdict, second.reason, second.denied) == ("passed", None, None)
    drawn = agent.to_text(run=result)
    assert "(2 calls in this run, 1 did not run)" in drawn
    assert "denied 1 call" in drawn
    assert "root stays" in drawn


async def test_who_warns_as_well_and_who_denies_after_another_is_told_too() -> None:
    result, told = await called(calling("look", input_processors=[Policy(), Warns()]))
    assert told == "look (denied: root stays, by policy; denied: so it goes; not here, by warns)"
    assert "tool_call: warns warned, and denied the call of look: so it goes; not here" in result.explain()


async def test_a_call_that_would_have_been_denied_ran() -> None:
    result, told = await called(calling("look", input_processors=[create_step(Policy(), shadow=True)]))
    assert told == "look (ran)"
    assert "would have changed it, and only shadows: would have denied the call: root stays" in result.explain()
    assert [check.denied for check in result.checks if check.phase is Phase.TOOL_CALL] == [None]


async def test_a_tool_whose_result_was_not_accepted_is_not_said_to_have_failed() -> None:
    class Again(Processor):
        id = "again"

        def process_tool_result(self, ctx: ToolResultContext) -> None:
            ctx.abort("unusable", retry=True)

    _, told = await called(calling("look", input_processors=[Again()], max_processor_retries=1))
    assert told == "look (ran, and the model was told an error)"


async def test_a_call_of_no_tool_did_not_run() -> None:
    _, told = await called(calling("other"))
    assert told == "other (did not run)"


async def test_the_runs_own_word_to_the_model_is_no_content_that_nobody_checked() -> None:
    class Once(Processor):
        id = "once"

        def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            if ctx.chunk.type == "text-delta":
                ctx.abort("again", retry=True)
            return ctx.chunk

    agent = Agent(model=ScriptedModel(["a", "b"]), output_processors=[Once()], max_processor_retries=1)
    async with agent.stream("hi") as stream:
        result = await stream.result()
    assert result.status == "tripwire"
    assert ("system", "text") not in result.coverage().rows

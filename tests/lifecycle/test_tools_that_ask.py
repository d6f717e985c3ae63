"""A tool that asks something: the run stands still until it is answered, in this process or in another."""

from __future__ import annotations

from typing import Any, cast

import anyio
import pytest

from interlock import Agent, Completed, Phase, Processor, Suspended, create_workflow, tool
from interlock.errors import InterlockError, NothingSuspended
from interlock.messages import Chunk, ToolCallSuspended, ToolError
from interlock.processors import OutputStreamContext, ToolResultContext
from interlock.runtime import MemoryRunStore
from interlock.storage import RunStore
from interlock.testing import ScriptedModel
from interlock.tools import ToolContext
from tests.lifecycle.acting import chunks_and_result

pytestmark = pytest.mark.anyio

RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool
def book(room: str, ctx: ToolContext) -> str:
    """Book a room."""
    RAN.append(f"book:{ctx.resume_data}")
    if ctx.resume_data is None:
        ctx.suspend({"question": f"for how many nights is {room}?"})
    RAN.append("booked")
    return f"{room} for {ctx.resume_data}"


@tool
def look() -> str:
    """Look."""
    RAN.append("look")
    return "sunny"


BOOKS = ScriptedModel.tool_call("book", {"room": "7"}, id="c1")
LOOKS = ScriptedModel.tool_call("look", {}, id="c2")


def hotel(script: list[Any], **more: Any) -> Agent:
    return Agent(id="hotel", model=ScriptedModel(script), tools=[book, look], **more)


async def test_the_run_waits_with_the_question_and_goes_on_with_the_answer() -> None:
    agent = hotel([[BOOKS], "Done."])
    chunks, waits = await chunks_and_result(agent)
    assert [chunk.type for chunk in chunks][-2:] == ["tool-call-suspended", "finish"]
    (asked,) = waits.suspended
    assert asked == ToolCallSuspended("c1", "book", {"room": "7"}, {"question": "for how many nights is 7?"})
    assert (waits.status, waits.finish_reason, RAN) == ("suspended", "suspended", ["book:None"])
    result = await agent.resume(waits.run_id, data=3)
    assert (result.text, RAN) == ("Done.", ["book:None", "book:3", "booked"])
    assert result.steps[0].tool_results[0].result == "7 for 3"  # type: ignore[union-attr]  # pyright: ignore[reportAttributeAccessIssue]


async def test_its_siblings_run_once_and_results_stand_in_the_order_of_the_calls() -> None:
    model = ScriptedModel([[BOOKS, LOOKS], "Done."])
    agent = Agent(model=model, tools=[book, look])
    chunks, waits = await chunks_and_result(agent)
    assert "tool-result" in [chunk.type for chunk in chunks]
    assert [one.tool_call_id for one in waits.suspended] == ["c1"]
    result = await agent.resume(waits.run_id, data=3)
    assert (sorted(RAN[:2]), RAN[2:]) == (["book:None", "look"], ["book:3", "booked"])
    assert [one.tool_call_id for one in result.steps[0].tool_results] == ["c1", "c2"]
    assert model.calls == 2


async def test_who_says_no_stops_the_call_and_the_model_is_told() -> None:
    model = ScriptedModel([[BOOKS], "Well."])
    agent = Agent(model=model, tools=[book])
    waits = await agent.generate("hello")
    result = await agent.resume(waits.run_id, approve=False, reason="nobody is in")
    assert (result.text, RAN) == ("Well.", ["book:None"])
    assert "nobody is in" in model.received(1)
    assert isinstance(result.steps[0].tool_results[0], ToolError)


async def test_a_question_wants_data_and_an_approval_does_not() -> None:
    @tool(needs_approval=True)
    def pay(ctx: ToolContext) -> str:
        if ctx.resume_data is None:
            ctx.suspend("which card?")
        return f"paid with {ctx.resume_data}"

    agent = Agent(model=ScriptedModel([[ScriptedModel.tool_call("pay", {}, id="c3")], "Done."]), tools=[pay])
    waits = await agent.generate("hello")
    with pytest.raises(NothingSuspended, match="'c3' waits for an approval, not for data"):
        await agent.resume(waits.run_id, data="blue")
    asks = await agent.resume(waits.run_id, approve=True)
    assert [one.payload for one in asks.suspended if isinstance(one, ToolCallSuspended)] == ["which card?"]
    with pytest.raises(NothingSuspended, match="'c3' has asked something: answer with data=…, or approve=False"):
        await agent.resume(waits.run_id, approve=True)
    result = await agent.resume(waits.run_id, data="blue")
    assert result.steps[0].tool_results[0].result == "paid with blue"  # type: ignore[union-attr]  # pyright: ignore[reportAttributeAccessIssue]


async def test_several_questions_are_answered_one_by_one() -> None:
    again = ScriptedModel.tool_call("book", {"room": "8"}, id="c9")
    agent = hotel([[BOOKS, again], "Done."])
    waits = await agent.generate("hello")
    half = await agent.resume(waits.run_id, data=1, tool_call_id="c9")
    assert [one.tool_call_id for one in half.suspended] == ["c1"]
    assert RAN == ["book:None", "book:None"]
    result = await agent.resume(waits.run_id, data=2, tool_call_id="c1")
    results = [getattr(one, "result", None) for one in result.steps[0].tool_results]
    assert results == ["7 for 2", "8 for 1"]


@pytest.mark.parametrize("answered", [0, 1])
async def test_another_process_goes_on(answered: int) -> None:
    store: RunStore = MemoryRunStore()
    again = ScriptedModel.tool_call("book", {"room": "8"}, id="c9")
    waits = await hotel([[BOOKS, LOOKS, again]], run_store=store).generate("hello")
    first, second = ("c9", "c1") if answered else ("c1", "c9")
    half = await hotel([], run_store=store).resume(waits.run_id, data=first, tool_call_id=first)
    assert [one.tool_call_id for one in half.suspended] == [second]
    last = await hotel(["Done."], run_store=store).resume(waits.run_id, data=second)
    assert (last.status, last.text) == ("success", "Done.")
    assert RAN.count("look") == 1
    assert [getattr(one, "result", None) for one in last.steps[0].tool_results] == ["7 for c1", "sunny", "8 for c9"]


async def test_a_question_stands_however_the_tool_then_ends() -> None:
    @tool
    async def stubborn(how: str, ctx: ToolContext) -> str:
        if ctx.resume_data is None:
            try:
                ctx.suspend("well?")
            except BaseException:
                if how == "raises":
                    raise ValueError("no") from None
                return "as if nothing had been"
        return f"answered {ctx.resume_data}"

    for how in ("raises", "returns"):
        call = ScriptedModel.tool_call("stubborn", {"how": how}, id="c1")
        agent = Agent(model=ScriptedModel([[call], "Done."]), tools=[stubborn])
        waits = await agent.generate("hello")
        assert waits.status == "suspended"
        result = await agent.resume(waits.run_id, data="yes")
        assert getattr(result.steps[0].tool_results[0], "result", None) == "answered yes"


async def test_what_has_no_json_form_is_the_tools_own_error() -> None:
    @tool
    def odd(ctx: ToolContext) -> str:
        ctx.suspend(cast("Any", object()))

    model = ScriptedModel([[ScriptedModel.tool_call("odd", {}, id="c1")], "Well."])
    assert (await Agent(model=model, tools=[odd]).generate("hello")).text == "Well."
    assert "what tool 'odd' asks" in model.received(1)


async def test_where_nobody_can_answer_the_tool_is_told() -> None:
    from interlock import RequestContext

    with pytest.raises(InterlockError, match="tool 'book' cannot wait for an answer here"):
        await book.run({"room": "7"}, ToolContext("r", "c", 0, (), RequestContext(), "book"))


async def test_the_guards_see_the_question_and_the_result() -> None:
    seen: list[str] = []

    class Watch(Processor):
        id = "watch"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            if isinstance(ctx.chunk, ToolCallSuspended):
                seen.append(str(ctx.phase))
                return ctx.chunk.replace(payload="[hidden]")
            return ctx.chunk

        def process_tool_result(self, ctx: ToolResultContext) -> None:
            seen.append(f"{ctx.phase}:{ctx.result}")

    agent = hotel([[BOOKS], "Done."], output_processors=[Watch()])
    chunks, waits = await chunks_and_result(agent)
    assert [one.payload for one in chunks if isinstance(one, ToolCallSuspended)] == ["[hidden]"]
    assert seen == [Phase.OUTPUT_STREAM]
    await agent.resume(waits.run_id, data=3)
    assert seen == [Phase.OUTPUT_STREAM, f"{Phase.TOOL_RESULT}:7 for 3"]


async def test_a_block_of_a_sibling_ends_the_run_with_the_question_unasked() -> None:
    class No(Processor):
        id = "no"

        def process_tool_result(self, ctx: ToolResultContext) -> None:
            ctx.abort("no weather")

    agent = hotel([[BOOKS, LOOKS]], output_processors=[No()])
    chunks, result = await chunks_and_result(agent)
    assert result.status == "tripwire"
    assert "tool-call-suspended" not in [chunk.type for chunk in chunks]
    with pytest.raises(NothingSuspended):
        await agent.resume(result.run_id, data=1)


async def test_a_slow_sibling_ends_before_the_run_waits() -> None:
    @tool
    async def slow() -> str:
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        RAN.append("slow")
        return "late"

    calls = [BOOKS, ScriptedModel.tool_call("slow", {}, id="c5")]
    waits = await Agent(model=ScriptedModel([calls]), tools=[book, slow]).generate("hello")
    assert (waits.status, sorted(RAN)) == ("suspended", ["book:None", "slow"])


async def test_as_a_step_the_tool_suspends_the_step() -> None:
    flow = create_workflow(id="flow").then(book).commit()
    run = flow.create_run()
    outcome = await run.start({"room": "7"})
    assert isinstance(outcome, Suspended)
    assert outcome.suspensions[0].payload == {"question": "for how many nights is 7?"}
    outcome = await run.resume(4)
    assert isinstance(outcome, Completed)
    assert outcome.output == "7 for 4"


async def test_as_a_step_that_needs_an_approval_it_is_answered_both() -> None:
    @tool(needs_approval=True)
    def pay(ctx: ToolContext) -> str:
        if ctx.resume_data is None:
            ctx.suspend("which card?")
        return f"paid with {ctx.resume_data}"

    run = create_workflow(id="flow").then(pay).commit().create_run()
    assert isinstance(await run.start({}), Suspended)
    outcome = await run.resume(True)
    assert isinstance(outcome, Suspended)
    assert outcome.suspensions[0].payload == "which card?"
    outcome = await run.resume({"approve": True, "data": "blue"})
    assert isinstance(outcome, Completed)
    assert outcome.output == "paid with blue"


async def test_an_agent_that_is_a_tool_declines() -> None:
    inner = hotel([[BOOKS], "Nobody there."])
    model = ScriptedModel([[ScriptedModel.tool_call("hotel", {"prompt": "a room"}, id="c1")], "Done."])
    result = await Agent(model=model, tools=[inner]).generate("hello")
    assert result.text == "Done."
    assert "Nobody there." in model.received(1)

"""Tools that need an approval: the run stands still before any tool of the step runs, and goes on with the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from interlock import Agent, Phase, Processor, tool
from interlock.errors import DefinitionError, NothingSuspended
from interlock.errors import ToolError as ToolFailed
from interlock.processors import Deny, InputContext, OutputStreamContext, ToolCallChanges, ToolCallContext
from interlock.runtime import MemoryRunStore
from interlock.storage import JournalRow
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, Patient, chunks_and_result, kinds

pytestmark = pytest.mark.anyio

RAN: list[object] = []


@tool(needs_approval=True)
def pay(amount: int = 5) -> str:
    """Pay somebody."""
    RAN.append(amount)
    return f"paid {amount}"


@tool
def look(at: str = "it") -> str:
    """Look at something."""
    RAN.append(at)
    return f"seen {at}"


@pytest.fixture(autouse=True)
def no_tool_has_run() -> None:
    RAN.clear()


def paying(*more: Any) -> list[Any]:
    return ["I pay. ", ScriptedModel.tool_call("pay", {"amount": 7}), *more]


async def test_the_run_stands_still_and_says_what_for() -> None:
    model = ScriptedModel([paying(ScriptedModel.tool_call("look")), "Done."])
    chunks, result = await chunks_and_result(Agent(model=model, tools=[pay, look]))
    assert result.status == result.finish_reason == "suspended"
    assert [(call.tool_name, call.args) for call in result.suspended] == [("pay", {"amount": 7})]
    assert kinds(chunks)[-3:] == ["step-finish", "tool-call-approval", "finish"]
    assert RAN == []
    assert model.calls == 1
    assert result.text == "I pay. "


@pytest.mark.parametrize("way", ["resume", "resume_stream"])
async def test_approved_the_tools_run_once_and_the_input_is_not_looked_at_again(way: str) -> None:
    guard = Everywhere("guard")
    model = ScriptedModel([paying(ScriptedModel.tool_call("look")), "Done."])
    agent = Agent(model=model, tools=[pay, look], input_processors=[guard], output_processors=[guard])
    waits = await agent.generate("hello")
    if way == "resume":
        result = await agent.resume(waits.run_id, approve=True)
    else:
        async with agent.resume_stream(waits.run_id, approve=True) as stream:
            chunks = [chunk async for chunk in stream]
            result = await stream.result()
        assert kinds(chunks)[:2] == ["tool-result", "tool-result"]
        assert kinds(chunks)[-1] == "finish"
        assert "start" not in kinds(chunks)
    assert sorted(map(str, RAN)) == ["7", "it"]
    assert (result.status, result.text, result.run_id) == ("success", "I pay. Done.", waits.run_id)
    assert result.suspended == ()
    assert "paid 7" in model.received(1)
    assert guard.log.count("guard:input") == 1
    assert guard.log.count("guard:tool_call") == 2
    assert guard.log.count("guard:output_result") == 1


async def test_refused_the_tool_does_not_run_and_the_model_is_told_why() -> None:
    model = ScriptedModel([paying(ScriptedModel.tool_call("look")), "Then not."])
    agent = Agent(model=model, tools=[pay, look])
    waits = await agent.generate("hello")
    result = await agent.resume(waits.run_id, approve=False, reason="too much")
    assert RAN == ["it"]
    assert "too much" in model.received(1)
    assert result.status == "success"


async def test_without_a_reason_the_model_is_told_that_it_was_not_approved() -> None:
    model = ScriptedModel([paying(), "Then not."])
    agent = Agent(model=model, tools=[pay])
    await agent.resume((await agent.generate("hello")).run_id, approve=False)
    assert "not approved" in model.received(1)


async def test_calls_may_be_answered_one_by_one() -> None:
    calls = [ScriptedModel.tool_call("pay", {"amount": n}, id=f"c{n}") for n in (1, 2)]
    model = ScriptedModel([[*calls], "Done."])
    agent = Agent(model=model, tools=[pay])
    waits = await agent.generate("hello")
    assert [call.tool_call_id for call in waits.suspended] == ["c1", "c2"]
    still = await agent.resume(waits.run_id, approve=True, tool_call_id="c2")
    assert still.status == "suspended"
    assert [call.tool_call_id for call in still.suspended] == ["c1"]
    assert RAN == []
    result = await agent.resume(waits.run_id, approve=False)
    assert RAN == [2]
    assert result.status == "success"


async def test_a_run_that_does_not_wait_cannot_be_resumed() -> None:
    agent = Agent(id="till", model=ScriptedModel([paying(), "Done.", "Hello."]), tools=[pay])
    waits = await agent.generate("hello")
    with pytest.raises(NothingSuspended, match="does not wait for tool call 'nope', but for"):
        await agent.resume(waits.run_id, tool_call_id="nope", approve=True)
    await agent.resume(waits.run_id, approve=True)
    for run_id in (waits.run_id, "nobody", (await agent.generate("hello")).run_id):
        with pytest.raises(NothingSuspended, match="agent 'till' has no run of that id that waits"):
            await agent.resume(run_id, approve=True)
    assert RAN == [7]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"approve": "no"}, "approve is True or False, not 'no'"),
        ({"approve": None}, "say approve=True or approve=False"),
        ({"approve": 1}, "approve is True or False, not 1"),
        ({"approve": False, "reason": 5}, "reason is a text or None, not 5"),
        ({"tool_call_id": []}, r"tool_call_id is a text or None, not \[\]"),
    ],
)
async def test_what_is_no_answer_approves_of_nothing_and_uses_nothing_up(answer: dict[str, Any], said: str) -> None:
    agent = Agent(model=ScriptedModel([paying(), "Done."]), tools=[pay])
    waits = await agent.generate("hi")
    with pytest.raises(DefinitionError, match=said):
        await agent.resume(waits.run_id, **answer)
    assert RAN == []
    assert (await agent.resume(waits.run_id, approve=True)).text == "I pay. Done."


async def test_of_two_that_resume_at_once_one_does() -> None:
    agent = Agent(model=ScriptedModel([paying(), "Done."]), tools=[pay])
    waits = await agent.generate("hello")
    outcomes: list[str] = []

    async def resume() -> None:
        try:
            outcomes.append((await agent.resume(waits.run_id, approve=True)).status)
        except NothingSuspended:
            outcomes.append("too late")

    async with anyio.create_task_group() as group:
        group.start_soon(resume)
        group.start_soon(resume)
    assert sorted(outcomes) == ["success", "too late"]
    assert RAN == [7]


@pytest.mark.parametrize("is_async", [False, True])
async def test_whether_it_is_needed_may_depend_on_the_arguments(is_async: bool) -> None:
    async def much(args: Any, _: object) -> bool:
        return bool(args["amount"] > 10)

    def much_now(args: Any, _: object) -> bool:
        return bool(args["amount"] > 10)

    @tool(needs_approval=much if is_async else much_now)
    def send(amount: int) -> str:
        """Send money."""
        RAN.append(amount)
        return "sent"

    calls = [ScriptedModel.tool_call("send", {"amount": 5}), ScriptedModel.tool_call("send", {"amount": 50})]
    agent = Agent(model=ScriptedModel([calls[0], calls[1], "Done."]), tools=[send])
    waits = await agent.generate("hello")
    assert [call.args for call in waits.suspended] == [{"amount": 50}]
    assert RAN == [5]
    await agent.resume(waits.run_id, approve=True)
    assert RAN == [5, 50]


async def test_where_nobody_can_tell_whether_it_is_needed_the_run_fails_and_the_tool_does_not_run() -> None:
    def broken(args: Any, _: object) -> bool:
        raise ValueError("no idea")

    @tool(needs_approval=broken)
    def send() -> str:
        """Send money."""
        RAN.append("sent")
        return "sent"

    agent = Agent(model=ScriptedModel([ScriptedModel.tool_call("send"), "Done."]), tools=[send])
    with pytest.raises(ToolFailed, match="needs_approval failed: ValueError: no idea"):
        await agent.generate("hello")
    assert RAN == []


@pytest.mark.parametrize("said", [None, "no", 0])
async def test_what_says_neither_yes_nor_no_fails_the_run_and_the_tool_does_not_run(said: Any) -> None:
    asks = tool(lambda: RAN.append("ran"), name="pay", needs_approval=lambda args, ctx: said)
    agent = Agent(model=ScriptedModel([paying(), "Done."]), tools=[asks])
    with pytest.raises(ToolFailed, match="needs_approval must give True or False, not"):
        await agent.generate("hi")
    assert RAN == []


async def test_what_a_processor_denied_or_dropped_needs_no_approval() -> None:
    class Denying(Processor):
        id = "denying"

        def process_tool_call(self, ctx: ToolCallContext) -> Deny:
            return Deny("never")

    class Dropping(Processor):
        id = "dropping"

        def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            return None if ctx.chunk.type == "tool-call" else ctx.chunk

    for guard in (Denying(), Dropping()):
        agent = Agent(model=ScriptedModel([paying(), "Done."]), tools=[pay], output_processors=[guard])
        assert (await agent.generate("hello")).status == "success"
    assert RAN == []


async def test_the_arguments_that_somebody_approves_are_those_the_tool_is_given() -> None:
    class Halving(Processor):
        id = "halving"

        def process_tool_call(self, ctx: ToolCallContext) -> ToolCallChanges:
            return ToolCallChanges(args={"amount": ctx.args["amount"] // 2})

    agent = Agent(model=ScriptedModel([paying(), "Done."]), tools=[pay], input_processors=[Halving()])
    waits = await agent.generate("hello")
    assert [call.args for call in waits.suspended] == [{"amount": 3}]
    await agent.resume(waits.run_id, approve=True)
    assert RAN == [3]


@pytest.mark.parametrize("phase", [Phase.TOOL_RESULT, Phase.OUTPUT_STREAM, Phase.OUTPUT_STEP, Phase.OUTPUT_RESULT])
@pytest.mark.parametrize("kind", [Everywhere, Patient])
async def test_a_resumed_run_is_blocked_like_any_other(phase: Phase, kind: type[Everywhere]) -> None:
    def act(ctx: Any) -> object:
        if RAN and (phase is not Phase.OUTPUT_STREAM or ctx.chunk.type == "text-delta"):
            ctx.abort("not here")
        return getattr(ctx, "chunk", None)

    guard = kind("guard", {phase: act})
    model = ScriptedModel([paying(), "Done."])
    agent = Agent(model=model, tools=[pay], input_processors=[guard], output_processors=[guard])
    waits = await agent.generate("hello")
    assert waits.status == "suspended"
    result = await agent.resume(waits.run_id, approve=True)
    assert result.status == "tripwire"
    assert result.tripwire is not None
    assert result.tripwire.phase == phase
    assert result.text == ""
    assert len([c for c in result.checks if c.phase is Phase.OUTPUT_STREAM]) == 1


async def test_state_and_records_outlive_the_wait() -> None:
    class Counting(Processor):
        id = "counting"

        def process_input(self, ctx: InputContext) -> None:
            ctx.state["seen"] = 1

        def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            ctx.state["seen"] += 1
            return ctx.chunk

        def process_output_result(self, ctx: Any) -> None:
            ctx.warn(f"seen {ctx.state['seen']}")

    guard = Counting()
    agent = Agent(
        model=ScriptedModel([paying(), "Done."]), tools=[pay], input_processors=[guard], output_processors=[guard]
    )
    waits = await agent.generate("hello")
    result = await agent.resume(waits.run_id, approve=True)
    assert [c.phase for c in waits.checks] == ["input", "output_stream"]
    assert [c.phase for c in result.checks] == ["input", "output_result", "output_stream"]
    assert result.checks[-1].runs == int((result.checks[-2].reason or "").removeprefix("seen ")) - 1


async def test_leaving_a_resumed_stream_early_cancels_the_run() -> None:
    agent = Agent(model=ScriptedModel([paying(), "Done."]), tools=[pay])
    waits = await agent.generate("hello")
    async with agent.resume_stream(waits.run_id, approve=True) as stream:
        async for _ in stream:
            break
    assert (await stream.result()).status == "canceled"
    with pytest.raises(NothingSuspended):
        await agent.resume(waits.run_id, approve=True)


@pytest.mark.parametrize("release", ["step", "run"])
async def test_what_is_held_back_comes_out_in_order(release: Any) -> None:
    agent = Agent(model=ScriptedModel([paying(), "Done."]), tools=[pay])
    first, waits = await chunks_and_result(agent, release=release)
    async with agent.resume_stream(waits.run_id, approve=True) as stream:
        second = [chunk async for chunk in stream]
    texts = [c.text for c in [*first, *second] if c.type == "text-delta"]
    assert "".join(texts) == "I pay. Done."
    assert ("text-delta" in kinds(first)) == (release == "step")


@pytest.mark.parametrize("release", ["chunk", "step", "run"])
async def test_whatever_is_held_back_somebody_is_asked(release: Any) -> None:
    guard = Everywhere("guard", {Phase.TOOL_CALL: lambda ctx: ToolCallChanges(args={"amount": 3})})
    agent = Agent(model=ScriptedModel([paying(), "Done."]), tools=[pay], output_processors=[guard])
    first, waits = await chunks_and_result(agent, release=release)
    assert [c.args for c in first if c.type == "tool-call-approval"] == [{"amount": 3}]
    async with agent.resume_stream(waits.run_id, approve=True) as stream:
        assert "tool-call-approval" not in kinds([chunk async for chunk in stream])


@pytest.mark.parametrize("way", ["left", "canceled", "task cancelled"])
async def test_whoever_leaves_when_asked_leaves_a_run_that_waits(way: str) -> None:
    agent = Agent(model=ScriptedModel([paying(), "Done."]), tools=[pay])
    stream = agent.stream("hi")
    with anyio.CancelScope() as scope:
        async with stream:
            async for chunk in stream:
                if chunk.type == "tool-call-approval":
                    if way == "left":
                        break
                    if way == "canceled":
                        stream.cancel()
                    else:
                        scope.cancel()
    waits = await stream.result()
    assert (waits.status, len(waits.suspended)) == ("suspended", 1)
    assert (await agent.resume(waits.run_id, approve=True)).text == "I pay. Done."


async def test_a_run_that_is_canceled_before_anybody_was_asked_waits_for_nobody() -> None:
    agent = Agent(model=ScriptedModel([paying(), "Done."]), tools=[pay])
    async with agent.stream("hi") as stream:
        async for chunk in stream:
            if chunk.type == "step-finish":
                stream.cancel()
        result = await stream.result()
    assert (result.status, result.suspended) == ("canceled", ())
    with pytest.raises(NothingSuspended):
        await agent.resume(result.run_id, approve=True)


async def test_nobody_is_asked_about_a_run_that_could_not_be_kept() -> None:
    class Full(MemoryRunStore):
        async def append(self, run_id: str, after: int, rows: Sequence[JournalRow]) -> bool:
            raise OSError("disk full")

    agent = Agent(model=ScriptedModel([paying(), "Done."]), tools=[pay], run_store=Full())
    chunks, result = await chunks_and_result(agent)
    assert (result.status, result.suspended, kinds(chunks)[-1]) == ("failed", (), "error")
    assert "tool-call-approval" not in kinds(chunks)

"""The tools of a step: looked at before any starts, run at once, results looked at in order, failures told."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import Agent, AgentResult, Message, Phase, Tool, tool
from interlock.errors import InvalidProcessorReturn
from interlock.messages import Chunk, JSONValue, ToolCall, ToolError, ToolInvocationPart, ToolResult
from interlock.models.scripted import ScriptItem
from interlock.processors import (
    Changes,
    Deny,
    OutputStreamContext,
    StepChanges,
    ToolCallChanges,
    ToolCallContext,
    ToolResultChanges,
)
from interlock.testing import ScriptedModel
from interlock.tools import ToolContext
from tests.lifecycle.acting import Everywhere, aborting, chunks_and_result, kinds, model_that_calls
from tests.lifecycle.valid_history import assert_valid_history

pytestmark = pytest.mark.anyio

call = ScriptedModel.tool_call


def invocations(result: AgentResult) -> list[ToolInvocationPart]:
    """The tool calls of the conversation."""
    return [part for message in result.messages for part in message.parts if isinstance(part, ToolInvocationPart)]


def echo_tool(name: str = "echo") -> Tool:
    """Gives back what it is given."""

    async def echo(text: str = "nothing") -> str:
        return text

    return tool(echo, name=name)


def noting_tool(ran: list[int], name: str = "note") -> Tool:
    """Notes that it ran, and with what."""

    def note(n: int = 0) -> int:
        ran.append(n)
        return n

    return tool(note, name=name)


def with_number(n: int) -> int:
    """Gives it back."""
    return n


async def test_the_result_is_streamed_stored_and_shown_to_the_model() -> None:
    model = ScriptedModel([[call("echo", {"text": "seven"})], "It said seven."])
    chunks, result = await chunks_and_result(Agent(model=model, tools=[echo_tool()]))
    told = next(chunk for chunk in chunks if isinstance(chunk, ToolResult))
    assert (told.tool_call_id, told.args, told.result) == ("call_1", {"text": "seven"}, "seven")
    assert [(part.state, part.result) for part in invocations(result)] == [("result", "seven")]
    assert result.steps[0].tool_results == [told]
    assert model.received(1).endswith("seven")


async def test_all_tools_of_a_step_run_at_once() -> None:
    together = 0
    everybody = anyio.Event()

    @tool
    async def meet() -> str:
        nonlocal together
        together += 1
        if together == 5:
            everybody.set()
        await everybody.wait()
        return "met"

    agent = Agent(model=model_that_calls(*["meet"] * 5), tools=[meet])
    with anyio.fail_after(5):
        result = await agent.generate("hello")
    assert [r.type for r in result.steps[0].tool_results] == ["tool-result"] * 5


async def test_every_call_is_looked_at_before_any_tool_starts() -> None:
    log: list[str] = []

    @tool
    def note(n: int) -> None:
        log.append(f"tool {n}")

    guard = Everywhere("guard", {Phase.TOOL_CALL: lambda ctx: log.append(f"hook {ctx.args['n']}")})
    model = ScriptedModel([[call("note", {"n": n}) for n in range(3)], "done"])
    await Agent(model=model, tools=[note], input_processors=[guard]).generate("hello")
    assert log[:3] == ["hook 0", "hook 1", "hook 2"]
    assert sorted(log[3:]) == ["tool 0", "tool 1", "tool 2"]


async def test_results_come_in_the_order_of_the_calls_while_the_tools_behind_go_on() -> None:
    log: list[str] = []
    last_has_ended = anyio.Event()

    @tool
    async def first() -> str:
        await last_has_ended.wait()
        return "first"

    @tool
    async def last() -> str:
        log.append("last ended")
        last_has_ended.set()
        return "last"

    guard = Everywhere("guard", {Phase.TOOL_RESULT: lambda ctx: log.append(f"looked at {ctx.result}")})
    agent = Agent(model=model_that_calls("first", "last"), tools=[first, last], output_processors=[guard])
    with anyio.fail_after(5):
        chunks, _ = await chunks_and_result(agent)
    assert log == ["last ended", "looked at first", "looked at last"]
    assert [chunk.result for chunk in chunks if isinstance(chunk, ToolResult)] == ["first", "last"]


async def test_a_result_is_looked_at_before_it_is_streamed_stored_or_shown() -> None:
    guard = Everywhere("guard", {Phase.TOOL_RESULT: lambda ctx: ToolResultChanges(result="[redacted]")})
    model = ScriptedModel([[call("echo", {"text": "secret"})], "done"])
    shown = tool(echo_tool().function, name="echo", to_model_output=lambda result: f"shown: {result}")
    chunks, result = await chunks_and_result(Agent(model=model, tools=[shown], input_processors=[guard]))
    assert [chunk.result for chunk in chunks if isinstance(chunk, ToolResult)] == ["[redacted]"]
    assert [part.result for part in invocations(result)] == ["[redacted]"]
    assert "shown: [redacted]" in model.received(1)


async def test_a_chain_of_processors_sees_each_others_result() -> None:
    first = Everywhere("first", {Phase.TOOL_RESULT: lambda ctx: ToolResultChanges(result=[ctx.result])})
    second = Everywhere("second", {Phase.TOOL_RESULT: lambda ctx: ToolResultChanges(result={"was": ctx.result})})
    agent = Agent(
        model=model_that_calls("echo"), tools=[echo_tool()], input_processors=[first], output_processors=[second]
    )
    assert [part.result for part in invocations(await agent.generate("hello"))] == [{"was": ["nothing"]}]


async def test_a_tool_runs_with_the_arguments_that_the_hooks_left() -> None:
    guard = Everywhere("guard", {Phase.TOOL_CALL: lambda ctx: ToolCallChanges(args={"text": "changed"})})
    model = ScriptedModel([[call("echo", {"text": "as it came"})], "done"])
    chunks, result = await chunks_and_result(Agent(model=model, tools=[echo_tool()], output_processors=[guard]))
    told = next(chunk for chunk in chunks if isinstance(chunk, ToolResult))
    assert (told.args, told.result) == ({"text": "changed"}, "changed")
    assert [part.args for part in invocations(result)] == [{"text": "changed"}]


async def test_arguments_may_be_changed_in_the_stream_too() -> None:
    def changed(ctx: OutputStreamContext) -> Chunk:
        chunk = ctx.chunk
        return chunk.replace(args={"text": "changed"}) if chunk.type == "tool-call" else chunk

    guard = Everywhere("guard", {Phase.OUTPUT_STREAM: changed})
    model = ScriptedModel([[call("echo", {"text": "as it came"})], "done"])
    result = await Agent(model=model, tools=[echo_tool()], output_processors=[guard]).generate("hello")
    assert [(part.args, part.result) for part in invocations(result)] == [({"text": "changed"}, "changed")]


async def test_a_dropped_call_does_not_run() -> None:
    ran: list[int] = []
    guard = Everywhere("guard", {Phase.OUTPUT_STREAM: lambda ctx: None if ctx.chunk.type == "tool-call" else ctx.chunk})
    agent = Agent(model=model_that_calls("note"), tools=[noting_tool(ran)])
    result = await agent.generate("hello", output_processors=[guard])
    assert ran == []
    assert result.status == "success"
    assert invocations(result) == []


async def test_a_call_that_output_step_takes_out_of_the_conversation_does_not_run() -> None:
    ran: list[int] = []
    guard = Everywhere("guard", {Phase.OUTPUT_STEP: lambda ctx: Changes(messages=ctx.message_list.input)})
    agent = Agent(model=model_that_calls("note"), tools=[noting_tool(ran)])
    result = await agent.generate("hello", output_processors=[guard])
    assert ran == []
    assert result.status == "success"


async def test_a_denied_call_does_not_run_and_the_model_is_told_why() -> None:
    ran: list[int] = []
    guard = Everywhere("guard", {Phase.TOOL_CALL: lambda ctx: Deny("not on a Sunday")})
    model = model_that_calls("note")
    agent = Agent(model=model, tools=[noting_tool(ran)], input_processors=[guard])
    chunks, result = await chunks_and_result(agent)
    assert ran == []
    assert [chunk.error for chunk in chunks if isinstance(chunk, ToolError)] == ["not on a Sunday"]
    assert [(part.state, part.error) for part in invocations(result)] == [("error", "not on a Sunday")]
    assert "not on a Sunday" in model.received(1)
    assert f"guard:{Phase.TOOL_RESULT}" not in guard.log


def broken() -> None:
    """Raises."""
    raise OSError("no parcel today")


async def cancelled_itself() -> None:
    """Awaits something that somebody else cancelled."""
    raise asyncio.CancelledError


@pytest.mark.parametrize("phase", [Phase.TOOL_CALL, Phase.TOOL_RESULT])
@pytest.mark.parametrize("what", ["message", "call"])
async def test_a_call_may_be_taken_out_of_the_conversation_at_any_time(phase: Phase, what: str) -> None:
    def take_out(ctx: Any) -> None:
        if ctx.step_number == 0 and ctx.tool_call_id == "call_1":
            last = ctx.messages[-1]
            if what == "message":
                ctx.message_list.remove(last.id)
            else:
                last.parts = [p for p in last.parts if p.type != "tool-invocation" or p.tool_call_id != "call_1"]

    guard = Everywhere("guard", {phase: take_out})
    model = ScriptedModel([["two: ", call("echo", {"text": "one"}), call("echo", {"text": "other"})], "done"])
    result = await Agent(model=model, tools=[echo_tool()], output_processors=[guard]).generate("hello")
    assert result.status == "success", result.error
    assert [part.result for part in invocations(result)] == ([] if what == "message" else ["other"])
    assert_valid_history(result.messages)
    assert all(request.prompt[0].text == "hello" for request in model.requests)


@pytest.mark.parametrize(("reason", "told"), [(None, "the call was denied"), ("", ""), (403, "403")])
async def test_a_call_that_is_denied_for_whatever_reason_does_not_run(reason: Any, told: str) -> None:
    ran: list[int] = []
    guard = Everywhere("guard", {Phase.TOOL_CALL: lambda ctx: Deny(reason)})
    agent = Agent(model=model_that_calls("note"), tools=[noting_tool(ran)], input_processors=[guard])
    chunks, _ = await chunks_and_result(agent)
    assert ran == []
    assert [chunk.error for chunk in chunks if isinstance(chunk, ToolError)] == [told]


@pytest.mark.parametrize("args", [{"n": float("nan")}, {"n": object()}, {(1, 2): 3}])
async def test_arguments_that_are_no_json_are_refused_where_they_are_returned(args: Any) -> None:
    guard = Everywhere("guard", {Phase.TOOL_CALL: lambda ctx: ToolCallChanges(args=args)})
    agent = Agent(model=model_that_calls("note"), tools=[noting_tool([])], input_processors=[guard])
    with pytest.raises(InvalidProcessorReturn, match="the arguments must be JSON values"):
        await agent.generate("hello")


class Speechless(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise OSError


def speechless() -> None:
    """Raises that."""
    raise Speechless


def not_serialisable() -> object:
    """Gives what is no JSON."""
    return object()


@pytest.mark.parametrize(
    ("made", "args", "told"),
    [
        (tool(broken, name="t"), {}, "no parcel today"),
        (tool(not_serialisable, name="t"), {}, "JSON"),
        (tool(with_number, name="t"), {}, "n: Field required"),
        (tool(with_number, name="t"), {"n": 1, "m": 2}, "m: Extra inputs"),
        (tool(with_number, name="t"), "no json", "invalid arguments"),
        (tool(lambda: 1, name="other"), {}, "there is no tool 't'; the tools are: 'other'"),
        (tool(lambda: 1, name="t", to_model_output=lambda result: result["x"]), {}, "not subscriptable"),
        (tool(speechless, name="t"), {}, "tool 't' failed: Speechless"),
    ],
    ids=[
        "raises",
        "no JSON",
        "argument missing",
        "argument unknown",
        "arguments no JSON",
        "unknown",
        "to_model_output",
        "raises what cannot be told",
    ],
)
async def test_whatever_a_tool_does_wrong_is_told_to_the_model_and_the_run_goes_on(
    made: Tool, args: JSONValue, told: str
) -> None:
    model = ScriptedModel([[call("t", args)], "I could not."])
    chunks, result = await chunks_and_result(Agent(model=model, tools=[made]))
    assert result.status == "success", result.error
    assert result.text == "I could not."
    errors = [chunk for chunk in chunks if isinstance(chunk, ToolError)]
    assert len(errors) == 1
    assert told in errors[0].error
    assert [(part.state, part.error) for part in invocations(result)] == [("error", errors[0].error)]
    assert told in model.received(1)


async def test_whoever_changes_arguments_or_results_that_were_handed_out_changes_nothing_that_was_said() -> None:
    kept: list[Any] = []

    def needs(args: Any, ctx: ToolContext) -> bool:
        args["of"]["n"] = "needs"
        return False

    def count(of: Any) -> dict[str, Any]:
        kept.append(of["n"])
        of["n"] = "tool"
        return {"all": {"n": 2}}

    def look(ctx: Any) -> None:
        kept.append(ctx.result)

    def late(ctx: Any) -> None:
        if ctx.step_number == 1:
            kept[1]["all"]["n"] = "late"

    guard = Everywhere("guard", {Phase.TOOL_RESULT: look, Phase.INPUT_STEP: late})
    model = ScriptedModel([call("count", {"of": {"n": 1}}), "done"])
    agent = Agent(model=model, tools=[tool(count, needs_approval=needs)], input_processors=[guard])
    chunks, result = await chunks_and_result(agent)
    assert kept == [1, {"all": {"n": "late"}}]
    (part,) = invocations(result)
    assert (part.args, part.result) == ({"of": {"n": 1}}, {"all": {"n": 2}})
    said = [*chunks, *result.steps[0].tool_calls, *result.steps[0].tool_results]
    assert all(c.args == {"of": {"n": 1}} for c in said if isinstance(c, ToolCall | ToolResult))
    assert all(c.result == {"all": {"n": 2}} for c in said if isinstance(c, ToolResult))


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_tool_that_cancelled_itself_has_failed_it_has_not_returned_none() -> None:
    agent = Agent(model=model_that_calls("t"), tools=[tool(cancelled_itself, name="t")])
    chunks, result = await chunks_and_result(agent)
    assert result.status == "success"
    assert "tool-error" in kinds(chunks)
    assert "tool-result" not in kinds(chunks)


async def test_tool_result_is_not_called_for_a_tool_that_raised() -> None:
    guard = Everywhere("guard")
    agent = Agent(model=model_that_calls("t"), tools=[tool(broken, name="t")], input_processors=[guard])
    await agent.generate("hello")
    assert f"guard:{Phase.TOOL_CALL}" in guard.log
    assert f"guard:{Phase.TOOL_RESULT}" not in guard.log


async def test_a_tool_that_only_this_step_offers_is_run() -> None:
    """``prepare_step`` may bring tools that the agent does not have."""
    agent = Agent(model=model_that_calls("extra"))
    extra = tool(lambda: "extra ran", name="extra")
    result = await agent.generate("hello", prepare_step=lambda ctx: StepChanges(tools=[extra]))
    assert [part.result for part in invocations(result)] == ["extra ran"]


async def test_a_tool_that_is_not_active_in_this_step_is_not_run() -> None:
    ran: list[int] = []
    agent = Agent(model=model_that_calls("note"), tools=[noting_tool(ran)])
    chunks, _ = await chunks_and_result(agent, active_tools=[])
    assert ran == []
    assert "tool-error" in kinds(chunks)


async def test_a_tool_sees_the_run_and_the_conversation_but_cannot_change_it() -> None:
    seen: list[ToolContext] = []

    @tool
    def look(ctx: ToolContext) -> None:
        seen.append(ctx)
        ctx.messages[0].parts.clear()

    agent = Agent(model=model_that_calls("look"), tools=[look])
    result = await agent.generate("hello", request_context={"user": "ann"})
    assert [(c.run_id, c.tool_call_id, c.step_number) for c in seen] == [(result.run_id, "call_1", 0)]
    assert seen[0].request_context["user"] == "ann"
    assert result.messages[0].text == "hello"


async def test_calls_that_the_provider_ran_are_not_run_again_but_their_results_are_looked_at() -> None:
    ran: list[int] = []
    answer: list[ScriptItem] = [
        ToolCall("c1", "search", {"n": 1}, provider_executed=True),
        ToolResult("c1", "search", {"n": 1}, result="secret", provider_executed=True),
        "found",
    ]
    guard = Everywhere("guard", {Phase.TOOL_RESULT: lambda ctx: ToolResultChanges(result="[redacted]")})
    agent = Agent(model=ScriptedModel([answer]), tools=[noting_tool(ran, "search")])
    chunks, result = await chunks_and_result(agent, output_processors=[guard])
    assert ran == []
    assert f"guard:{Phase.TOOL_CALL}" not in guard.log
    assert [chunk.result for chunk in chunks if isinstance(chunk, ToolResult)] == ["[redacted]"]
    assert [part.result for part in invocations(result)] == ["[redacted]"]


async def test_the_result_of_a_call_that_the_provider_ran_bears_the_arguments_that_were_emitted() -> None:
    def redact(ctx: OutputStreamContext) -> Chunk:
        return ctx.chunk.replace(args={"q": "[X]"}) if isinstance(ctx.chunk, ToolCall) else ctx.chunk

    answer: list[ScriptItem] = [
        ToolCall("c1", "search", {"q": "secret"}, provider_executed=True),
        ToolResult("c1", "search", {"q": "secret"}, result="found", provider_executed=True),
    ]
    seen: list[JSONValue] = []
    guard = Everywhere("guard", {Phase.OUTPUT_STREAM: redact, Phase.TOOL_RESULT: lambda ctx: seen.append(ctx.args)})
    chunks, _ = await chunks_and_result(Agent(model=ScriptedModel([answer]), output_processors=[guard]))
    assert [chunk.args for chunk in chunks if isinstance(chunk, ToolResult)] == [{"q": "[X]"}]
    assert seen == [{"q": "[X]"}]


@pytest.mark.parametrize("max_steps", [1, 5])
async def test_where_what_the_provider_ran_is_sent_back_the_model_is_asked_again_and_told_why(max_steps: int) -> None:
    answer: list[ScriptItem] = [
        "I look. ",
        ToolCall("c1", "search", {"n": 1}, provider_executed=True),
        ToolResult("c1", "search", {"n": 1}, result="secret", provider_executed=True),
        "it says secret",
        call("search", {"n": 2}),
    ]
    refused = 0

    def refuse(ctx: Any) -> None:
        nonlocal refused
        refused += 1
        ctx.abort("too private", retry=True)

    ran: list[int] = []
    model = ScriptedModel([answer, "Then not."])
    agent = Agent(model=model, tools=[noting_tool(ran, "search")], max_processor_retries=1, max_steps=max_steps)
    guard = Everywhere("guard", {Phase.TOOL_RESULT: refuse})
    chunks, result = await chunks_and_result(agent, output_processors=[guard])
    assert (result.status, result.text, result.finish_reason) == ("success", "I look. Then not.", "stop")
    assert (ran, refused, model.calls, model.closed) == ([], 1, 2, 1)
    assert [(part.state, part.error) for part in invocations(result)] == [("error", "too private")]
    assert kinds(chunks).count("step-start") == kinds(chunks).count("step-finish") == 2
    assert "too private" in model.received(1)
    assert "secret" not in str(result.messages.to_json()) + model.received(1)
    assert_valid_history(model.requests[1].prompt)


async def test_a_block_while_tools_run_cancels_them_and_waits_for_them() -> None:
    log: list[str] = []

    @tool
    async def slow() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
            log.append("ended")

    agent = Agent(
        model=model_that_calls("quick", "slow", "slow"),
        tools=[slow, tool(lambda: "quick", name="quick")],
        input_processors=[Everywhere("guard", {Phase.TOOL_RESULT: aborting()})],
    )
    with anyio.fail_after(5):
        result = await agent.generate("hello")
    assert result.status == "tripwire"
    assert log == ["ended", "ended"]


async def test_a_block_by_a_later_call_keeps_all_tools_of_the_step_from_running() -> None:
    ran: list[int] = []

    def act(ctx: ToolCallContext) -> None:
        if ctx.args == {"n": 2}:
            ctx.abort("two is too many")

    model = ScriptedModel([[call("note", {"n": n}) for n in range(3)], "done"])
    agent = Agent(model=model, tools=[noting_tool(ran)])
    result = await agent.generate("hello", input_processors=[Everywhere("guard", {Phase.TOOL_CALL: act})])
    assert result.status == "tripwire"
    assert ran == []
    assert model.calls == 1


async def test_messages_that_a_hook_adds_at_a_tool_call_stay() -> None:
    guard = Everywhere("guard", {Phase.TOOL_CALL: lambda ctx: ctx.message_list.add(Message.user("mind the gap"))})
    model = model_that_calls("echo")
    await Agent(model=model, tools=[echo_tool()], input_processors=[guard]).generate("hello")
    assert "mind the gap" in model.received(1)

"""What the conversation holds after a run: after blocks, failures and cancels nothing that was not accepted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlock import Agent, AgentResult, Message, MessageList, Phase, Processor, tool
from interlock.errors import ModelError
from interlock.messages import (
    StepStartPart,
    TextPart,
    ToolCall,
    ToolCallDelta,
    ToolCallPart,
    ToolCallStart,
    ToolInvocationPart,
    ToolResultPart,
)
from interlock.processors import Changes, OutputStreamContext
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Act, Everywhere, aborting, chunks_and_result, model_that_calls

pytestmark = pytest.mark.anyio

call = ScriptedModel.tool_call


@tool
async def track(n: int = 0) -> str:
    """Where a parcel is."""
    return f"parcel {n}"


def pairs(messages: MessageList) -> list[tuple[object, str, object]]:
    """Each tool call of the conversation: its arguments, state and result."""
    parts = [part for message in messages for part in message.parts if isinstance(part, ToolInvocationPart)]
    return [(part.args, part.state, part.result) for part in parts]


def assert_sendable(messages: MessageList) -> None:
    """Every call of the prompt has its result, and no part is empty."""
    calls: list[str] = []
    results: list[str] = []
    for message in messages.to_prompt():
        assert message.parts, "an empty message"
        for part in message.parts:
            if part.type == "tool-call":
                calls.append(part.tool_call_id)
            elif part.type == "tool-result":
                results.append(part.tool_call_id)
            elif isinstance(part, TextPart):
                assert part.text, "an empty text"
    assert sorted(calls) == sorted(results)


def at_step(number: int, act: Act) -> Act:
    """Does it in that step only."""
    return lambda ctx: act(ctx) if ctx.step_number == number else getattr(ctx, "chunk", None)


def redact(ctx: Any) -> None:
    """What an input processor leaves of the user's turn."""
    ctx.messages[0].parts[0].text = "[redacted]"


async def run_of_three_steps(acts: dict[Phase, Act]) -> AgentResult:
    """Two steps with a tool, then an answer; the user's text is redacted on its way in."""
    model = ScriptedModel(
        [["First I look. ", call("track", {"n": 1})], ["Then again. ", call("track", {"n": 2})], "It is in Leipzig."]
    )
    guard = Everywhere("guard", {Phase.INPUT: redact, **acts})
    agent = Agent(model=model, tools=[track], input_processors=[guard], output_processors=[guard])
    _, result = await chunks_and_result(agent, "my secret parcel")
    assert_sendable(result.messages)
    return result


async def test_a_run_that_ends_well_leaves_one_answer_with_all_its_steps() -> None:
    result = await run_of_three_steps({})
    assert [message.role for message in result.messages] == ["user", "assistant"]
    assert result.messages.texts()[0] == "[redacted]"
    answer = result.messages[1]
    assert [part.type for part in answer.parts] == [
        "text",
        "tool-invocation",
        "step-start",
        "text",
        "tool-invocation",
        "step-start",
        "text",
    ]
    assert result.text == answer.text == "First I look. Then again. It is in Leipzig."
    assert [step.text for step in result.steps] == ["First I look. ", "Then again. ", "It is in Leipzig."]


@pytest.mark.parametrize("phase", [Phase.INPUT, Phase.INPUT_STEP, Phase.LLM_REQUEST])
async def test_a_block_before_the_first_call_leaves_nothing_of_the_turn(phase: Phase) -> None:
    result = await run_of_three_steps({phase: aborting()})
    assert list(result.messages) == []
    assert result.steps == ()


@pytest.mark.parametrize("phase", [Phase.INPUT, Phase.INPUT_STEP, Phase.LLM_REQUEST])
async def test_a_block_before_the_first_call_leaves_what_was_there_before_the_turn(phase: Phase) -> None:
    earlier = MessageList([Message.user("first question"), Message.assistant("first answer")], source="memory")
    earlier.add("my secret parcel", source="input")
    agent = Agent(model=ScriptedModel(["no"]), input_processors=[Everywhere("guard", {phase: aborting()})])
    result = await agent.generate(earlier)
    assert result.status == "tripwire"
    assert result.messages.texts() == ["first question", "first answer"]
    assert earlier.texts() == ["first question", "first answer", "my secret parcel"]


LATER = [
    Phase.OUTPUT_STREAM,
    Phase.LLM_RESPONSE,
    Phase.OUTPUT_STEP,
    Phase.TOOL_CALL,
    Phase.TOOL_RESULT,
]


@pytest.mark.parametrize("phase", LATER)
async def test_a_block_in_the_first_step_leaves_the_users_turn_as_the_input_processors_left_it(phase: Phase) -> None:
    result = await run_of_three_steps({phase: at_step(0, aborting())})
    assert result.messages.texts() == ["[redacted]"]
    assert [message.role for message in result.messages] == ["user"]


@pytest.mark.parametrize("phase", [Phase.INPUT_STEP, Phase.LLM_REQUEST, *LATER])
async def test_a_block_in_a_later_step_leaves_the_tool_pairs_of_the_accepted_ones_and_no_text(phase: Phase) -> None:
    result = await run_of_three_steps({phase: at_step(1, aborting())})
    assert result.messages.texts() == ["[redacted]", ""]
    assert pairs(result.messages) == [({"n": 1}, "result", "parcel 1")]


async def test_a_block_at_the_end_leaves_the_tool_pairs_and_no_text() -> None:
    result = await run_of_three_steps({Phase.OUTPUT_RESULT: aborting()})
    assert result.messages.texts() == ["[redacted]", ""]
    assert pairs(result.messages) == [({"n": 1}, "result", "parcel 1"), ({"n": 2}, "result", "parcel 2")]


async def test_a_block_at_the_end_leaves_no_text_though_a_processor_had_replaced_the_answer() -> None:
    def replace(ctx: Any) -> Changes:
        return Changes(messages=[*ctx.message_list.input, Message.assistant("the answer in other words")])

    result = await run_of_three_steps({Phase.OUTPUT_STEP: at_step(2, replace), Phase.OUTPUT_RESULT: aborting()})
    assert result.messages.texts() == ["[redacted]"]


async def test_a_block_at_the_second_of_two_results_leaves_neither() -> None:
    model = ScriptedModel([[call("track", {"n": 1}), call("track", {"n": 2})], "done"])

    def second(ctx: Any) -> None:
        if ctx.args == {"n": 2}:
            ctx.abort("no")

    agent = Agent(model=model, tools=[track], input_processors=[Everywhere("guard", {Phase.TOOL_RESULT: second})])
    result = await agent.generate("hello")
    assert pairs(result.messages) == []
    assert_sendable(result.messages)


async def test_a_failure_leaves_what_was_accepted_before_it() -> None:
    model = ScriptedModel([["First I look. ", call("track", {"n": 1})], ["Then ", ModelError("gone")]])
    _, result = await chunks_and_result(Agent(model=model, tools=[track]))
    assert result.status == "failed"
    assert result.messages.texts() == ["hello", "First I look. "]
    assert pairs(result.messages) == [({"n": 1}, "result", "parcel 1")]
    assert_sendable(result.messages)
    assert result.text == "First I look. Then "


async def test_leaving_early_leaves_what_was_accepted_before() -> None:
    model = ScriptedModel([["First. ", call("track", {"n": 1})], ["Then ", "more"]])
    async with Agent(model=model, tools=[track]).stream("hello") as stream:
        async for chunk in stream:
            if getattr(chunk, "text", "") == "Then ":
                break
    result = await stream.result()
    assert result.status == "canceled"
    assert result.messages.texts() == ["hello", "First. "]
    assert_sendable(result.messages)


async def test_max_steps_stores_the_last_tools_and_says_so() -> None:
    model = ScriptedModel([[f"Step {n}. ", call("track", {"n": n})] for n in range(9)])
    result = await Agent(model=model, tools=[track], max_steps=3).generate("hello")
    assert model.calls == 3
    assert (result.status, result.finish_reason) == ("success", "max-steps")
    assert pairs(result.messages) == [({"n": n}, "result", f"parcel {n}") for n in range(3)]
    assert result.text == "Step 0. Step 1. Step 2. "
    assert_sendable(result.messages)


async def test_what_is_emitted_is_what_is_stored_and_what_text_says() -> None:
    def shout(ctx: Any) -> object:
        if ctx.chunk.type != "text-delta":
            return ctx.chunk
        return None if ctx.chunk.text == "b" else ctx.chunk.replace(text=ctx.chunk.text.upper())

    agent = Agent(
        model=ScriptedModel([["a", "b", "c"]]), output_processors=[Everywhere("p", {Phase.OUTPUT_STREAM: shout})]
    )
    chunks, streamed = await chunks_and_result(agent)
    assert [chunk.text for chunk in chunks if chunk.type == "text-delta"] == ["A", "C"]
    assert streamed.text == streamed.steps[0].text == streamed.messages[-1].text == "AC"


async def test_output_step_edits_the_answer_before_it_is_stored_and_sent_again() -> None:
    def edit(ctx: Any) -> None:
        for part in ctx.messages[-1].parts:
            if isinstance(part, TextPart):
                part.text = part.text.upper()

    model = model_that_calls("track", text="let me see", then="done")
    guard = Everywhere("guard", {Phase.OUTPUT_STEP: edit})
    result = await Agent(model=model, tools=[track], output_processors=[guard]).generate("hello")
    assert [step.text for step in result.steps] == ["LET ME SEE", "DONE"]
    assert result.text == "LET ME SEEDONE"
    assert "LET ME SEE" in model.received(1)


async def test_output_result_has_the_last_word() -> None:
    seen: list[tuple[str, int]] = []

    def edit(ctx: Any) -> Changes:
        seen.append((ctx.result.text, len(ctx.messages)))
        return Changes(messages=[Message.assistant("replaced")])

    guard = Everywhere("guard", {Phase.OUTPUT_RESULT: edit})
    result = await Agent(model=ScriptedModel(["an answer"]), output_processors=[guard]).generate("hello")
    assert seen == [("an answer", 1)]
    assert result.text == "replaced"
    assert result.messages.texts() == ["hello", "replaced"]


async def test_an_empty_sequence_changes_nothing_at_output_step_and_empties_elsewhere() -> None:
    for phase, texts in ((Phase.OUTPUT_STEP, ["hello", "ok"]), (Phase.OUTPUT_RESULT, ["hello"])):
        guard = Everywhere("guard", {phase: lambda ctx: []})
        result = await Agent(model=ScriptedModel(["ok"]), output_processors=[guard]).generate("hello")
        assert result.messages.texts() == texts
    guard = Everywhere("guard", {Phase.OUTPUT_STEP: lambda ctx: Changes(messages=[])})
    result = await Agent(model=ScriptedModel(["ok"]), output_processors=[guard]).generate("hello")
    assert result.messages.texts() == []


async def test_untagged_system_messages_go_back_to_their_baseline_at_every_step_and_tagged_ones_stay() -> None:
    def first(ctx: Any) -> None:
        ctx.message_list.add_system("from input")

    def each(ctx: Any) -> Changes:
        ctx.message_list.add_system("a note", tag=f"tag-{ctx.step_number}")
        return Changes(system_messages=[*ctx.system_messages, f"only in step {ctx.step_number}"])

    model = model_that_calls("track")
    guard = Everywhere("guard", {Phase.INPUT: first, Phase.INPUT_STEP: each})
    agent = Agent(model=model, tools=[track], instructions="Be kind.", input_processors=[guard])
    await agent.generate("hello")

    def system(number: int) -> list[str]:
        return [message.text for message in model.requests[number].prompt if message.role == "system"]

    assert system(0) == ["Be kind.", "from input", "only in step 0", "a note"]
    assert system(1) == ["Be kind.", "from input", "only in step 1", "a note", "a note"]


async def test_a_conversation_is_gone_on_with_and_the_one_that_was_given_is_left_alone() -> None:
    model = ScriptedModel(["one", "two"])
    seen: list[list[str]] = []
    guard = Everywhere("guard", {Phase.INPUT: lambda ctx: seen.append([m.text for m in ctx.messages])})
    agent = Agent(model=model, instructions="Be kind.", input_processors=[guard])
    first = await agent.generate("first")
    going_on = first.messages.fork()
    going_on.add("second", source="input")
    second = await agent.generate(going_on)
    assert seen == [["first"], ["second"]]
    assert second.text == "two"
    assert second.messages.texts() == ["first", "one", "second", "two"]
    assert going_on.texts() == ["first", "one", "second"]
    assert model.received(1) == "Be kind.\nfirst\none\nsecond"


async def test_a_step_start_part_stands_between_the_steps_of_one_answer() -> None:
    result = await run_of_three_steps({})
    assert sum(isinstance(part, StepStartPart) for part in result.messages[1].parts) == 2


async def test_calls_that_share_an_id_are_told_apart_and_each_gets_its_own_result() -> None:
    def add(x: int) -> str:
        """Add."""
        return f"result {x}"

    def call(x: int) -> Any:
        return ScriptedModel.tool_call("add", {"x": x}, id="c")

    model = ScriptedModel([[call(1), call(2)], [call(3)], "end"])
    await Agent(model=model, tools=[add]).generate("go")
    parts = [part for message in model.requests[2].prompt for part in message.parts]
    calls = [(p.tool_call_id, p.args["x"]) for p in parts if isinstance(p, ToolCallPart)]
    results = [(p.tool_call_id, p.output) for p in parts if isinstance(p, ToolResultPart)]
    assert calls == [("c", 1), ("c-2", 2), ("c-3", 3)]
    assert results == [("c", "result 1"), ("c-2", "result 2"), ("c-3", "result 3")]


async def test_what_is_streamed_of_a_call_bears_the_id_of_the_call() -> None:
    def add(x: int) -> str:
        """Add."""
        return f"result {x}"

    def call(x: int) -> Any:
        return ScriptedModel.tool_call("add", {"x": x}, id="c")

    class Again(Processor):
        id = "again"

        def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            if ctx.chunk.type == "tool-call-delta" and not ctx.retry_count:
                ctx.abort("say it again", retry=True)
            return ctx.chunk

    model = ScriptedModel([call(0), [call(1), call(2)], [call(3)], "end"])
    agent = Agent(model=model, tools=[add], output_processors=[Again()], max_processor_retries=1)
    async with agent.stream("go") as stream:
        chunks = [chunk async for chunk in stream]
    whole = {c.tool_call_id: c.args for c in chunks if isinstance(c, ToolCall)}
    written = {c.tool_call_id: json.loads(c.args_text) for c in chunks if isinstance(c, ToolCallDelta)}
    assert list(whole.values()) == [{"x": 1}, {"x": 2}, {"x": 3}]
    assert written == whole
    begun = [c.tool_call_id for c in chunks if isinstance(c, ToolCallStart)]
    assert begun[-3:] == list(whole)

"""The ten contexts: what each shows, and that each can be made by hand to try a processor by itself."""

from __future__ import annotations

from typing import get_args

import pytest

from interlock import Message, MessageList, Phase, PhaseContext, ProcessorStepSchema, RequestContext
from interlock.errors import ModelError
from interlock.messages import PromptMessage, TextDelta, TextPart, ToolCall, Usage
from interlock.models import ModelRequest
from interlock.processors import (
    APIErrorContext,
    InputContext,
    InputStepContext,
    LLMRequestContext,
    LLMResponseContext,
    OutputResultContext,
    OutputStepContext,
    OutputStreamContext,
    RunResult,
    StepResult,
    ToolCallContext,
    ToolResultContext,
)
from interlock.processors.hook_context import HookContext
from interlock.processors.seat import RunFacts
from interlock.schema import schema_name, validate
from interlock.testing import ScriptedModel
from interlock.verdict import AbortSignal

MODEL = ScriptedModel([])
PROMPT = [PromptMessage("user", [TextPart("hello")])]


def contexts(messages: MessageList | str = "hello", run: RunFacts | None = None) -> list[HookContext]:
    """One of each."""
    return [
        InputContext(messages, run=run),
        InputStepContext(messages, model=MODEL, run=run),
        LLMRequestContext(messages, prompt=PROMPT, model=MODEL, run=run),
        APIErrorContext(messages, error=ModelError("gone"), run=run),
        OutputStreamContext(messages, chunk=TextDelta("x"), run=run),
        LLMResponseContext(messages, chunks=[], model=MODEL, request=ModelRequest(PROMPT), run=run),
        OutputStepContext(messages, text="answer", run=run),
        ToolCallContext(messages, tool_name="track", tool_call_id="1", args={"n": 1}, run=run),
        ToolResultContext(messages, tool_name="track", tool_call_id="1", result="found", run=run),
        OutputResultContext(messages, result=RunResult("answer", Usage(), "stop", ()), run=run),
    ]


def conversation() -> MessageList:
    """A remembered question, a new one, and an answer; with a system message of either kind."""
    messages = MessageList("remembered", source="memory")
    messages.add("asked", source="input")
    messages.add("answered", source="response")
    messages.add_system("untagged")
    messages.add_system("tagged", tag="a")
    return messages


def test_there_is_one_for_each_phase_and_their_union_is_the_schema() -> None:
    assert [context.phase for context in contexts()] == list(Phase)
    assert set(get_args(PhaseContext)) == {type(context) for context in contexts()}
    assert ProcessorStepSchema == PhaseContext
    assert schema_name(ProcessorStepSchema) == "ProcessorStepSchema"
    for context in contexts():
        assert validate(ProcessorStepSchema, context) is context


def test_what_is_no_context_does_not_fit_the_schema() -> None:
    wrongs: list[object] = ["text", {}, None, conversation()]
    for wrong in wrongs:
        with pytest.raises(ValueError, match="validation error"):
            validate(ProcessorStepSchema, wrong)


def test_messages_are_those_of_the_point() -> None:
    shown = {context.phase: [m.text for m in context.messages] for context in contexts(conversation())}
    everything = ["remembered", "asked", "answered"]
    assert shown.pop(Phase.INPUT) == ["asked"]
    assert shown.pop(Phase.OUTPUT_RESULT) == ["answered"]
    assert all(texts == everything for texts in shown.values())


def test_every_context_shows_the_whole_conversation_and_the_untagged_system_messages() -> None:
    for context in contexts(conversation()):
        assert context.message_list.texts() == ["remembered", "asked", "answered"]
        assert [message.text for message in context.system_messages] == ["untagged"]


def test_every_context_knows_its_run() -> None:
    run = RunFacts(run_id="r", agent_id="a", request_context=RequestContext(user="ann"))
    run.retry_count = 2
    for context in contexts(run=run):
        assert (context.run_id, context.agent_id, context.retry_count) == ("r", "a", 2)
        assert context.request_context["user"] == "ann"
        assert context.state == {}


def test_made_by_hand_it_has_a_run_of_its_own() -> None:
    one, two = InputContext("a"), InputContext("b")
    assert one.run_id != two.run_id
    one.state["x"] = 1
    assert two.state == {}
    assert one.agent_id is None


def test_a_text_a_message_messages_or_a_list_will_do() -> None:
    for given in ("hello", Message.user("hello"), [Message.user("hello")], MessageList("hello")):
        assert InputContext(given).messages[0].text == "hello"


def test_abort_records_a_tripwire_that_names_processor_and_phase_before_it_raises() -> None:
    for context in contexts():
        with pytest.raises(AbortSignal):
            context.abort("enough", retry=True, metadata={"n": 1})
        tripwire = context._seat.run.latch.tripwire
        assert tripwire is not None
        assert (tripwire.reason, tripwire.phase, tripwire.retry) == ("enough", context.phase, True)
        assert tripwire.processor_id == context.processor_id


def test_settings_given_to_a_step_are_copied() -> None:
    settings: dict[str, object] = {"temperature": 1}
    active = ["track"]
    context = InputStepContext("hello", model=MODEL, model_settings=settings, active_tools=active)
    context.model_settings["temperature"] = 0
    assert context.active_tools is not None
    context.active_tools.append("more")
    assert settings == {"temperature": 1}
    assert active == ["track"]
    assert (context.tool_choice, context.tools, context.provider_options) == ("auto", [], {})


def test_fields_of_the_later_points() -> None:
    call = ToolCall("1", "track", {"n": 1})
    steps = [StepResult(0, "first")]
    step = OutputStepContext(
        "hello", text="t", tool_calls=[call], finish_reason="tool-calls", usage=Usage(1, 2), steps=steps
    )
    assert (step.text, step.tool_calls, step.finish_reason, step.usage) == ("t", [call], "tool-calls", Usage(1, 2))
    assert step.steps is steps
    result = ToolResultContext("hello", tool_name="t", tool_call_id="1", args=1, result=2, provider_executed=True)
    assert (result.tool_name, result.args, result.result, result.provider_executed) == ("t", 1, 2, True)
    response = LLMResponseContext("hello", chunks=[call], model=MODEL, request=ModelRequest(PROMPT), from_cache=True)
    assert (response.chunks, response.from_cache, response.model) == ([call], True, MODEL)
    assert LLMRequestContext("hello", prompt=PROMPT, model=MODEL).response is None
    assert ToolCallContext("hello", tool_name="t", tool_call_id="1").denied is None


def test_it_shows_its_run_and_processor() -> None:
    assert repr(InputContext("x", run=RunFacts(run_id="r"))).startswith("<InputContext run=r processor=")


def test_the_answers_text_is_at_hand_after_the_loop_too() -> None:
    ctx = OutputResultContext(
        "hello", result=RunResult(text="the answer", usage=Usage(), finish_reason="stop", steps=())
    )
    assert ctx.text == ctx.result.text == "the answer"

"""What each return value of a hook does to its context. (What is refused: tests/lifecycle/test_failures.py.)"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from interlock import Message, MessageList, Phase, Tool
from interlock.errors import InvalidProcessorReturn
from interlock.messages import PromptMessage, ReasoningPart, StepFinish, TextDelta, TextPart, Usage
from interlock.processors import (
    CachedResponse,
    Changes,
    Deny,
    InputContext,
    InputStepContext,
    LLMRequestContext,
    OutputResultContext,
    OutputStepContext,
    OutputStreamContext,
    RequestChanges,
    RunResult,
    StepChanges,
    ToolCallChanges,
    ToolCallContext,
    ToolResultChanges,
    ToolResultContext,
)
from interlock.processors.returns import allowed_in, apply_return, chunks_returned
from interlock.testing import ScriptedModel

MODEL = ScriptedModel([])


def conversation() -> MessageList:
    """A remembered message, two new ones, an answer, a system message."""
    messages = MessageList([Message("user", "old", id="old")], source="memory")
    messages.add([Message("user", "one", id="1"), Message("user", "two", id="2")], source="input")
    messages.add(Message("assistant", "answer", id="3"), source="response")
    messages.add_system("system")
    return messages


def step_context() -> InputStepContext:
    """A context with settings."""
    return InputStepContext(conversation(), model=MODEL, model_settings={"top_p": 1}, active_tools=["a"])


def describe() -> str:
    """A tool."""
    return ""


def test_none_and_the_list_that_was_given_change_nothing() -> None:
    ctx = InputContext(conversation())
    base = ctx.fork()
    apply_return(ctx, None)
    apply_return(ctx, ctx.message_list)
    assert not ctx.changed_from(base)


def test_a_sequence_is_the_new_content_of_the_points_messages() -> None:
    ctx = InputContext(conversation())
    one, _ = ctx.messages
    apply_return(ctx, [Message("user", "new"), Message("user", "ONE", id=one.id)])
    assert ctx.message_list.texts() == ["old", "new", "ONE", "answer"]
    assert [m.text for m in ctx.messages] == ["new", "ONE"]


def test_a_view_or_a_list_of_the_points_messages_will_do() -> None:
    backs: list[Callable[[InputContext], object]] = [
        lambda ctx: ctx.messages[:1],
        lambda ctx: tuple(ctx.messages)[:1],
        lambda ctx: ctx.message_list.input[:1],
    ]
    for back in backs:
        ctx = InputContext(conversation())
        apply_return(ctx, back(ctx))
        assert ctx.message_list.texts() == ["old", "one", "answer"]


def test_new_messages_get_the_source_of_the_phase() -> None:
    given = InputContext(conversation())
    apply_return(given, [*given.messages, Message("user", "more", id="x")])
    assert given.message_list.source_of("x") == "input"
    answered = OutputResultContext(conversation(), result=RunResult("", Usage(), "stop", ()))
    apply_return(answered, [*answered.messages, Message("assistant", "more", id="x")])
    assert answered.message_list.source_of("x") == "response"
    assert answered.message_list.texts() == ["old", "one", "two", "answer", "more"]


def test_a_system_message_among_them_goes_to_the_system_messages() -> None:
    ctx = InputContext(conversation())
    apply_return(ctx, [Message.system("more"), *ctx.messages])
    assert [m.text for m in ctx.system_messages] == ["system", "more"]
    assert len(ctx.messages) == 2


def test_changes_replace_what_they_name_and_take_strings_for_system_messages() -> None:
    ctx = InputContext(conversation())
    apply_return(ctx, Changes(system_messages=["a", Message.system("b")]))
    assert [m.text for m in ctx.system_messages] == ["a", "b"]
    assert len(ctx.messages) == 2
    apply_return(ctx, Changes(messages=[]))
    assert ctx.message_list.texts() == ["old", "answer"]
    apply_return(ctx, Changes())
    assert [m.text for m in ctx.system_messages] == ["a", "b"]


def test_at_output_step_an_empty_sequence_changes_nothing_and_changes_mean_it() -> None:
    ctx = OutputStepContext(conversation())
    apply_return(ctx, [])
    assert len(ctx.messages) == 4
    apply_return(ctx, Changes(messages=[]))
    assert len(ctx.messages) == 0


def test_a_message_of_the_list_that_was_not_shown_here_is_refused() -> None:
    ctx = InputContext(conversation())
    with pytest.raises(InvalidProcessorReturn, match="'old'"):
        apply_return(ctx, [*ctx.messages, ctx.message_list.all[0]])


def test_step_changes_replace_each_field_they_name() -> None:
    ctx = step_context()
    other, made = ScriptedModel([], name="other"), Tool(describe)
    apply_return(
        ctx,
        StepChanges(
            model=other,
            tools=[made],
            tool_choice="required",
            active_tools=None,
            model_settings={"temperature": 0},
            provider_options={"openai": {"x": 1}},
            system_messages=["only this"],
        ),
    )
    assert (ctx.model, ctx.tools, ctx.tool_choice, ctx.active_tools) == (other, [made], "required", None)
    assert (ctx.model_settings, ctx.provider_options) == ({"temperature": 0}, {"openai": {"x": 1}})
    assert [m.text for m in ctx.system_messages] == ["only this"]
    assert len(ctx.messages) == 4


def test_step_changes_leave_what_they_do_not_name() -> None:
    ctx = step_context()
    base = ctx.fork()
    apply_return(ctx, StepChanges())
    assert not ctx.changed_from(base)


def test_what_step_changes_bring_is_copied() -> None:
    settings: dict[str, object] = {"temperature": 0}
    ctx = step_context()
    apply_return(ctx, StepChanges(model_settings=settings))
    ctx.model_settings["temperature"] = 1
    assert settings == {"temperature": 0}


def test_a_models_name_is_resolved_at_once() -> None:
    ctx = step_context()
    apply_return(ctx, StepChanges(model="embedded/echo"))
    assert ctx.model.id == "embedded/echo"
    with pytest.raises(InvalidProcessorReturn, match="no known provider"):
        apply_return(ctx, StepChanges(model="nobody/knows"))


PROMPT = [PromptMessage("user", [TextPart("other")])]


@pytest.mark.parametrize("back", [PROMPT, tuple(PROMPT), RequestChanges(prompt=PROMPT)])
def test_a_prompt_takes_the_place_of_the_prompt(back: object) -> None:
    ctx = LLMRequestContext(conversation(), prompt=[PromptMessage("user", [TextPart("hello")])], model=MODEL)
    apply_return(ctx, back)
    assert ctx.prompt == PROMPT
    assert len(ctx.message_list) == 4


def test_a_cached_response_takes_the_place_of_the_call() -> None:
    ctx = LLMRequestContext(conversation(), prompt=PROMPT, model=MODEL)
    apply_return(ctx, RequestChanges(response=CachedResponse([TextDelta("x"), StepFinish()])))
    assert ctx.response == (TextDelta("x"), StepFinish())
    assert ctx.prompt == PROMPT


def test_arguments_denials_and_results() -> None:
    call = ToolCallContext(conversation(), tool_name="t", tool_call_id="1", args={"n": 1})
    apply_return(call, ToolCallChanges(args={"n": 2}))
    apply_return(call, Deny("no"))
    assert (call.args, call.denied) == ({"n": 2}, "no")
    result = ToolResultContext(conversation(), tool_name="t", tool_call_id="1", result="secret")
    values: list[object] = ["[X]", None, 0, False, {}]
    for value in values:
        apply_return(result, ToolResultChanges(result=value))
        assert result.result == value


def test_chunks_come_back_as_a_tuple() -> None:
    ctx = OutputStreamContext("hello", chunk=TextDelta("x"))
    chunk = TextDelta("y")
    cases: list[tuple[Any, tuple[Any, ...]]] = [
        (None, ()),
        ([], ()),
        (chunk, (chunk,)),
        ([chunk, ctx.chunk], (chunk, ctx.chunk)),
        ((chunk,), (chunk,)),
    ]
    for back, out in cases:
        assert chunks_returned(ctx, back) == out


@pytest.mark.parametrize(
    "back", ["text", b"bytes", 7, {}, [7], [TextDelta("x"), "y"], {"a": TextDelta("x")}, TextDelta]
)
def test_what_is_no_chunk_is_refused(back: object) -> None:
    with pytest.raises(InvalidProcessorReturn, match="output_stream"):
        chunks_returned(OutputStreamContext("hello", chunk=TextDelta("x")), back)


def test_a_delta_whose_text_is_none_is_refused() -> None:
    odd: Any = None
    with pytest.raises(InvalidProcessorReturn, match="not a str"):
        chunks_returned(OutputStreamContext("hello", chunk=TextDelta("x")), TextDelta(odd))


def test_every_phase_says_what_it_takes() -> None:
    assert all(allowed_in(phase) for phase in Phase)
    assert "StepChanges" in allowed_in(Phase.INPUT_STEP)
    assert "Deny" in allowed_in(Phase.TOOL_CALL)


@pytest.mark.parametrize("value", [None, 5, b"secret"])
def test_a_text_that_was_set_to_none_is_refused_without_showing_it(value: Any) -> None:
    ctx = InputContext(conversation())
    fork = ctx.fork()
    part: Any = fork.messages[0].parts[0]
    part.text = value
    with pytest.raises(
        TypeError, match=f"the text of part 0 of message '1' is a {type(value).__name__}, not a str"
    ) as raised:
        apply_return(fork, None)
    assert "secret" not in str(raised.value)
    apply_return(ctx, None)


def test_reasoning_and_system_messages_are_looked_at_too() -> None:
    messages = MessageList([Message("assistant", [ReasoningPart("why")], id="1")])
    reasoning: Any = messages.all[0].parts[0]
    reasoning.text = None
    with pytest.raises(TypeError, match="part 0 of message '1'"):
        apply_return(InputContext(messages), None)
    ctx = InputContext(conversation())
    system: Any = ctx.system_messages[0].parts[0]
    system.text = None
    with pytest.raises(TypeError, match="is a NoneType"):
        apply_return(ctx, None)

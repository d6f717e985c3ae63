"""What a model is asked with: calls with their results, nothing empty, nothing shared."""

from __future__ import annotations

from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.messages import (
    DataPart,
    ErrorPart,
    FilePart,
    Message,
    MessageList,
    Part,
    PromptMessage,
    ReasoningPart,
    SourcePart,
    StepStartPart,
    TextPart,
    ToolCallPart,
    ToolInvocationPart,
    ToolResultPart,
)


def prompt_of(*messages: Message) -> list[PromptMessage]:
    return MessageList(messages).to_prompt()


def test_system_messages_come_first_then_tags_in_order_of_first_use_then_the_conversation() -> None:
    messages = MessageList("hello")
    messages.add_system("b1", tag="b")
    messages.add_system("plain")
    messages.add_system("a1", tag="a")
    messages.add_system("b2", tag="b")
    assert [(m.role, m.text) for m in messages.to_prompt()] == [
        ("system", "plain"),
        ("system", "b1"),
        ("system", "b2"),
        ("system", "a1"),
        ("user", "hello"),
    ]


def test_a_signal_is_shown_as_a_user_message() -> None:
    framed = TextPart("<system-reminder>be brief</system-reminder>")
    assert prompt_of(Message("signal", "be brief")) == [PromptMessage("user", [framed])]


def test_a_turn_of_several_steps_alternates_between_the_model_and_its_tools() -> None:
    turn = Message(
        "assistant",
        [
            StepStartPart(),
            ReasoningPart("hm", "seal"),
            TextPart("let me look"),
            ToolInvocationPart("c1", "look", {"x": 1}, "result", {"found": True}),
            ToolInvocationPart("c2", "ask", {}, "error", error="not there"),
            StepStartPart(),
            TextPart("once more"),
            ToolInvocationPart("c3", "look", {"x": 2}, "result", {"long": 1}, model_output="short"),
            TextPart("done"),
        ],
    )
    assert prompt_of(turn) == [
        PromptMessage(
            "assistant",
            [
                ReasoningPart("hm", "seal"),
                TextPart("let me look"),
                ToolCallPart("c1", "look", {"x": 1}),
                ToolCallPart("c2", "ask", {}),
            ],
        ),
        PromptMessage(
            "tool",
            [
                ToolResultPart("c1", "look", {"found": True}),
                ToolResultPart("c2", "ask", "not there", is_error=True),
            ],
        ),
        PromptMessage("assistant", [TextPart("once more"), ToolCallPart("c3", "look", {"x": 2})]),
        PromptMessage("tool", [ToolResultPart("c3", "look", "short")]),
        PromptMessage("assistant", [TextPart("done")]),
    ]


def test_a_call_without_a_result_is_left_out_unless_the_provider_runs_it() -> None:
    open_call = ToolInvocationPart("c1", "look", {})
    theirs = ToolInvocationPart("c2", "search", {}, provider_executed=True)
    assert prompt_of(Message("assistant", [TextPart("a"), open_call, theirs])) == [
        PromptMessage("assistant", [TextPart("a"), ToolCallPart("c2", "search", {}, provider_executed=True)])
    ]
    assert prompt_of(Message("assistant", [open_call])) == []


def test_what_no_model_is_to_see_and_what_is_empty_is_not_sent() -> None:
    hidden: list[Part] = [
        StepStartPart(),
        TextPart(""),
        ReasoningPart(""),
        DataPart("d", "x"),
        ErrorPart("e"),
        SourcePart("1", "https://example.org"),
    ]
    assert prompt_of(Message("assistant", hidden), Message("user", hidden), Message("user", [])) == []
    assert prompt_of(Message("user", [*hidden, TextPart("a")])) == [PromptMessage("user", [TextPart("a")])]
    assert prompt_of(Message("assistant", [ReasoningPart("", "seal")])) == [
        PromptMessage("assistant", [ReasoningPart("", "seal")])
    ]


def test_files_are_sent() -> None:
    file = FilePart("image/png", data="aGk=")
    assert prompt_of(Message("user", [TextPart("see"), file])) == [PromptMessage("user", [TextPart("see"), file])]


def test_a_changed_prompt_changes_nothing_in_the_list() -> None:
    messages = MessageList(
        [Message("assistant", [TextPart("a"), ToolInvocationPart("c", "t", {"x": [1]}, "result", {"y": [1]})])]
    )
    messages.add_system("s")
    before = messages.to_json()
    for message in messages.to_prompt():
        for part in message.parts:
            match part:
                case TextPart():
                    part.text = "changed"
                case ToolCallPart():
                    part.args["x"].append(2)
                case ToolResultPart():
                    part.output["y"].append(2)
                case _:
                    raise AssertionError(part)
    assert messages.to_json() == before


@st.composite
def calls(draw: st.DrawFn) -> ToolInvocationPart:
    made = ToolInvocationPart(f"c{draw(st.integers(0, 99))}", "t", {}, provider_executed=draw(st.booleans()))
    made.state = draw(st.sampled_from(STATES))
    return made


STATES: tuple[Literal["call", "result", "error"], ...] = ("call", "result", "error")
PARTS = st.one_of(
    st.builds(TextPart, st.sampled_from(["", "a"])),
    st.builds(ReasoningPart, st.sampled_from(["", "r"]), st.sampled_from([None, "seal"])),
    st.just(StepStartPart()),
    st.just(DataPart("d")),
    calls(),
)
TURNS = st.lists(
    st.builds(Message, st.sampled_from(["user", "assistant", "signal"]), st.lists(PARTS, max_size=6)), max_size=4
)


@settings(max_examples=150)
@given(TURNS)
def test_every_prompt_is_one_a_provider_takes(turns: list[Message]) -> None:
    prompt = MessageList(turns).to_prompt()
    for at, message in enumerate(prompt):
        assert message.parts
        assert all(not isinstance(p, TextPart) or p.text for p in message.parts)
        results = [p.tool_call_id for p in message.parts if isinstance(p, ToolResultPart)]
        if message.role == "tool":
            calls = [p.tool_call_id for p in prompt[at - 1].parts if isinstance(p, ToolCallPart)]
            assert prompt[at - 1].role == "assistant"
            assert len(results) == len(message.parts)
            assert set(results) <= set(calls)
        else:
            assert not results
            answered = (
                [p.tool_call_id for p in prompt[at + 1].parts if isinstance(p, ToolResultPart)]
                if at + 1 < len(prompt) and prompt[at + 1].role == "tool"
                else []
            )
            ours = [p.tool_call_id for p in message.parts if isinstance(p, ToolCallPart) and not p.provider_executed]
            assert set(ours) <= set(answered)


def test_each_call_of_one_id_is_shown_with_its_own_result() -> None:
    first, second, third = (ToolInvocationPart("c", "t", n, "result", f"r{n}") for n in range(3))
    assert prompt_of(Message("assistant", [first, second, StepStartPart(), third])) == [
        PromptMessage("assistant", [ToolCallPart("c", "t", 0), ToolCallPart("c", "t", 1)]),
        PromptMessage("tool", [ToolResultPart("c", "t", "r0"), ToolResultPart("c", "t", "r1")]),
        PromptMessage("assistant", [ToolCallPart("c", "t", 2)]),
        PromptMessage("tool", [ToolResultPart("c", "t", "r2")]),
    ]

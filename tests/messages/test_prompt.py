"""Prompts: what is asked, as text, and copied."""

from __future__ import annotations

from interlock.messages import (
    FilePart,
    PromptMessage,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    prompt_text,
)


def test_the_text_of_a_prompt_holds_every_string_a_model_sees() -> None:
    prompt = [
        PromptMessage("system", [TextPart("be brief")]),
        PromptMessage("user", [TextPart("hello"), FilePart("image/png", data="aGk=")]),
        PromptMessage("assistant", [ReasoningPart("hm"), ToolCallPart("c", "t", {"key": ["value", 7]})]),
        PromptMessage("tool", [ToolResultPart("c", "t", {"found": None, "deep": {"x": True}})]),
    ]
    assert prompt_text(prompt).split("\n") == [
        "be brief",
        "hello",
        "hm",
        "key",
        "value",
        "7",
        "found",
        "deep",
        "x",
        "True",
    ]
    assert prompt[1].text == "hello"


def test_a_copied_message_is_edited_alone() -> None:
    message = PromptMessage("assistant", [ToolCallPart("c", "t", {"x": [1]})], {"openai": {"name": "ann"}})
    copied = message.copy()
    assert copied == message
    part = copied.parts[0]
    assert isinstance(part, ToolCallPart)
    part.args["x"].append(2)
    assert message.parts == [ToolCallPart("c", "t", {"x": [1]})]

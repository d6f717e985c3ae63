"""A conversation as a client shows it."""

from __future__ import annotations

import json

import pytest

from interlock.messages import (
    DataPart,
    ErrorPart,
    FilePart,
    Message,
    MessageList,
    Part,
    ReasoningPart,
    SourcePart,
    StepStartPart,
    TextPart,
    ToolInvocationPart,
)

CASES: list[tuple[Part, dict[str, object]]] = [
    (TextPart("hi"), {"type": "text", "text": "hi"}),
    (ReasoningPart("hm", signature="sealed"), {"type": "reasoning", "text": "hm"}),
    (
        FilePart("image/png", data="AA==", filename="a.png"),
        {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA==", "filename": "a.png"},
    ),
    (FilePart("image/png", url="https://x/a"), {"type": "file", "mediaType": "image/png", "url": "https://x/a"}),
    (SourcePart("s1", "https://x", "X"), {"type": "source-url", "sourceId": "s1", "url": "https://x", "title": "X"}),
    (StepStartPart(), {"type": "step-start"}),
    (DataPart("progress", {"done": 1}, id="p"), {"type": "data-progress", "id": "p", "data": {"done": 1}}),
    (ErrorPart("broke"), {"type": "error", "errorText": "broke"}),
    (
        ToolInvocationPart("c1", "look", {"q": 1}),
        {"type": "tool-look", "toolCallId": "c1", "state": "input-available", "input": {"q": 1}},
    ),
    (
        ToolInvocationPart("c1", "look", None, "result", [1], model_output="one", provider_executed=True),
        {
            "type": "tool-look",
            "toolCallId": "c1",
            "state": "output-available",
            "input": None,
            "output": [1],
            "providerExecuted": True,
        },
    ),
    (
        ToolInvocationPart("c1", "look", None, "error", error="no"),
        {"type": "tool-look", "toolCallId": "c1", "state": "output-error", "input": None, "errorText": "no"},
    ),
]


@pytest.mark.parametrize(("part", "shown"), CASES)
def test_each_part_has_a_form_of_plain_json(part: Part, shown: dict[str, object]) -> None:
    (message,) = MessageList(Message.assistant([part])).to_ui()
    assert message["parts"] == [shown]
    assert json.loads(json.dumps(message)) == message


def test_system_messages_are_not_shown_and_metadata_is() -> None:
    messages = MessageList([Message("user", "hi", id="m1", metadata={"page": 3})])
    messages.add_system("be kind")
    (message,) = messages.to_ui()
    assert (message["id"], message["role"], message["metadata"]) == ("m1", "user", {"page": 3})


def test_what_has_no_json_form_is_named() -> None:
    messages = MessageList(Message("assistant", [DataPart("n", object())], id="m1"))
    with pytest.raises(ValueError, match=r"message 'm1'\.parts\[0\]\.data"):
        messages.to_ui()

"""What of a message is stored."""

from __future__ import annotations

import pytest

from interlock import Message, MessageList, TextEdit
from interlock.memory.stored_form import stored_form
from interlock.messages import (
    DataPart,
    ErrorPart,
    FilePart,
    Part,
    ReasoningPart,
    StepStartPart,
    TextPart,
    ToolInvocationPart,
)
from interlock.messages.signals import signal_message

HALF = ToolInvocationPart("c1", "track", {"n": 1})
WHOLE = ToolInvocationPart("c2", "track", {"n": 2}, state="result", result={"at": ["Leipzig"]})


def test_the_stored_form_is_a_copy_that_bears_thread_and_resource() -> None:
    message = Message("assistant", [WHOLE.copy()], metadata={"a": [1]}, provider_metadata={"openai": {"id": "x"}})
    kept = stored_form(message, thread="t", resource="ann")
    assert kept is not None
    assert (kept.thread_id, kept.resource_id) == ("t", "ann")
    assert (message.thread_id, message.resource_id) == (None, None)
    kept.parts[0].result["at"].append("Halle")  # type: ignore[union-attr]
    kept.metadata["a"].append(2)
    assert (message.parts, message.metadata) == ([WHOLE], {"a": [1]})
    assert (kept.id, kept.created_at) == (message.id, message.created_at)
    assert kept.provider_metadata == message.provider_metadata


@pytest.mark.parametrize(
    "message",
    [
        Message.system("You help."),
        signal_message("Go on.", transient=True),
        Message("assistant", [HALF]),
        Message("assistant", [StepStartPart(), HALF, TextPart("")]),
        Message.user(""),
        Message("assistant", []),
        Message("assistant", [ReasoningPart("")]),
    ],
)
def test_nothing_is_kept_of_what_is_of_this_run_alone_half_made_or_empty(message: Message) -> None:
    assert stored_form(message, thread="t") is None


def test_a_signal_that_is_not_transient_is_kept() -> None:
    said = signal_message("Be brief.", tag="house-rule", attributes={"n": 1})
    kept = stored_form(said, thread="t")
    assert kept is not None
    assert (kept.role, kept.text, kept.metadata) == ("signal", "Be brief.", said.metadata)


def test_what_is_not_understood_is_kept_as_it_is() -> None:
    parts: list[Part] = [
        TextPart("a"),
        StepStartPart(),
        ReasoningPart("", signature="sealed"),
        ReasoningPart("", provider_metadata={"openai": {"encrypted": "x"}}),
        WHOLE.copy(),
        ToolInvocationPart("c3", "track", state="error", error="no such parcel"),
        FilePart("image/png", url="https://a.b/c.png"),
        DataPart("progress", 3),
        ErrorPart("it broke off"),
    ]
    kept = stored_form(Message("assistant", [*parts, HALF.copy()]), thread="t")
    assert kept is not None
    assert kept.parts == parts


def test_what_a_guard_has_taken_out_of_a_text_is_not_kept_beside_it() -> None:
    messages = MessageList("call 555-1234 now")
    messages.edit_text(messages[0].id, 0, TextEdit(5, 13, "[PHONE]"))
    edited = messages[0]
    assert edited.parts[0].history is not None  # type: ignore[union-attr]
    kept = stored_form(edited, thread="t")
    assert kept is not None
    assert kept.text == "call [PHONE] now"
    assert kept.parts[0].history is None  # type: ignore[union-attr]
    assert edited.parts[0].history is not None  # type: ignore[union-attr]

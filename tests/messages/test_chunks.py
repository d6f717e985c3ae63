"""Chunks: immutable, replaceable, and camelCase on the wire."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from interlock.messages import ErrorChunk, StepFinish, TextDelta, ToolCall, ToolResult, TripwireChunk, Usage


def test_a_chunk_cannot_be_changed_only_replaced() -> None:
    chunk = TextDelta("a", id="1")
    with pytest.raises(FrozenInstanceError):
        chunk.text = "b"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    assert chunk.replace(text="b") == TextDelta("b", id="1")
    assert chunk.text == "a"


def test_a_tripwire_has_the_wire_form_clients_know() -> None:
    chunk = TripwireChunk("a card number", "card-guard", retry=False, metadata={"kind": "card"}, run_id="r")
    assert chunk.to_wire() == {
        "type": "tripwire",
        "runId": "r",
        "from": "AGENT",
        "payload": {
            "reason": "a card number",
            "processorId": "card-guard",
            "retry": False,
            "metadata": {"kind": "card"},
        },
    }


def test_names_are_camel_case_on_the_wire() -> None:
    call = ToolCall("c", "track", {"parcel_id": "7"}).to_wire(run_id="r")
    assert call["runId"] == "r"
    assert call["payload"]["toolCallId"] == "c"
    assert call["payload"]["args"] == {"parcel_id": "7"}
    finish = StepFinish("tool-calls", Usage(3, 4, 1, 2)).to_wire()
    assert finish["payload"]["usage"] == {
        "inputTokens": 3,
        "outputTokens": 4,
        "reasoningTokens": 1,
        "cachedInputTokens": 2,
        "totalTokens": 7,
    }
    assert ErrorChunk(ValueError("broken")).to_wire()["payload"] == {"error": "broken"}


def test_equal_chunks_are_equal() -> None:
    assert ToolResult("c", "t", {"x": 1}, "r") == ToolResult("c", "t", {"x": 1}, "r")
    assert TextDelta("a") != TextDelta("b")

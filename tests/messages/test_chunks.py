"""Chunks: immutable, replaceable, and camelCase on the wire."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from interlock.messages import (
    DataChunk,
    ErrorChunk,
    ObjectChunk,
    StepFinish,
    TextDelta,
    TextStart,
    ToolCall,
    ToolOutput,
    ToolResult,
    TripwireChunk,
    Usage,
)


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


def test_data_is_named_in_its_type_on_the_wire_and_its_keys_stay_as_they_are() -> None:
    chunk = DataChunk("job_done", {"job_id": 7}, "d1", transient=True)
    assert chunk.type == "data"
    assert chunk.to_wire(run_id="r") == {
        "type": "data-job_done",
        "runId": "r",
        "from": "AGENT",
        "payload": {"data": {"job_id": 7}, "id": "d1", "messageId": None, "transient": True},
    }


def test_a_chunk_inside_a_tools_output_has_its_own_wire_form() -> None:
    wire = ToolOutput("c1", "ask", TextDelta("hi")).to_wire()
    assert (wire["type"], wire["payload"]["output"]) == ("tool-output", TextDelta("hi").to_wire())
    assert ToolOutput("c1", "ask", {"some_key": 1}).to_wire()["payload"]["output"] == {"some_key": 1}


def test_an_object_says_whether_it_is_whole() -> None:
    assert ObjectChunk({"a_b": 1}).to_wire()["payload"] == {"object": {"a_b": 1}, "final": False}


@pytest.mark.parametrize(
    ("chunk", "name", "told"),
    [
        (TextDelta("x"), "text", r"TextDelta.text cannot be set: .* ctx.chunk.replace\(text=…\)$"),
        (TextDelta("x"), "txt", r"TextDelta.txt cannot be set: .* ctx.chunk.replace\(…\); it has text, id$"),
        (TextStart(), "text", "TextStart.text cannot be set: chunks are immutable"),
    ],
)
def test_a_chunk_cannot_be_changed_and_says_what_to_do(chunk: Any, name: str, told: str) -> None:
    with pytest.raises(FrozenInstanceError, match=told):
        setattr(chunk, name, "y")
    with pytest.raises(FrozenInstanceError, match=told):
        delattr(chunk, name)


def test_a_chunk_is_copied_and_pickled_as_it_is() -> None:
    chunk = ToolCall("c1", "look", {"at": "it"})
    assert copy.copy(chunk) == copy.deepcopy(chunk) == pickle.loads(pickle.dumps(chunk)) == chunk

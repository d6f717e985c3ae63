"""Chunks in a journal: what a run that waits has held back comes back as it was."""

from __future__ import annotations

import json

import pytest

from interlock.messages import Chunk, DataChunk, Message, MessageList, ObjectChunk, TextDelta, ToolOutput
from interlock.messages.signals import put_signal, signal_message
from interlock.runtime.journal.values import ValueCodec

CHUNKS: list[Chunk] = [
    DataChunk("at", {"seen": [1, None]}, "id", "message", True),
    ToolOutput("c1", "expert", TextDelta("hi", "1")),
    ToolOutput("c1", "expert", {"line": 1}),
    ToolOutput("c1", "expert", ToolOutput("c2", "other", DataChunk("at", 1))),
    ObjectChunk({"to": "Rome"}, True),
]


@pytest.mark.parametrize("chunk", CHUNKS)
def test_every_chunk_comes_back_as_it_was_written(chunk: Chunk) -> None:
    codec = ValueCodec()
    written = json.loads(json.dumps(codec.encode(chunk, place="it")))
    assert codec.decode(written) == chunk


def test_a_signal_comes_back_with_what_it_says() -> None:
    messages = MessageList([Message.user("hello")])
    put_signal(messages, signal_message("brief", tag="note", attributes={"n": 1}, transient=True), "input")
    codec = ValueCodec()
    back = codec.decode(json.loads(json.dumps(codec.encode(messages, place="it"))))
    assert back.to_openai() == messages.to_openai()
    assert back.all[-1].metadata == messages.all[-1].metadata

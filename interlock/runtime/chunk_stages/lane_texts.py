"""Which text of a stream a chunk is a piece of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from interlock.messages import (
    Chunk,
    ReasoningDelta,
    ReasoningEnd,
    StepFinish,
    TextDelta,
    TextEnd,
    ToolCall,
    ToolCallDelta,
)
from interlock.processors.stream_context import LaneKey

__all__ = ["delta", "end_of", "lane_of", "text_of", "texts_of"]


def texts_of(chunks: Iterable[object]) -> dict[LaneKey, str]:
    """The texts that chunks are pieces of, each joined."""
    texts: dict[LaneKey, str] = {}
    for chunk in chunks:
        key = lane_of(chunk)
        if key is not None:
            texts[key] = texts.get(key, "") + text_of(chunk)
    return texts


def lane_of(chunk: object) -> LaneKey | None:
    """The text that a chunk is a piece of; None: it is none."""
    match chunk:
        case TextDelta(id=id_):
            return "text", id_
        case ReasoningDelta(id=id_):
            return "reasoning", id_
        case ToolCallDelta(tool_call_id=call):
            return "tool-arguments", call
        case _:
            return None


def text_of(chunk: object) -> str:
    """The piece."""
    return chunk.args_text if isinstance(chunk, ToolCallDelta) else cast("TextDelta | ReasoningDelta", chunk).text


def delta(key: LaneKey, text: str) -> Chunk:
    """A piece of a text as a chunk."""
    part, id_ = key
    if part == "text":
        return TextDelta(text, id_)
    return ReasoningDelta(text, id_) if part == "reasoning" else ToolCallDelta(id_, text)


def end_of(chunk: object) -> Chunk | None:
    """What ends a text for somebody whom a chunk goes past; None: it is of no text and ends none."""
    match chunk:
        case TextDelta(id=id_):
            return TextEnd(id_)
        case ReasoningDelta(id=id_):
            return ReasoningEnd(id_)
        case ToolCallDelta(tool_call_id=call) | ToolCall(tool_call_id=call):
            return ToolCall(call, "")
        case TextEnd() | ReasoningEnd() | StepFinish():
            return chunk
        case _:
            return None

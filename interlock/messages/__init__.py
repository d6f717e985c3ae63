"""Messages and what they are made of: parts, chunks of a stream, prompts, and the list that holds a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.lazy import lazily
from interlock.messages.chunks import (
    Chunk,
    ChunkBase,
    DataChunk,
    ErrorChunk,
    FileChunk,
    Finish,
    ObjectChunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceChunk,
    Start,
    StepFinish,
    StepStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolCallApproval,
    ToolCallDelta,
    ToolCallStart,
    ToolCallSuspended,
    ToolError,
    ToolOutput,
    ToolResult,
    TripwireChunk,
)
from interlock.messages.message import Message, Role, Source
from interlock.messages.message_list import MessageList
from interlock.messages.parts import (
    DataPart,
    ErrorPart,
    FilePart,
    JSONValue,
    Part,
    PartBase,
    ReasoningPart,
    SourcePart,
    StepStartPart,
    TextPart,
    ToolInvocationPart,
)
from interlock.messages.prompt import Prompt, PromptMessage, PromptPart, ToolCallPart, ToolResultPart, prompt_text
from interlock.messages.rewriting import EditKind, TextEdit
from interlock.messages.usage import FinishReason, Usage
from interlock.messages.views import MessageView

if TYPE_CHECKING:
    from interlock.messages.merging import merge
    from interlock.messages.merging_values import merge_values
    from interlock.messages.openai_form import prompt_to_openai
else:
    __getattr__ = lazily(
        __name__,
        {
            "merge": "interlock.messages.merging",
            "merge_values": "interlock.messages.merging_values",
            "prompt_to_openai": "interlock.messages.openai_form",
        },
    )

__all__ = [
    "Chunk",
    "ChunkBase",
    "DataChunk",
    "DataPart",
    "EditKind",
    "ErrorChunk",
    "ErrorPart",
    "FileChunk",
    "FilePart",
    "Finish",
    "FinishReason",
    "JSONValue",
    "Message",
    "MessageList",
    "MessageView",
    "ObjectChunk",
    "Part",
    "PartBase",
    "Prompt",
    "PromptMessage",
    "PromptPart",
    "ReasoningDelta",
    "ReasoningEnd",
    "ReasoningPart",
    "ReasoningStart",
    "Role",
    "Source",
    "SourceChunk",
    "SourcePart",
    "Start",
    "StepFinish",
    "StepStart",
    "StepStartPart",
    "TextDelta",
    "TextEdit",
    "TextEnd",
    "TextPart",
    "TextStart",
    "ToolCall",
    "ToolCallApproval",
    "ToolCallDelta",
    "ToolCallPart",
    "ToolCallStart",
    "ToolCallSuspended",
    "ToolError",
    "ToolInvocationPart",
    "ToolOutput",
    "ToolResult",
    "ToolResultPart",
    "TripwireChunk",
    "Usage",
    "merge",
    "merge_values",
    "prompt_text",
    "prompt_to_openai",
]

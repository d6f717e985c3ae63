"""What a stream is made of. Chunks are immutable: a hook that wants another one returns ``chunk.replace(text=…)``.

In running order: ``start``, then for each step ``step-start``, text, reasoning and tool calls, ``step-finish``, tool
results; at the end ``finish``, or exactly one of ``tripwire`` and ``error``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, cast

from interlock.messages.parts import JSONValue
from interlock.messages.usage import FinishReason, Usage

__all__ = [
    "Chunk",
    "ChunkBase",
    "DataChunk",
    "ErrorChunk",
    "FileChunk",
    "Finish",
    "ObjectChunk",
    "ReasoningDelta",
    "ReasoningEnd",
    "ReasoningStart",
    "SourceChunk",
    "Start",
    "StepFinish",
    "StepStart",
    "TextDelta",
    "TextEnd",
    "TextStart",
    "ToolCall",
    "ToolCallApproval",
    "ToolCallDelta",
    "ToolCallStart",
    "ToolCallSuspended",
    "ToolError",
    "ToolOutput",
    "ToolResult",
    "TripwireChunk",
]

Metadata = Mapping[str, object]


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)


def _refuse_to_set(chunk: ChunkBase, name: str, *_value: object) -> None:
    names = [f.name for f in dataclasses.fields(cast("Any", chunk))]
    what = f"{name}=…" if name in names else "…"
    known = "" if name in names else f"; it has {', '.join(names) or 'no fields'}"
    raise dataclasses.FrozenInstanceError(
        f"{type(chunk).__name__}.{name} cannot be set: chunks are immutable, so a hook returns another one, "
        f"ctx.chunk.replace({what}){known}"
    )


class ChunkBase:
    """What all chunks share."""

    __slots__ = ()

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "__setattr__" in vars(cls):  # a frozen dataclass with slots, remade: its own would ask a class that is gone
            cls.__setattr__ = _refuse_to_set  # type: ignore[method-assign, assignment]
            cls.__delattr__ = _refuse_to_set  # type: ignore[method-assign, assignment]

    def replace(self, **changes: object) -> Self:
        """The same chunk with other values: ``chunk.replace(text="…")``."""
        return cast("Self", dataclasses.replace(cast("Any", self), **changes))

    def to_wire(self, *, run_id: str | None = None) -> dict[str, JSONValue]:
        """The chunk as a JSON object in camelCase: ``type``, ``runId``, ``from``, ``payload``."""
        payload = {
            _camel(f.name): _wire_value(getattr(self, f.name))
            for f in dataclasses.fields(cast("Any", self))
            if f.name not in ("run_id", "phase")
        }
        return {
            "type": cast("Any", self).type,
            "runId": getattr(self, "run_id", None) or run_id,
            "from": "AGENT",
            "payload": payload,
        }


def _wire_value(value: object) -> JSONValue:
    if isinstance(value, ChunkBase):
        return value.to_wire()
    if isinstance(value, Usage):
        named = {_camel(f.name): getattr(value, f.name) for f in dataclasses.fields(value)}
        return {**named, "totalTokens": value.total_tokens}
    if isinstance(value, Mapping):
        return {key: _wire_value(item) for key, item in cast("Mapping[str, object]", value).items()}
    if isinstance(value, BaseException):
        return str(value)
    return value


@dataclass(frozen=True, slots=True)
class Start(ChunkBase):
    """A run has begun. Passes through no hook."""

    type: ClassVar[Literal["start"]] = "start"
    run_id: str
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class StepStart(ChunkBase):
    """A model call begins; ``step_number`` counts from 0."""

    type: ClassVar[Literal["step-start"]] = "step-start"
    step_number: int = 0


@dataclass(frozen=True, slots=True)
class TextStart(ChunkBase):
    """A text part opens."""

    type: ClassVar[Literal["text-start"]] = "text-start"
    id: str = "0"


@dataclass(frozen=True, slots=True)
class TextDelta(ChunkBase):
    """Some more of the text part ``id``."""

    type: ClassVar[Literal["text-delta"]] = "text-delta"
    text: str
    id: str = "0"


@dataclass(frozen=True, slots=True)
class TextEnd(ChunkBase):
    """A text part closes."""

    type: ClassVar[Literal["text-end"]] = "text-end"
    id: str = "0"


@dataclass(frozen=True, slots=True)
class ReasoningStart(ChunkBase):
    """A reasoning part opens."""

    type: ClassVar[Literal["reasoning-start"]] = "reasoning-start"
    id: str = "0"


@dataclass(frozen=True, slots=True)
class ReasoningDelta(ChunkBase):
    """Some more of the reasoning part ``id``."""

    type: ClassVar[Literal["reasoning-delta"]] = "reasoning-delta"
    text: str
    id: str = "0"


@dataclass(frozen=True, slots=True)
class ReasoningEnd(ChunkBase):
    """A reasoning part closes, with the provider's seal where it gives one."""

    type: ClassVar[Literal["reasoning-end"]] = "reasoning-end"
    id: str = "0"
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCallStart(ChunkBase):
    """The model begins to write a tool call."""

    type: ClassVar[Literal["tool-call-input-streaming-start"]] = "tool-call-input-streaming-start"
    tool_call_id: str
    tool_name: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta(ChunkBase):
    """Some more of a tool call's arguments, as JSON text."""

    type: ClassVar[Literal["tool-call-delta"]] = "tool-call-delta"
    tool_call_id: str
    args_text: str


@dataclass(frozen=True, slots=True)
class ToolCall(ChunkBase):
    """A whole tool call. A hook that drops this chunk keeps the tool from running.

    ``args`` is what the model wrote, decoded; text that is no JSON stays a string, and the tool refuses it.
    """

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    tool_call_id: str
    tool_name: str
    args: JSONValue = None
    provider_executed: bool = False
    provider_metadata: Metadata | None = None


@dataclass(frozen=True, slots=True)
class ToolCallApproval(ChunkBase):
    """A tool call that waits for somebody's approval; the run is suspended."""

    type: ClassVar[Literal["tool-call-approval"]] = "tool-call-approval"
    tool_call_id: str
    tool_name: str
    args: JSONValue = None


@dataclass(frozen=True, slots=True)
class ToolCallSuspended(ChunkBase):
    """A tool that has asked something and waits for the answer; the run is suspended.

    Args:
        payload: What it asks.
    """

    type: ClassVar[Literal["tool-call-suspended"]] = "tool-call-suspended"
    tool_call_id: str
    tool_name: str
    args: JSONValue = None
    payload: JSONValue = None


@dataclass(frozen=True, slots=True)
class ToolResult(ChunkBase):
    """What a tool returned."""

    type: ClassVar[Literal["tool-result"]] = "tool-result"
    tool_call_id: str
    tool_name: str
    args: JSONValue = None
    result: JSONValue = None
    provider_executed: bool = False


@dataclass(frozen=True, slots=True)
class ToolError(ChunkBase):
    """A tool that failed; the model is told ``error``."""

    type: ClassVar[Literal["tool-error"]] = "tool-error"
    tool_call_id: str
    tool_name: str
    args: JSONValue = None
    error: str = ""
    provider_executed: bool = False


@dataclass(frozen=True, slots=True)
class ToolOutput(ChunkBase):
    """What a tool gives while it runs. ``output`` is a value, or a chunk of the agent that the tool asks."""

    type: ClassVar[Literal["tool-output"]] = "tool-output"
    tool_call_id: str
    tool_name: str
    output: Chunk | JSONValue = None


@dataclass(frozen=True, slots=True)
class DataChunk(ChunkBase):
    """A value for the client, which no model sees; on the wire its type is ``data-<name>``.

    Args:
        name: What it is, for the client.
        data: The value, as JSON values.
        id: A later one of this name and id takes its place in the message.
        message_id: The message it belongs to; None: the answer.
        transient: Whether it is only shown, and not stored as a part of the message.

    >>> DataChunk("progress", 0.5).to_wire()["type"]
    'data-progress'
    """

    type: ClassVar[Literal["data"]] = "data"
    name: str
    data: JSONValue = None
    id: str | None = None
    message_id: str | None = None
    transient: bool = False

    def to_wire(self, *, run_id: str | None = None) -> dict[str, JSONValue]:
        """The chunk as a JSON object; its name is in its type."""
        payload = {"data": self.data, "id": self.id, "messageId": self.message_id, "transient": self.transient}
        return {"type": f"data-{self.name}", "runId": run_id, "from": "AGENT", "payload": payload}


@dataclass(frozen=True, slots=True)
class ObjectChunk(ChunkBase):
    """The object that the answer is to be, as far as its text has come. Passes through no hook: its text has.

    Args:
        object: As JSON values, as far as they are complete; with ``final`` the whole object.
        final: Whether it is the whole, and fits the output schema.
    """

    type: ClassVar[Literal["object"]] = "object"
    object: JSONValue
    final: bool = False


@dataclass(frozen=True, slots=True)
class FileChunk(ChunkBase):
    """A file the model made; ``data`` in base64."""

    type: ClassVar[Literal["file"]] = "file"
    media_type: str
    data: str


@dataclass(frozen=True, slots=True)
class SourceChunk(ChunkBase):
    """A source the model names."""

    type: ClassVar[Literal["source"]] = "source"
    id: str
    url: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class StepFinish(ChunkBase):
    """The model's answer of one step has ended."""

    type: ClassVar[Literal["step-finish"]] = "step-finish"
    finish_reason: FinishReason = "stop"
    usage: Usage = Usage()
    provider_metadata: Metadata | None = None


@dataclass(frozen=True, slots=True)
class Finish(ChunkBase):
    """The run has ended well. Passes through no hook."""

    type: ClassVar[Literal["finish"]] = "finish"
    finish_reason: FinishReason = "stop"
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class TripwireChunk(ChunkBase):
    """The run was stopped; nothing comes after this."""

    type: ClassVar[Literal["tripwire"]] = "tripwire"
    reason: str
    processor_id: str
    retry: bool = False
    metadata: Metadata | None = None
    phase: str | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorChunk(ChunkBase):
    """The run has failed; nothing comes after this. ``error`` is what was raised."""

    type: ClassVar[Literal["error"]] = "error"
    error: Exception


Chunk = (
    Start
    | StepStart
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCall
    | ToolCallApproval
    | ToolCallSuspended
    | ToolResult
    | ToolError
    | ToolOutput
    | DataChunk
    | ObjectChunk
    | FileChunk
    | SourceChunk
    | StepFinish
    | Finish
    | TripwireChunk
    | ErrorChunk
)

"""A message as a client shows it.

The form is that of the messages of the AI SDK's user interface (https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message):
each part a dict with a ``type``, and names in camelCase. What a client has no use for (a provider's seals and metadata,
what the model is shown in place of a result) is left out.
"""

from __future__ import annotations

from typing import assert_never

from interlock.messages.json_text import plain_json
from interlock.messages.message import Message
from interlock.messages.parts import (
    DataPart,
    ErrorPart,
    FilePart,
    JSONValue,
    Part,
    ReasoningPart,
    SourcePart,
    StepStartPart,
    TextPart,
    ToolInvocationPart,
)

__all__ = ["message_to_ui"]

_STATES = {"call": "input-available", "result": "output-available", "error": "output-error"}


def message_to_ui(message: Message) -> dict[str, JSONValue]:
    """A message of the conversation.

    Raises:
        ValueError: A value has no JSON form; the message names its place.
    """
    envelope = message._envelope
    where = f"message {message.id!r}"
    made: dict[str, JSONValue] = {
        "id": message.id,
        "role": envelope.role,
        "createdAt": envelope.created_at.isoformat(),
        "parts": [_part(part, f"{where}.parts[{at}]") for at, part in enumerate(message._parts)],
    }
    if envelope.metadata:
        made["metadata"] = plain_json(envelope.metadata, f"{where}.metadata")
    return made


def _part(part: Part, where: str) -> dict[str, JSONValue]:
    match part:
        case TextPart(text=text) | ReasoningPart(text=text):
            return {"type": part.type, "text": text}
        case ToolInvocationPart():
            return _tool(part, where)
        case FilePart():
            address = part.url if part.data is None else f"data:{part.media_type};base64,{part.data}"
            named = {} if part.filename is None else {"filename": part.filename}
            return {"type": "file", "mediaType": part.media_type, "url": address, **named}
        case SourcePart():
            titled = {} if part.title is None else {"title": part.title}
            return {"type": "source-url", "sourceId": part.id, "url": part.url, **titled}
        case StepStartPart():
            return {"type": "step-start"}
        case DataPart():
            known = {} if part.id is None else {"id": part.id}
            return {"type": f"data-{part.name}", **known, "data": plain_json(part.data, f"{where}.data")}
        case ErrorPart():
            return {"type": "error", "errorText": part.message}
        case _:  # pragma: no cover
            assert_never(part)


def _tool(part: ToolInvocationPart, where: str) -> dict[str, JSONValue]:
    made: dict[str, JSONValue] = {
        "type": f"tool-{part.tool_name}",
        "toolCallId": part.tool_call_id,
        "state": _STATES[part.state],
        "input": plain_json(part.args, f"{where}.args"),
    }
    if part.state == "result":
        made["output"] = plain_json(part.result, f"{where}.result")
    elif part.state == "error":
        made["errorText"] = part.error or "the tool failed"
    if part.provider_executed:
        made["providerExecuted"] = True
    return made

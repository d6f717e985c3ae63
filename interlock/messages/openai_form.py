"""Conversations in the form of OpenAI's chat completions, which most providers and tools understand.

The form is that of https://platform.openai.com/docs/api-reference/chat/create (``messages``). What it has and our
messages lack (a message's ``name``, an image's ``detail``) is kept under ``provider_metadata["openai"]``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from interlock.messages.json_text import json_text
from interlock.messages.parts import FilePart, JSONValue, TextPart
from interlock.messages.prompt import Prompt, PromptMessage, ToolCallPart, ToolResultPart

__all__ = ["AUDIO_FORMATS", "OPENAI", "prompt_to_openai"]

OPENAI: Final = "openai"
AUDIO_FORMATS: Final[Mapping[str, str]] = {"audio/wav": "wav", "audio/mpeg": "mp3"}
"""What the form calls the kinds of sound it takes."""


def prompt_to_openai(prompt: Prompt) -> list[dict[str, JSONValue]]:
    """A prompt as the ``messages`` of a chat completion.

    Reasoning and files that the model made itself have no place in the form and are left out, as is a call of a
    provider's own tool that has no result. A tool's error is sent as its text.

    Raises:
        ValueError: A file that the form cannot carry; the message says which.

    >>> prompt_to_openai([PromptMessage("user", [TextPart("Hello")])])
    [{'role': 'user', 'content': 'Hello'}]
    """
    answered = {p.tool_call_id for m in prompt for p in m.parts if isinstance(p, ToolResultPart)}
    return [made for at, message in enumerate(prompt) for made in _message(message, answered, f"prompt[{at}]")]


def _message(message: PromptMessage, answered: set[str], where: str) -> Iterator[dict[str, JSONValue]]:
    if message.role == "tool":
        for part in message.parts:
            if isinstance(part, ToolResultPart):
                yield {"role": "tool", "tool_call_id": part.tool_call_id, "content": _result_text(part.output, where)}
        return
    own = _own(message)
    made: dict[str, JSONValue] = {"role": own.pop("role", message.role)}
    own |= _refusal(message)
    content = _assistant_content(message) if message.role == "assistant" else _content(message, where)
    calls = [
        _call(part, where)
        for part in message.parts
        if isinstance(part, ToolCallPart) and (part.tool_call_id in answered or not part.provider_executed)
    ]
    if content or calls or own:
        made["content"] = content or None
        if calls:
            made["tool_calls"] = calls
        yield {**made, **own}


def _assistant_content(message: PromptMessage) -> JSONValue:
    return _joined([_text(p) for p in message.parts if isinstance(p, TextPart) and not _beside_content(p)])


def _refusal(message: PromptMessage) -> dict[str, JSONValue]:
    """The field ``refusal``, for what was read from it."""
    texts = [p.text for p in message.parts if isinstance(p, TextPart) and _beside_content(p)]
    return {"refusal": "".join(texts)} if texts and message.role == "assistant" else {}


def _beside_content(part: TextPart) -> bool:
    own = _own(part)
    return own.get("type") == "refusal" and own.get("field") is True


def _content(message: PromptMessage, where: str) -> JSONValue:
    pieces: list[dict[str, JSONValue]] = []
    for at, part in enumerate(message.parts):
        if isinstance(part, TextPart):
            pieces.append(_text(part))
        elif isinstance(part, FilePart):
            pieces.append(_file(part, f"{where}.parts[{at}]"))
    return _joined(pieces)


def _joined(pieces: list[dict[str, JSONValue]]) -> JSONValue:
    """A single text as a string, which every server takes; several pieces as a list."""
    return pieces[0]["text"] if len(pieces) == 1 and pieces[0]["type"] == "text" else pieces


def _text(part: TextPart) -> dict[str, JSONValue]:
    if _own(part).get("type") == "refusal":
        return {"type": "refusal", "refusal": part.text}
    return {"type": "text", "text": part.text}


def _call(part: ToolCallPart, where: str) -> dict[str, JSONValue]:
    arguments = "{}" if part.args is None else json_text(part.args, f"{where}: arguments of {part.tool_call_id!r}")
    return {
        "id": part.tool_call_id,
        "type": "function",
        "function": {"name": part.tool_name, "arguments": arguments},
    }


def _result_text(output: JSONValue, where: str) -> str:
    return output if isinstance(output, str) else json_text(output, f"{where}: a tool's result")


def _file(part: FilePart, where: str) -> dict[str, JSONValue]:
    own = _own(part)
    address = part.url if part.data is None else f"data:{part.media_type};base64,{part.data}"
    if "file_id" in own:
        return {"type": "file", "file": {"file_id": own["file_id"]}}
    if address is None:
        raise ValueError(f"{where}: a file needs data or a url")
    if part.media_type.startswith("image/"):
        detail = {"detail": own["detail"]} if "detail" in own else {}
        return {"type": "image_url", "image_url": {"url": address, **detail}}
    if part.data is None:
        raise ValueError(
            f"{where}: OpenAI's chat form takes a file of type {part.media_type!r} by its data only, not by a url"
        )
    if part.media_type in AUDIO_FORMATS:
        return {"type": "input_audio", "input_audio": {"data": part.data, "format": AUDIO_FORMATS[part.media_type]}}
    named = {} if part.filename is None else {"filename": part.filename}
    return {"type": "file", "file": {**named, "file_data": address}}


def _own(thing: PromptMessage | TextPart | FilePart) -> dict[str, Any]:
    """What is kept for this form alone."""
    own = (thing.provider_metadata or {}).get(OPENAI)
    return dict(cast("Mapping[str, Any]", own)) if isinstance(own, Mapping) else {}

"""Reading conversations that come in the form of OpenAI's chat completions."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from interlock.messages.json_text import json_text, read_json
from interlock.messages.message import Message, Role
from interlock.messages.openai_form import AUDIO_FORMATS, OPENAI
from interlock.messages.parts import FilePart, JSONValue, Part, ReasoningPart, TextPart, ToolInvocationPart

__all__ = ["read_openai"]

_ROLES: Final[Mapping[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_MEDIA_TYPES: Final = {name: media_type for media_type, name in AUDIO_FORMATS.items()}
_DATA_URL: Final = re.compile(r"data:(?P<type>[^;,]+)(?:;[^;,]+)*;base64,(?P<data>.*)", re.DOTALL)
_READ: Final = frozenset({"role", "content", "tool_calls", "reasoning_content", "refusal"})


class Spot:
    """A value and the place it stands at, so that whatever is wrong with it can be said."""

    __slots__ = ("value", "where")

    def __init__(self, value: JSONValue, where: str) -> None:
        self.value = value
        self.where = where

    def wrong(self, fault: str) -> ValueError:
        return ValueError(f"{self.where}: {fault}")

    def expected(self, wanted: str) -> ValueError:
        found = "nothing" if self.value is None else type(self.value).__name__
        return self.wrong(f"{wanted} is needed here, not {found}")

    def field(self, name: str) -> Spot:
        return Spot(self.object().get(name), f"{self.where}.{name}")

    def object(self) -> Mapping[str, JSONValue]:
        value = cast("object", self.value)
        if not isinstance(value, Mapping):
            raise self.expected("a dict")
        return cast("Mapping[str, JSONValue]", value)

    def items(self) -> list[Spot]:
        value = cast("object", self.value)
        if not isinstance(value, list | tuple):
            raise self.expected("a list")
        found = cast("list[JSONValue]", value)
        return [Spot(item, f"{self.where}[{at}]") for at, item in enumerate(found)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.expected("a string")
        return self.value


def read_openai(messages: Iterable[Mapping[str, JSONValue]]) -> list[Message]:
    """The messages of a chat completion, each tool's answer joined to its call.

    Args:
        messages: Dicts with ``role``, ``content`` and so on.

    Raises:
        ValueError: Something is not as the form wants it; the message names the place, as in
            ``messages[2].tool_calls[0].id``.
    """
    read: list[Message] = []
    calls: dict[str, list[ToolInvocationPart]] = {}
    for given in Spot(messages, "messages").items():
        role = given.field("role").value
        if role == "tool":
            _answer(given, calls)
        elif isinstance(role, str) and role in _ROLES:
            message = _message(given, role)
            calls.update(_by_id(message.parts))
            read.append(message)
        else:
            raise given.field("role").wrong(f"must be one of {', '.join([*_ROLES, 'tool'])}, not {role!r}")
    return read


def _by_id(parts: Iterable[Part]) -> dict[str, list[ToolInvocationPart]]:
    """The calls by their ids, which need not be unique: the answers then come in the order of the calls."""
    calls: dict[str, list[ToolInvocationPart]] = {}
    for part in parts:
        if isinstance(part, ToolInvocationPart):
            calls.setdefault(part.tool_call_id, []).append(part)
    return calls


def _message(given: Spot, role: str) -> Message:
    parts: list[Part] = []
    if role == "assistant" and given.field("reasoning_content").value:
        parts.append(ReasoningPart(given.field("reasoning_content").text()))
    parts += _content(given.field("content"))
    if role == "assistant" and given.field("refusal").value:
        parts.append(_refusal(given.field("refusal").text(), beside_content=True))
    calls = given.field("tool_calls")
    if calls.value is not None:
        if role != "assistant":
            raise calls.wrong("only an assistant's message has tool calls")
        parts += [_call(call) for call in calls.items()]
    elif role != "assistant" and given.field("content").value is None:
        raise given.field("content").wrong("is missing: what the message says")
    own: dict[str, Any] = {k: v for k, v in given.object().items() if k not in _READ and v is not None}
    if role == "developer":
        own["role"] = role
    return Message(_ROLES[role], parts, provider_metadata={OPENAI: own} if own else None)


def _content(content: Spot) -> list[Part]:
    if content.value is None or content.value == "":
        return []
    if isinstance(content.value, str):
        return [TextPart(content.value)]
    return [_piece(piece) for piece in content.items()]


def _piece(piece: Spot) -> Part:
    kind = piece.field("type")
    match kind.value:
        case "text":
            return TextPart(piece.field("text").text())
        case "refusal":
            return _refusal(piece.field("refusal").text())
        case "image_url":
            return _image(piece.field("image_url"))
        case "input_audio":
            return _audio(piece.field("input_audio"))
        case "file":
            return _file(piece.field("file"))
        case other:
            raise kind.wrong(f"must be text, image_url, input_audio, file or refusal, not {other!r}")


def _refusal(text: str, *, beside_content: bool = False) -> TextPart:
    """What the model says in place of an answer; a response has it in a field of its own, beside ``content``."""
    own: dict[str, Any] = {"type": "refusal", "field": True} if beside_content else {"type": "refusal"}
    return TextPart(text, provider_metadata={OPENAI: own})


def _image(image: Spot) -> FilePart:
    url = image.field("url").text()
    detail = image.field("detail").value
    own = None if detail is None else {OPENAI: {"detail": detail}}
    inline = _DATA_URL.fullmatch(url)
    if inline:
        return FilePart(inline["type"], inline["data"], provider_metadata=own)
    guessed = mimetypes.guess_type(url.partition("?")[0])[0] or ""
    return FilePart(guessed if guessed.startswith("image/") else "image/*", url=url, provider_metadata=own)


def _audio(audio: Spot) -> FilePart:
    name = audio.field("format")
    if not isinstance(name.value, str) or name.value not in _MEDIA_TYPES:
        raise name.wrong(f"must be one of {', '.join(_MEDIA_TYPES)}, not {name.value!r}")
    return FilePart(_MEDIA_TYPES[name.value], audio.field("data").text())


def _file(file: Spot) -> FilePart:
    if file.field("file_id").value is not None:
        own = {OPENAI: {"file_id": file.field("file_id").text()}}
        return FilePart("application/octet-stream", provider_metadata=own)
    data = file.field("file_data")
    inline = _DATA_URL.fullmatch(data.text())
    if inline is None:
        raise data.wrong("must be a URL of the form data:<type>;base64,<data>")
    name = file.field("filename")
    return FilePart(inline["type"], inline["data"], filename=None if name.value is None else name.text())


def _call(call: Spot) -> ToolInvocationPart:
    kind = call.field("type")
    if kind.value not in (None, "function"):
        raise kind.wrong(f"only calls of functions can be read, not {kind.value!r}")
    function = call.field("function")
    return ToolInvocationPart(
        call.field("id").text(),
        function.field("name").text(),
        _decoded_arguments(function.field("arguments").text()),
    )


def _decoded_arguments(text: str) -> JSONValue:
    """What the model wrote; text that is no JSON stays as it is."""
    try:
        return read_json(text) if text else None
    except (ValueError, RecursionError):  # no JSON, or nested too deep to be read
        return text


def _answer(given: Spot, calls: Mapping[str, Sequence[ToolInvocationPart]]) -> None:
    id_ = given.field("tool_call_id")
    named = calls.get(id_.text())
    if named is None:
        raise id_.wrong(f"no message before it calls a tool with the id {id_.value!r}")
    call = next((call for call in named if call.state == "call"), None)
    if call is None:
        raise id_.wrong(f"the call {id_.value!r} has an answer already")
    texts = [part.text for part in _content(given.field("content")) if isinstance(part, TextPart)]
    call.state = "result"
    call.result = _decoded_result("".join(texts))


def _decoded_result(text: str) -> JSONValue:
    """An object, a list or nothing where the text is exactly how we write one; else the text itself."""
    if not (text == "null" or text[:1] in ("{", "[")):
        return text
    try:
        value = read_json(text)
        return value if json_text(value) == text else text
    except (ValueError, RecursionError):
        return text

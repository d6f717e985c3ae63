"""An OpenAI chat answer, event by event, made into chunks. Pure: nothing here waits or knows of HTTP.

The form is that of OpenAI's API reference ("Chat completion chunk object"); what other servers of the same form do
differently is taken as they do it, and said where it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from interlock.errors import ModelError
from interlock.ids import new_id
from interlock.messages.chunks import (
    Chunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceChunk,
    StepFinish,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
)
from interlock.messages.parts import JSONValue
from interlock.messages.usage import FinishReason, Usage
from interlock.models.arguments import decode_arguments
from interlock.models.pairs import PairJoiner

__all__ = ["OpenAIAnswer", "error_from_body"]

_FINISH: Final[Mapping[str, FinishReason]] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    "content_filter": "content-filter",
    "error": "error",
}
_PASSING: Final = frozenset({"server_error", "overloaded_error", "rate_limit_exceeded", "service_unavailable"})
"""Types and codes of errors that may not come again (OpenAI's and Anthropic's lists of error codes)."""

JSONObject = Mapping[str, JSONValue]


@dataclass(slots=True)
class _Call:
    """A tool call that is being written. It is told of once both its id and its name are known."""

    sent_id: str = ""
    id: str = ""
    name: str = ""
    args: str = ""
    told: bool = False
    pairs: PairJoiner = field(default_factory=PairJoiner)


@dataclass(slots=True)
class _Open:
    """The part that is being written."""

    kind: Literal["text", "reasoning"]
    id: str
    signature: str | None = None
    pairs: PairJoiner = field(default_factory=PairJoiner)


class OpenAIAnswer:
    """Collects one answer.

    Feed each event's object to :meth:`read`, then call :meth:`end`; both give chunks. A whole ``chat.completion`` (an
    answer that was not streamed) is read in the same way, as one event.

    Args:
        provider: The provider's name, for errors and metadata.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._parts = 0
        self._open: _Open | None = None
        self._calls: list[_Call] = []
        self._placed: dict[int, _Call] = {}
        self._sources = 0
        self._finish: str | None = None
        self._usage = Usage()
        self._metadata: dict[str, str] = {}

    def read(self, event: JSONObject) -> Iterator[Chunk]:
        """The chunks of one event.

        Raises:
            ModelError: The event reports an error.
        """
        self._raise_reported(event)
        self._remember(event)
        for choice in _objects(event.get("choices")):
            if choice.get("index") not in (None, 0):
                continue
            self._raise_reported(choice)
            delta = _object(choice.get("delta")) or _object(choice.get("message"))
            yield from self._sources_of(delta)
            yield from self._reasoning_of(delta)
            yield from self._text_of(delta)
            yield from self._calls_of(delta)
            self._finish = _string(choice.get("finish_reason")) or self._finish

    def end(self, *, done: bool = False) -> Iterator[Chunk]:
        """The last chunks: what is open is closed, tool calls are given whole, and the step finishes.

        Args:
            done: The server said that it was the end (``[DONE]``).

        Raises:
            ModelError: The answer broke off, or a tool call has no name.
        """
        if self._finish is None and not done:
            raise ModelError(
                "the answer broke off: the stream ended without a finish reason",
                provider=self._provider,
                retryable=True,
            )
        yield from self._close()
        for call in self._calls:
            yield from self._whole(call)
        metadata = {self._provider: dict(self._metadata)} if self._metadata else None
        yield StepFinish(finish_reason=self._reason(), usage=self._usage, provider_metadata=metadata)

    def _reason(self) -> FinishReason:
        """Some servers say "stop" after tool calls, or "tool_calls" without one; what was written decides."""
        reason: FinishReason = _FINISH.get(self._finish or "", "other")
        if self._calls:
            return "tool-calls" if reason in ("stop", "other") else reason
        return "other" if reason == "tool-calls" else reason

    def _raise_reported(self, holder: JSONObject) -> None:
        if holder.get("error"):
            raise error_from_body(json.dumps(holder, ensure_ascii=False), provider=self._provider)

    def _remember(self, event: JSONObject) -> None:
        for key in ("id", "model"):
            value = _string(event.get(key))
            if value:
                self._metadata[key] = value
        usage = _object(event.get("usage")) or _object(_object(event.get("x_groq")).get("usage"))
        if usage:
            self._usage = _usage(usage)

    def _sources_of(self, delta: JSONObject) -> Iterator[Chunk]:
        for annotation in _objects(delta.get("annotations")):
            cited = _object(annotation.get("url_citation"))
            url = _string(cited.get("url"))
            if url:
                yield SourceChunk(str(self._sources), url, _string(cited.get("title")) or None)
                self._sources += 1

    def _reasoning_of(self, delta: JSONObject) -> Iterator[Chunk]:
        """``reasoning_content`` (DeepSeek), ``reasoning`` (Groq, OpenRouter), or thinking items (Mistral)."""
        text = _string(delta.get("reasoning_content")) or _string(delta.get("reasoning"))
        text = text or "".join(_thinking(item) for item in _objects(delta.get("content")))
        if text:
            yield from self._write("reasoning", text)
        if self._open and self._open.kind == "reasoning":
            for detail in _objects(delta.get("reasoning_details")):
                self._open.signature = _string(detail.get("signature")) or self._open.signature

    def _text_of(self, delta: JSONObject) -> Iterator[Chunk]:
        """``content``, a text or a list of typed items; a ``refusal`` is what the model says instead."""
        content = delta.get("content")
        text = _string(content) or "".join(
            _string(item.get("text")) for item in _objects(content) if item.get("type") == "text"
        )
        text += _string(delta.get("refusal"))
        if text:
            yield from self._write("text", text)

    def _calls_of(self, delta: JSONObject) -> Iterator[Chunk]:
        for item in _objects(delta.get("tool_calls")):
            yield from self._close()
            function = _object(item.get("function"))
            sent_id, name = _string(item.get("id")), _string(function.get("name"))
            call = self._call(item.get("index"), sent_id, name)
            if sent_id and not call.sent_id:
                call.sent_id, call.id = sent_id, self._unused(sent_id)
            call.name = call.name or name
            written = call.pairs.take(_arguments(function.get("arguments")))
            call.args += written
            if not call.told and call.id and call.name:
                yield from self._tell(call)
            elif call.told and written:
                yield ToolCallDelta(call.id, written)

    def _call(self, index: JSONValue, sent_id: str, name: str) -> _Call:
        """The call that a piece belongs to: by its index; where there is none by its id, else the last one.

        Servers exist that give every call the index 0: another id together with a name begins another call.
        """
        place = index if isinstance(index, int) else None
        call = self._placed.get(place) if place is not None else self._unplaced(sent_id, name)
        if call is None or (sent_id and name and call.sent_id and call.sent_id != sent_id):
            call = _Call()
            self._calls.append(call)
        if place is not None:
            self._placed[place] = call
        return call

    def _unplaced(self, sent_id: str, name: str) -> _Call | None:
        for call in self._calls:
            if sent_id and call.sent_id == sent_id:
                return call
        return self._calls[-1] if self._calls and not name else None

    def _unused(self, sent_id: str) -> str:
        """The id that was sent, or a fresh one where another call of this answer has it already."""
        return new_id("call") if any(call.id == sent_id for call in self._calls) else sent_id

    def _tell(self, call: _Call) -> Iterator[Chunk]:
        call.told = True
        yield ToolCallStart(call.id, call.name)
        if call.args:
            yield ToolCallDelta(call.id, call.args)

    def _whole(self, call: _Call) -> Iterator[Chunk]:
        if not call.name:
            raise ModelError("the answer holds a tool call without a name", provider=self._provider, retryable=True)
        rest = call.pairs.rest()
        call.args += rest
        if call.told and rest:
            yield ToolCallDelta(call.id, rest)
        if not call.told:
            call.id = call.id or new_id("call")
            yield from self._tell(call)
        yield ToolCall(call.id, call.name, decode_arguments(call.args))

    def _write(self, kind: Literal["text", "reasoning"], text: str) -> Iterator[Chunk]:
        part = self._open
        if part is None or part.kind != kind:
            yield from self._close()
            part = self._open = _Open(kind, str(self._parts))
            self._parts += 1
            yield TextStart(part.id) if kind == "text" else ReasoningStart(part.id)
        yield from _delta(part, part.pairs.take(text))

    def _close(self) -> Iterator[Chunk]:
        closing, self._open = self._open, None
        if closing is not None:
            yield from _delta(closing, closing.pairs.rest())
            yield TextEnd(closing.id) if closing.kind == "text" else ReasoningEnd(closing.id, closing.signature)


def error_from_body(
    body: str, *, provider: str, status: int | None = None, otherwise: str = "", hint: str = ""
) -> ModelError:
    """The error that a body reports, in the provider's words where it has any.

    Args:
        body: What the server sent: ``{"error": {"message": …, "code": …}}``, ``{"message": …}``, or any text.
        provider: The provider's name.
        status: The HTTP status; by default the one that the error names.
        otherwise: What to say where the body says nothing.
        hint: What to do about it, put behind the words.
    """
    try:
        sent = _object(json.loads(body))
    except (ValueError, RecursionError):
        sent = _object(None)
    error = _object(sent.get("error"))
    words = (
        _string(error.get("message"))
        or _string(sent.get("error"))
        or _string(sent.get("message"))
        or _string(sent.get("detail"))
        or otherwise
        or body.strip()[:200]
        or "an error without words"
    )
    named = {_string(holder.get(key)) for holder in (error, sent) for key in ("code", "type")}
    if status is None:
        status = next((n for key in ("status_code", "status", "code") if (n := _status(error.get(key)))), None)
    retryable: bool | None = None
    if "insufficient_quota" in named:
        retryable = False
    elif status is None:
        retryable = bool(named & _PASSING)
    return ModelError(
        f"{words} ({hint})" if hint else words, provider=provider, status=status, body=body, retryable=retryable
    )


def _delta(part: _Open, text: str) -> Iterator[Chunk]:
    if text:
        yield TextDelta(text, part.id) if part.kind == "text" else ReasoningDelta(text, part.id)


def _usage(usage: JSONObject) -> Usage:
    read = _object(usage.get("prompt_tokens_details"))
    written = _object(usage.get("completion_tokens_details"))
    cached = (read.get("cached_tokens"), usage.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"))
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(written.get("reasoning_tokens")),
        cached_input_tokens=next((n for n in map(_count, cached) if n), 0),
    )


def _thinking(item: JSONObject) -> str:
    if item.get("type") != "thinking":
        return ""
    thought = item.get("thinking")
    return _string(thought) or "".join(_string(piece.get("text")) for piece in _objects(thought))


def _arguments(value: JSONValue) -> str:
    """Text by the book; servers exist that send the object itself."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, Mapping) else _string(value)


def _object(value: JSONValue) -> JSONObject:
    return cast("JSONObject", value) if isinstance(value, Mapping) else {}


def _objects(value: JSONValue) -> list[JSONObject]:
    if not isinstance(value, list):
        return []
    return [cast("JSONObject", item) for item in cast("Sequence[JSONValue]", value) if isinstance(item, Mapping)]


def _string(value: JSONValue) -> str:
    return value if isinstance(value, str) else ""


def _count(value: JSONValue) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _status(value: JSONValue) -> int | None:
    number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) == 3 else value
    return number if isinstance(number, int) and 400 <= number <= 599 else None

"""``embedded/echo``: a model that needs no key and no network, for first steps and demonstrations."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import takewhile
from typing import Final, cast

import anyio.lowlevel

from interlock.ids import new_id
from interlock.messages.chunks import (
    Chunk,
    StepFinish,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
)
from interlock.messages.parts import JSONValue
from interlock.messages.prompt import Prompt, ToolResultPart, prompt_text
from interlock.messages.usage import Usage
from interlock.models.arguments import decode_arguments
from interlock.models.base import LanguageModel, ModelRequest
from interlock.models.ready import ReadyChunks

__all__ = ["EchoModel", "echoed"]

_COMMAND: Final = re.compile(r"\s*/tool\s+(?P<name>\S+)\s*(?P<args>.*)", re.DOTALL)
_WORD: Final = re.compile(r"\s*\S+|\s+")


class EchoModel(LanguageModel):
    """A model that says back what it hears, word by word.

    - It repeats the text of the last user message; the deltas, joined, equal that text.
    - The text ``/tool NAME {json}`` makes it call that tool; without arguments it sends ``{}``. What is wrong with such
      a command (no JSON object, no such tool) it says as its answer.
    - Where the prompt ends with tool results, it says what the tools returned: a text as it is, other values as JSON,
      a line each; a failed tool as ``NAME failed: …``.

    Its usage counts words, that is what white space separates, of the prompt and of the answer.

    Example:
        >>> EchoModel().id
        'embedded/echo'
    """

    provider = "embedded"
    name = "echo"

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[Chunk]]:
        """Answer. Entering suspends once, as a call over a network would: a cancelled run ends there."""
        await anyio.lowlevel.checkpoint()
        yield ReadyChunks(echoed(request))


def echoed(request: ModelRequest) -> Iterator[Chunk]:
    """The chunks that :class:`EchoModel` answers with."""
    heard = len(prompt_text(request.prompt).split())
    results = _last_results(request.prompt)
    if results:
        return _say("\n".join(_told(result) for result in results), heard)
    text = _last_user_text(request.prompt)
    command = _COMMAND.fullmatch(text)
    if command is None:
        return _say(text, heard)
    name, args = command["name"], decode_arguments(command["args"])
    fault = _fault(name, args, request)
    return _say(fault, heard) if fault else _call(name, cast("Mapping[str, JSONValue]", args), heard)


def _fault(name: str, args: JSONValue, request: ModelRequest) -> str | None:
    names = [tool.name for tool in request.tools]
    if name not in names:
        known = ", ".join(names) if names else "none"
        return f"There is no tool {name!r} to call. Tools I was given: {known}."
    if request.tool_choice == "none":
        return f"I was asked not to call tools, so {name!r} was not called."
    if not isinstance(args, Mapping):
        return f'The arguments of {name!r} must be a JSON object, as in: /tool {name} {{"key": "value"}}'
    return None


def _say(text: str, heard: int) -> Iterator[Chunk]:
    if text:
        yield TextStart()
        for word in _WORD.findall(text):
            yield TextDelta(word)
        yield TextEnd()
    yield StepFinish(finish_reason="stop", usage=Usage(heard, len(text.split())))


def _call(name: str, args: Mapping[str, JSONValue], heard: int) -> Iterator[Chunk]:
    call_id = new_id("call")
    written = json.dumps(args, ensure_ascii=False)
    yield ToolCallStart(call_id, name)
    yield ToolCallDelta(call_id, written)
    yield ToolCall(call_id, name, args)
    yield StepFinish(finish_reason="tool-calls", usage=Usage(heard, len(written.split())))


def _last_results(prompt: Prompt) -> list[ToolResultPart]:
    last = list(takewhile(lambda message: message.role == "tool", reversed(prompt)))
    return [part for message in reversed(last) for part in message.parts if isinstance(part, ToolResultPart)]


def _last_user_text(prompt: Prompt) -> str:
    return next((message.text for message in reversed(prompt) if message.role == "user"), "")


def _told(result: ToolResultPart) -> str:
    output = result.output if isinstance(result.output, str) else json.dumps(result.output, ensure_ascii=False)
    return f"{result.tool_name} failed: {output}" if result.is_error else output

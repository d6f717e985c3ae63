"""A model that answers from a script: for tests, public."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, cast, get_args

import anyio.lowlevel

from interlock.errors import DefinitionError, ModelError
from interlock.messages.chunks import (
    Chunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepFinish,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
)
from interlock.messages.parts import JSONValue, copy_json
from interlock.messages.prompt import prompt_text
from interlock.messages.usage import Usage
from interlock.models.arguments import decode_arguments
from interlock.models.base import LanguageModel, ModelRequest

__all__ = ["Script", "ScriptEntry", "ScriptItem", "ScriptedModel", "ScriptedReasoning", "ScriptedToolCall"]


@dataclass(frozen=True, slots=True)
class ScriptedToolCall:
    """A tool call in a script, its arguments as the model writes them; made by :meth:`ScriptedModel.tool_call`."""

    name: str
    args_text: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptedReasoning:
    """Reasoning in a script; made by :meth:`ScriptedModel.reasoning`."""

    text: str
    signature: str | None = None


ScriptItem = str | ScriptedToolCall | ScriptedReasoning | Exception | Chunk | Callable[[], object]
"""One piece of an answer; a callable is called at its place of the stream, awaited if need be, and gives no chunk."""

ScriptAnswer = ScriptItem | Sequence[ScriptItem]
ScriptEntry = ScriptAnswer | Callable[[ModelRequest], ScriptAnswer | Awaitable[ScriptAnswer]]
Script = Sequence[ScriptEntry] | Callable[[ModelRequest], ScriptAnswer | Awaitable[ScriptAnswer]]

_Move = Chunk | Exception | Callable[[], object]
_CHUNKS: Final = cast("tuple[type, ...]", get_args(Chunk))
_ALLOWED: Final = (
    "a text, a list of texts, ScriptedModel.tool_call(…), ScriptedModel.reasoning(…), an exception, ready chunks, "
    "a list of these, or a function of the request that returns one of these"
)


class ScriptedModel(LanguageModel):
    """A model whose answers are written down beforehand, and which remembers what it was asked.

    Args:
        script: One entry per model call, in order; or a function that is given each :class:`ModelRequest` and returns
            the entry. Entries may be functions of the request as well, ``def`` or ``async def``.

            =============================  ==========================================================================
            entry                          answer
            =============================  ==========================================================================
            ``"text"``                     one text part in one delta
            ``["some ", "text"]``          one text part, a delta for each
            ``tool_call(name, args)``      a tool call: its start, its arguments as one delta, the whole call
            ``reasoning(text)``            a reasoning part in one delta
            an exception                   raised on entering the stream; in a list: raised at its place
            chunks                         sent as the same objects
            a list of these                one after the other; a function of no arguments in it is called at its
                                           place, and awaited if it is ``async``, which holds the stream there
            =============================  ==========================================================================
        name: The model's name.
        provider: The provider's name.

    The answer ends with a ``step-finish``, unless the entry brings its own: the reason is ``"tool-calls"`` where there
    was a call and ``"stop"`` otherwise. Its usage counts words, that is what white space separates: the input is the
    text of the prompt (:func:`~interlock.messages.prompt.prompt_text`), the output each part's text, each reasoning
    (also in ``reasoning_tokens``) and each call's arguments as JSON text.

    Tool calls without an id are numbered ``call_1``, ``call_2``, … over the life of the model.

    Attributes:
        calls: How many times it was asked.
        requests: What it was asked, as it was at that moment: later edits of the prompt do not show.
        closed: How many of its streams were closed before their end.
        pulled: How many chunks it was asked for, over all its streams.

    Raises:
        ModelError: On entering a stream, when the script is used up.
        DefinitionError: An entry is of no known kind; at once where it is written down, else when it is its turn.

    Example:
        >>> model = ScriptedModel([ScriptedModel.tool_call("track", {"parcel": "7"}), "It is on its way."])
        >>> model.calls, model.id
        (0, 'scripted/model')
    """

    def __init__(self, script: Script, *, name: str = "model", provider: str = "scripted") -> None:
        self.name = name
        self.provider = provider
        self._script = _checked(script)
        self._numbered = 0
        self.requests: list[ModelRequest] = []
        self.closed = 0
        self.pulled = 0

    @staticmethod
    def tool_call(name: str, args: JSONValue = None, *, id: str | None = None) -> ScriptedToolCall:  # noqa: A002
        """An entry, or a piece of one: the model calls a tool.

        Args:
            name: The tool.
            args: Its arguments, ``{}`` where None. A string is sent as it is: the text of broken or unusual JSON.
            id: The call's id; by default the next free ``call_<n>``.

        Raises:
            DefinitionError: The arguments cannot be written as JSON.
        """
        try:
            text = args if isinstance(args, str) else json.dumps({} if args is None else args, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise DefinitionError(
                f"the arguments cannot be written as JSON: {error}", subject=f"call of {name!r}"
            ) from error
        return ScriptedToolCall(name, text, id)

    @staticmethod
    def reasoning(text: str, *, signature: str | None = None) -> ScriptedReasoning:
        """An entry, or a piece of one: the model thinks.

        Args:
            text: What it thinks.
            signature: The provider's seal.
        """
        return ScriptedReasoning(text, signature)

    @property
    def calls(self) -> int:
        """How many times it was asked."""
        return len(self.requests)

    def received(self, call: int = -1) -> str:
        """All text of the prompt of one call as one string, a line a piece.

        Args:
            call: Which call, from 0; negative ones count from the last.

        Raises:
            IndexError: There was no such call.
        """
        try:
            return prompt_text(self.requests[call].prompt)
        except IndexError:
            raise IndexError(f"{self.id} was called {self.calls} times: there is no call {call}") from None

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[Chunk]]:
        """Give the next answer. Entering suspends once, as a call over a network would: a cancelled run ends there."""
        self.requests.append(_snapshot(request))
        answer = await self._answer(request, number=self.calls)
        await anyio.lowlevel.checkpoint()
        if isinstance(answer, Exception):
            raise answer
        stream = _ScriptedStream(self, self._moves(answer, request))
        try:
            yield stream
        finally:
            if not stream.ended:
                self.closed += 1

    async def _answer(self, request: ModelRequest, *, number: int) -> ScriptAnswer:
        script = self._script
        if callable(script):
            entry: ScriptEntry = script
        elif number <= len(script):
            entry = script[number - 1]
        else:
            raise ModelError(
                f"the script is used up: it has {len(script)} entries, and this is call {number}",
                provider=self.provider,
                retryable=False,
            )
        if not callable(entry):
            return entry
        made = cast("Callable[[ModelRequest], object]", entry)(request)
        answer = await made if inspect.isawaitable(made) else made
        faults = _faults(answer, f"the answer to call {number}, made by a function,", functions=False)
        if faults:
            raise DefinitionError(faults, subject=f"script of {self.id}")
        return cast("ScriptAnswer", answer)

    def _moves(self, answer: ScriptAnswer, request: ModelRequest) -> list[_Move]:
        items = cast("Sequence[ScriptItem]", [answer] if _is_item(answer) else answer)
        moves = list(_spelled_out(self._with_ids(items)))
        chunks = [move for move in moves if isinstance(move, _CHUNKS)]
        if not any(isinstance(chunk, StepFinish) for chunk in chunks):
            called = any(isinstance(chunk, ToolCall) and not chunk.provider_executed for chunk in chunks)
            usage = _usage(request, cast("list[Chunk]", chunks))
            moves.append(StepFinish(finish_reason="tool-calls" if called else "stop", usage=usage))
        return moves

    def _with_ids(self, items: Iterable[ScriptItem]) -> list[ScriptItem]:
        taken = {item.id for item in items if isinstance(item, ScriptedToolCall)}
        taken |= {item.tool_call_id for item in items if isinstance(item, ToolCall)}
        return [
            dataclasses.replace(item, id=self._next_id(taken))
            if isinstance(item, ScriptedToolCall) and item.id is None
            else item
            for item in items
        ]

    def _next_id(self, taken: set[str | None]) -> str:
        while True:
            self._numbered += 1
            made = f"call_{self._numbered}"
            if made not in taken:
                return made


class _ScriptedStream(AsyncIterator[Chunk]):
    """One answer, chunk by chunk. It ends with its last chunk, or with the exception written at a place of it."""

    def __init__(self, model: ScriptedModel, moves: list[_Move]) -> None:
        self._model = model
        self._moves = moves
        self._next = 0

    @property
    def ended(self) -> bool:
        return self._next >= len(self._moves)

    def __aiter__(self) -> _ScriptedStream:
        return self

    async def __anext__(self) -> Chunk:
        if self.ended:
            raise StopAsyncIteration
        self._model.pulled += 1
        while not self.ended:
            move = self._moves[self._next]
            if isinstance(move, _CHUNKS):
                self._next += 1
                return cast("Chunk", move)
            if isinstance(move, Exception):
                self._next = len(self._moves)
                raise move
            try:
                done = cast("Callable[[], object]", move)()
                if inspect.isawaitable(done):
                    await done
            except Exception:
                self._next = len(self._moves)
                raise
            self._next += 1
        raise StopAsyncIteration


def _spelled_out(items: Iterable[ScriptItem]) -> Iterable[_Move]:
    """The items as chunks; texts that follow one another are one part."""
    part = 0
    writing: str | None = None
    for item in items:
        if writing is not None and isinstance(item, (ScriptedToolCall, ScriptedReasoning, *_CHUNKS)):
            yield TextEnd(writing)
            writing = None
        match item:
            case str():
                if writing is None:
                    writing, part = str(part), part + 1
                    yield TextStart(writing)
                yield TextDelta(item, writing)
            case ScriptedReasoning(text, signature):
                thinking, part = str(part), part + 1
                yield ReasoningStart(thinking)
                yield ReasoningDelta(text, thinking)
                yield ReasoningEnd(thinking, signature)
            case ScriptedToolCall(name, written, call_id):
                assert call_id is not None
                yield ToolCallStart(call_id, name)
                yield ToolCallDelta(call_id, written)
                yield ToolCall(call_id, name, decode_arguments(written))
            case Exception():
                yield item
                return
            case _:
                yield item
    if writing is not None:
        yield TextEnd(writing)


def _usage(request: ModelRequest, chunks: Iterable[Chunk]) -> Usage:
    texts: dict[tuple[str, str], str] = {}
    for chunk in chunks:
        match chunk:
            case TextDelta() | ReasoningDelta():
                texts[chunk.type, chunk.id] = texts.get((chunk.type, chunk.id), "") + chunk.text
            case ToolCallDelta():
                key = (chunk.type, chunk.tool_call_id)
                texts[key] = texts.get(key, "") + chunk.args_text
            case _:
                pass
    words = {key: len(text.split()) for key, text in texts.items()}
    return Usage(
        input_tokens=len(prompt_text(request.prompt).split()),
        output_tokens=sum(words.values()),
        reasoning_tokens=sum(count for (kind, _), count in words.items() if kind == ReasoningDelta.type),
    )


def _snapshot(request: ModelRequest) -> ModelRequest:
    return dataclasses.replace(
        request,
        prompt=[message.copy() for message in request.prompt],
        tools=tuple(request.tools),
        settings=copy_json(dict(request.settings)),
        provider_options=copy_json(dict(request.provider_options)),
    )


def _checked(script: object) -> Script:
    if callable(script):
        return cast("Script", script)
    if isinstance(script, str) or not isinstance(script, Sequence):
        raise DefinitionError(
            f"a script is a list with one entry per model call, or a function of the request; got {script!r:.80}"
        )
    entries = list(cast("Sequence[object]", script))
    faults = [fault for n, entry in enumerate(entries) for fault in _faults(entry, f"entry {n}", functions=True)]
    if faults:
        raise DefinitionError(faults, subject="script of a ScriptedModel")
    return cast("Script", entries)


def _faults(entry: object, where: str, *, functions: bool) -> list[str]:
    if callable(entry) and not functions:
        return [f"{where} is a function; it must be the answer itself"]
    if callable(entry) or _is_item(entry):
        return []
    if not isinstance(entry, Sequence):
        return [f"{where} is {entry!r:.80}; an entry is {_ALLOWED}"]
    items = enumerate(cast("Sequence[object]", entry))
    return [
        f"item {n} of {where} is {item!r:.80}; an entry is {_ALLOWED}"
        for n, item in items
        if not (_is_item(item) or callable(item))
    ]


def _is_item(value: object) -> bool:
    return isinstance(value, (str, ScriptedToolCall, ScriptedReasoning, Exception, *_CHUNKS))

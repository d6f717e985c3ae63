"""What a client was not shown yet, as it stands in the conversation by now.

A guard at ``output_step`` or ``output_result`` edits the message. Where the chunks of that message are held back still,
they say what it says; what was left alone is given as it came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeVar

from interlock.messages import (
    Chunk,
    FileChunk,
    FilePart,
    ObjectChunk,
    Part,
    ReasoningDelta,
    ReasoningPart,
    SourceChunk,
    SourcePart,
    StepFinish,
    StepStart,
    StepStartPart,
    TextDelta,
    TextPart,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
    ToolError,
    ToolInvocationPart,
    ToolOutput,
    ToolResult,
)
from interlock.messages.json_text import json_text
from interlock.messages.parts import same_json

__all__ = ["as_they_stand"]

T = TypeVar("T")

_OF_CALLS: Final = (ToolCallStart, ToolCallDelta, ToolCall, ToolResult, ToolError, ToolOutput)
_Delta = TextDelta | ReasoningDelta
_KINDS: Final[tuple[tuple[type[_Delta], type[TextPart | ReasoningPart]], ...]] = (
    (TextDelta, TextPart),
    (ReasoningDelta, ReasoningPart),
)


def as_they_stand(held: Sequence[Chunk], parts: Sequence[Part]) -> list[Chunk]:
    """The chunks, saying what the answer says by now.

    Texts are told apart as the answer tells them apart. Where it has as many as were held back, each stands in the
    place of its own; otherwise all that is left of them stands in the place of the first.

    Args:
        held: What is held back: of one step, or of all of them.
        parts: The parts of the answer, of all steps.

    Example:
        >>> as_they_stand([TextDelta("Ann "), TextDelta("is in")], [TextPart("[NAME] is in")])
        [TextDelta(text='[NAME] is in', id='0')]
    """
    before, *of_held = _split(held, StepStart)
    said_in = _split(parts, StepStartPart)
    if not of_held:
        before, of_held = [], [before]
    calls = {part.tool_call_id: part for part in parts if isinstance(part, ToolInvocationPart)}
    made = before
    for back, chunks in zip(range(len(of_held), 0, -1), of_held, strict=True):  # the newest of both are the same
        said = said_in[-back] if back <= len(said_in) else []  # none: it said nothing, and there was no answer yet
        for of_kind, as_part in _KINDS:
            texts = [part.text for part in said if isinstance(part, as_part)]
            chunks = _with_texts(chunks, of_kind, texts)
        made += _with_calls(_with_files(chunks, parts), calls)
    return made


def _split(items: Sequence[T], start: type[object]) -> list[list[T]]:
    """What comes before the first of what begins something, and then each with what follows it."""
    groups: list[list[T]] = [[]]
    for item in items:
        if isinstance(item, start):
            groups.append([])
        groups[-1].append(item)
    return groups


def _with_texts(chunks: list[Chunk], kind: type[_Delta], texts: Sequence[str]) -> list[Chunk]:
    """A step's chunks with these texts of one kind."""
    came: list[list[int]] = []  # where the pieces of each text are
    open_: dict[str, list[int]] = {}
    for n, chunk in enumerate(chunks):
        if isinstance(chunk, kind):
            if chunk.id not in open_:
                came.append([])
                open_[chunk.id] = came[-1]
            open_[chunk.id].append(n)
        elif isinstance(chunk, ToolCall):
            open_.clear()  # what is said after a call is a part of its own
    written = ["".join(_text(chunks[n]) for n in places) for places in came]
    texts = [text for text in texts if text] if len(texts) != len(written) else texts
    if list(texts) == [text for text in written if text] or list(texts) == written:
        return chunks
    if len(texts) != len(written):
        texts = ["".join(texts), *("" for _ in came[1:])]
    if not came:  # somebody else says something: at the end of the step
        at = next((n for n, chunk in enumerate(chunks) if isinstance(chunk, StepFinish)), len(chunks))
        return [*chunks[:at], *(kind(text) for text in texts if text), *chunks[at:]]
    instead: dict[int, list[Chunk]] = {n: [] for places in came for n in places}
    for places, text, before in zip(came, texts, written, strict=True):
        if text == before:
            instead.update({n: [chunks[n]] for n in places})
        elif text:
            first = chunks[places[0]]
            assert isinstance(first, TextDelta | ReasoningDelta)
            instead[places[0]] = [first.replace(text=text)]
    if kind is TextDelta:  # what it came to by the way was made of what it says no longer
        instead.update({n: [] for n, chunk in enumerate(chunks) if isinstance(chunk, ObjectChunk)})
    return [one for n, chunk in enumerate(chunks) for one in instead.get(n, [chunk])]


def _with_files(chunks: Sequence[Chunk], parts: Sequence[Part]) -> list[Chunk]:
    """A step's chunks without the files and sources that stand in the answer no longer."""
    files = [(part.media_type, part.data) for part in parts if isinstance(part, FilePart)]
    sources = [(part.id, part.url) for part in parts if isinstance(part, SourcePart)]
    return [
        chunk
        for chunk in chunks
        if (not isinstance(chunk, FileChunk) or (chunk.media_type, chunk.data) in files)
        and (not isinstance(chunk, SourceChunk) or (chunk.id, chunk.url) in sources)
    ]


def _text(chunk: Chunk) -> str:
    return chunk.text if isinstance(chunk, TextDelta | ReasoningDelta) else ""


def _with_calls(chunks: Sequence[Chunk], calls: Mapping[str, ToolInvocationPart]) -> Iterator[Chunk]:
    """A step's chunks with the arguments and results that stand in the answer, and without what was taken out."""
    gone = {chunk.tool_call_id for chunk in chunks if isinstance(chunk, ToolCall)} - calls.keys()
    changed = {
        chunk.tool_call_id
        for chunk in chunks
        if isinstance(chunk, ToolCall)
        and (part := calls.get(chunk.tool_call_id)) is not None
        and not same_json(part.args, chunk.args)
    }
    written: set[str] = set()
    for chunk in chunks:
        if isinstance(chunk, _OF_CALLS) and chunk.tool_call_id in gone:
            continue
        part = calls.get(chunk.tool_call_id) if isinstance(chunk, _OF_CALLS) else None
        match chunk:
            case ToolCallDelta(tool_call_id=call) if call in changed and part is not None:
                if call not in written:
                    written.add(call)
                    yield ToolCallDelta(call, json_text(part.args))
            case ToolCall() if part is not None and chunk.tool_call_id in changed:
                yield chunk.replace(args=part.args)
            case ToolResult() if part is not None and part.state == "result":
                yield chunk if _is_so(chunk, part) else chunk.replace(args=part.args, result=part.result)
            case ToolError() if part is not None and part.state == "error" and part.error is not None:
                yield chunk if _is_so(chunk, part) else chunk.replace(args=part.args, error=part.error)
            case _:
                yield chunk


def _is_so(chunk: ToolResult | ToolError, part: ToolInvocationPart) -> bool:
    came, stands = (chunk.result, part.result) if isinstance(chunk, ToolResult) else (chunk.error, part.error)
    return same_json(came, stands) and same_json(chunk.args, part.args)

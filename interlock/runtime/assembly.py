"""From the chunks of a step, as they were emitted, to the parts of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

from interlock.messages import (
    Chunk,
    DataChunk,
    DataPart,
    FileChunk,
    FilePart,
    Part,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningPart,
    SourceChunk,
    SourcePart,
    StepFinish,
    TextDelta,
    TextPart,
    ToolCall,
    ToolError,
    ToolInvocationPart,
    ToolResult,
)

__all__ = ["Assembly", "put_data"]


class Assembly:
    """What one step's answer is made of so far.

    Attributes:
        tool_calls: The calls that were emitted; a dropped one is not here and does not run.
        finish: The model's own end of the answer; None until it came.
    """

    def __init__(self) -> None:
        self.tool_calls: list[ToolCall] = []
        self.finish: StepFinish | None = None
        self._parts: list[Part] = []
        self._written: dict[int, StringIO] = {}
        self._open: dict[tuple[str, str], int] = {}

    def add(self, chunk: Chunk) -> None:
        """Take in a chunk that was emitted."""
        match chunk:
            case TextDelta(text=text, id=id_):
                self._written[self._part_at("text", id_)].write(text)
            case ReasoningDelta(text=text, id=id_):
                self._written[self._part_at("reasoning", id_)].write(text)
            case ReasoningEnd(id=id_, signature=signature) if signature is not None:
                part = self._parts[self._part_at("reasoning", id_)]
                assert isinstance(part, ReasoningPart)
                part.signature = signature
            case ToolCall():
                self.tool_calls.append(chunk)
                self._open.clear()  # what is said after a call is a part of its own
                self._parts.append(
                    ToolInvocationPart(
                        chunk.tool_call_id,
                        chunk.tool_name,
                        chunk.args,
                        provider_executed=chunk.provider_executed,
                        provider_metadata=chunk.provider_metadata,
                    )
                )
            case ToolResult() | ToolError() if chunk.provider_executed:
                self._provider_result(chunk)
            case FileChunk(media_type=media_type, data=data):
                self._parts.append(FilePart(media_type, data))
            case SourceChunk(id=id_, url=url, title=title):
                self._parts.append(SourcePart(id_, url, title))
            case DataChunk():
                put_data(self._parts, chunk)
            case StepFinish():
                self.finish = chunk
            case _:
                pass

    def with_its_arguments(self, chunk: ToolResult | ToolError) -> ToolResult | ToolError:
        """What a provider's own tool has come to, with the arguments of its call as that was emitted."""
        call = next((call for call in self.tool_calls if call.tool_call_id == chunk.tool_call_id), None)
        return chunk if call is None or call.args is chunk.args else chunk.replace(args=call.args)

    @property
    def text(self) -> str:
        """The text so far, all text parts."""
        return "".join(
            text.getvalue() for index, text in self._written.items() if isinstance(self._parts[index], TextPart)
        )

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        return "".join(
            text.getvalue() for index, text in self._written.items() if isinstance(self._parts[index], ReasoningPart)
        )

    def parts(self) -> Sequence[Part]:
        """The parts, empty ones left out."""
        made: list[Part] = []
        for index, part in enumerate(self._parts):
            if isinstance(part, TextPart | ReasoningPart):
                part.text = self._written[index].getvalue()
                if not part.text and not (isinstance(part, ReasoningPart) and part.signature):
                    continue
            made.append(part)
        return made

    def _part_at(self, kind: str, id_: str) -> int:
        """The part a delta belongs to; a new one opens where something else has come in between."""
        at = self._open.get((kind, id_))
        if at is None:
            at = len(self._parts)
            self._parts.append(TextPart("") if kind == "text" else ReasoningPart(""))
            self._written[at] = StringIO()
            self._open[kind, id_] = at
        return at

    def _provider_result(self, chunk: ToolResult | ToolError) -> None:
        for part in self._parts:
            if isinstance(part, ToolInvocationPart) and part.tool_call_id == chunk.tool_call_id:
                if isinstance(chunk, ToolResult):
                    part.state, part.result = "result", chunk.result
                else:
                    part.state, part.error = "error", chunk.error


def put_data(parts: list[Part], chunk: DataChunk) -> None:
    """Put a data chunk among a message's parts. One of the same name and id has its data then; a transient one is none.

    Args:
        parts: The message's parts; they are changed.
        chunk: The chunk.
    """
    if chunk.transient:
        return
    if chunk.id is not None:
        for part in parts:
            if isinstance(part, DataPart) and (part.name, part.id) == (chunk.name, chunk.id):
                part.data = chunk.data
                return
    parts.append(DataPart(chunk.name, chunk.data, chunk.id))

"""From the chunks of a step, as they were emitted, to the parts of the answer."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.messages import (
    Chunk,
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

__all__ = ["Assembly"]


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
        self._pieces: dict[int, list[str]] = {}
        self._open: dict[tuple[str, str], int] = {}

    def add(self, chunk: Chunk) -> None:
        """Take in a chunk that was emitted."""
        match chunk:
            case TextDelta(text=text, id=id_):
                self._pieces[self._part_at("text", id_)].append(text)
            case ReasoningDelta(text=text, id=id_):
                self._pieces[self._part_at("reasoning", id_)].append(text)
            case ReasoningEnd(id=id_, signature=signature) if signature is not None:
                part = self._parts[self._part_at("reasoning", id_)]
                assert isinstance(part, ReasoningPart)
                part.signature = signature
            case ToolCall():
                self.tool_calls.append(chunk)
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
            case StepFinish():
                self.finish = chunk
            case _:
                pass

    @property
    def text(self) -> str:
        """The text so far, all text parts."""
        return "".join(
            "".join(pieces) for index, pieces in self._pieces.items() if isinstance(self._parts[index], TextPart)
        )

    @property
    def reasoning(self) -> str:
        """The reasoning so far."""
        return "".join(
            "".join(pieces) for index, pieces in self._pieces.items() if isinstance(self._parts[index], ReasoningPart)
        )

    def parts(self) -> Sequence[Part]:
        """The parts, empty ones left out."""
        made: list[Part] = []
        for index, part in enumerate(self._parts):
            if isinstance(part, TextPart | ReasoningPart):
                part.text = "".join(self._pieces[index])
                if not part.text and not (isinstance(part, ReasoningPart) and part.signature):
                    continue
            made.append(part)
        return made

    def _part_at(self, kind: str, id_: str) -> int:
        """The part a delta belongs to; a new one opens where something else has come in between."""
        at = self._open.get((kind, id_))
        if at is None or any(isinstance(p, ToolInvocationPart) for p in self._parts[at + 1 :]):
            at = len(self._parts)
            self._parts.append(TextPart("") if kind == "text" else ReasoningPart(""))
            self._pieces[at] = []
            self._open[kind, id_] = at
        return at

    def _provider_result(self, chunk: ToolResult | ToolError) -> None:
        for part in self._parts:
            if isinstance(part, ToolInvocationPart) and part.tool_call_id == chunk.tool_call_id:
                if isinstance(chunk, ToolResult):
                    part.state, part.result = "result", chunk.result
                else:
                    part.state, part.error = "error", chunk.error

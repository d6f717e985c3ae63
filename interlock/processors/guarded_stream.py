"""The texts of one step of a stream as a guard sees them: a lane for each part, flushed where the part ends."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

from interlock.messages import (
    Chunk,
    ChunkBase,
    ObjectChunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepFinish,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolError,
    ToolOutput,
    ToolResult,
)
from interlock.processors.detection.scope import PartKind, Scope
from interlock.processors.lanes.answer_lane import AnswerLane
from interlock.processors.lanes.answer_scan import AnswerScan
from interlock.processors.lanes.edited_lane import Edit, EditedLane, Gone, Replace
from interlock.processors.lanes.json_lane import JSONLane
from interlock.processors.lanes.lane import LaneKind
from interlock.processors.lanes.matcher import Match
from interlock.processors.stream_context import LaneKey, OutputStreamContext, Piece

__all__ = ["Acts", "GuardedStream"]

_TEXTS: Final = ("text", "reasoning")


class Acts(Protocol):
    """What a guard does about what was found."""

    def act(self, ctx: OutputStreamContext, edits: Sequence[Edit], *, can_change: bool = True) -> None:
        """Warn or stop the run; where it returns, edits are made."""
        ...

    def whole(self, ctx: OutputStreamContext, value: object, part: PartKind) -> object:
        """A whole value, edited; itself where nothing is."""
        ...


class GuardedStream:
    """The lanes of one step.

    Args:
        kind: What is looked for.
        replace: What stands in the place of a match.
        scope: Which texts are looked at.
        guard: What is done about what was found.
        holds: Whether text is held back until it is decided.
    """

    __slots__ = ("_answer", "_bases", "_begun", "_guard", "_holds", "_kind", "_lanes", "_replace", "_scope", "_written")

    def __init__(self, kind: LaneKind, replace: Replace, scope: Scope, guard: Acts, *, holds: bool) -> None:
        self._kind = kind
        self._replace = replace
        self._scope = scope
        self._guard = guard
        self._holds = holds
        self._lanes: dict[LaneKey, EditedLane | AnswerLane] = {}
        self._answer: AnswerScan | None = None  # reads the newest part of an answer that is to be an object
        self._bases: dict[LaneKey, int] = {}  # where a lane has begun anew
        self._written: dict[str, JSONLane] = {}
        self._begun: set[LaneKey] = set()  # texts whose end will be told

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return sum(lane.held for lane in self._lanes.values()) + sum(lane.held for lane in self._written.values())

    def process(self, ctx: OutputStreamContext) -> Chunk | Sequence[Chunk]:
        """What goes on for a chunk."""
        chunk = ctx.chunk
        ctx.edited = False
        match chunk:
            case TextDelta(text=text, id=id_) if self._takes("text"):
                return self._pushed(ctx, ("text", id_), text)
            case ReasoningDelta(text=text, id=id_) if self._takes("reasoning"):
                return self._pushed(ctx, ("reasoning", id_), text)
            case TextStart(id=id_):
                self._begun.add(("text", id_))
                return chunk
            case ReasoningStart(id=id_):
                self._begun.add(("reasoning", id_))
                return chunk
            case TextEnd(id=id_):
                return self._flushed(ctx, [("text", id_)])
            case ReasoningEnd(id=id_, signature=signature):
                return self._flushed(ctx, [("reasoning", id_)], sealed=signature is not None)
            case ToolCallDelta(tool_call_id=call, args_text=text) if self._takes("tool-arguments"):
                return self._written_on(ctx, call, text)
            case ToolCall(tool_call_id=call):
                ended = [key for key in self._lanes if key not in self._begun]  # the others may go on behind the call
                return [*self._rest(ctx, ended), *self._rest_written(ctx, call), self._called(ctx, chunk)]
            case ToolError(error=error) if self._takes("tool-result"):
                ctx.looked_at("tool", "tool-result")
                made = self._guard.whole(ctx, error, "tool-result")
                return chunk if made is error else chunk.replace(error=made)
            case ToolResult(result=result) if ctx.inside and self._takes("tool-result"):
                ctx.looked_at("tool", "tool-result")  # of another agent's tool: no hook of this one was asked about it
                made = self._guard.whole(ctx, result, "tool-result")
                return chunk if made is result else chunk.replace(result=made)
            case ToolOutput(output=value) if self._takes("tool-result") and not isinstance(value, ChunkBase):
                ctx.looked_at("tool", "tool-result")
                made = self._guard.whole(ctx, value, "tool-result")
                return chunk if made is value else chunk.replace(output=made)
            case ObjectChunk(object=value) if ctx.inside and self._takes("text"):
                made = self._guard.whole(ctx, value, "text")  # of another agent's answer, which was read as text
                return chunk if made is value else chunk.replace(object=made)
            case StepFinish():
                calls = [rest for call in list(self._written) for rest in self._rest_written(ctx, call)]
                return [*self._rest(ctx, list(self._lanes)), *calls, chunk]
            case _:
                return chunk

    def fork(self) -> GuardedStream:
        """The same texts up to here, for a call that may yet fail."""
        return copy.deepcopy(self, {id(shared): shared for shared in (self._kind, self._guard, self._scope)})

    def give_up(self, ctx: OutputStreamContext) -> list[Chunk]:
        """What is held back, as it came; from here on the texts begin anew."""
        given: list[Chunk] = []
        for key, lane in self._lanes.items():
            held, piece = lane.give_up()
            if held:
                given.append(_delta(key, held))
            self._let_go(ctx, key, piece)
        for call, written in self._written.items():
            held = written.give_up()
            if held:
                given.append(ToolCallDelta(call, held))
                if ctx.pieces is not None:
                    ctx.pieces.append((("tool-arguments", call), Piece(0, len(held), held, True)))
        self._lanes.clear()
        self._written.clear()
        if ctx.asks_for_object:
            self._answer = AnswerScan.of(ctx.text)
        match ctx.chunk:
            case TextDelta(text=text, id=id_):
                self._passed_by(ctx, ("text", id_), text)
            case ReasoningDelta(text=text, id=id_):
                self._passed_by(ctx, ("reasoning", id_), text)
            case _:
                pass
        return given

    def _passed_by(self, ctx: OutputStreamContext, key: LaneKey, text: str) -> None:
        """Note a text that goes on without having been looked at."""
        self._let_go(ctx, key, Piece(0, len(text), text, True))

    def _let_go(self, ctx: OutputStreamContext, key: LaneKey, piece: Piece) -> None:
        """Note what goes on as it came; the lane begins anew behind it."""
        base = self._bases.get(key, 0)
        if ctx.pieces is not None and piece.text:
            ctx.pieces.append((key, piece._replace(start=base + piece.start, end=base + piece.end)))
        self._bases[key] = base + piece.end

    def _takes(self, part: PartKind) -> bool:
        return self._scope.takes("assistant", part)

    # Texts

    def _pushed(self, ctx: OutputStreamContext, key: LaneKey, text: str) -> Chunk | Sequence[Chunk]:
        lane = self._lanes.get(key)
        if lane is None:
            if key[0] == "text" and ctx.asks_for_object:
                lane = self._lanes[key] = self._part_of_answer()
            else:
                lane = self._lanes[key] = EditedLane(self._kind.lane(), self._replace, holds=self._holds)
            ctx.looked_at("assistant", key[0])
        gone = self._taken(ctx, key, lane.push(text))
        if gone == text:
            return ctx.chunk
        return _delta(key, gone) if gone else ()

    def _part_of_answer(self) -> AnswerLane:
        """A lane for one more part of an answer that is to be an object: the parts are one JSON text."""
        lane = AnswerLane(self._kind, self._replace, holds=self._holds, after=self._answer)
        self._answer = lane.scan
        return lane

    def _flushed(self, ctx: OutputStreamContext, keys: Sequence[LaneKey], *, sealed: bool = False) -> Sequence[Chunk]:
        edited = any(lane.edited for key in keys if (lane := self._lanes.get(key)) is not None)
        rest = [*self._rest(ctx, keys)]
        if sealed and (edited or ctx.edited):  # the provider takes it back only as it was
            self._guard.act(ctx, (), can_change=False)
        return [*rest, ctx.chunk]

    def _rest(self, ctx: OutputStreamContext, keys: Sequence[LaneKey]) -> Iterator[Chunk]:
        """What was held back of some lanes."""
        for key in keys:
            self._begun.discard(key)
            lane = self._lanes.pop(key, None)
            if lane is not None and (gone := self._taken(ctx, key, lane.end())):
                yield _delta(key, gone)

    def _taken(self, ctx: OutputStreamContext, key: LaneKey, gone: Gone) -> str:
        text, edits, pieces, fixed = gone
        if edits:
            if fixed:
                for edit in edits:  # in the order in which they stand
                    self._guard.act(ctx, [edit], can_change=not any(edit is one for one in fixed))
            else:
                self._guard.act(ctx, edits)
            ctx.edited = self._holds
        if ctx.pieces is not None:
            base = self._bases.get(key, 0)
            ctx.pieces += [
                (key, piece if not base else piece._replace(start=base + piece.start, end=base + piece.end))
                for piece in pieces
            ]
        return text

    # Tool calls

    def _written_on(self, ctx: OutputStreamContext, call: str, text: str) -> Chunk | Sequence[Chunk]:
        lane = self._written.get(call)
        if lane is None:
            lane = self._written[call] = JSONLane(self._kind, self._replace if self._holds else None)
            ctx.looked_at("assistant", "tool-arguments")
        gone = self._found(ctx, call, lane, lambda: lane.push(text))
        if gone == text:
            return ctx.chunk
        return ToolCallDelta(call, gone) if gone else ()

    def _rest_written(self, ctx: OutputStreamContext, call: str) -> Iterator[Chunk]:
        lane = self._written.pop(call, None)
        if lane is not None and (gone := self._found(ctx, call, lane, lane.end)):
            yield ToolCallDelta(call, gone)

    def _found(self, ctx: OutputStreamContext, call: str, lane: JSONLane, step: Callable[[], str]) -> str:
        gone = step()
        if lane.pieces:
            if ctx.pieces is not None:
                ctx.pieces += [(("tool-arguments", call), piece) for piece in lane.pieces]
            lane.pieces.clear()
        if lane.found:
            found, lane.found = lane.found, []
            in_keys = [_as_edit(one.match, one.text) for one in found if one.is_key]
            if in_keys:
                self._guard.act(ctx, in_keys, can_change=False)
            edits = [_as_edit(one.match, one.text) for one in found if not one.is_key]
            if edits:
                self._guard.act(ctx, edits)
                ctx.edited = self._holds
        return gone

    def _called(self, ctx: OutputStreamContext, chunk: ToolCall) -> Chunk:
        if not self._takes("tool-arguments"):
            return chunk
        ctx.looked_at("assistant", "tool-arguments")
        args = self._guard.whole(ctx, chunk.args, "tool-arguments")
        return chunk if args is chunk.args else chunk.replace(args=args)


def _as_edit(match: Match, text: str) -> Edit:
    return Edit(match, text, "")


def _delta(key: LaneKey, text: str) -> Chunk:
    return TextDelta(text, key[1]) if key[0] == "text" else ReasoningDelta(text, key[1])

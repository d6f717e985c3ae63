"""The texts of one step of a stream as a guard sees them: a lane for each part, flushed where the part ends."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Literal, Protocol, cast

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
    ToolCallApproval,
    ToolCallDelta,
    ToolCallSuspended,
    ToolError,
    ToolOutput,
    ToolResult,
)
from interlock.processors.detection.call_arguments import CallArguments, Repeats
from interlock.processors.detection.own_edits import Digest, OwnEdits
from interlock.processors.detection.scope import PartKind, Scope
from interlock.processors.lanes.edited_lane import Edit, EditedLane, Gone, Replace
from interlock.processors.lanes.json_lane import JSONLane
from interlock.processors.lanes.json_scan import JSONScan
from interlock.processors.lanes.lane import LaneKind
from interlock.processors.stream_context import LaneKey, OutputStreamContext, Piece

__all__ = ["Acts", "GuardedStream"]


class Acts(Protocol):
    """What a guard does about what was found."""

    def act(self, ctx: OutputStreamContext, edits: Sequence[Edit], *, can_change: bool = True) -> None:
        """Warn or stop the run; where it returns, edits are made."""
        ...

    def whole(self, ctx: OutputStreamContext, value: object, part: PartKind, *, again: bool = False) -> object:
        """A whole value, edited; itself where nothing is.

        Args:
            ctx: The context.
            value: The value.
            part: What it is.
            again: Whether it may have passed already; then what was edited stays as it is.
        """
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

    __slots__ = (
        "_answer",
        "_bases",
        "_begun",
        "_calls",
        "_given_up",
        "_gone",
        "_guard",
        "_holds",
        "_kind",
        "_lanes",
        "_replace",
        "_scope",
        "_shared",
    )

    def __init__(self, kind: LaneKind, replace: Replace, scope: Scope, guard: Acts, *, holds: bool) -> None:
        self._kind = kind
        self._replace = replace
        self._scope = scope
        self._guard = guard
        self._holds = holds
        self._lanes: dict[LaneKey, EditedLane | JSONLane] = {}
        self._gone: dict[LaneKey, Digest] = {}  # what went on of each
        self._answer: JSONScan | None = None  # reads the newest part of an answer that is to be an object
        self._bases: dict[LaneKey, int] = {}  # where a lane has begun anew
        self._given_up: dict[LaneKey, JSONScan] = {}  # what has read arguments that nobody looks at up to here
        self._calls = CallArguments()
        self._begun: set[LaneKey] = set()  # texts whose end will be told
        self._shared: set[LaneKey] = set()  # lanes that are those of what this is a fork of

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return sum(lane.held for lane in self._lanes.values())

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
                return self._pushed(ctx, ("tool-arguments", call), text)
            case ToolCall(tool_call_id=call):
                ended = [key for key in self._lanes if self._ends_with_call(key)]
                return [*self._rest(ctx, [*ended, ("tool-arguments", call)]), self._called(ctx, chunk)]
            case ToolError():
                return self._read(ctx, self._with_arguments(ctx, chunk), "error")
            case ToolResult():  # of its own tools, hooks are asked about what they return
                told = self._with_arguments(ctx, chunk)
                return self._read(ctx, told, "result") if ctx.inside else told
            case ToolCallApproval():
                return self._with_arguments(ctx, chunk)
            case ToolCallSuspended():
                return self._read(ctx, self._with_arguments(ctx, chunk), "payload")
            case ToolOutput(output=value) if not isinstance(value, ChunkBase):
                return self._read(ctx, chunk, "output")
            case ObjectChunk(object=value) if ctx.inside and self._takes("text"):
                made = self._guard.whole(ctx, value, "text")  # of another agent's answer, which was read as text
                return chunk if made is value else chunk.replace(object=made)
            case StepFinish():
                return [*self._rest(ctx, list(self._lanes)), chunk]
            case _:
                return chunk

    def fork(self) -> GuardedStream:
        """The same texts up to here, for a call that may yet fail: a lane that it takes further, it makes its own."""
        made = copy.copy(self)
        made._lanes, made._gone, made._bases = self._lanes.copy(), self._gone.copy(), self._bases.copy()
        made._given_up, made._begun = self._given_up.copy(), self._begun.copy()
        made._calls = copy.deepcopy(self._calls)
        made._shared = set(self._lanes)
        return made

    def _own(self, key: LaneKey) -> None:
        """Make a lane its own that it shares with what it is a fork of."""
        if key not in self._shared:
            return
        self._shared.discard(key)
        lane = self._lanes[key]
        memo = {id(shared): shared for shared in (self._kind, self._guard, self._scope)}
        self._lanes[key], self._gone[key] = made, _ = copy.deepcopy((lane, self._gone[key]), memo)
        if isinstance(made, JSONLane) and isinstance(lane, JSONLane) and self._answer is lane.scan:
            self._answer = made.scan

    def give_up(self, ctx: OutputStreamContext) -> list[Chunk]:
        """What is held back, as it came; from here on the texts begin anew."""
        given: list[Chunk] = []
        for key, lane in self._lanes.items():
            held, piece = lane.give_up()
            if held:
                given.append(_delta(key, held))
            self._let_go(ctx, key, piece)
            if isinstance(lane, JSONLane) and key[0] == "tool-arguments":
                self._given_up[key] = lane.scan
        self._lanes.clear()
        self._gone.clear()
        if ctx.asks_for_object:
            self._answer = JSONScan.of(ctx.text)
        match ctx.chunk:
            case TextDelta(text=text, id=id_):
                self._passed_by(ctx, ("text", id_), text)
            case ReasoningDelta(text=text, id=id_):
                self._passed_by(ctx, ("reasoning", id_), text)
            case ToolCallDelta(tool_call_id=call, args_text=text):
                key = ("tool-arguments", call)
                self._passed_by(ctx, key, text)
                self._given_up[key] = JSONScan.of(text, self._given_up.get(key), goes_on=True)
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
        self._own(key)
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = self._lane(ctx, key)
            self._gone[key] = Digest()
            ctx.looked_at("assistant", key[0])
        gone = self._taken(ctx, key, lane.push(text))
        if gone == text:
            return [ctx.chunk] if ctx.edited else ctx.chunk  # so that it is told of what was taken out
        return _delta(key, gone) if gone else ()

    def _lane(self, ctx: OutputStreamContext, key: LaneKey) -> EditedLane | JSONLane:
        if key[0] == "tool-arguments":
            after = self._given_up.pop(key, None)
            return JSONLane(self._kind, self._replace, holds=self._holds, after=after, of_call=True)
        if key[0] == "text" and ctx.asks_for_object:  # its parts are one JSON text
            lane = JSONLane(self._kind, self._replace, holds=self._holds, after=self._answer)
            self._answer = lane.scan
            return lane
        return EditedLane(self._kind.lane(), self._replace, holds=self._holds)

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
            self._given_up.pop(key, None)
            self._own(key)
            lane = self._lanes.pop(key, None)
            if lane is None:
                continue
            gone = self._taken(ctx, key, lane.end())
            whole = self._gone.pop(key)
            if lane.edited and self._holds and key not in self._bases:
                OwnEdits(ctx.state).note(cast("PartKind", key[0]), whole)
            if gone:
                yield _delta(key, gone)

    def _taken(self, ctx: OutputStreamContext, key: LaneKey, gone: Gone) -> str:
        text, edits, pieces, fixed = gone
        self._gone[key].add(text)
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

    def _ends_with_call(self, key: LaneKey) -> bool:
        """Whether a call ends a text; others may go on behind it."""
        return key[0] != "tool-arguments" and key not in self._begun

    def _called(self, ctx: OutputStreamContext, chunk: ToolCall) -> Chunk:
        if not self._takes("tool-arguments"):
            return chunk
        ctx.looked_at("assistant", "tool-arguments")
        args = self._guard.whole(ctx, chunk.args, "tool-arguments")
        called = chunk if args is chunk.args else chunk.replace(args=args)
        self._calls.note(chunk.tool_call_id, chunk.args, called.args)
        return called

    def _with_arguments(self, ctx: OutputStreamContext, chunk: Repeats) -> Repeats:
        """What tells of a call, with the arguments that the call went on with."""
        if not self._takes("tool-arguments"):
            return chunk
        known = self._calls.repeated(chunk)
        if known is not None:
            ctx.edited = known is not chunk
            return known
        ctx.looked_at("assistant", "tool-arguments")
        args = self._guard.whole(ctx, chunk.args, "tool-arguments", again=True)
        return chunk if args is chunk.args else chunk.replace(args=args)

    def _read(
        self,
        ctx: OutputStreamContext,
        chunk: Repeats | ToolOutput,
        field: Literal["error", "result", "payload", "output"],
    ) -> Chunk:
        """What comes of a tool, edited."""
        if not self._takes("tool-result"):
            return chunk
        ctx.looked_at("tool", "tool-result")
        value: object = getattr(chunk, field)
        made = self._guard.whole(ctx, value, "tool-result")
        return chunk if made is value else chunk.replace(**{field: made})


def _delta(key: LaneKey, text: str) -> Chunk:
    kind, id_ = key
    if kind == "tool-arguments":
        return ToolCallDelta(id_, text)
    return TextDelta(text, id_) if kind == "text" else ReasoningDelta(text, id_)

"""Texts on their way through the branches of a block: let go as far as every branch has decided them.

A guard that holds text back tells, in ``ctx.pieces``, what became of which range of the text it was given. Whatever
else stands in a branch has decided a chunk when it has let it go. Its pieces are put together along a branch
and joined with those of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from interlock.messages import Chunk, ReasoningEnd, ReasoningStart, StepFinish, TextEnd, TextStart, ToolCall
from interlock.processors.lanes.lane_join import LaneJoin
from interlock.processors.lanes.pieces import Track
from interlock.processors.stream_context import LaneKey, Piece, merge_outs
from interlock.runtime.chunk_stages.lane_guards import Editor, Recorded
from interlock.runtime.chunk_stages.lane_places import placed
from interlock.runtime.chunk_stages.lane_plain import PlainLanes
from interlock.runtime.chunk_stages.lane_texts import delta, lane_of, text_of

__all__ = ["BlockLanes"]

ByEditor = dict[LaneKey, list[list[Piece]]]
"""By text, what each processor of a branch has let go of what the one before let go."""


class BlockLanes:
    """The lanes of one step through a block's branches.

    Args:
        branches: The processors of each branch, in order; None: it has no guard that holds text back.
    """

    __slots__ = ("_begun", "_branches", "_lanes")

    def __init__(self, branches: Sequence[Sequence[Editor] | None]) -> None:
        self._branches = [_Plain() if editors is None else _Told(editors) for editors in branches]
        self._lanes: dict[LaneKey, _Lane] = {}
        self._begun: set[LaneKey] = set()  # texts whose end will be told

    def step(
        self,
        chunk: Chunk,
        outs: Mapping[str, tuple[Chunk, ...]],
        *,
        prefer: str | None = None,
        only: int | None = None,
        nobody: bool = False,
    ) -> tuple[Chunk, ...]:
        """What goes on for a chunk that has been through all branches.

        Args:
            chunk: What came.
            outs: What each branch let go, by branch.
            prefer: The branch that wins where two contradict each other.
            only: The branch whose edits go on; None: those of all.
            nobody: No edits go on.

        Raises:
            MergeConflict: Two branches made different things of a chunk that is no text.
        """
        came = lane_of(chunk)
        if came is not None:
            self._lane(came).join.push(text_of(chunk))
        ended = self._ended_by(chunk)
        moved = dict.fromkeys(ended if came is None else [came])
        for number, (branch, out) in enumerate(zip(self._branches, outs.values(), strict=True)):
            told = branch.told(chunk, out)
            for key in ended:
                branch.ended(key, told)
            for key, each in told.items():
                moved[key] = None
                self._lane(key).decided(number, each)
        made: dict[LaneKey, Chunk] = {}
        for key in moved:
            join = self._lanes[key].join
            pieces = join.let_go(only=only, nobody=nobody, final=key in ended and join.complete)
            text = "".join(piece.text for piece in pieces)
            if key == came and text == text_of(chunk):
                made[key] = chunk
            elif text:
                made[key] = delta(key, text)
        for key in ended:
            join = self._lanes[key].join
            if join.complete and not join.any_removed:  # else somebody was not told of the end, or puts in what it kept
                del self._lanes[key]
        rest = self._rest(chunk, came, outs, prefer=prefer, only=only, nobody=nobody)
        return placed(made, rest, outs.values(), ended) if made else rest

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return sum(lane.join.held for lane in self._lanes.values())

    def _lane(self, key: LaneKey) -> _Lane:
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = _Lane([branch.count for branch in self._branches])
        return lane

    def _ended_by(self, chunk: Chunk) -> list[LaneKey]:
        """The lanes that end with a chunk, in the order in which they began."""
        match chunk:
            case TextStart(id=id_):
                self._begun.add(("text", id_))
                return []
            case ReasoningStart(id=id_):
                self._begun.add(("reasoning", id_))
                return []
            case TextEnd(id=id_):
                ends = {("text", id_)}
            case ReasoningEnd(id=id_):
                ends = {("reasoning", id_)}
            case ToolCall(tool_call_id=call):  # a text that has begun may go on behind the call
                ends = {key for key in self._lanes if key[0] != "tool-arguments" and key not in self._begun}
                ends.add(("tool-arguments", call))
            case StepFinish():
                return list(self._lanes)
            case _:
                return []
        self._begun -= ends
        return [key for key in self._lanes if key in ends]

    def _rest(
        self,
        chunk: Chunk,
        came: LaneKey | None,
        outs: Mapping[str, tuple[Chunk, ...]],
        *,
        prefer: str | None,
        only: int | None,
        nobody: bool,
    ) -> tuple[Chunk, ...]:
        """What goes on besides texts."""
        base = () if came is not None else (chunk,)
        rests = {name: tuple(one for one in out if lane_of(one) is None) for name, out in outs.items()}
        if nobody:
            return base
        return merge_outs(base, rests, prefer) if only is None else list(rests.values())[only]


class _Lane:
    """One text on its way through the branches."""

    __slots__ = ("_at", "_tracks", "join")

    def __init__(self, editors: Sequence[int]) -> None:
        self.join = LaneJoin(len(editors))
        self._tracks = [Track(count) for count in editors]
        self._at = [0] * len(editors)

    def decided(self, branch: int, told: Sequence[Sequence[Piece]]) -> None:
        """A branch's processors have told what became of the text, each of what the one before let go."""
        at = self._at[branch]
        first: list[Piece] = []
        for piece in told[0]:
            size = piece.end - piece.start
            first.append(Piece(at, at + size, piece.text, piece.kept))
            at += size
        self._at[branch] = at
        self.join.decided(branch, self._tracks[branch].through([first, *told[1:]]))


class _Told:
    """A branch whose processors tell what becomes of texts.

    Args:
        editors: The processors.
    """

    __slots__ = ("_editors", "count")

    def __init__(self, editors: Sequence[Editor]) -> None:
        self._editors = editors
        self.count = len(editors)

    def told(self, chunk: Chunk, out: tuple[Chunk, ...]) -> ByEditor:
        """What they have told since the last time."""
        told: ByEditor = {}
        for number, editor in enumerate(self._editors):
            pieces = editor.target.pieces
            if pieces:
                for key, piece in pieces:
                    told.setdefault(key, [[] for _ in self._editors])[number].append(piece)
                pieces.clear()
        return told

    def ended(self, key: LaneKey, told: ByEditor) -> None:
        """Add what is decided because a text is complete."""
        for number, editor in enumerate(self._editors):
            pieces = cast("Recorded", editor.call).ended(key)
            if pieces:
                told.setdefault(key, [[] for _ in self._editors])[number] += pieces


class _Plain:
    """A branch that tells nothing of texts."""

    __slots__ = ("_lanes", "count")

    def __init__(self) -> None:
        self._lanes = PlainLanes()
        self.count = 1

    def told(self, chunk: Chunk, out: tuple[Chunk, ...]) -> ByEditor:
        """What became of texts, seen from what came and went."""
        told: ByEditor = {}
        for key, piece in self._lanes.told(chunk, out):
            told.setdefault(key, [[]])[0].append(piece)
        return told

    def ended(self, key: LaneKey, told: ByEditor) -> None:
        """Add what is decided because a text is complete."""
        pieces = self._lanes.ended(key)
        if pieces:
            told.setdefault(key, [[]])[0] += pieces

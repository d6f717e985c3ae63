"""Texts on their way through the branches of a block: let go as far as every branch has decided them.

A guard that holds text back tells, in ``ctx.pieces``, what became of which range of the text it was given. Whatever
else stands in a branch has decided a chunk when it has let it go. Its pieces are put together along a branch
and joined with those of the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interlock.messages import Chunk, ReasoningEnd, ReasoningStart, StepFinish, TextEnd, TextStart, ToolCall
from interlock.processors.lanes.lane_join import LaneJoin
from interlock.processors.lanes.pieces import Track, difference
from interlock.processors.stream_context import LaneKey, Piece, merge_outs
from interlock.runtime.chunk_stages.lane_guards import Editor
from interlock.runtime.chunk_stages.lane_texts import delta, lane_of, text_of, texts_of

__all__ = ["BlockLanes"]


class BlockLanes:
    """The lanes of one step through a block's branches.

    Args:
        branches: The processors of each branch, in order; None: it has no guard that holds text back.
    """

    __slots__ = ("_begun", "_branches", "_lanes")

    def __init__(self, branches: Sequence[Sequence[Editor] | None]) -> None:
        self._branches = branches
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
        for number, (editors, out) in enumerate(zip(self._branches, outs.values(), strict=True)):
            told = _told(editors) if editors is not None else _plainly(chunk, came, out)
            for key, each in told.items():
                self._lane(key).decided(number, each)
        ended = self._ended_by(chunk)
        made: list[Chunk] = []
        for key in ended if came is None else [came]:
            join = self._lanes[key].join
            pieces = join.let_go(only=only, nobody=nobody, final=came is None and join.complete)
            text = "".join(piece.text for piece in pieces)
            if came is not None and text == text_of(chunk):
                made.append(chunk)
            elif text:
                made.append(delta(key, text))
        for key in ended:
            if self._lanes[key].join.complete:  # else a guard was not told of the end, and goes on with the text
                del self._lanes[key]
        return (*made, *self._rest(chunk, came, outs, prefer=prefer, only=only, nobody=nobody))

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return sum(lane.join.held for lane in self._lanes.values())

    def _lane(self, key: LaneKey) -> _Lane:
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = _Lane([len(editors or (0,)) for editors in self._branches])
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


def _told(editors: Sequence[Editor]) -> dict[LaneKey, list[list[Piece]]]:
    """What the processors of a branch have told since the last time, by lane."""
    told: dict[LaneKey, list[list[Piece]]] = {}
    for number, editor in enumerate(editors):
        pieces = editor.target.pieces
        if pieces:
            for key, piece in pieces:
                told.setdefault(key, [[] for _ in editors])[number].append(piece)
            pieces.clear()
    return told


def _plainly(chunk: Chunk, came: LaneKey | None, out: tuple[Chunk, ...]) -> dict[LaneKey, list[list[Piece]]]:
    """What became of a text in a branch that decides a chunk at once."""
    texts = texts_of(out)
    told: dict[LaneKey, list[list[Piece]]] = {}
    if came is not None:
        told[came] = [difference(0, text_of(chunk), texts.pop(came, ""))]
    for key, text in texts.items():
        told[key] = [[Piece(0, 0, text, False)]]
    return told

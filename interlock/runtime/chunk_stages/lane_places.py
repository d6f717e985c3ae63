"""Where the pieces of texts stand among the chunks that go on beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from interlock.messages import Chunk, ReasoningEnd, ReasoningStart, TextEnd, TextStart
from interlock.processors.stream_context import LaneKey
from interlock.runtime.chunk_stages.lane_texts import lane_of

__all__ = ["placed"]


def placed(
    texts: Mapping[LaneKey, Chunk],
    rest: Sequence[Chunk],
    outs: Iterable[Sequence[Chunk]],
    ended: Collection[LaneKey],
) -> tuple[Chunk, ...]:
    """All that goes on, in order: a piece stands between the start and the end of its text, and where a branch put it.

    Args:
        texts: By text, its piece.
        rest: The other chunks.
        outs: What each branch let go.
        ended: The texts that have ended: what was held back of them goes first.
    """
    if not rest:
        return tuple(texts.values())
    at = {key: 0 if key in ended else _place(key, rest, outs) for key in texts}
    made: list[Chunk] = []
    for number in range(len(rest) + 1):
        made += [texts[key] for key in texts if at[key] == number]
        made += rest[number : number + 1]
    return tuple(made)


def _place(key: LaneKey, rest: Sequence[Chunk], outs: Iterable[Sequence[Chunk]]) -> int:
    """Before which of the other chunks a piece stands."""
    for number, chunk in enumerate(rest):
        match chunk:
            case TextStart(id=id_) if key == ("text", id_):
                return number + 1
            case ReasoningStart(id=id_) if key == ("reasoning", id_):
                return number + 1
            case TextEnd(id=id_) if key == ("text", id_):
                return number
            case ReasoningEnd(id=id_) if key == ("reasoning", id_):
                return number
            case _:
                pass
    return min(max((_before(key, out) for out in outs), default=0), len(rest))


def _before(key: LaneKey, out: Sequence[Chunk]) -> int:
    """How many other chunks a branch has let go before the first piece of a text."""
    count = 0
    for chunk in out:
        lane = lane_of(chunk)
        if lane == key:
            return count
        count += lane is None
    return 0

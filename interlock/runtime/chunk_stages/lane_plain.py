"""The texts of a step on their way through what tells nothing of them: an ordinary processor, or a branch of such."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.processors.lanes.delayed import Delayed
from interlock.processors.stream_context import LaneKey, Piece
from interlock.runtime.chunk_stages.lane_texts import lane_of, text_of, texts_of

__all__ = ["PlainLanes", "Told"]

Told = list[tuple[LaneKey, Piece]]
"""By lane, which ranges of its text became what."""


class PlainLanes:
    """The texts of one step, each as far as what went in and out decides it."""

    __slots__ = ("_lanes",)

    def __init__(self) -> None:
        self._lanes: dict[LaneKey, Delayed] = {}

    def told(self, came: object, gone: Sequence[object]) -> Told:
        """What became of texts where a chunk has come and others have gone on.

        Args:
            came: The chunk.
            gone: What has gone on.
        """
        key = lane_of(came)
        made: Told = []
        texts = texts_of(gone)
        if key is not None:
            text = text_of(came)
            at = next((number for number, one in enumerate(gone) if one is came), None) if text else None
            lane = self._lane(key)
            if at is None:
                pieces = lane.step(text, texts.pop(key, ""))
            else:
                del texts[key]
                before, after = (texts_of(part).get(key, "") for part in (gone[:at], gone[at + 1 :]))
                pieces = lane.passed(text, before, after)
            made += [(key, piece) for piece in pieces]
        for other, text in texts.items():
            made += [(other, piece) for piece in self._lane(other).step("", text)]
        return made

    def ended(self, key: LaneKey) -> list[Piece]:
        """What is decided of a text that is complete."""
        lane = self._lanes.get(key)
        return [] if lane is None else lane.end()

    def _lane(self, key: LaneKey) -> Delayed:
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Delayed()
        return lane

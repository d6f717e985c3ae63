"""Guards that hold text back, and what the processors beside them in a branch tell of a text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from interlock.processors.base import Processor
from interlock.processors.stream_context import LaneKey, OutputStreamContext, Piece
from interlock.runtime.strand import is_awaitable

if TYPE_CHECKING:
    from interlock.runtime.chunk_stages.lane_plain import PlainLanes

__all__ = ["Editor", "Recorded", "keeps_lanes", "record"]


class Editor(Protocol):
    """A processor's stage, as far as lanes know of it."""

    processor: Processor
    target: OutputStreamContext
    call: Callable[[Any], object]


def keeps_lanes(stage: object) -> bool:
    """Whether a stage is that of a guard that holds text back."""
    return bool(getattr(getattr(stage, "processor", None), "keeps_lanes", False))


def record(stages: Sequence[object]) -> None:
    """Have the processors of a branch tell what becomes of texts."""
    from interlock.runtime.chunk_stages.lane_plain import PlainLanes

    for stage in stages:
        editor = cast("Editor", stage)
        if hasattr(stage, "processor"):
            editor.target.pieces = []
            editor.call = Recorded(editor.call, PlainLanes, holds=keeps_lanes(stage))


class Recorded:
    """A hook, and a note of what it made of a chunk where it makes none itself.

    Args:
        call: The hook.
        lanes: Makes what follows the texts of a step.
        holds: Whether the hook is that of a guard that holds text back: it tells itself of what it looks at.
    """

    __slots__ = ("_call", "_holds", "_lanes", "_make", "_so_far")

    def __init__(self, call: Callable[[Any], object], lanes: Callable[[], PlainLanes], *, holds: bool) -> None:
        self._call = call
        self._make = lanes
        self._holds = holds
        self._lanes = lanes()
        self._so_far: object = None  # of the step that they are of

    def __call__(self, target: OutputStreamContext) -> object:
        told = len(target.pieces or ())
        out = self._call(target)
        if is_awaitable(out):
            return self._waited(target, cast("Awaitable[object]", out), told)
        self._note(target, out, told)
        return out

    def ended(self, key: LaneKey) -> list[Piece]:
        """What is decided of a text that is complete."""
        return self._lanes.ended(key)

    async def _waited(self, target: OutputStreamContext, awaitable: Awaitable[object], told: int) -> object:
        out = await awaitable
        self._note(target, out, told)
        return out

    def _note(self, target: OutputStreamContext, out: object, told: int) -> None:
        pieces = target.pieces
        came = target.chunk
        if pieces is None or (self._holds and (out is not came or len(pieces) > told)):  # it has told itself
            return
        if target.so_far is not self._so_far:
            self._so_far, self._lanes = target.so_far, self._make()
        gone = cast("Sequence[object]", out) if isinstance(out, list | tuple) else (out,)
        pieces += self._lanes.told(came, gone)

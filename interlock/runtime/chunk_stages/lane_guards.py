"""Guards that hold text back, and what the processors beside them in a branch tell of a text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, cast

from interlock.processors.base import Processor
from interlock.processors.lanes.pieces import difference
from interlock.processors.stream_context import OutputStreamContext, Piece
from interlock.runtime.chunk_stages.lane_texts import lane_of, text_of, texts_of
from interlock.runtime.strand import is_awaitable

__all__ = ["Editor", "keeps_lanes", "record"]


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
    for stage in stages:
        editor = cast("Editor", stage)
        if hasattr(stage, "processor"):
            editor.target.pieces = []
            editor.call = _recorded(editor.call, holds=keeps_lanes(stage))


def _recorded(call: Callable[[Any], object], *, holds: bool) -> Callable[[Any], object]:
    """A hook, and a note of what it made of a chunk where it makes none itself."""

    def called(target: OutputStreamContext) -> object:
        out = call(target)
        if is_awaitable(out):
            return waited(target, cast("Awaitable[object]", out))
        note(target, out)
        return out

    async def waited(target: OutputStreamContext, awaitable: Awaitable[object]) -> object:
        out = await awaitable
        note(target, out)
        return out

    def note(target: OutputStreamContext, out: object) -> None:
        came = target.chunk
        if out is not came and holds:  # it has told itself
            return
        pieces = target.pieces
        key = lane_of(came)
        if pieces is None or (out is came and (key is None or any(told == key for told, _ in pieces))):
            return
        gone = cast("Sequence[object]", out) if isinstance(out, list | tuple) else (out,)
        texts = texts_of(gone)
        if key is not None:
            pieces += [(key, piece) for piece in difference(0, text_of(came), texts.pop(key, ""))]
        pieces += [(other, Piece(0, 0, text, False)) for other, text in texts.items()]

    return called

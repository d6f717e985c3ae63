"""A dag as a piece of a picture: layers, with curves from one to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from interlock.workflows.layers import Slot, layered, settled
from interlock.workflows.pieces import BESIDE, Part, Piece, Wire

__all__ = ["dag_piece"]

_SHALLOWEST: Final = 38.0
"""Between two layers, at least."""
_STRAIGHT: Final = 28.0
_DEEPEST: Final = 110.0
_SLOPE: Final = 0.12
"""How much of the way that a curve goes sideways there is at least between its ends from top to bottom."""
_NARROWEST: Final = 3
_LANE: Final = 14.0
"""Between two lines that pass through a layer."""


def dag_piece(items: Sequence[Piece], needs: Sequence[Sequence[int]], room: float) -> Piece:
    """The pieces in layers, each below all those it needs.

    Args:
        items: In list order.
        needs: For each of them the places of those it needs.
        room: The width to keep to where that can be: it says how many may stand side by side.
    """
    usual = sum(item.width + BESIDE for item in items) / len(items)
    rows = layered(needs, widest=max(_NARROWEST, int(room // usual)))
    pieces = {slot: _PASSING if slot.item is None else items[slot.item] for row in rows for slot in row}
    around = {slot: 0.0 if slot.item is None else (BESIDE - _LANE) / 2 for slot in pieces}
    left = [[pieces[slot].enter + around[slot] for slot in row] for row in rows]
    right = [[pieces[slot].width - pieces[slot].enter + around[slot] for slot in row] for row in rows]
    axes = settled(rows, left, right, _LANE)
    leftmost = min(axes[slot] - piece.enter for slot, piece in pieces.items())
    places = {slot: axes[slot] - piece.enter - leftmost for slot, piece in pieces.items()}
    width = max(places[slot] + piece.width for slot, piece in pieces.items())
    gone = _gone(rows, pieces)
    parts: list[Part] = []
    y = 0.0
    feet: list[tuple[Slot, float, float]] = []
    for number, row in enumerate(rows):
        if number == len(rows) - 1 and len(feet) == 1:
            places[row[0]] = feet[0][1]  # nothing to gather: left right at the foot
        elif number:
            widest = max(abs(x - places[end] - pieces[end].enter) for slot, x, _ in feet for end in slot.below)
            bottom, y = y, y + min(max(_SHALLOWEST if widest else _STRAIGHT, widest * _SLOPE), _DEEPEST)
            for slot, x, foot in feet:
                for end in slot.below:
                    piece = pieces[end]
                    way = [(x, foot), (x, bottom), (places[end] + piece.enter, y)]
                    parts.append((0.0, 0.0, Wire(way, piece.arrow, not (gone[slot] and piece.live), curved=True)))
        parts += [(places[slot], y, pieces[slot]) for slot in row]
        feet = [(slot, places[slot] + pieces[slot].leave, y + pieces[slot].height) for slot in row]
        y += max(pieces[slot].height for slot in row)
    entry, exit_ = rows[0][0], rows[-1][0]
    lively = any(piece.live for slot, piece in pieces.items() if slot.item is not None)
    return Piece(width, y, places[entry], places[exit_], parts, lively, gone[exit_], arrow=False)


_PASSING: Final = Piece(0.0, 0.0, 0.0, 0.0, (), arrow=False)


def _gone(rows: Sequence[Sequence[Slot]], pieces: Mapping[Slot, Piece]) -> Mapping[Slot, bool]:
    """Whether a run went on from each slot; what passes is as its source, the way out as any before it."""
    gone: dict[Slot, bool] = {}
    for row in rows:
        for slot in row:
            passing = slot.item is None and slot.above
            gone[slot] = any(gone[above] for above in slot.above) if passing else pieces[slot].gone
    return gone

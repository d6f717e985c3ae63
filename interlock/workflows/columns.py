"""Pieces of a picture one under the other, folded into columns where one would be too long."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final

from interlock.workflows.pieces import FORK, GAP, Part, Piece, Wire, stacked

__all__ = ["folded"]

_GUTTER: Final = 44.0
"""Between two columns: room for the wire that leads up."""
_TALLEST: Final = 1100.0
"""What is taller is folded."""
_USUAL: Final = 900.0
"""How tall a column then is, about."""
_NEARLY: Final = 4.0


def folded(pieces: Sequence[Piece], room: float, *, ends: tuple[Piece, Piece] | None = None) -> Piece:
    """One under the other, in several columns where one would be too long, as on a page of a newspaper.

    Args:
        pieces: In running order.
        room: The width that the columns keep to where they can; the next ones stand below.
        ends: What stands right above the first and right below the last, where nothing else leads to and from the
            whole.
    """
    if len(pieces) == 1 or _height(pieces) <= _TALLEST:
        return stacked(pieces if ends is None else [ends[0], *pieces, ends[1]])
    if ends is not None:
        pieces = [stacked([ends[0], pieces[0]]), *pieces[1:-1], stacked([pieces[-1], ends[1]])]
    bands: list[list[Piece]] = []
    for tall, group in itertools.groupby(pieces, key=lambda piece: piece.height > _TALLEST):
        run = list(group)
        bands += [[piece] for piece in run] if tall else _bands(run, room)
    return _newspaper(bands, whole=ends is not None)


def _bands(pieces: Sequence[Piece], room: float) -> list[list[Piece]]:
    """The pieces in columns, and these in bands."""
    height = _height(pieces)
    count = 1 if height <= _TALLEST else math.ceil(height / _USUAL)
    bands: list[list[Piece]] = [[]]
    for column in map(stacked, _balanced(pieces, height, count)):
        if bands[-1] and sum(c.width + _GUTTER for c in bands[-1]) + column.width > room:
            bands.append([])
        bands[-1].append(column)
    return bands


def _height(pieces: Sequence[Piece]) -> float:
    return sum(piece.height + GAP for piece in pieces) - GAP


def _balanced(pieces: Sequence[Piece], height: float, count: int) -> Sequence[Sequence[Piece]]:
    """The pieces in so many columns at most, the tallest of which is as low as it can be."""
    low, high = max(max(piece.height for piece in pieces), height / count), height
    while high - low > _NEARLY:
        middle = (low + high) / 2
        if len(_columns(pieces, middle)) > count:
            low = middle
        else:
            high = middle
    return _columns(pieces, high)


def _columns(pieces: Sequence[Piece], tallest: float) -> list[list[Piece]]:
    columns: list[list[Piece]] = [[]]
    filled = 0.0
    for piece in pieces:
        if columns[-1] and filled + piece.height > tallest:
            columns.append([])
            filled = 0.0
        columns[-1].append(piece)
        filled += piece.height + GAP
    return columns


def _newspaper(bands: Sequence[Sequence[Piece]], *, whole: bool) -> Piece:
    """The columns of a band beside one another, each band below the one before, all joined by wires.

    Args:
        bands: From top to bottom.
        whole: Whether nothing leads to the first column and from the last.
    """
    parts: list[Part] = []
    y = 0.0
    before: _Foot | None = None
    for band in bands:
        if before is not None or len(band) > 1:
            y += GAP  # for the wires to the tops of columns
        bottom = y + max(column.height for column in band) + FORK
        x = 0.0
        for column in band:
            enter = (x + column.enter, y)
            way: Sequence[tuple[float, float]]
            if before is None:
                way = [(enter[0], 0.0), enter]
                faint = not column.live
            else:
                way = before.way_to(enter, beside=x > 0)
                faint = not (before.gone and column.live)
            if before is not None or (y and not whole):
                parts.append((0.0, 0.0, Wire(way, column.arrow, faint)))
            parts.append((x, y, column))
            before = _Foot(x + column.leave, y + column.height, x + column.width + _GUTTER / 2, bottom, column.gone)
            x += column.width + _GUTTER
        y = bottom + FORK
    first, last = bands[0][0], bands[-1][-1]
    assert before is not None
    if not whole:
        parts.append((0.0, 0.0, Wire([(before.x, before.y), (before.x, y)], faint=not last.gone)))
    width = max(sum(column.width + _GUTTER for column in band) - _GUTTER for band in bands)
    arrow = len(bands[0]) == 1 and first.arrow
    return Piece(width, y - FORK if whole else y, first.enter, before.x, parts, first.live, last.gone, arrow)


class _Foot:
    """Where a column is left."""

    def __init__(self, x: float, y: float, gutter: float, bottom: float, gone: bool) -> None:
        self.x = x
        self.y = y
        self.gutter = gutter
        self.bottom = bottom
        self.gone = gone

    def way_to(self, enter: tuple[float, float], *, beside: bool) -> Sequence[tuple[float, float]]:
        """The corners of a wire to the top of the next column.

        Args:
            enter: Where that is entered.
            beside: Whether it stands on the right; else below.
        """
        foot = (self.x, self.y)
        if beside:
            turn = enter[1] - FORK
            return [
                foot,
                (self.x, self.bottom),
                (self.gutter, self.bottom),
                (self.gutter, turn),
                (enter[0], turn),
                enter,
            ]
        turn = self.bottom + FORK * 3 / 4
        return [foot, (self.x, turn), (enter[0], turn), enter]

"""Pieces of a picture side by side, between a fork and a join."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from interlock.workflows.pieces import BESIDE, FORK, GAP, Label, Part, Piece, Wire
from interlock.workflows.text_size import text_width

__all__ = ["LABEL_SIZE", "Arm", "forked"]

LABEL_SIZE: Final = 11.0
"""Of the font beside a wire."""
_LABEL_HEIGHT: Final = 14.0
_LABEL_GAP: Final = 8.0
_TAIL: Final = 4.0
"""From the line of the join to where the whole is left."""
_NEAR: Final = 48.0
"""So far from the middle the way in of a fork may be, to lead straight down into an arm."""


class Arm(NamedTuple):
    """One of them.

    Attributes:
        piece: The piece.
        label: What stands beside the way to it; empty for nothing.
    """

    piece: Piece
    label: str = ""

    @property
    def width(self) -> float:
        """With its label."""
        if not self.label:
            return self.piece.width
        return max(self.piece.width, self.piece.enter + 2 * _LABEL_GAP + text_width(self.label, LABEL_SIZE))


def forked(arms: Sequence[Arm], room: float, *, live: bool, caption: str = "") -> Piece:
    """Side by side between a fork and a join; where that is too wide, in rows between a line on either side.

    Args:
        arms: In list order.
        room: The width to keep to where that can be.
        live: Whether a run came here.
        caption: What stands beside the way in; empty for nothing.
    """
    rows = _rows(arms, room)
    if len(rows) == 1:
        return _row(rows[0], live=live, caption=caption)
    rows = _evened(rows, room)
    cells = [max(arm.width for arm in column if arm) for column in itertools.zip_longest(*rows)]
    if sum(cells) + BESIDE * (len(cells) - 1) > room:
        cells = []
    return _grid(rows, cells, live=live, caption=caption)


def _rows(arms: Sequence[Arm], room: float) -> list[list[Arm]]:
    rows: list[list[Arm]] = [[]]
    for arm in arms:
        if rows[-1] and _width([*rows[-1], arm]) > room:
            rows.append([])
        rows[-1].append(arm)
    return rows


def _evened(rows: list[list[Arm]], room: float) -> list[list[Arm]]:
    """As many arms in each row, where the widths allow."""
    arms = [arm for row in rows for arm in row]
    count = math.ceil(len(arms) / len(rows))
    even = [arms[start : start + count] for start in range(0, len(arms), count)]
    return even if all(_width(row) <= room for row in even) else rows


def _width(arms: Sequence[Arm]) -> float:
    return sum(arm.width + BESIDE for arm in arms) - BESIDE


def _row(arms: Sequence[Arm], *, live: bool, caption: str) -> Piece:
    places = _places(arms, 0.0)
    axis = _axis([x + arm.piece.enter for x, arm in zip(places, arms, strict=True)], _width(arms))
    width = max(_width(arms), axis + _caption_width(caption))
    rail = _rail(caption)
    top = rail + _drop(arms)
    join = top + max(arm.piece.height for arm in arms) + FORK
    parts = _labelled(caption, axis, rail, faint=not live)
    for x, (piece, label) in zip(places, arms, strict=True):
        enter, leave = x + piece.enter, x + piece.leave
        faint = not (live and piece.live)
        parts.append((0.0, 0.0, Wire([(axis, 0.0), (axis, rail), (enter, rail), (enter, top)], piece.arrow, faint)))
        parts += _labelled(label, enter, top, faint=faint)
        parts.append((x, top, piece))
        way_out = [(leave, top + piece.height), (leave, join), (axis, join), (axis, join + _TAIL)]
        parts.append((0.0, 0.0, Wire(way_out, faint=not piece.gone)))
    gone = any(arm.piece.gone for arm in arms)
    return Piece(width, join + _TAIL, axis, axis, parts, live, gone, arrow=False)


def _axis(enters: Sequence[float], width: float) -> float:
    """Where a fork is entered: above the middle arm where that is about the middle of the whole, else there."""
    middle = min(max(width / 2, enters[0]), enters[-1])
    arm = enters[len(enters) // 2]
    return arm if len(enters) % 2 and abs(arm - middle) <= _NEAR else middle


def _grid(rows: Sequence[Sequence[Arm]], cells: Sequence[float], *, live: bool, caption: str) -> Piece:
    """Rows between two lines.

    Args:
        rows: The arms.
        cells: The widths of columns, where the arms stand in such.
        live, caption: As of :func:`forked`.
    """
    widest = sum(cells) + BESIDE * (len(cells) - 1) if cells else max(map(_width, rows))
    inner = max(widest, 2 * _caption_width(caption) - 2 * BESIDE)
    right = inner + 2 * BESIDE
    axis = right / 2
    start = y = _rail(caption)
    parts = _labelled(caption, axis, start, faint=not live)
    rails: list[float] = []
    joins: list[float] = []
    for row in rows:
        rail = y + FORK
        top = rail + _drop(row)
        join = top + max(arm.piece.height for arm in row) + FORK
        for x, (piece, label) in zip(_places(row, BESIDE + (inner - widest) / 2, cells), row, strict=True):
            enter, leave = x + piece.enter, x + piece.leave
            faint = not (live and piece.live)
            parts.append((0.0, 0.0, Wire([(0.0, rail), (enter, rail), (enter, top)], piece.arrow, faint)))
            parts += _labelled(label, enter, top, faint=faint)
            parts.append((x, top, piece))
            way_out = [(leave, top + piece.height), (leave, join), (right, join)]
            parts.append((0.0, 0.0, Wire(way_out, faint=not piece.gone)))
        rails.append(rail)
        joins.append(join)
        y = join
    gone = any(arm.piece.gone for row in rows for arm in row)
    end = joins[-1] + FORK
    fork = [(axis, 0.0), (axis, start), (0.0, start), (0.0, rails[-1])]
    join_ = [(right, joins[0]), (right, end), (axis, end), (axis, end + _TAIL)]
    parts += [(0.0, 0.0, Wire(fork, faint=not live)), (0.0, 0.0, Wire(join_, faint=not gone))]
    return Piece(right, end + _TAIL, axis, axis, parts, live, gone, arrow=False)


def _places(arms: Sequence[Arm], x: float, cells: Sequence[float] = ()) -> list[float]:
    """Where each begins, the first from ``x`` on; in the middle of its cell where there are cells."""
    places: list[float] = []
    for number, arm in enumerate(arms):
        cell = cells[number] if cells else arm.width
        places.append(x + (cell - arm.width) / 2)
        x += cell + BESIDE
    return places


def _drop(arms: Sequence[Arm]) -> float:
    """From the line of the fork down to the arms."""
    return GAP - FORK / 2 + (_LABEL_HEIGHT if any(arm.label for arm in arms) else 0.0)


def _rail(caption: str) -> float:
    """From the way in down to the line of the fork."""
    return FORK + (_LABEL_HEIGHT / 2 if caption else 0.0)


def _caption_width(caption: str) -> float:
    return 2 * _LABEL_GAP + text_width(caption, LABEL_SIZE) if caption else 0.0


def _labelled(label: str, enter: float, top: float, *, faint: bool) -> list[Part]:
    return [(enter + _LABEL_GAP, top - _LABEL_HEIGHT, Label(label, faint))] if label else []

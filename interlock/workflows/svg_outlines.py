"""The outlines of boxes and frames in an SVG picture, by their kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from interlock.workflows.pieces import Box, Frame
from interlock.workflows.status_colours import STATUS_COLOURS
from interlock.workflows.svg_strokes import number, place
from interlock.workflows.svg_style import KIND_FILLS, LIGHT

__all__ = ["box_outline", "frame_outline"]

_ROUND: Final = 16.0
_CORNER: Final = 4.0
_FRAME_CORNER: Final = 7.0
_PILE: Final = 5.0
"""How far the second sheet of a pile lies below the first, and to its right."""
_SLANT: Final = 14.0


def frame_outline(frame: Frame, x: float, y: float) -> str:
    """The outline of a frame; of a ``foreach`` that of two sheets.

    Args:
        frame: The frame.
        x, y: Its upper left corner.
    """
    dashes = ' stroke-dasharray="7 4"' if frame.kind == "dag" else ""
    status, line = "", LIGHT["edge"]
    if frame.mark is not None and frame.mark.status != "not-run":
        status, line = f"{frame.mark.status} ", STATUS_COLOURS[frame.mark.status].line
    look = f'class="{status}frame" fill="{LIGHT["frame"]}" stroke="{line}"{dashes}'
    sheet = _rectangle(x, y, frame.width, frame.height, _FRAME_CORNER, look)
    if frame.kind == "foreach":
        return _rectangle(x + _PILE, y + _PILE, frame.width, frame.height, _FRAME_CORNER, look) + sheet
    return sheet


def box_outline(box: Box, x: float, y: float) -> str:
    """The outline of a box.

    Args:
        box: The box.
        x, y: Its upper left corner.
    """
    width, height, look = box.width, box.height, _look(box)
    right, bottom = x + width, y + height
    match box.kind:
        case "words":
            return ""
        case "join":
            radius = width / 2
            return f'<circle cx="{number(x + radius)}" cy="{number(y + radius)}" r="{number(radius)}" {look}/>'
        case "branch":
            half = height / 2
            upper, lower = [(x + half, y), (right - half, y)], [(right - half, bottom), (x + half, bottom)]
            return _polygon([(x, y + half), *upper, (right, y + half), *lower], look)
        case "merge":
            return _polygon([(x, y), (right, y), (right - _SLANT, bottom), (x + _SLANT, bottom)], look)
        case "map" | "terminal":
            return _rectangle(x, y, width, height, min(height / 2, _ROUND), look)
        case "sleep":
            return _rectangle(x, y, width, height, min(height / 2, _ROUND), look) + _clock(x + _ROUND, y + height / 2)
        case "processor":
            return _rectangle(x, y, width, height, _CORNER, look) + _bar(x, y, height)
        case _:
            return _rectangle(x, y, width, height, _CORNER, look)


def _look(box: Box) -> str:
    if box.mark is not None:
        colours = STATUS_COLOURS[box.mark.status]
        dashes = ' stroke-dasharray="4 3"' if colours.dashed else ""
        return f'class="{box.mark.status}" fill="{colours.fill}" stroke="{colours.line}" stroke-width="1.4"{dashes}'
    fill = KIND_FILLS.get(box.kind, (LIGHT["box"],))[0]
    dashes = ' stroke-dasharray="2 3"' if box.kind == "idle" else ""
    kind = f" {box.kind}" if box.kind in KIND_FILLS else ""
    return f'class="box{kind}" fill="{fill}" stroke="{LIGHT["line"]}"{dashes}'


def _clock(x: float, y: float) -> str:
    """A small clock around a point."""
    face = f'<circle cx="{number(x)}" cy="{number(y)}" r="6.5"/>'
    hands = f'<path d="M{number(x)} {number(y - 4)}V{number(y)}H{number(x + 3)}"/>'
    return f'<g class="bare wire" fill="none" stroke="{LIGHT["wire"]}">{face}{hands}</g>'


def _bar(x: float, y: float, height: float) -> str:
    """A bar along the left side of a box."""
    way = f"M{number(x + 5)} {number(y)}h-1a4 4 0 0 0 -4 4v{number(height - 8)}a4 4 0 0 0 4 4h1z"
    return f'<path class="accent" fill="{LIGHT["accent"]}" d="{way}"/>'


def _rectangle(x: float, y: float, width: float, height: float, round_: float, look: str) -> str:
    place = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
    return f'<rect {place} rx="{number(round_)}" {look}/>'


def _polygon(points: Sequence[tuple[float, float]], look: str) -> str:
    return f'<polygon points="{" ".join(place(point) for point in points)}" {look}/>'

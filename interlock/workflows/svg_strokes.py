"""The lines, curves and arrows of an SVG picture, as the data of its paths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

__all__ = ["Place", "arrow_tip", "number", "place", "polyline", "swing"]

Place = tuple[float, float]
"""From the left and from the top."""

_CORNER: Final = 6.0
"""How round a corner is."""
_TIP: Final = 8.0
"""How long the tip of an arrow is."""


def polyline(points: Sequence[Place], *, arrow: bool) -> str:
    """A line with rounded corners.

    Args:
        points: Its ends and corners.
        arrow: Whether a tip follows, which the line ends within.
    """
    corners = [point for n, point in enumerate(points) if not n or math.dist(point, points[n - 1]) > 0.1]
    if arrow and len(corners) > 1:
        corners[-1] = _toward(corners[-1], corners[-2], _TIP / 2)
    told = [f"M{place(corners[0])}"]
    for before, corner, after in zip(corners, corners[1:], corners[2:], strict=False):
        round_ = min(_CORNER, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        told.append(
            f"L{place(_toward(corner, before, round_))}Q{place(corner)} {place(_toward(corner, after, round_))}"
        )
    told += [f"L{place(corners[-1])}"] if len(corners) > 1 else []
    return "".join(told)


def swing(points: Sequence[Place], *, arrow: bool) -> str:
    """Down from the first point to the second, then in a swing to the third.

    Args:
        points: The three.
        arrow: Whether a tip follows, which the line ends within.
    """
    first, (x1, y1), (x2, y2) = points
    middle = (y1 + y2) / 2
    end = (x2, y2 - _TIP / 2 if arrow else y2)
    return f"M{place(first)}L{place((x1, y1))}C{place((x1, middle))} {place((x2, middle))} {place(end)}"


def arrow_tip(points: Sequence[Place], *, curved: bool) -> str:
    """The tip of an arrow at the end of a line: downwards, or to the left where the line comes from the right.

    Args:
        points: Of the line.
        curved: Whether it swings.
    """
    x, y = points[-1]
    if not curved and len(points) > 1 and abs(points[-2][1] - y) < 0.1:
        return f"M{place((x, y))}l8 -4v8z"
    return f"M{place((x, y))}l-4 -8h8z"


def number(value: float) -> str:
    """A length as SVG reads it, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def place(point: Place) -> str:
    """A point as SVG reads it."""
    return f"{number(point[0])} {number(point[1])}"


def _toward(point: Place, other: Place, by: float) -> Place:
    """The point moved toward another by so many pixels."""
    share = by / (math.dist(point, other) or 1.0)
    return point[0] + (other[0] - point[0]) * share, point[1] + (other[1] - point[1]) * share

"""Rectangles that a picture is put together from: boxes, frames, and wires between them, each with its place.

A :class:`Piece` is entered at its top and left at its bottom, each at one place. Pieces are stacked one under the other
(:func:`stacked`), folded into columns where that would be too long (:mod:`interlock.workflows.columns`), or put side by
side between a fork and a join (:mod:`interlock.workflows.forks`). So a picture is about as wide as a page, and as long
as it needs to be. All lengths are pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from interlock.workflows.overlay import Mark

__all__ = [
    "BESIDE",
    "FORK",
    "GAP",
    "Box",
    "Frame",
    "Label",
    "Part",
    "Piece",
    "Shape",
    "TextLine",
    "Wire",
    "between",
    "placed",
    "stacked",
]

GAP: Final = 30.0
"""Between what stands one above the other: room for an arrow."""
_STRAIGHT: Final = 0.5
BESIDE: Final = 26.0
"""Between what stands side by side."""
FORK: Final = 16.0
"""From the way in of a fork to its line."""


class TextLine(NamedTuple):
    """One line of text in a box.

    Attributes:
        text: What it says.
        size: Of the font.
        role: ``"label"``, ``"about"``, ``"mark"`` or ``"note"``.
    """

    text: str
    size: float
    role: str


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A node.

    Attributes:
        path: Of the node; empty for what is no node of a plan.
        kind: Its kind, which says its outline.
        width, height: Its size.
        lines: The text in it.
        title: What is told to who points at it, or cannot see.
        mark: What a run made of it.
        faint: Whether it is shown as of no account.
    """

    path: str
    kind: str
    width: float
    height: float
    lines: Sequence[TextLine]
    title: str
    mark: Mark | None = None
    faint: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Around what belongs together.

    Attributes:
        path: Of the cluster.
        kind: ``"workflow"``, ``"foreach"``, ``"loop"``, ``"dag"`` or ``"section"``.
        width, height: Its size.
        heading: What stands at its top.
        aside: What stands there on the other side.
        title: What is told to who points at it.
        mark: What a run made of it.
        faint: Whether it is shown as of no account.
    """

    path: str
    kind: str
    width: float
    height: float
    heading: Sequence[TextLine]
    title: str
    mark: Mark | None = None
    faint: bool = False
    aside: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Wire:
    """A line along points, relative to the piece it is part of.

    Attributes:
        points: From where to where, with the corners between.
        arrow: Whether it ends in one.
        faint: Whether the way was not taken.
        dashed: Whether it leads back.
        curved: Whether it swings from its first point to its last instead of turning at corners.
    """

    points: Sequence[tuple[float, float]]
    arrow: bool = False
    faint: bool = False
    dashed: bool = False
    curved: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """A text beside a wire, with its lower left corner where it is placed.

    Attributes:
        text: What it says.
        faint: Whether the way was not taken.
    """

    text: str
    faint: bool = False


Shape = Box | Frame | Wire | Label


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A rectangle.

    Attributes:
        width, height: Its size.
        enter: Where, from its left, the way in meets its top.
        leave: Where the way out meets its bottom.
        parts: What is in it, each with the place of its upper left corner.
        live: Whether a run came here; True without a run.
        gone: Whether a run went on from here; True without a run.
        arrow: Whether the way in ends in an arrow.
    """

    width: float
    height: float
    enter: float
    leave: float
    parts: Sequence[Part]
    live: bool = True
    gone: bool = True
    arrow: bool = True


Part = tuple[float, float, Piece | Shape]
"""The place of an upper left corner, and what is there."""


def placed(piece: Piece, x: float = 0.0, y: float = 0.0) -> Iterator[tuple[float, float, Shape]]:
    """Every shape in a piece with its place, a frame before what is in it.

    Args:
        piece: The piece.
        x, y: Its own place.
    """
    for dx, dy, part in piece.parts:
        if isinstance(part, Piece):
            yield from placed(part, x + dx, y + dy)
        else:
            yield x + dx, y + dy, part


def between(upper: tuple[float, float], lower: tuple[float, float], *, arrow: bool, faint: bool) -> Wire:
    """A wire from a place to one below, with a jog where it is not right below."""
    (x1, y1), (x2, y2) = upper, lower
    if abs(x1 - x2) < _STRAIGHT:
        return Wire([(x2, y1), lower], arrow, faint)
    turn = max(y1, y2 - FORK)
    return Wire([upper, (x1, turn), (x2, turn), lower], arrow, faint)


def stacked(pieces: Sequence[Piece]) -> Piece:
    """One under the other, joined by arrows.

    Each stands below where the one before is left, as far as that makes the whole no wider than if all were entered in
    one line.
    """
    if len(pieces) == 1:
        return pieces[0]
    axis = max(piece.enter for piece in pieces)
    width = axis + max(piece.width - piece.enter for piece in pieces)
    parts: list[Part] = []
    way, y, gone = axis, 0.0, True
    enter = 0.0
    for piece in pieces:
        x = min(max(way - piece.enter, 0.0), width - piece.width)
        if parts:
            top = y + (GAP if piece.arrow else FORK / 2)
            faint = not (gone and piece.live)
            parts.append((0.0, 0.0, between((way, y), (x + piece.enter, top), arrow=piece.arrow, faint=faint)))
            y = top
        else:
            enter = x + piece.enter
        parts.append((x, y, piece))
        way, y, gone = x + piece.leave, y + piece.height, piece.gone
    first = pieces[0]
    return Piece(width, y, enter, way, parts, first.live, gone, first.arrow)

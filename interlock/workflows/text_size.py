"""How much room a text takes in a picture, as far as one can tell without the font that will draw it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from interlock.workflows.blocks import width_of, worded, wrapped
from interlock.workflows.labels import printable

__all__ = ["fitted", "text_width"]

_WIDTHS: Final = (
    *(278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278),
    *(556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556),
    *(1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778),
    *(667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556),
    *(333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556),
    *(556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584),
)
"""Of the printable characters of ASCII in thousandths of the size: the published metrics of Helvetica."""
_CELL: Final = 600
"""Of a character beyond ASCII, per cell that it takes in a terminal."""
_SPARE: Final = 1.08
"""Other fonts without serifs are a little wider."""
_LONGEST: Final = 400


def text_width(text: str, size: float) -> float:
    """The width of a text on one line.

    Args:
        text: What is written.
        size: Of the font, in the unit of the result.
    """
    units = sum(_WIDTHS[ord(char) - 32] if " " <= char <= "~" else _CELL * width_of(char) for char in text)
    return units * size * _SPARE / 1000


def fitted(text: str, width: float, size: float, *, lines: int, prose: bool = False) -> Sequence[str]:
    """The text broken into lines; "…" says where there was no room for the rest.

    Args:
        text: What is written; controls in it are shown as escapes.
        width: The room for each line.
        size: Of the font, in the same unit.
        lines: So many at most.
        prose: Whether it breaks between words only, where these are not too long; else after colons and dashes too.
    """

    def measured(piece: str) -> float:
        return text_width(piece, size)

    shown = printable(text)
    cut = shown[:_LONGEST]
    if len(cut) == len(shown) and measured(cut) <= width:
        return [cut]
    broken = worded(cut, width, measure=measured) if prose else wrapped(cut, width, measure=measured)
    if len(broken) <= lines and len(cut) == len(shown):
        return broken
    kept = broken[:lines]
    last = kept[-1]
    while last and measured(f"{last}…") > width:
        last = last[:-1]
    return [*kept[:-1], f"{last}…"]

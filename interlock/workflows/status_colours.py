"""The colours in which drawings show how a step ended, light enough for dark text on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from interlock.workflows.overlay import MarkStatus

__all__ = ["STATUS_COLOURS", "StatusColours"]


class StatusColours(NamedTuple):
    """Of one status.

    Attributes:
        fill: Inside a box.
        line: Around it.
        dark_fill, dark_line: The same where the page is dark and the text light.
        dashed: Whether the line is dashed, so that it is not told by its colour alone.
    """

    fill: str
    line: str
    dark_fill: str
    dark_line: str
    dashed: bool = False


STATUS_COLOURS: Final[Mapping[MarkStatus, StatusColours]] = {
    "success": StatusColours("#e3f5e9", "#2f8f57", "#17392a", "#4cc38a"),
    "failed": StatusColours("#fde3e1", "#c8372d", "#4a1d1a", "#ff7b70"),
    "tripwire": StatusColours("#ffe9d1", "#c2600a", "#4a2c0d", "#ffa657"),
    "suspended": StatusColours("#fff5cc", "#a67c00", "#3f3509", "#e3c04b", dashed=True),
    "unfinished": StatusColours("#fff5cc", "#a67c00", "#3f3509", "#e3c04b", dashed=True),
    "bailed": StatusColours("#e1eefe", "#2b6cb0", "#14304f", "#6cb2ff"),
    "canceled": StatusColours("#ececef", "#6b7280", "#2c2f36", "#9aa3af", dashed=True),
    "next": StatusColours("#e9e6fd", "#5b4fc7", "#2a2556", "#a99ff5"),
    "not-run": StatusColours("#f7f7f8", "#9aa1ab", "#1d2026", "#6b7280", dashed=True),
}

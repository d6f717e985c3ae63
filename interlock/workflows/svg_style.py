"""How an SVG drawing looks: its colours on a light page and on a dark one."""

from __future__ import annotations

from typing import Final

from interlock.workflows.status_colours import STATUS_COLOURS

__all__ = ["FONT", "KIND_FILLS", "LIGHT", "style_sheet"]

FONT: Final = "Helvetica, Arial, 'Liberation Sans', sans-serif"

LIGHT: Final = {
    "page": "#ffffff",
    "box": "#ffffff",
    "line": "#7d8794",
    "text": "#1f2328",
    "soft": "#5a6472",
    "wire": "#6a7380",
    "unused": "#d3d8de",
    "frame": "#f5f7f9",
    "edge": "#a5aeb9",
    "accent": "#5b67c9",
}
_DARK: Final = {
    "page": "#14171c",
    "box": "#1f242b",
    "line": "#8b96a3",
    "text": "#e8ebef",
    "soft": "#a9b3bf",
    "wire": "#9aa5b1",
    "unused": "#3a424c",
    "frame": "#1a1e24",
    "edge": "#5a6573",
    "accent": "#9aa5ff",
}
KIND_FILLS: Final = {
    "processor": ("#eef0ff", "#23284a"),
    "branch": ("#fff8e1", "#3a3213"),
    "merge": ("#eef6f8", "#17323a"),
}
"""Of boxes that differ by more than their outline: on a light page and on a dark one."""


def style_sheet() -> str:
    """The rules that turn the drawing dark where the reader's page is. Colours on a light page are attributes.

    One more keeps it no wider than the page it stands in, on a screen. It too is a rule for a medium, which browsers
    obey and plain viewers pass over: as a style of the drawing itself ``height:auto`` makes some of them (CairoSVG)
    draw nothing.
    """
    rules = [
        (".page", f"fill:{_DARK['page']}"),
        (".box", f"fill:{_DARK['box']};stroke:{_DARK['line']}"),
        (".frame", f"fill:{_DARK['frame']};stroke:{_DARK['edge']}"),
        (".bare", "fill:none"),
        (".text", f"fill:{_DARK['text']}"),
        (".soft", f"fill:{_DARK['soft']}"),
        (".wire", f"stroke:{_DARK['wire']}"),
        (".tip", f"fill:{_DARK['wire']}"),
        (".unused", f"stroke:{_DARK['unused']}"),
        (".unused-tip", f"fill:{_DARK['unused']}"),
        (".accent", f"fill:{_DARK['accent']}"),
        *((f".{kind}", f"fill:{dark}") for kind, (_, dark) in KIND_FILLS.items()),
        *(
            (f".{status}", f"fill:{colours.dark_fill};stroke:{colours.dark_line}")
            for status, colours in STATUS_COLOURS.items()
        ),
        (".frame", f"fill:{_DARK['frame']}"),  # of a frame the status colours the line alone
    ]
    inner = "".join(f".interlock-drawing {selector}{{{rule}}}" for selector, rule in rules)
    narrow = "@media screen{.interlock-drawing{max-width:100%;height:auto}}"
    return f"{narrow}@media (prefers-color-scheme:dark){{{inner}}}"

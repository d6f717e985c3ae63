"""Tables for a terminal: a line a row, as wide as what stands in it, with room for remarks below a row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TextIO

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from interlock.cli.terminal import visible

__all__ = ["GAP", "Row", "rendered", "table", "took"]

GAP: Final = 2
"""Columns between two cells."""


@dataclass(frozen=True)
class Row:
    """One row.

    Args:
        cells: Its cells; control characters are written out.
        styles: Rich styles, by the number of the cell.
        remarks: What stands below it, a paragraph each.
        indent: Columns before the remarks; default: where the second cell begins.
    """

    cells: Sequence[str]
    styles: Mapping[int, str] = field(default_factory=dict[int, str])
    remarks: Sequence[str] = ()
    indent: int | None = None


def table(headings: Sequence[str], rows: Sequence[Row], *, right: Collection[int] = ()) -> Group:
    """The rows below their headings.

    Args:
        headings: A word for each column. White space before one makes the column wider.
        rows: In this order.
        right: The numbers of the columns whose cells stand to the right.
    """
    columns = zip(headings, *(tuple(map(visible, row.cells)) for row in rows), strict=True)
    widths = [max(map(cell_len, column)) for column in columns]
    lines: list[RenderableType] = [_line(headings, widths, dict.fromkeys(range(len(headings)), "bold"), right)]
    for row in rows:
        lines.append(_line(tuple(map(visible, row.cells)), widths, row.styles, right))
        indent = widths[0] + GAP if row.indent is None else row.indent
        lines += (Padding(Text(visible(remark)), (0, 0, 0, indent)) for remark in row.remarks)
    return Group(*lines)


def rendered(shown: RenderableType, stream: TextIO | None) -> str:
    """What is shown as text, made for the width and the colours of where it goes; a row may be wider."""
    console = Console(file=stream)
    with console.capture() as captured:
        console.print(shown, crop=False)
    return "\n".join(line.rstrip() for line in captured.get().rstrip().splitlines())


def took(seconds: float) -> str:
    """A duration for people, with a fitting unit.

    Example:
        >>> took(0.0000841), took(0.0103), took(1.5), took(400), took(90_000)
        ('84 µs', '10.3 ms', '1.50 s', '6 min 40 s', '1 d 1 h')
    """
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.1f} ms"
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, hours, days = int(seconds // 60), int(seconds // 3600), int(seconds // 86400)
    if hours < 1:
        return f"{minutes} min {int(seconds % 60)} s"
    return f"{hours} h {minutes % 60} min" if days < 1 else f"{days} d {hours % 24} h"


def _line(cells: Sequence[str], widths: Sequence[int], styles: Mapping[int, str], right: Collection[int]) -> Text:
    line = Text(no_wrap=True, overflow="ignore")
    for number, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        room = " " * (width - cell_len(cell))
        line.append(room + cell if number in right else cell + room, styles.get(number, ""))
        line.append(" " * GAP)
    return line

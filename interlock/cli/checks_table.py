"""What each guard decided, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console, Group
from rich.padding import Padding
from rich.text import Text

from interlock.cli.terminal import visible
from interlock.verdict import CheckRecord, Verdict

__all__ = ["checks_table", "rendered", "took"]

_HEADINGS: Final = ("point", "processor", "verdict", "kept", "    time")
_GAP: Final = 2

_STYLES: Final[dict[Verdict, str]] = {
    "passed": "green",
    "changed": "cyan",
    "warned": "yellow",
    "not-checked": "dim",
    "blocked": "bold red",
}


def checks_table(checks: Sequence[CheckRecord]) -> Group:
    """The records in running order, a row each; a reason stands below its row, so that it has room in any terminal.

    Args:
        checks: The records of a run.
    """
    if not checks:
        return Group("No guard was asked.")
    rows = [_cells(check) for check in checks]
    widths = [max(map(cell_len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    lines: list[Text | Padding] = [_line(_HEADINGS, widths, "bold")]
    for check, cells in zip(checks, rows, strict=True):
        lines.append(_line(cells, widths, _STYLES[check.verdict]))
        if check.reason:
            lines.append(Padding(Text(visible(check.reason)), (0, 0, 0, widths[0] + _GAP)))
    return Group(*lines)


def rendered(console: Console, table: Group) -> str:
    """The table as text, made for the console's width and colours."""
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().rstrip().splitlines())


def took(seconds: float) -> str:
    """A duration for people, with a fitting unit.

    Example:
        >>> took(0.0000841), took(0.0103), took(1.5)
        ('84 µs', '10.3 ms', '1.50 s')
    """
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _cells(check: CheckRecord) -> tuple[str, ...]:
    return (_point(check), visible(check.processor_id), check.verdict, _kept(check), took(check.duration))


def _line(cells: Sequence[str], widths: Sequence[int], style: str) -> Text:
    """A row; the third cell, the verdict, has the style, and the last, the time, stands to the right."""
    line = Text(no_wrap=True, overflow="ignore")
    for number, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        room = " " * (width - cell_len(cell))
        padded = room + cell if number == len(cells) - 1 else cell + room
        line.append(padded, style if number == 2 or style == "bold" else "")
        line.append(" " * _GAP)
    return line


def _point(check: CheckRecord) -> str:
    """The phase, with the step of the loop where it is not the first, and how many chunks it looked at."""
    step = f" {check.step_number}" if check.step_number else ""
    return f"{check.phase}{step}" + (f" ×{check.runs}" if check.runs > 1 else "")


def _kept(check: CheckRecord) -> str:
    """Whether a change went on; nothing where nothing was changed."""
    if check.verdict != "changed":
        return ""
    return "yes" if check.kept else "no"

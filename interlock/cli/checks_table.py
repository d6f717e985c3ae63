"""What each guard decided, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from interlock.cli.terminal import visible
from interlock.verdict import CheckRecord, Verdict

__all__ = ["checks_table", "rendered"]

_STYLES: Final[dict[Verdict, str]] = {
    "passed": "green",
    "changed": "cyan",
    "warned": "yellow",
    "not-checked": "dim",
    "blocked": "bold red",
}


def checks_table(checks: Sequence[CheckRecord]) -> Table | Text:
    """The records in running order, a row each.

    Args:
        checks: The records of a run.
    """
    if not checks:
        return Text("No guard was asked.")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    for heading in ("point", "processor", "verdict", "kept"):
        table.add_column(heading, no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("reason", overflow="fold")
    for check in checks:
        table.add_row(
            _point(check),
            Text(visible(check.processor_id)),
            Text(check.verdict, style=_STYLES[check.verdict]),
            _kept(check),
            took(check.duration),
            Text(visible(check.reason or "")),
        )
    return table


def rendered(console: Console, table: Table | Text) -> str:
    """The table as text, made for the console's width and colours."""
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().rstrip().splitlines())


def took(seconds: float) -> str:
    """A duration for people: three digits and a unit.

    Example:
        >>> took(0.0000841), took(0.0103), took(1.5)
        ('84 µs', '10.3 ms', '1.50 s')
    """
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _point(check: CheckRecord) -> str:
    """The phase, with the step of the loop where it is not the first, and how many chunks it looked at."""
    step = f" {check.step_number}" if check.step_number else ""
    return f"{check.phase}{step}" + (f" ×{check.runs}" if check.runs > 1 else "")


def _kept(check: CheckRecord) -> str:
    """Whether a change went on; nothing where nothing was changed."""
    if check.verdict != "changed":
        return ""
    return "yes" if check.kept else "no"

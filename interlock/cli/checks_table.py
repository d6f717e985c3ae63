"""What each guard decided, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group

from interlock.cli.table import Row, table, took
from interlock.runtime.coverage import Coverage
from interlock.verdict import CheckRecord, Verdict

__all__ = ["VERDICT_STYLES", "checks_table", "coverage_table"]

_HEADINGS: Final = ("point", "processor", "verdict", "kept", "    time")

VERDICT_STYLES: Final[dict[Verdict, str]] = {
    "passed": "green",
    "changed": "cyan",
    "warned": "yellow",
    "not-checked": "dim",
    "blocked": "bold red",
    "shadow-blocked": "magenta",
    "shadow-changed": "magenta",
}
"""How a verdict is shown."""


def checks_table(checks: Sequence[CheckRecord]) -> Group:
    """The records in running order, a row each; a reason stands below its row, so that it has room in any terminal.

    Args:
        checks: The records of a run.
    """
    if not checks:
        return Group("No guard was asked.")
    return table(_HEADINGS, [_row(check) for check in checks], right=[len(_HEADINGS) - 1])


def coverage_table(coverage: Coverage) -> Group:
    """What was read by which guard, a row each; what was read by none stands out.

    Args:
        coverage: Of a run.
    """
    rows = [
        Row((*spot, ", ".join(readers) or coverage.by_nobody(spot)), {} if readers else {2: "yellow"})
        for spot, readers in coverage.rows.items()
    ]
    unsaying = coverage.unsaying
    silent = [f"did not say what they read: {', '.join(unsaying)}"] if unsaying else []
    return Group(table(("role", "part", "read by"), rows), *silent)


def _row(check: CheckRecord) -> Row:
    cells = (_point(check), check.processor_id, check.verdict, _kept(check), took(check.duration))
    return Row(cells, {2: VERDICT_STYLES[check.verdict]}, [check.reason] if check.reason else [])


def _point(check: CheckRecord) -> str:
    """The phase, with the step of the loop where it is not the first, and how many chunks it looked at."""
    step = f" {check.step_number}" if check.step_number else ""
    return f"{check.phase}{step}" + (f" ×{check.runs}" if check.runs > 1 else "")


def _kept(check: CheckRecord) -> str:
    """Whether a change went on; nothing where nothing was changed."""
    if check.verdict != "changed":
        return ""
    return "yes" if check.kept else "no"

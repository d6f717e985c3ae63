"""Measure rows one after the other, print them, and say by the exit code whether every budget was kept."""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.harness import Effort, Measured, Row
from benchmarks.rivals.beside import Beside

__all__ = ["Line", "main", "measure"]

MISSED, BAD_USAGE = 1, 2


@dataclass(frozen=True, slots=True)
class Line:
    """A row and what came of it.

    Args:
        row: The budget.
        measured: None where measuring failed.
        tries: 2 where it missed at first and was measured again, longer; 3 where it was again when all others had been
            measured. The last measurement counts.
        error: What failed.
    """

    row: Row
    measured: Measured | None
    tries: int = 1
    error: str | None = None

    @property
    def kept(self) -> bool:
        """Whether the budget was kept. A figure that is no number keeps none."""
        return self.measured is not None and self.measured.value <= self.row.must

    @property
    def verdict(self) -> str:
        """``aim``, ``must``, ``MISSED`` or ``FAILED``."""
        if self.measured is None:
            return "FAILED"
        if not self.kept:
            return "MISSED"
        return "aim" if self.measured.value <= self.row.aim else "must"

    def as_json(self) -> Mapping[str, object]:
        """The line as plain values."""
        return {
            "name": self.row.name,
            "unit": self.row.unit,
            "must": self.row.must,
            "aim": self.row.aim,
            "value": self.measured and self.measured.value,
            "pairs": self.measured and self.measured.pairs,
            "detail": dict(self.measured.detail) if self.measured else {},
            "tries": self.tries,
            "kept": self.kept,
            "verdict": self.verdict,
            "error": self.error,
        }


def measure(row: Row, effort: Effort) -> Line:
    """Measure one row; once more, and longer, if it missed: on a busy machine one miss may be bad luck."""
    line = _attempt(row, effort, 1)
    if line.measured is not None and not line.kept:
        line = _attempt(row, effort.more(), 2)
    return line


def _attempt(row: Row, effort: Effort, tries: int) -> Line:
    # What other rows have left behind (modules, workflows that something caches) is nothing that this one, or what it
    # is compared with, has to pay for whenever the collector goes through everything.
    gc.collect()
    gc.freeze()
    try:
        return Line(row, row.measure(effort), tries)
    except Exception as error:  # the row is reported as failed, and the others are still measured
        return Line(row, None, tries, f"{type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class _Table:
    rows: Sequence[Row]
    widths: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "widths", (max(len(row.name) for row in self.rows), 9, 9, 9, 7))

    def heading(self) -> str:
        return self._line("work", "measured", "must", "aim", "kept") + "   detail"

    def line(self, line: Line) -> str:
        row = line.row
        figure = _figure(line.measured.value, row.unit) if line.measured else "–"
        left = self._line(row.name, figure, _figure(row.must, row.unit), _figure(row.aim, row.unit), line.verdict)
        notes = [f"{name} {value:.3g}" for name, value in line.measured.detail.items()] if line.measured else []
        notes += [line.error] if line.error else []
        notes += [f"measured {line.tries} times"] if line.tries > 1 else []
        return f"{left}   {', '.join(notes)}".rstrip()

    def _line(self, name: str, *cells: str) -> str:
        first, *others = self.widths
        return name.ljust(first) + "".join("  " + cell.rjust(width) for cell, width in zip(cells, others, strict=True))


def _figure(value: float, unit: str) -> str:
    return f"{value:.3g} {unit}"


def main(rows: Sequence[Row], arguments: Sequence[str] | None = None, *, beside: Beside | None = None) -> int:
    """Measure and print.

    Args:
        rows: The budgets, in the order in which they are measured.
        arguments: The command line without the program's name.
        beside: What rivals took when they were measured last, to be shown under the rows.

    Returns:
        The exit code: 0; 1 when a must was missed or a row failed; 2 when ``--only`` names nothing.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", metavar="WORDS", help="rows whose name holds this; may be repeated")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--seconds", type=float, default=Effort().seconds, help="how long to measure a row (%(default)s)"
    )
    options = parser.parse_args(arguments)
    chosen = [row for row in rows if not options.only or any(words in row.name for words in options.only)]
    if not chosen:
        names = "\n  ".join(row.name for row in rows)
        print(f"no row's name holds {' or '.join(map(repr, options.only))}; there are:\n  {names}", file=sys.stderr)
        return BAD_USAGE
    lines = _measure_all(chosen, Effort(seconds=options.seconds), beside, show=not options.json)
    if options.json:
        rows_told = [{**line.as_json(), "rivals": _rivals(line.row, beside)} for line in lines]
        print(json.dumps({"machine": _machine(), "rows": rows_told}, indent=2))
    missed = [line.row.name for line in lines if not line.kept]
    if missed:
        print(f"\nmissed: {'; '.join(missed)}", file=sys.stderr)
    return MISSED if missed else 0


def _measure_all(rows: Sequence[Row], effort: Effort, beside: Beside | None, *, show: bool) -> list[Line]:
    table = _Table(rows)
    if show:
        print(*([beside.heading()] if beside else []), table.heading(), sep="\n", flush=True)
    lines: list[Line] = []
    for row in rows:
        lines.append(measure(row, effort))
        if show:
            print(table.line(lines[-1]), flush=True)
            if beside and (rivals := beside.line(row.name)):
                print(rivals, flush=True)
    for place, line in enumerate(lines):
        if line.measured is not None and not line.kept:  # other programs may have wanted the machine just then
            lines[place] = _attempt(line.row, effort.more(), 3)
            if show:
                print("later:", table.line(lines[place]), sep="\n", flush=True)
    return lines


def _rivals(row: Row, beside: Beside | None) -> Sequence[Mapping[str, object]]:
    return [dataclasses.asdict(case) for case in beside.cases(row.name)] if beside else []


def _machine() -> Mapping[str, object]:
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
    }

"""What rivals took when they were last measured, for the rows of ``make bench`` that do the same work.

Nothing is measured here, and what is told says when it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.rivals.engines import ENGINES
from benchmarks.rivals.figures import ratio, seconds
from benchmarks.rivals.places import RESULTS
from benchmarks.rivals.results import Case, Results, read

__all__ = ["SAME_WORK", "Beside", "last_figures"]

REMARKS: Final[Mapping[str, str]] = {
    "sequence": "the whole run: ",
    "build": "with making the steps: ",
}
"""What differs from the row, by the key of the workload."""

SAME_WORK: Final[Mapping[str, tuple[str, int]]] = {
    "chain of 100 steps, nobody watching": ("chain", 100),
    "chain of 1,000 steps, nobody watching": ("chain", 1_000),
    "fan-out of 10, join": ("fan-out", 10),
    "fan-out of 1,000, join": ("fan-out", 1_000),
    "1,000 branches that sleep 10 ms": ("sleep", 1_000),
    "map over 10,000 items, 32 at once: an item": ("map", 10_000),
    "graph of 1,000 nodes, 3,000 edges": ("dag", 1_000),
    "a run of five steps, recorded: over the steps": ("sequence", 5),
    "build and check 1,000 nodes": ("build", 1_000),
}
"""The workload and its size that is the work of a row, by the row's name."""

IN_TIME: Final = ("sleep", "map", "sequence", "build")
"""Workloads whose rows are in units of time; that of ``build`` tells of all its nodes together."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What is shown beside the budgets.

    Args:
        results: What was measured, at another time.
    """

    results: Results

    def heading(self) -> str:
        """When and where."""
        if not self.results.cases:
            return "Rivals: none has been measured; `make rivals` does."
        machine = self.results.machine
        where = ", ".join(machine[name] for name in ("processor", "python") if name in machine)
        return (
            f"Rivals: the lines that begin with | were measured on {self.results.days} ({where}), not now; "
            "`make rivals` measures again."
        )

    def line(self, row: str) -> str | None:
        """What stands under a row; None where no rival does its work."""
        cases = self.cases(row)
        told = [_told(case) for case in sorted(cases, key=_shown) if case.us is not None]
        without = [_title(case) for case in cases if case.us is None]
        told += [f"no figure: {' and '.join(without)}"] if without else []
        remark = REMARKS.get(cases[0].workload, "") if cases else ""
        return f"  | {remark}{', '.join(told)}" if told else None

    def cases(self, row: str) -> list[Case]:
        """Every engine's case for a row: Interlock's too, for comparison."""
        return self.results.on(*SAME_WORK[row]) if row in SAME_WORK else []


def last_figures(path: Path = RESULTS) -> Beside:
    """What the repository keeps."""
    return Beside(read(path))


def _shown(case: Case) -> float:
    """The figure that is shown: by which they are sorted."""
    return (case.us if case.workload in IN_TIME else case.ratio) or 0.0


def _told(case: Case) -> str:
    if case.workload in IN_TIME:
        return f"{_title(case)} {seconds(_shown(case) * (case.size if case.workload == 'build' else 1))}"
    return f"{_title(case)} {ratio(_shown(case))}"


def _title(case: Case) -> str:
    return "Interlock then" if case.engine == "interlock" else ENGINES[case.engine].title

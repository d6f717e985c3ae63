"""The figures as they are kept: ``docs/benchmarks/results.json``."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, cast

__all__ = ["Case", "Results", "Status", "read", "write"]

Status = Literal["measured", "wrong", "failed", "timeout", "unsupported", "missing"]
"""``"wrong"``: the answer was; ``"unsupported"``: the engine has no such thing; ``"missing"``: it is not installed."""


@dataclass(frozen=True, slots=True)
class Case:
    """One engine on one workload of one size.

    Args:
        engine: Its key.
        workload: The key of the workload.
        size: Its size.
        measured: When, in UTC.
        status: What came of it.
        us: Microseconds a unit, where it was measured.
        hand_us: The same by hand, measured beside it; None where nothing is written by hand.
        ratio: The median of the ratios of the pairs.
        pairs: How many there were.
        why: What hindered it.
        load: The machine's load average when it began: above 1, other programs wanted a core too.
    """

    engine: str
    workload: str
    size: int
    measured: str
    status: Status
    us: float | None = None
    hand_us: float | None = None
    ratio: float | None = None
    pairs: int = 0
    why: str = ""
    load: float = 0.0

    @property
    def key(self) -> tuple[str, str, int]:
        """What no two cases share."""
        return self.engine, self.workload, self.size


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured, on one machine.

    Args:
        machine: What it is.
        versions: Of every distribution, by engine.
        cases: In the order in which they are shown.
    """

    machine: Mapping[str, str] = field(default_factory=dict[str, str])
    versions: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    cases: Sequence[Case] = ()

    def of(self, engine: str, workload: str, size: int) -> Case | None:
        """That case, if there is one."""
        return next((case for case in self.cases if case.key == (engine, workload, size)), None)

    def on(self, workload: str, size: int) -> list[Case]:
        """Every engine's case on a workload: the fastest first, then those without a figure."""
        cases = [case for case in self.cases if (case.workload, case.size) == (workload, size)]
        return sorted(cases, key=lambda case: (case.us is None, case.us or 0.0, case.engine))

    def with_cases(self, cases: Iterable[Case]) -> Results:
        """These results with further cases, which take the place of older ones."""
        merged = {case.key: case for case in (*self.cases, *cases)}
        return Results(self.machine, self.versions, list(merged.values()))

    @property
    def load(self) -> tuple[float, float]:
        """The median and the highest of the load averages when cases began."""
        loads = [case.load for case in self.cases if case.load]
        return (statistics.median(loads), max(loads)) if loads else (0.0, 0.0)

    @property
    def days(self) -> str:
        """The day on which it was measured, or the first and the last."""
        days = sorted({case.measured[:10] for case in self.cases})
        return " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "never"


def read(path: Path) -> Results:
    """What was kept; nothing where there is no such file."""
    if not path.exists():
        return Results()
    kept = cast("dict[str, Any]", json.loads(path.read_text("utf-8")))
    names = {one.name for one in fields(Case)}
    cases = [Case(**{name: value for name, value in case.items() if name in names}) for case in kept["cases"]]
    return Results(kept["machine"], kept["versions"], cases)


def write(results: Results, path: Path) -> None:
    """Keep them, a case a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cases = ",\n".join("    " + json.dumps(_without_nothing(case)) for case in results.cases)
    machine, versions = (
        json.dumps(part, indent=2).replace("\n", "\n  ") for part in (results.machine, results.versions)
    )
    text = f'{{\n  "machine": {machine},\n  "versions": {versions},\n  "cases": [\n{cases}\n  ]\n}}\n'
    path.write_text(text, "utf-8")


def _without_nothing(case: Case) -> Mapping[str, object]:
    shown = {name: value for name, value in asdict(case).items() if value not in (None, "", 0, 0.0)}
    return {name: float(f"{value:.4g}") if isinstance(value, float) else value for name, value in shown.items()}

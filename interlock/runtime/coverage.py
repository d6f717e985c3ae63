"""What was read in a run by which guard, and what by none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from interlock.runtime.occurred import Occurred, Spot
from interlock.verdict import CheckRecord, Phase

if TYPE_CHECKING:
    from interlock.runtime.result import AgentResult

__all__ = ["Coverage", "coverage_of", "has_read"]

_WIDTH: Final = 120
"""A table with a column a guard is not wider, in columns of a terminal."""
_READ, _RAN, _UNSAID = "●", "○", "?"
_LEGEND: Final = {
    _READ: "read",
    _RAN: "could read it, and did not",
    _UNSAID: "acted there and did not say what it read",
    "(blank)": "is not asked there",
}

_STANDS: Final[Mapping[Phase, frozenset[str]]] = {
    Phase.INPUT: frozenset(("user", "system", "signal")),
    Phase.INPUT_STEP: frozenset(("user", "system", "signal", "assistant", "tool")),
    Phase.LLM_REQUEST: frozenset(("user", "system", "signal", "assistant", "tool")),
    Phase.API_ERROR: frozenset(),
    Phase.OUTPUT_STREAM: frozenset(("assistant", "tool")),
    Phase.LLM_RESPONSE: frozenset(("assistant",)),
    Phase.OUTPUT_STEP: frozenset(("assistant",)),
    Phase.TOOL_CALL: frozenset(("assistant",)),
    Phase.TOOL_RESULT: frozenset(("tool",)),
    Phase.OUTPUT_RESULT: frozenset(("assistant",)),
}
"""Whose parts a processor is given to look at, at each point."""
_ONLY: Final[Mapping[Phase, frozenset[Spot]]] = {Phase.TOOL_CALL: frozenset((("assistant", "tool-arguments"),))}


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which roles and kinds of parts of a run each guard has read.

    Attributes:
        rows: What occurred in the run, in whatever became of it, and which guards have read it. A guard that failed, or
            was not asked because another blocked first, has not.
        guards: All processors that looked at anything, in running order.
        silent: Those that have not said what they read.
        able: Which were asked where it stood, and did not read it.
        unsaid: Which have acted where it stood, and have not said there what they read: they may have read it.

    Example:
        >>> print(Coverage({("user", "text"): ("pii-detector",), ("user", "file"): ()}, ("pii-detector",), ()))
        role  part  pii-detector
        user  text  ●
        user  file                not checked
        ● read   ○ could read it, and did not   (blank) is not asked there
    """

    rows: Mapping[Spot, Sequence[str]]
    guards: Sequence[str]
    silent: Sequence[str]
    able: Mapping[Spot, Sequence[str]] = field(default_factory=dict[Spot, Sequence[str]])
    unsaid: Mapping[Spot, Sequence[str]] = field(default_factory=dict[Spot, Sequence[str]])

    @property
    def unchecked(self) -> Sequence[Spot]:
        """What no guard has said it read."""
        return [spot for spot, readers in self.rows.items() if not readers]

    @property
    def unsaying(self) -> Sequence[str]:
        """Those that have acted where there was something to look at, and have never said what they read."""
        return [name for name in self.silent if any(name in names for names in self.unsaid.values())]

    def cells(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The table with a column a guard: its heading, and its rows."""
        names = (*self.guards, *self.silent)
        rows = [
            (
                spot[0],
                spot[1],
                *(self._cell(spot, name) for name in names),
                "" if self.rows[spot] else self.by_nobody(spot),
            )
            for spot in self.rows
        ]
        return ("role", "part", *names, ""), rows

    def _cell(self, spot: Spot, name: str) -> str:
        if name in self.rows[spot]:
            return _READ
        return _UNSAID if name in self.unsaid.get(spot, ()) else _RAN if name in self.able.get(spot, ()) else ""

    def by_nobody(self, spot: Spot) -> str:
        """What is said of something that no guard has said it read."""
        return "not said" if self.unsaid.get(spot) else "not checked"

    def __str__(self) -> str:
        heading, rows = self.cells()
        lines = _lines([heading, *rows])
        if max(map(len, lines)) > _WIDTH or len(heading) == 3:  # too many guards for a column each, or none
            told = [(*spot, ", ".join(by) or self.by_nobody(spot)) for spot, by in self.rows.items()]
            lines = _lines([("role", "part", "read by"), *told])
        else:
            used = {cell for row in rows for cell in row} | {_READ, _RAN, "(blank)"}
            lines.append("   ".join(f"{mark} {meaning}" for mark, meaning in _LEGEND.items() if mark in used))
        if self.unsaying:
            lines.append(f"did not say what they read: {', '.join(self.unsaying)}")
        return "\n".join(lines)


def _lines(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def has_read(check: CheckRecord) -> bool:
    """Whether a check stands for a look at what it says was read: its guard has come to a verdict.

    Args:
        check: The record.
    """
    return check.verdict != "not-checked" and not check.failed


def coverage_of(result: AgentResult) -> Coverage:
    """The coverage of a run.

    Args:
        result: The run's.
    """
    occurred = result.occurred or Occurred((result.messages,))
    readers: dict[Spot, dict[str, None]] = {spot: {} for spot in occurred.spots()}
    said: dict[str, bool] = {}
    for check in result.checks:
        said[check.processor_id] = said.get(check.processor_id, False) or bool(check.looked_at)
        for role, part in sorted(check.looked_at) if has_read(check) else ():
            spot = ("tool" if part == "tool-result" else role, part)  # in whichever message it stands
            readers.setdefault(spot, {})[check.processor_id] = None
    able: dict[Spot, dict[str, None]] = {}
    unsaid: dict[Spot, dict[str, None]] = {}
    for spot, read_by in readers.items():
        for check in result.checks:
            if check.processor_id not in read_by and _stood(spot, check.phase):
                into = unsaid if has_read(check) and not check.looked_at else able
                into.setdefault(spot, {})[check.processor_id] = None
    return Coverage(
        {spot: tuple(names) for spot, names in readers.items()},
        tuple(name for name, has_said in said.items() if has_said),
        tuple(name for name, has_said in said.items() if not has_said),
        {spot: tuple(name for name in names if name not in unsaid.get(spot, {})) for spot, names in able.items()},
        {spot: tuple(names) for spot, names in unsaid.items()},
    )


def _stood(spot: Spot, phase: Phase) -> bool:
    """Whether processors of a point are given such parts to look at."""
    only = _ONLY.get(phase)
    return spot[0] in _STANDS[phase] if only is None else spot in only

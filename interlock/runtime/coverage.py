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
_READ, _RAN = "●", "○"
_LEGEND: Final = f"{_READ} read   {_RAN} could read it, and did not   (blank) is not asked there"

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

    @property
    def unchecked(self) -> Sequence[Spot]:
        """What no guard has said it read."""
        return [spot for spot, readers in self.rows.items() if not readers]

    def cells(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The table with a column a guard: its heading, and its rows."""
        names = (*self.guards, *self.silent)
        rows = [
            (role, part, *(self._cell((role, part), name) for name in names), "" if readers else "not checked")
            for (role, part), readers in self.rows.items()
        ]
        return ("role", "part", *names, ""), rows

    def _cell(self, spot: Spot, name: str) -> str:
        return _READ if name in self.rows[spot] else _RAN if name in self.able.get(spot, ()) else ""

    def __str__(self) -> str:
        heading, rows = self.cells()
        lines = _lines([heading, *rows])
        if max(map(len, lines)) > _WIDTH or len(heading) == 3:  # too many guards for a column each, or none
            told = [(role, part, ", ".join(by) or "not checked") for (role, part), by in self.rows.items()]
            lines = _lines([("role", "part", "read by"), *told])
        else:
            lines.append(_LEGEND)
        if self.silent:
            lines.append(f"did not say what they read: {', '.join(self.silent)}")
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
    for spot, read_by in readers.items():
        for check in result.checks:
            if check.processor_id not in read_by and _stood(spot, check.phase):
                able.setdefault(spot, {})[check.processor_id] = None
    return Coverage(
        {spot: tuple(names) for spot, names in readers.items()},
        tuple(name for name, has_said in said.items() if has_said),
        tuple(name for name, has_said in said.items() if not has_said),
        {spot: tuple(names) for spot, names in able.items()},
    )


def _stood(spot: Spot, phase: Phase) -> bool:
    """Whether processors of a point are given such parts to look at."""
    only = _ONLY.get(phase)
    return spot[0] in _STANDS[phase] if only is None else spot in only

"""What processors decided in one run, laid over the drawing of an agent's points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from interlock.verdict import GRAVITY, CheckRecord, Phase
from interlock.workflows import Plan
from interlock.workflows.graph import Vertex
from interlock.workflows.graph_of import graph_of
from interlock.workflows.node_labels import duration_label
from interlock.workflows.overlay import Mark, MarkStatus, Overlay

if TYPE_CHECKING:
    from interlock.runtime.result import AgentResult

__all__ = ["ending", "point_overlay"]

_NOTE_LENGTH: Final = 160
_WORDS: Final = {
    "passed": "✓ passed",
    "changed": "✓ changed",
    "warned": "! warned",
    "blocked": "✗ blocked",
    "not-checked": "not checked",
    "shadow-blocked": "shadow: would have blocked",
    "shadow-changed": "shadow: would have changed",
}
_ENDED: Final = {
    "success": "✓ completed",
    "tripwire": "✗ blocked",
    "suspended": "… suspended",
    "failed": "✗ failed",
    "canceled": "canceled",
}


def ending(result: AgentResult) -> str:
    """How a run ended, in a line.

    Args:
        result: The run's.
    """
    head = _ENDED[result.status]
    tripwire = result.tripwire
    if tripwire is not None:
        at = f" at {tripwire.phase}" if tripwire.phase is not None else ""
        return f"{head} by {tripwire.processor_id!r}{at}: {tripwire.reason}"[:_NOTE_LENGTH]
    if result.error is not None:
        return f"{head}: {type(result.error).__name__}: {result.error}"[:_NOTE_LENGTH]
    return f"{head}, {result.finish_reason}" if result.status == "success" else head


def point_overlay(plan: Plan, phase: Phase, result: AgentResult, *, frames: bool) -> Overlay:
    """One point of the run.

    Args:
        plan: What ran there.
        phase: The point.
        result: The run's.
        frames: Whether each list of the agent is a frame of its own in the plan.
    """
    graph = graph_of(plan)
    told: defaultdict[str, list[CheckRecord]] = defaultdict(list)
    for check in result.checks:
        if check.phase is phase:
            told[check.path].append(check)
    marks: dict[str, Mark] = {}
    for member in graph.members():
        records = told.get(member.path.partition("/")[2] if frames else member.path)
        if records:
            marks[member.path] = _mark(records)
        elif not told and isinstance(member, Vertex):
            marks[member.path] = Mark("not-run", ("not run",))
    return Overlay(
        result.status,
        ending(result),
        result.run_id,
        sum(check.duration for records in told.values() for check in records),
        marks,
        frozenset(graph.edges if told else ()),
    )


def _mark(records: Sequence[CheckRecord]) -> Mark:
    gravest = min(records, key=lambda check: GRAVITY.index(check.verdict))
    times = sum(check.runs for check in records)
    duration = sum(check.duration for check in records)
    words = [_WORDS[gravest.verdict]]
    if times > 1:
        words.append(f"{times} times")
    if any(not check.kept for check in records):
        words.append("left behind")
    if duration:
        words.append(duration_label(duration))
    note = None if gravest.reason is None else gravest.reason[:_NOTE_LENGTH]
    return Mark(
        _status(gravest), tuple(words), note, times=times, duration=duration, attempts=1, verdict=gravest.verdict
    )


def _status(check: CheckRecord) -> MarkStatus:
    if check.verdict == "blocked":
        return "tripwire"
    if check.verdict == "not-checked":
        return "failed" if (check.reason or "").startswith("failed") else "not-run"
    return "success"

"""What processors decided in one run, laid over the drawing of an agent's points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from interlock.errors import StepFailed
from interlock.runtime.reached import NOT_RUN, Reach, was_cut_off, went_through
from interlock.verdict import GRAVITY, CheckRecord, Phase
from interlock.workflows import Plan
from interlock.workflows.graph import Graph, Vertex
from interlock.workflows.graph_of import graph_of
from interlock.workflows.labels import shortened
from interlock.workflows.node_labels import duration_label
from interlock.workflows.overlay import Mark, MarkStatus, Overlay, is_taken

if TYPE_CHECKING:
    from interlock.runtime.result import AgentResult

__all__ = ["ending", "point_overlay", "stopped_at"]

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
        return shortened(f"{head} by {tripwire.processor_id!r}{at}: {tripwire.reason}", _NOTE_LENGTH)
    if result.error is not None:
        return shortened(f"{head}: {_error(result.error)}", _NOTE_LENGTH)
    return f"{head}, {result.finish_reason}" if result.status == "success" else head


def _error(error: Exception) -> str:
    """An error by its class and ids: its message may quote what was said."""
    if not isinstance(error, StepFailed):
        return type(error).__name__
    phase = f" at {error.phase}" if error.phase else ""
    return f"{type(error).__name__} ({type(error.cause).__name__}) in {error.step_id!r}{phase}"


def stopped_at(result: AgentResult) -> Phase | None:
    """The point at which a run was stopped; None where it was at none.

    Args:
        result: The run's.
    """
    if result.tripwire is not None:
        return result.tripwire.phase
    if isinstance(result.error, StepFailed) and result.error.phase:
        return Phase(result.error.phase)
    return Phase.TOOL_CALL if result.status == "suspended" else None


def point_overlay(plan: Plan, phase: Phase, result: AgentResult, *, frames: bool) -> Overlay:
    """One point of the run.

    Args:
        plan: What ran there.
        phase: The point.
        result: The run's.
        frames: Whether each list of the agent is a frame of its own in the plan.
    """
    graph = graph_of(plan)
    checks = [check for check in result.checks if check.phase is phase]
    told: defaultdict[str, list[CheckRecord]] = defaultdict(list)
    for check in checks:
        told[check.path].append(check)
    marks: dict[str, Mark] = {}
    placed: dict[str, Sequence[CheckRecord]] = {}
    for member in graph.members():
        records = told.get(member.path.partition("/")[2] if frames else member.path)
        if records:
            placed[member.path] = records
            marks[member.path] = _mark(records)
        elif not told and isinstance(member, Vertex):
            marks[member.path] = NOT_RUN
    whole = not checks or went_through(checks, stopped=_ended_at(result, checks, phase))
    if not whole:
        Reach(placed, marks, _failed_in(graph, result, phase, frames=frames)).follow(graph.chain)
    return Overlay(
        result.status,
        ending(result),
        result.run_id,
        sum(check.duration for records in told.values() for check in records),
        marks,
        frozenset(edge for edge in graph.edges if told and (whole or is_taken(edge, marks))),
    )


def _ended_at(result: AgentResult, checks: Sequence[CheckRecord], phase: Phase) -> bool:
    """Whether a run ended at a point of it, other than well."""
    if result.status == "canceled":
        return was_cut_off(checks[-1])
    return result.status in ("tripwire", "failed") and stopped_at(result) is phase


def _failed_in(graph: Graph, result: AgentResult, phase: Phase, *, frames: bool) -> str | None:
    """The path of the node that failed at a point, where one has."""
    error = result.error
    if not isinstance(error, StepFailed) or stopped_at(result) is not phase:
        return None
    paths = (member.path for member in graph.members())
    return next((path for path in paths if (path.partition("/")[2] if frames else path) == error.step_id), None)


def _mark(records: Sequence[CheckRecord]) -> Mark:
    gravest = min(records, key=lambda check: GRAVITY.index(check.verdict))
    times = sum(check.runs for check in records)
    duration = sum(check.duration for check in records)
    words = [_WORDS[gravest.verdict]]
    denied = sum(check.denied is not None for check in records)
    if denied:
        words.append(f"denied {denied} call{'' if denied == 1 else 's'}")
    if gravest.failed and gravest.verdict == "blocked":
        words.append("could not decide")
    steps = sorted({check.step_number for check in records if check.step_number is not None})
    if steps:
        words.append(f"step{'' if len(steps) == 1 else 's'} {_numbers(steps)}")
    if times > 1:
        words.append(f"{times} times")
    if any(not check.kept for check in records):
        words.append("left behind")
    if duration:
        words.append(duration_label(duration))
    note = None if gravest.reason is None else shortened(gravest.reason, _NOTE_LENGTH)
    return Mark(
        _status(gravest), tuple(words), note, times=times, duration=duration, attempts=1, verdict=gravest.verdict
    )


def _numbers(steps: Sequence[int]) -> str:
    """Step numbers in few words: the first and the last where none between is left out."""
    if len(steps) > 2 and steps[-1] - steps[0] == len(steps) - 1:
        return f"{steps[0]}–{steps[-1]}"
    return ", ".join(map(str, steps))


def _status(check: CheckRecord) -> MarkStatus:
    if check.verdict == "blocked":
        return "tripwire"
    if check.verdict == "not-checked":
        return "failed" if check.failed else "not-run"
    return "success"

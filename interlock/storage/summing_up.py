"""What a run's rows say about it at one glance. Stores keep the summary up to date as rows come in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from interlock.storage.run_store import JournalRow, RunSummary

__all__ = ["has_ended", "summed_up"]

_ENDED: Final = frozenset({"success", "tripwire", "failed", "canceled"})


def has_ended(status: str) -> bool:
    """Whether nothing comes after this status.

    Example:
        >>> has_ended("success"), has_ended("suspended")
        (True, False)
    """
    return status in _ENDED


def summed_up(run_id: str, rows: Sequence[JournalRow], *, before: RunSummary | None = None) -> RunSummary:
    """A run's summary after some rows.

    Args:
        run_id: The run.
        rows: What is appended; at least one.
        before: The summary up to there; None for the first rows.

    Example:
        >>> start = JournalRow(1, "workflow-start", 7.0, data={"workflow": "greet"})
        >>> begun = summed_up("r1", [start])
        >>> begun.workflow_id, begun.status, begun.rows
        ('greet', 'running', 1)
        >>> summed_up("r1", [JournalRow(2, "workflow-finish", 9.0, data={"status": "success"})], before=begun).status
        'success'
    """
    told = before if before is not None else RunSummary(run_id, "", "running", rows[0].time, rows[0].time, 0)
    workflow_id, status, parent = told.workflow_id, told.status, told.parent
    for row in rows:
        match row.type:
            case "workflow-start":
                status = "running"
                workflow_id = _text(row.data.get("workflow")) or workflow_id
                parent = _parent(row.data.get("parent")) or parent
            case "workflow-resume" | "workflow-recover":
                status = "running"
            case "agent-suspend":
                workflow_id = _text(row.data.get("agent")) or workflow_id
                status = "suspended"
            case "agent-resume":
                status = "running"
            case "workflow-finish" | "agent-finish":
                status = _text(row.data.get("status")) or status
            case _:
                pass
    return replace(
        told,
        workflow_id=workflow_id,
        status=status,
        parent=parent,
        updated_at=rows[-1].time,
        rows=told.rows + len(rows),
        cancel_asked=told.cancel_asked and not has_ended(status),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _parent(value: object) -> str | None:
    return _text(cast("Mapping[str, Any]", value).get("run_id")) if isinstance(value, Mapping) else None

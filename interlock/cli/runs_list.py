"""The runs of a store, a row each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from rich.console import Group

from interlock.cli.arguments import RunStatus
from interlock.cli.recorded import recorded
from interlock.cli.stored_runs import ALL
from interlock.cli.table import Row, table, took
from interlock.storage import RunStore, RunSummary
from interlock.workflows import Suspension

__all__ = [
    "STATUS_STYLES",
    "ListedRun",
    "clock",
    "elapsed",
    "listed_runs",
    "runs_json",
    "runs_table",
    "utc",
    "waits_json",
]

_HEADINGS: Final = ("run", "workflow", "status", "started", "elapsed", "rows", "waits")
_ELAPSED, _ROWS = 4, 5

STATUS_STYLES: Final[Mapping[str, str]] = {
    "running": "cyan",
    "success": "green",
    "tripwire": "bold red",
    "suspended": "yellow",
    "failed": "red",
    "canceled": "dim",
    "paused": "yellow",
    "unfinished": "cyan",
    "bailed": "green",
}
"""How a status is shown."""


@dataclass(frozen=True)
class ListedRun:
    """A run, and what waits in it."""

    summary: RunSummary
    waits: Sequence[Suspension] = ()


async def listed_runs(store: RunStore, *, statuses: Sequence[RunStatus] = (), limit: int = 20) -> list[ListedRun]:
    """The runs whose journal grew last, with what waits in them.

    Args:
        store: Whose.
        statuses: Only those that stand so; empty: all.
        limit: How many at most.
    """
    runs = await store.runs(limit=ALL if statuses else limit)
    meant = [run for run in runs if not statuses or run.status in statuses][:limit]
    return [ListedRun(run, await _waits(store, run)) for run in meant]


async def _waits(store: RunStore, run: RunSummary) -> Sequence[Suspension]:
    return (await recorded(store, run.run_id)).suspensions if run.status == "suspended" else ()


def runs_table(runs: Sequence[ListedRun]) -> Group:
    """The runs as a table."""
    return table(_HEADINGS, [_row(run) for run in runs], right=[_ELAPSED, _ROWS])


def runs_json(runs: Sequence[ListedRun]) -> list[dict[str, Any]]:
    """The runs as JSON."""
    return [
        {
            "run_id": run.summary.run_id,
            "workflow": run.summary.workflow_id,
            "status": run.summary.status,
            "started_at": utc(run.summary.started_at),
            "updated_at": utc(run.summary.updated_at),
            "elapsed": elapsed(run.summary),
            "rows": run.summary.rows,
            "parent": run.summary.parent,
            "cancel_asked": run.summary.cancel_asked,
            "waits": [waits_json(suspension) for suspension in run.waits],
        }
        for run in runs
    ]


def waits_json(suspension: Suspension) -> dict[str, Any]:
    """What waits, as JSON."""
    return {
        "step": suspension.step_id,
        "path": suspension.path,
        "label": suspension.label,
        "payload": suspension.payload,
        "token": suspension.token,
        "index": suspension.index,
    }


def elapsed(summary: RunSummary) -> float:
    """Seconds between a run's first row and its last, with the waits between them."""
    return max(summary.updated_at - summary.started_at, 0.0)


def utc(seconds: float) -> str:
    """A time as JSON has it.

    Example:
        >>> utc(1_782_900_000.25)
        '2026-07-01T10:00:00.250Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def clock(seconds: float) -> str:
    """A time as the clock on the wall has it."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _row(run: ListedRun) -> Row:
    told = run.summary
    waits = ", ".join(one.path if one.label is None else f"{one.path} ({one.label})" for one in run.waits)
    if told.cancel_asked:
        waits = "for its end: it was asked to cancel"
    cells = (
        told.run_id,
        told.workflow_id,
        told.status,
        clock(told.started_at),
        took(elapsed(told)),
        str(told.rows),
        waits,
    )
    return Row(cells, {2: STATUS_STYLES.get(told.status, "")})

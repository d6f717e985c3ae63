"""The runs of a store, a row each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from rich.console import Group

from interlock.cli.arguments import RunStatus
from interlock.cli.recorded import plain, recorded
from interlock.cli.stored_runs import ALL
from interlock.cli.table import Row, table, took
from interlock.errors import StorageError, UnknownRun
from interlock.storage import JournalRow, RunStore, RunSummary
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
_NO_TIME: Final = (ValueError, OverflowError, OSError)
"""What is raised where a number is far from every time: a damaged one must not hide the others."""

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
    "damaged": "bold red",
}
"""How a status is shown."""


@dataclass(frozen=True)
class ListedRun:
    """A run, and what waits in it.

    Args:
        summary: What its store tells of it.
        waits: What waits.
        damage: What is wrong with its journal, where it cannot be told what waits.
    """

    summary: RunSummary
    waits: Sequence[Suspension] = ()
    damage: str | None = None


async def listed_runs(store: RunStore, *, statuses: Sequence[RunStatus] = (), limit: int = 20) -> list[ListedRun]:
    """The runs whose journal grew last, with what waits in them.

    A run whose journal cannot be read is listed as damaged. Only the journals of runs in which something waits are
    looked at.

    Args:
        store: Whose.
        statuses: Only those that stand so; empty: all.
        limit: How many at most.
    """
    looked_at = {*statuses, RunStatus.SUSPENDED} if RunStatus.DAMAGED in statuses else {*statuses}
    found: list[ListedRun] = []
    for summary in await store.runs(limit=ALL if statuses else limit):
        if len(found) == limit:
            break
        if not statuses or summary.status in looked_at:
            run = await _listed(store, summary)
            if not statuses or run.summary.status in statuses:
                found.append(run)
    return found


async def _listed(store: RunStore, run: RunSummary) -> ListedRun:
    if run.status != RunStatus.SUSPENDED:
        return ListedRun(run)
    try:
        rows = await store.read(run.run_id)
        if rows and rows[0].type == "agent-suspend":
            return ListedRun(run, _approvals(rows))
        return ListedRun(run, (await recorded(store, run.run_id)).suspensions)
    except UnknownRun:  # it was deleted meanwhile
        return ListedRun(run)
    except StorageError as error:
        return ListedRun(replace(run, status=RunStatus.DAMAGED), damage=str(error))


def _approvals(rows: Sequence[JournalRow]) -> list[Suspension]:
    """The tool calls that an agent's run waits with."""
    waits: list[Suspension] = []
    for call in plain(rows[-1].data.get("waiting", [])):
        chunk, question = call["chunk"], call["question"]
        if question is not None or (call["asks"] and call["approved"] is None):
            call_id = chunk["tool_call_id"]
            asked = chunk["args"] if question is None else question[0]
            waits.append(Suspension(chunk["tool_name"], chunk["tool_name"], call_id, asked, call_id))
    return waits


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
            **({} if run.damage is None else {"damage": run.damage}),
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
    """A time as JSON has it; what is no time, as the number it is.

    Example:
        >>> utc(1_782_900_000.25)
        '2026-07-01T10:00:00.250Z'
    """
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except _NO_TIME:
        return f"{seconds:g}"


def clock(seconds: float) -> str:
    """A time as the clock on the wall has it; what is no time, as the number it is."""
    try:
        return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except _NO_TIME:
        return f"{seconds:g}"


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

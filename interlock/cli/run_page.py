"""Everything there is to tell of one stored run: how it stands, what its steps did, what waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from interlock.cli.checks_table import VERDICT_STYLES
from interlock.cli.outcomes import json_text
from interlock.cli.recorded import output_of, plain, what_failed
from interlock.cli.runs_list import STATUS_STYLES, clock, elapsed, utc, waits_json
from interlock.cli.stored_runs import command_line
from interlock.cli.table import Row, table, took
from interlock.cli.terminal import visible
from interlock.runtime.journal.history import History
from interlock.storage import RunSummary
from interlock.workflows import Blocked, Failed, Paused, StepRecord

__all__ = ["run_json", "run_page"]

_HEADINGS: Final = ("step", "status", "iteration", "attempts", "verdict", "time")
_STATUS, _ITERATION, _ATTEMPTS, _VERDICT, _TIME = 1, 2, 3, 4, 5
_LONGEST: Final = 400
"""Characters of a value that are shown beside others; ``--json`` has the whole."""


def run_page(summary: RunSummary, history: History, *, store: str) -> Group:
    """The run, for people.

    Args:
        summary: Of its store.
        history: What its journal tells.
        store: The store's file, for the commands that are named.
    """
    parts: list[RenderableType] = [_lines(_head(summary, history))]
    if history.steps:
        parts += ("", table(_HEADINGS, [_row(step) for step in history.steps], right=[_ITERATION, _ATTEMPTS, _TIME]))
    parts.append(_lines(_end(summary, history, store)))
    return Group(*parts)


def run_json(summary: RunSummary, history: History) -> dict[str, Any]:
    """The run, for a program. Values are those of the journal."""
    outcome = history.outcome()
    return {
        "run_id": summary.run_id,
        "workflow": summary.workflow_id,
        "status": summary.status,
        "started_at": utc(summary.started_at),
        "updated_at": utc(summary.updated_at),
        "elapsed": elapsed(summary),
        "rows": summary.rows,
        "parent": history.parent,
        "cancel_asked": summary.cancel_asked,
        "duration": outcome.duration if outcome is not None else None,
        "input": history.input,
        **output_of(history),
        **({"error": what_failed(outcome.error)} if isinstance(outcome, Failed) else {}),
        **({"tripwire": _tripwire(outcome)} if isinstance(outcome, Blocked) else {}),
        "state": outcome.state if outcome is not None else None,
        "steps": [_step_json(step) for step in history.steps],
        "waits": [waits_json(suspension) for suspension in history.suspensions],
        **({"next": list(outcome.next)} if isinstance(outcome, Paused) else {}),
    }


def _lines(lines: Iterable[str]) -> Text:
    return Text(visible("\n".join(lines)), no_wrap=True, overflow="ignore")


def _step_json(step: StepRecord) -> dict[str, Any]:
    return {
        "path": step.path,
        "step": step.step_id,
        "kind": step.kind,
        "status": step.status,
        "iteration": step.iteration,
        "attempts": step.attempts,
        "started_at": utc(step.started_at),
        "duration": step.duration,
        "input": step.input,
        "output": step.output,
        "error": what_failed(step.error, step.path) if step.error is not None else None,
        "verdict": step.verdict,
        "chosen": list(step.chosen) if step.chosen is not None else None,
    }


def _tripwire(outcome: Blocked) -> Mapping[str, Any]:
    tripwire = outcome.tripwire
    phase = None if tripwire.phase is None else str(tripwire.phase)
    return {
        "reason": tripwire.reason,
        "processor_id": tripwire.processor_id,
        "phase": phase,
        "retry": tripwire.retry,
        "metadata": tripwire.metadata,
    }


def _head(summary: RunSummary, history: History) -> Iterator[str]:
    yield f"run {summary.run_id} of workflow {summary.workflow_id}"
    yield f"status   {_standing(summary)}"
    yield f"started  {clock(summary.started_at)}, last written {clock(summary.updated_at)}, {summary.rows} rows"
    if history.parent is not None:
        yield f"parent   {history.parent.get('run_id')}, forked at {history.parent.get('step')}"
    yield f"input    {_brief(history.input)}"
    outcome = history.outcome()
    match outcome:
        case Failed(error=error):
            yield f"error    {what_failed(error)}"
        case Blocked(tripwire=tripwire):
            yield f"blocked  by {tripwire.processor_id}: {tripwire.reason}"
        case _:
            yield from (f"output   {_brief(output)}" for output in output_of(history).values())
    if outcome is not None and outcome.state:
        yield f"state    {_brief(outcome.state)}"


def _standing(summary: RunSummary) -> str:
    if summary.status == "running":
        asked = "; it was asked to cancel" if summary.cancel_asked else ""
        return f"running, or its process died{asked}"
    return summary.status


def _row(step: StepRecord) -> Row:
    cells = (
        step.path,
        step.status,
        str(step.iteration),
        str(step.attempts),
        step.verdict or "",
        took(step.duration) if step.duration else "",
    )
    styles = {_STATUS: STATUS_STYLES.get(step.status, "")}
    if step.verdict is not None:
        styles[_VERDICT] = VERDICT_STYLES[step.verdict]
    return Row(cells, styles, list(_remarks(step)), indent=4)


def _remarks(step: StepRecord) -> Iterator[str]:
    if step.error is not None:
        yield what_failed(step.error, step.path)
    if step.chosen is not None:
        yield f"took {', '.join(step.chosen)}" if step.chosen else "took no arm"


def _end(summary: RunSummary, history: History, store: str) -> Iterator[str]:
    """What waits, and what can be done now."""
    waits = history.suspensions if summary.status == "suspended" else ()
    for suspension in waits:
        yield ""
        yield f"waits    {suspension.path}" + ("" if suspension.index is None else f", index {suspension.index}")
        if suspension.label is not None:
            yield f"label    {suspension.label}"
        yield f"token    {suspension.token}"
        if suspension.payload is not None:
            yield f"payload  {_indented(json_text(plain(suspension.payload), indent=2))}"
    if waits:
        yield ""
        which: Sequence[str] = ("--token", "TOKEN") if len(waits) > 1 else ()
        called = command_line("runs", "resume", "FILE:NAME", summary.run_id, "--store", store, *which)
        yield f"answer it with: {called} --data JSON"
    elif summary.status in ("running", "paused"):
        yield ""
        called = command_line("runs", "recover", "FILE:NAME", summary.run_id, "--store", store)
        outcome = history.outcome()
        if isinstance(outcome, Paused):
            yield f"next     {', '.join(outcome.next)}"
            yield ""
            yield f"take one step, in Python: await {_run_again(summary.run_id, store)}.next()"
            yield f"run all the rest without stopping: {called}"
        else:
            yield f"if its process died, go on with: {called}"


def _run_again(run_id: str, store: str) -> str:
    return f"workflow.create_run({run_id!r}, store=SQLiteRunStore({store!r}))"


def _brief(value: object) -> str:
    text = json_text(plain(value))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… (all of it: --json)"


def _indented(text: str) -> str:
    return text.replace("\n", "\n         ")

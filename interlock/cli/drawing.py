"""Drawing an agent or a workflow, with a run laid over it or without."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, assert_never

import anyio

from interlock.cli.ending import WrongCall
from interlock.cli.loading import Runnable
from interlock.cli.stored_runs import existing_store, found_run
from interlock.cli.terminal import say
from interlock.runtime import Agent
from interlock.runtime.journal.history import History, RunHistory
from interlock.runtime.prepared import Prepared
from interlock.workflows import Outcome, Paused, Workflow

__all__ = ["DrawingFormat", "drawing", "form_for", "stored_run", "write_drawing"]


class DrawingFormat(StrEnum):
    """How a graph is drawn."""

    TEXT = "text"
    MERMAID = "mermaid"
    SVG = "svg"
    DOT = "dot"
    JSON = "json"


_BY_ENDING: Final = {
    ".txt": DrawingFormat.TEXT,
    ".mmd": DrawingFormat.MERMAID,
    ".mermaid": DrawingFormat.MERMAID,
    ".svg": DrawingFormat.SVG,
    ".dot": DrawingFormat.DOT,
    ".gv": DrawingFormat.DOT,
    ".json": DrawingFormat.JSON,
}


def form_for(file: Path | None) -> DrawingFormat:
    """The form that the ending of a file's name speaks of; text where there is no file, or its name has no ending.

    Raises:
        WrongCall: The ending is that of no form.

    Example:
        >>> form_for(Path("refund.svg")), form_for(Path("refund.txt")), form_for(None)
        (<DrawingFormat.SVG: 'svg'>, <DrawingFormat.TEXT: 'text'>, <DrawingFormat.TEXT: 'text'>)
    """
    if file is None or not file.suffix:
        return DrawingFormat.TEXT
    form = _BY_ENDING.get(file.suffix.lower())
    if form is None:
        raise WrongCall(
            f"{file} ends in {file.suffix}, and nothing is drawn so: let its name end in one of "
            f"{', '.join(_BY_ENDING)}, or say --format {'|'.join(DrawingFormat)}"
        )
    return form


def drawing(runnable: Runnable, form: DrawingFormat, run: Outcome[Any] | Paused | None = None) -> str:
    """The drawing.

    Args:
        runnable: What to draw.
        form: How.
        run: A run to lay over it; of a workflow.

    Raises:
        WrongCall: An agent is not drawn so.
    """
    if isinstance(runnable, Agent):
        return _of_agent(runnable, form)
    match form:
        case DrawingFormat.TEXT:
            return runnable.to_text(run=run)
        case DrawingFormat.MERMAID:
            return runnable.to_mermaid(run=run)
        case DrawingFormat.SVG:
            return runnable.to_svg(run=run)
        case DrawingFormat.DOT:
            return runnable.to_dot(run=run)
        case DrawingFormat.JSON:
            return _json(runnable.to_json(run=run))
        case _:
            assert_never(form)


def stored_run(runnable: Runnable, target: str, meant: str, file: Path) -> Outcome[Any] | Paused:
    """How a stored run ended, or as far as it came, to lay it over the drawing of its workflow.

    Args:
        runnable: The run's workflow.
        target: How it was named.
        meant: The run's id, or its beginning.
        file: The store's file.

    Raises:
        WrongCall: There is no such run, or it is another workflow's.
    """
    if not isinstance(runnable, Workflow):
        raise WrongCall(f"{target} is an agent; runs that a store keeps are those of workflows")
    workflow = runnable

    async def read() -> History:
        store = await existing_store(file)
        run_id = (await found_run(store, meant)).run_id
        return await RunHistory(store, Prepared(workflow).form(workflow)).read(run_id)

    history = anyio.run(read)
    if history.workflow_id != workflow.id:
        raise WrongCall(
            f"run {history.run_id!r} is one of workflow {history.workflow_id!r}, and {target} is workflow "
            f"{workflow.id!r}: draw it on its own workflow"
        )
    if history.fingerprint != workflow.fingerprint:
        say(
            f"interlock: run {history.run_id} was made by another shape of the workflow; what does not fit is not drawn"
        )
    return history.outcome() or _under_way(history)


def write_drawing(file: Path, drawn: str) -> None:
    """Write a drawing to a file.

    Raises:
        WrongCall: It cannot be written.
    """
    try:
        file.write_text(drawn.rstrip("\n") + "\n", "utf-8", newline="\n")
    except OSError as error:
        raise WrongCall(f"{file} cannot be written: {error.strerror}; choose another file for --output") from None


def _of_agent(agent: Agent, form: DrawingFormat) -> str:
    match form:
        case DrawingFormat.TEXT:
            return agent.to_text()
        case DrawingFormat.MERMAID:
            return agent.to_mermaid()
        case DrawingFormat.SVG:
            return agent.to_svg()
        case DrawingFormat.JSON:
            return _json(agent.to_json())
        case DrawingFormat.DOT:
            raise WrongCall("an agent is drawn as text, mermaid, svg or json, and a workflow as dot too")
        case _:
            assert_never(form)


def _under_way(history: History) -> Paused:
    """A run that has not ended, as far as its journal tells: no step is known to be next."""
    duration = max(history.updated_at - history.started_at, 0.0)
    return Paused((), run_id=history.run_id, steps=history.steps, duration=duration)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)

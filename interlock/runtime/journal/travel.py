"""A run forked from another: what had finished before one of its steps began is taken over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import time
from typing import Any, Final

from interlock.context import RequestContext
from interlock.errors import RunError
from interlock.runtime.journal.history import History, RunHistory
from interlock.runtime.prepared import Prepared, given_values
from interlock.runtime.stored_run import StoredRun
from interlock.schema import is_set, validate
from interlock.steps import Step, supports_step
from interlock.storage import JournalRow, RunStore
from interlock.workflows import Workflow
from interlock.workflows.nodes import NestedNode, Node, StepNode, nodes_by_path

__all__ = ["forked"]

_LEFT: Final = ("workflow-start", "workflow-finish", "workflow-recover")
"""What a fork does not take over: it has a beginning of its own, and no end yet."""


async def forked(
    workflow: Workflow[Any, Any],
    prepared: Prepared,
    store: RunStore,
    run_id: str,
    step: object,
    *,
    new_run_id: str,
    value: object,
    state: object,
    request_context: Mapping[str, object] | None,
    allow_changed_graph: bool,
) -> History:
    """Write a new run's journal up to where a step of an old one began; gives what it tells.

    Args:
        workflow: The workflow.
        prepared: What is made once of it.
        store: The store of both.
        run_id: The old run.
        step: The step, its id or its path; or the id of what is none (a map, a block).
        new_run_id: The new run.
        value: What the step is given; ``UNSET``: what it was given.
        state: What of the run's state is to be otherwise, a mapping; None: nothing.
        request_context: What steps may read; None: what of the old run's could be recorded.
        allow_changed_graph: Whether the workflow may have another shape now.

    Raises:
        UnknownRun: The store has no such run.
        GraphChanged: The workflow has another shape now.
        RunError: The step did not begin in it, or its id is that of several.
        AlreadyStarted: There is a run of the new id.
        pydantic.ValidationError: The value does not fit the step's schema.
    """
    form = prepared.form(workflow)
    old = StoredRun(store, run_id, workflow, form)
    history = await old.read()
    old.check_workflow(history)
    if not allow_changed_graph:
        old.check_graph(history)
    path = _path_of(step, dict(nodes_by_path(workflow.plan)), run_id)
    made = prepared.steps(workflow).get(path)
    if is_set(value) and made is not None:
        value = validate(made.input_schema, value)
    rows = await RunHistory(store, form).rows(run_id)
    starts = [row for row in rows if row.type == "step-start"]
    begun = next((row for row in starts if row.path == path), None)
    if begun is None:
        raise RunError(
            f"step {path!r} did not begin in run {run_id!r}: nothing can be run anew from there; those that began are "
            + ", ".join(map(repr, dict.fromkeys(row.path for row in starts)))
        )
    kept = [row for row in rows if row.seq < begun.seq and row.type not in _LEFT]
    changed = given_values(state)
    if changed:
        written = form.values({"state": changed, "set": True})
        kept.append(JournalRow(0, "state-changed", time(), data=written))
    parent: dict[str, object] = {"run_id": run_id, "step": path, "at": begun.at, "rows": len(kept)}
    given = dict(history.past().given)  # what it was forked with, where it is a fork itself
    if is_set(value):
        given[path, begun.at] = value
    parent["given"] = [[*key, one] for key, one in given.items()]
    context = request_context if request_context is not None else RequestContext(history.request_context)
    new = StoredRun(store, new_run_id, workflow, form)
    numbered = tuple(replace(row, seq=number) for number, row in enumerate(kept, 2))
    await new.begin(history.input, history.state, context, parent=parent, rows=numbered)
    return await new.read()


def _path_of(step: object, nodes: Mapping[str, Node], run_id: str) -> str:
    if supports_step(step):
        made: Step[Any, Any] = step.as_step()
        paths: Sequence[str] = [
            path for path, node in nodes.items() if isinstance(node, StepNode | NestedNode) and node.step is made
        ]
        said = repr(made.id)
    else:
        paths = [path for path, node in nodes.items() if step in (path, node.id)]
        said = repr(step)
    if step in paths:
        return str(step)
    if len(paths) == 1:
        return paths[0]
    if paths:
        raise RunError(f"{said} is the id of several steps, {', '.join(map(repr, paths))}: name one by its path")
    raise RunError(f"run {run_id!r} cannot be run anew from {said}: its workflow has no such step")

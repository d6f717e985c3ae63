"""Running a workflow on a text or a value, what it gives on standard output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio

from interlock.cli.ending import Ending, WrongCall
from interlock.cli.outcomes import ending_of
from interlock.cli.stored_call import StoredCall, faults_told
from interlock.cli.stored_runs import command_line, new_store
from interlock.cli.terminal import AnswerOutput, say, visible
from interlock.errors import AlreadyStarted
from interlock.processors import InputContext
from interlock.processors.base import ProcessorStep
from interlock.schema import is_set, schema_name, validate
from interlock.workflows import Outcome, Workflow, acting_steps

__all__ = ["json_input", "run_workflow", "workflow_input"]


def run_workflow(
    workflow: Workflow[Any, Any],
    value: object,
    output: AnswerOutput,
    *,
    target: str = "FILE:NAME",
    store: Path | None = None,
    run_id: str | None = None,
) -> Ending:
    """Run a workflow, writing what it gives.

    Args:
        workflow: What to run.
        value: Its input; see :func:`workflow_input` and :func:`json_input`.
        output: Where what continues goes.
        target: How the workflow was named, for the commands that are said.
        store: Where the run is kept; None: nowhere.
        run_id: The run's id; default: a fresh one.

    Raises:
        WrongCall: There is a run of that id, or it is empty.
    """
    if run_id == "":
        raise WrongCall("--run-id is empty: name the run, or leave the option out for a fresh id")
    if store is None:
        return ending_of(anyio.run(lambda: workflow.create_run(run_id).start(value)), output)
    told = StoredCall(target, store)

    async def run() -> Outcome[Any]:
        run = workflow.create_run(run_id, store=await new_store(store))
        told.run_id = run.run_id
        say(f"interlock: run {visible(run.run_id)}")
        try:
            return await run.start(value)
        except AlreadyStarted:
            raise WrongCall(
                f"there is a run {run.run_id!r} in {store}: choose another --run-id, or see how it stands with: "
                f"{command_line('runs', 'show', run.run_id, '--store', str(store))}"
            ) from None

    return told.ending(run, output)


def workflow_input(workflow: Workflow[Any, Any], text: str) -> object:
    """What a workflow is given for a text.

    A workflow of processors gets an :class:`InputContext`. Any other gets the text where its input schema takes one,
    and otherwise what the text says as JSON.

    Raises:
        WrongCall: It is none of these.
    """
    schema = workflow.input_schema
    if not is_set(schema):
        guards = any(isinstance(step, ProcessorStep) for step in acting_steps(workflow.plan))
        return InputContext(text) if guards else text
    for candidate in (text, InputContext(text)):
        if fault_of(schema, candidate) is None:
            return candidate
    return json_input(workflow, text, name="TEXT")


def json_input(workflow: Workflow[Any, Any], text: str, *, name: str = "--input") -> object:
    """What a workflow is given for some JSON.

    Args:
        workflow: The workflow.
        text: The JSON.
        name: What the caller knows it as.

    Raises:
        WrongCall: It is none, or does not fit the workflow's schema.
    """
    schema = workflow.input_schema
    takes = f"workflow {workflow.id!r} takes {schema_name(schema)}" if is_set(schema) else "it is read as such"
    try:
        value: object = json.loads(text)
    except ValueError as error:
        raise WrongCall(f"{takes}, so {name} has to be JSON, and it is none: {error}") from None
    fault = fault_of(schema, value)
    if fault is not None:
        raise WrongCall(f"{name} does not fit what workflow {workflow.id!r} takes, {schema_name(schema)}: {fault}")
    return value


def fault_of(schema: object, value: object) -> str | None:
    """What is wrong with a value, by a schema; None where nothing is."""
    from pydantic import ValidationError

    try:
        validate(schema, value)
    except ValidationError as error:
        return faults_told(error)
    return None

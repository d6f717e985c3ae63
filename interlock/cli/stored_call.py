"""Calls that go on with a stored run: answering it, recovering it; and what is said when one of them ends."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from interlock.cli.ending import Ending, ExitCode, WrongCall
from interlock.cli.outcomes import ending_of
from interlock.cli.stored_runs import command_line, existing_store, found_run
from interlock.cli.terminal import AnswerOutput
from interlock.errors import AlreadyResumed, GraphChanged, NothingSuspended, RunBusy
from interlock.storage import RunSummary, SQLiteRunStore, has_ended
from interlock.storage.run_store import DAMAGED
from interlock.workflows import Outcome, Suspension, Workflow

if TYPE_CHECKING:
    from pydantic import ValidationError

__all__ = ["StoredCall", "faults_told", "recover_run", "resume_run"]


class StoredCall:
    """A call that runs a stored run, or runs on with it.

    Args:
        target: How the workflow was named.
        store: The store's file.

    Attributes:
        run_id: The run, once it is known.
        said: What to say of it where it ends well.
    """

    def __init__(self, target: str, store: Path) -> None:
        self.run_id = ""
        self.said: str | None = None
        self._target = target
        self._store = store

    def ending(self, run: Callable[[], Awaitable[Outcome[Any]]], output: AnswerOutput) -> Ending:
        """Run, write what it gives, and say how it ended; where it is to be gone on with, by which command."""
        try:
            outcome = anyio.run(run)
        except KeyboardInterrupt:
            if not self.run_id:
                raise
            return Ending(ExitCode.INTERRUPTED, f"interrupted; go on with: {self._command('recover')}")
        return ending_of(outcome, output, answer=self._answer, said=self.said)

    def _answer(self, suspension: Suspension | None) -> str:
        token = () if suspension is None else ("--token", suspension.token)
        return self._command("resume", *token, "--data") + " JSON"

    def _command(self, verb: str, *options: str) -> str:
        return command_line("runs", verb, self._target, self.run_id, "--store", str(self._store), *options)


def resume_run(
    workflow: Workflow[Any, Any],
    meant: str,
    data: str,
    output: AnswerOutput,
    *,
    target: str,
    store: Path,
    step: str | None = None,
    label: str | None = None,
    token: str | None = None,
    index: int | None = None,
) -> Ending:
    """Answer a step that waits, and run on.

    Args:
        workflow: The run's workflow.
        meant: The run's id, or its beginning.
        data: The answer, as JSON.
        output: Where what continues goes.
        target: How the workflow was named.
        store: The store's file.
        step, label, token, index: Which step, where several wait; see :meth:`WorkflowRun.resume`.

    Raises:
        WrongCall: The run, or what waits in it, does not take the answer. Nothing has happened.
    """
    from pydantic import ValidationError

    answer = _json(data)
    call = StoredCall(target, store)

    async def resume() -> Outcome[Any]:
        kept, summary = await _found(workflow, meant, target, store)
        call.run_id = summary.run_id
        run = workflow.create_run(summary.run_id, store=kept)
        try:
            return await run.resume(answer, step=step, label=label, token=token, index=index)
        except ValidationError as error:
            raise WrongCall(f"--data does not fit what the step takes; it still waits: {faults_told(error)}") from None
        except GraphChanged:
            raise WrongCall(_changed(summary, target)) from None
        except RunBusy:
            raise WrongCall(
                f"run {summary.run_id!r} is under way: wait until it stands still. If its process died, go on with: "
                f"{command_line('runs', 'recover', target, summary.run_id, '--store', str(store))}"
            ) from None
        except AlreadyResumed as error:
            raise WrongCall(str(error)) from None
        except NothingSuspended as error:
            shown = command_line("runs", "show", summary.run_id, "--store", str(store))
            raise WrongCall(f"{error} (here --step, --label, --index, --token)\n  what waits: {shown}") from None

    return call.ending(resume, output)


def recover_run(
    workflow: Workflow[Any, Any],
    meant: str,
    output: AnswerOutput,
    *,
    target: str,
    store: Path,
    allow_changed_graph: bool = False,
) -> Ending:
    """Go on with a run whose process died.

    Args:
        workflow: The run's workflow.
        meant: The run's id, or its beginning.
        output: Where what continues goes.
        target: How the workflow was named.
        store: The store's file.
        allow_changed_graph: Whether to go on although the workflow has another shape now.

    Raises:
        WrongCall: There is no such run, or it is another workflow's. Nothing has happened.
    """
    call = StoredCall(target, store)

    async def recover() -> Outcome[Any]:
        kept, summary = await _found(workflow, meant, target, store)
        call.run_id = summary.run_id
        if has_ended(summary.status):
            call.said = "the run had ended before; this is what it gave"
        try:
            return await workflow.recover(summary.run_id, store=kept, allow_changed_graph=allow_changed_graph)
        except GraphChanged:
            raise WrongCall(f"{_changed(summary, target)}, or pass --allow-changed-graph") from None

    return call.ending(recover, output)


def faults_told(error: ValidationError) -> str:
    """What is wrong with a value, in a line, without the value."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}".removeprefix(": ") for one in faults)


async def _found(
    workflow: Workflow[Any, Any], meant: str, target: str, file: Path
) -> tuple[SQLiteRunStore, RunSummary]:
    store = await existing_store(file)
    summary = await found_run(store, meant)
    if summary.workflow_id != workflow.id and summary.status != DAMAGED:
        raise WrongCall(
            f"run {summary.run_id!r} is one of workflow {summary.workflow_id!r}, and {target} is workflow "
            f"{workflow.id!r}: name the file and the object of the run's own workflow"
        )
    return store, summary


def _changed(summary: RunSummary, target: str) -> str:
    return (
        f"run {summary.run_id!r} was made by another shape of workflow {summary.workflow_id!r} than {target} has now: "
        "go on with it with the old code"
    )


def _json(data: str) -> object:
    try:
        value: object = json.loads(data)
    except ValueError as error:
        raise WrongCall(
            f"--data has to be JSON, and it is none: {error}. A text stands in double quotes: --data '\"yes\"'"
        ) from None
    return value

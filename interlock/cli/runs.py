"""``interlock runs``: the runs that a store keeps are listed, looked at, answered, recovered, ended."""

from __future__ import annotations

import json
from typing import Annotated, Any

import anyio
import typer

from interlock.cli.arguments import AgentTarget, AsJson, RunId, RunStatus, StoreFile, WorkflowTarget
from interlock.cli.command import carry_out
from interlock.cli.ending import Ending, ExitCode, WrongCall
from interlock.cli.loading import load
from interlock.cli.terminal import AnswerOutput, read_text, visible
from interlock.runtime import Agent
from interlock.workflows import Workflow

__all__ = ["runs_app"]

runs_app = typer.Typer(
    name="runs",
    help="Look after the runs that a store keeps.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@runs_app.command("list")
def list_runs(
    store: StoreFile,
    status: Annotated[
        list[RunStatus] | None,
        typer.Option("--status", help="Only runs that stand so; may be given several times.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, metavar="N", help="How many at most.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List runs, the one whose journal grew last first.

    Of one that is damaged, what is wrong is said on standard error.
    """

    def work(output: AnswerOutput) -> Ending:
        from interlock.cli.runs_list import listed_runs, runs_json, runs_table
        from interlock.cli.stored_runs import existing_store
        from interlock.cli.table import rendered

        async def listed() -> Any:
            return await listed_runs(await existing_store(store), statuses=status or (), limit=limit)

        runs = anyio.run(listed)
        if as_json:
            output.write(_json(runs_json(runs)))
        elif runs:
            output.write_own(rendered(runs_table(runs), output.stream) + "\n")
        else:
            return Ending(ExitCode.SUCCESS, f"{store} has no such runs" if status else f"{store} has no runs")
        damaged = [f"{run.summary.run_id} is damaged: {run.damage}" for run in runs if run.damage is not None]
        return Ending(ExitCode.SUCCESS, "\n  ".join(damaged) or None)

    carry_out(work)


@runs_app.command("show")
def show_run(run_id: RunId, store: StoreFile, as_json: AsJson = False) -> None:
    """Show a run: how it stands, what each step did, what waits. Values are shown as they were recorded."""

    def work(output: AnswerOutput) -> Ending:
        from interlock.cli.recorded import recorded
        from interlock.cli.run_page import run_json, run_page
        from interlock.cli.stored_runs import existing_store, found_run
        from interlock.cli.table import rendered

        async def found() -> Any:
            kept = await existing_store(store)
            summary = await found_run(kept, run_id)
            return summary, await recorded(kept, summary.run_id)

        summary, history = anyio.run(found)
        if as_json:
            output.write(_json(run_json(summary, history)))
        else:
            output.write_own(rendered(run_page(summary, history, store=str(store)), output.stream) + "\n")
        return Ending(ExitCode.SUCCESS)

    carry_out(work)


@runs_app.command("cancel")
def cancel(
    run_id: RunId,
    store: StoreFile,
    force: Annotated[
        bool,
        typer.Option("--force", help="End it at once also where it seems to be running, because its process died."),
    ] = False,
) -> None:
    """End a run. One that waits ends at once; one that is running ends when it next writes to its journal."""

    def work(output: AnswerOutput) -> Ending:
        from interlock.cli.stored_runs import command_line, existing_store, found_run
        from interlock.runtime.stored_cancel import cancel_run

        async def canceled() -> Any:
            kept = await existing_store(store)
            found = (await found_run(kept, run_id)).run_id
            return found, await cancel_run(kept, found, force=force), (await found_run(kept, found)).status

        found, result, status = anyio.run(canceled)
        match result:
            case "canceled":
                message = f"run {found} is canceled"
            case "asked":
                forced = command_line("runs", "cancel", found, "--store", str(store), "--force")
                message = (
                    f"run {found} is asked to end; it does when it next writes to its journal. "
                    f"If its process died: {forced}"
                )
            case _:
                message = f"run {found} had ended already: {status}"
        output.write_own(f"{visible(message)}\n")
        return Ending(ExitCode.SUCCESS)

    carry_out(work)


@runs_app.command("resume")
def resume(
    target: WorkflowTarget,
    run_id: RunId,
    store: StoreFile,
    data: Annotated[
        str,
        typer.Option("--data", metavar="JSON", help="The answer; -: from standard input.", show_default=False),
    ],
    step: Annotated[
        str | None, typer.Option("--step", help="Which step, by its id or path.", show_default=False)
    ] = None,
    label: Annotated[
        str | None, typer.Option("--label", help="Which, by the label of its question.", show_default=False)
    ] = None,
    token: Annotated[str | None, typer.Option("--token", help="Which, by its token.", show_default=False)] = None,
    index: Annotated[
        int | None, typer.Option("--index", help="Which item of a foreach, from 0.", show_default=False)
    ] = None,
) -> None:
    """Answer a step that waits, and run on. Prints, and exits with, what `interlock run` does.

    Where several steps wait, say which. `interlock runs show` lists them.
    """

    def work(output: AnswerOutput) -> Ending:
        from interlock.cli.stored_call import resume_run

        return resume_run(
            _workflow(target),
            run_id,
            read_text(data),
            output,
            target=target,
            store=store,
            step=step,
            label=label,
            token=token,
            index=index,
        )

    carry_out(work)


@runs_app.command("approve")
def approve(
    target: AgentTarget,
    run_id: Annotated[str, typer.Argument(metavar="RUN_ID", help="The run's id.", show_default=False)],
    deny: Annotated[bool, typer.Option("--deny", help="Refuse what it waits for.")] = False,
    reason: Annotated[
        str | None, typer.Option("--reason", help="Why it is refused; the model is told.", show_default=False)
    ] = None,
    call: Annotated[
        str | None,
        typer.Option("--call", metavar="ID", help="Which tool call, where several wait.", show_default=False),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="JSON",
            help="What a tool is answered that has asked something; -: from standard input.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Have a tool that waits for an approval run, or refuse it, and run on with the agent's run.

    The agent's own `run_store` keeps the run. Prints, and exits with, what `interlock run` does.
    """

    def work(output: AnswerOutput) -> Ending:
        from interlock.cli.asking import answer_agent

        if reason is not None and not deny:
            raise WrongCall("--reason says why something is refused: it goes with --deny")
        if data is not None and deny:
            raise WrongCall("--data answers a tool, and --deny refuses it: pass one of them")
        return answer_agent(
            _agent(target),
            run_id,
            output,
            target=target,
            approve=False if deny else True if data is None else None,
            reason=reason,
            call=call,
            data=None if data is None else read_text(data),
        )

    carry_out(work)


@runs_app.command("recover")
def recover(
    target: WorkflowTarget,
    run_id: RunId,
    store: StoreFile,
    allow_changed_graph: Annotated[
        bool,
        typer.Option("--allow-changed-graph", help="Go on although the workflow has another shape now."),
    ] = False,
) -> None:
    """Go on with a run whose process died. Prints, and exits with, what `interlock run` does.

    What has finished does not run again; a step that was under way begins anew. Make sure that the process is dead:
    of two that run one run, the first to write goes on, and the other fails.
    """

    def work(output: AnswerOutput) -> Ending:
        from interlock.cli.stored_call import recover_run

        return recover_run(
            _workflow(target),
            run_id,
            output,
            target=target,
            store=store,
            allow_changed_graph=allow_changed_graph,
        )

    carry_out(work)


def _agent(target: str) -> Agent:
    runnable = load(target)
    if not isinstance(runnable, Agent):
        raise WrongCall(f"{target} is a workflow: its runs are answered with interlock runs resume")
    return runnable


def _workflow(target: str) -> Workflow[Any, Any]:
    runnable = load(target)
    if not isinstance(runnable, Workflow):
        raise WrongCall(f"{target} is an agent: what its runs wait for is answered with interlock runs approve")
    return runnable


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)

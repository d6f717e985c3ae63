"""The commands: what may be said on the command line, and the exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interlock.cli.arguments import Target
from interlock.cli.asking import run_agent
from interlock.cli.command import carry_out
from interlock.cli.drawing import DrawingFormat, drawing, form_for, stored_run, write_drawing
from interlock.cli.ending import Ending, ExitCode, WrongCall
from interlock.cli.loading import load
from interlock.cli.running import json_input, run_workflow, workflow_input
from interlock.cli.runs import runs_app
from interlock.cli.terminal import AnswerOutput, read_text
from interlock.runtime import Agent

__all__ = ["app", "main"]

app = typer.Typer(
    name="interlock",
    help="Run and draw agents and the graphs of guards around them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


def main() -> None:
    """The entry point of ``interlock``."""
    app(prog_name="interlock")


@app.command()
def run(
    target: Target,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="What to run it on. Default, or -: standard input.", show_default=False),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--input", metavar="JSON", help="A workflow's input, as JSON.", show_default=False),
    ] = None,
    checks: Annotated[
        bool, typer.Option("--checks", help="Print below the answer what each guard decided, and how long it took.")
    ] = False,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="FILE",
            help="Keep a workflow's run in this file, made where there is none, so that it can be resumed, recovered "
            "and looked at with `interlock runs`.",
            show_default=False,
        ),
    ] = None,
    run_id: Annotated[
        str | None,
        typer.Option(
            "--run-id", metavar="ID", help="A workflow's run gets this id. Default: a fresh one.", show_default=False
        ),
    ] = None,
) -> None:
    """Run an agent or a workflow on a text.

    Standard output holds the answer and nothing else. Exit codes: 0 it ran to its end, 1 it failed, 2 the call is
    wrong, 3 a guard blocked it, 4 it is suspended and waits for an answer.
    """

    def work(output: AnswerOutput) -> Ending:
        runnable = load(target)
        if isinstance(runnable, Agent):
            for name, given in {"--input": data, "--store": store, "--run-id": run_id}.items():
                if given is not None:
                    raise WrongCall(f"{target} is an agent, and {name} is for workflows: leave it out")
            return run_agent(runnable, read_text(text), output, target=target)
        if text is not None and data is not None:
            raise WrongCall("TEXT and --input both say what to run it on: pass one of them")
        value = workflow_input(runnable, read_text(text)) if data is None else json_input(runnable, data)
        return run_workflow(runnable, value, output, target=target, store=store, run_id=run_id)

    carry_out(work, checks=checks)


@app.command()
def graph(
    target: Target,
    form: Annotated[
        DrawingFormat | None,
        typer.Option(
            "--format",
            "-f",
            help="How to draw it. Default: what the name of the --output file ends in (.svg, .mmd, .dot, .json, "
            ".txt); text without one.",
            show_default=False,
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to a file instead of standard output.",
            show_default=False,
        ),
    ] = None,
    run_id: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN_ID",
            help="Show a workflow's run on it: its id, or as much of its beginning as no other has. Needs --store.",
            show_default=False,
        ),
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="FILE", help="The file the run is kept in.", show_default=False)
    ] = None,
) -> None:
    """Draw an agent's ten points with the graph that runs at each, or a workflow, with a run on it if you like."""

    def work(output: AnswerOutput) -> Ending:
        if (run_id is None) is not (store is None):
            raise WrongCall("--run and --store go together: the run, and the file it is kept in")
        wanted = form or form_for(file)
        runnable = load(target)
        shown = None if run_id is None or store is None else stored_run(runnable, target, run_id, store)
        drawn = drawing(runnable, wanted, shown)
        if file is None:
            output.write(drawn)
        else:
            write_drawing(file, drawn)
        return Ending(ExitCode.SUCCESS)

    carry_out(work)


app.add_typer(runs_app)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"interlock {version('interlock')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Run and draw agents and the graphs of guards around them."""

"""The commands: what may be said on the command line, and the exit codes."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from interlock.cli.ending import Ending, ExitCode, WrongCall
from interlock.cli.loading import Runnable, load
from interlock.cli.running import run_agent, run_workflow
from interlock.cli.terminal import AnswerOutput, read_text, say, visible
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

Target = Annotated[
    str,
    typer.Argument(
        metavar="FILE:NAME",
        help="A Python file, and the name of an Agent or a Workflow in it, as in agents.py:support.",
        show_default=False,
    ),
]


class DrawingFormat(StrEnum):
    """How a graph is drawn."""

    TEXT = "text"
    MERMAID = "mermaid"
    JSON = "json"


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
    checks: Annotated[
        bool, typer.Option("--checks", help="Print below the answer what each guard decided, and how long it took.")
    ] = False,
) -> None:
    """Run an agent or a workflow on a text.

    Standard output holds the answer and nothing else. Exit codes: 0 it ran to its end, 1 it failed, 2 the call is
    wrong, 3 a guard blocked it.
    """

    def work(output: AnswerOutput) -> Ending:
        runnable = load(target)
        asked = read_text(text)
        if isinstance(runnable, Agent):
            return run_agent(runnable, asked, output)
        return run_workflow(runnable, asked, output)

    _end(work, checks=checks)


@app.command()
def graph(
    target: Target,
    form: Annotated[DrawingFormat, typer.Option("--format", "-f", help="How to draw it.")] = DrawingFormat.TEXT,
    file: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file instead of standard output.")
    ] = None,
) -> None:
    """Draw an agent's ten points with the graph that runs at each, or a workflow."""

    def work(output: AnswerOutput) -> Ending:
        drawing = _drawing(load(target), form)
        if file is None:
            output.write(drawing)
        else:
            _write(file, drawing)
        return Ending(ExitCode.SUCCESS)

    _end(work)


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


def _end(work: Callable[[AnswerOutput], Ending], *, checks: bool = False) -> NoReturn:
    """Do the work of a command, say on standard error how it ended, and exit with its code.

    Meanwhile what anybody prints, the file that is loaded among them, goes to standard error.
    """
    output = AnswerOutput(sys.stdout)
    with contextlib.redirect_stdout(sys.stderr):
        try:
            ending = work(output)
        except WrongCall as error:
            ending = Ending(ExitCode.WRONG_CALL, str(error))
        except KeyboardInterrupt:
            ending = Ending(ExitCode.INTERRUPTED, "interrupted")
        output.end_line()
        if output.error is not None:
            ending = _unwritten(output, ending)
        if checks and ending.code not in (ExitCode.WRONG_CALL, ExitCode.INTERRUPTED):
            _tell_checks(output, ending)
        if ending.message is not None:
            say(f"interlock: {visible(ending.message)}")
    raise typer.Exit(ending.code)


def _unwritten(output: AnswerOutput, ending: Ending) -> Ending:
    """The ending where the answer could not be written; without a word where its reader had simply seen enough."""
    if output.pipe_is_closed:
        return Ending(ExitCode.PIPE_CLOSED, checks=ending.checks)
    return Ending(ExitCode.FAILED, f"the answer could not be written: {output.error}", ending.checks)


def _tell_checks(output: AnswerOutput, ending: Ending) -> None:
    from rich.console import Console

    from interlock.cli.checks_table import checks_table, rendered

    output.write_own(rendered(Console(file=output.stream), checks_table(ending.checks)) + "\n")


def _drawing(runnable: Runnable, form: DrawingFormat) -> str:
    match form:
        case DrawingFormat.TEXT:
            return runnable.to_text()
        case DrawingFormat.MERMAID:
            return runnable.to_mermaid()
        case DrawingFormat.JSON:
            return json.dumps(runnable.to_json(), indent=2, ensure_ascii=False)


def _write(file: Path, drawing: str) -> None:
    try:
        file.write_text(drawing.rstrip("\n") + "\n", "utf-8", newline="\n")
    except OSError as error:
        raise WrongCall(f"{file} cannot be written: {error.strerror}; choose another file for --output") from None

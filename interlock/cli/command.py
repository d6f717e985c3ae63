"""Carrying a command out: what it says, on which stream, and the code it exits with."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import NoReturn

import typer

from interlock.cli.ending import Ending, ExitCode, WrongCall
from interlock.cli.terminal import AnswerOutput, say, visible
from interlock.errors import StorageError

__all__ = ["carry_out"]


def carry_out(work: Callable[[AnswerOutput], Ending], *, checks: bool = False) -> NoReturn:
    """Do the work of a command, say on standard error how it ended, and exit with its code.

    Meanwhile what anybody prints, the file that is loaded among them, goes to standard error.

    Args:
        work: Is given standard output; says how it ended.
        checks: Whether to print below the answer what each guard decided.
    """
    output = AnswerOutput(sys.stdout)
    with contextlib.redirect_stdout(sys.stderr):
        try:
            ending = work(output)
        except WrongCall as error:
            ending = Ending(ExitCode.WRONG_CALL, str(error))
        except StorageError as error:
            ending = Ending(ExitCode.FAILED, f"the store failed: {error}")
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
    from interlock.cli.checks_table import checks_table, coverage_table
    from interlock.cli.table import rendered

    output.write_own(rendered(checks_table(ending.checks), output.stream) + "\n")
    if ending.coverage is not None and ending.coverage.rows:
        output.write_own("\n" + rendered(coverage_table(ending.coverage), output.stream) + "\n")

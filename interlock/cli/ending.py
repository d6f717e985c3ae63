"""How a command ends: its exit code and what is said about it."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Final

from interlock.runtime.coverage import Coverage
from interlock.verdict import CheckRecord, Tripwire

__all__ = ["Ending", "ExitCode", "WrongCall", "blocked", "failed"]

_PACKAGE: Final = Path(__file__).parents[1]


class ExitCode(IntEnum):
    """What the exit codes mean. The last two are 128 plus the signal's number, as a shell has it."""

    SUCCESS = 0
    FAILED = 1
    WRONG_CALL = 2
    BLOCKED = 3
    SUSPENDED = 4
    INTERRUPTED = 130
    PIPE_CLOSED = 141


class WrongCall(Exception):
    """The command was called in a way that cannot work; the message says what to do."""


@dataclass(frozen=True)
class Ending:
    """How a command ended.

    Args:
        code: The exit code.
        message: What standard error is told.
        checks: What each guard decided.
        coverage: What was read by which guard; None where nobody can tell.
    """

    code: ExitCode
    message: str | None = None
    checks: Sequence[CheckRecord] = ()
    coverage: Coverage | None = None


def blocked(tripwire: Tripwire, checks: Sequence[CheckRecord]) -> Ending:
    """The ending of a run that was stopped: who, at which point, why."""
    point = f" at {tripwire.phase}" if tripwire.phase is not None else ""
    return Ending(ExitCode.BLOCKED, f"blocked by {tripwire.processor_id!r}{point}: {tripwire.reason}", checks)


def failed(error: Exception, checks: Sequence[CheckRecord]) -> Ending:
    """The ending of a run that failed: the error, and where it was raised if that is not in this library."""
    place = _place_of(error)
    message = f"failed: {type(error).__name__}: {error}" + (f"\n  raised in {place}" if place else "")
    return Ending(ExitCode.FAILED, message, checks)


def _place_of(error: BaseException) -> str | None:
    while error.__cause__ is not None:
        error = error.__cause__
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or Path(frames[-1].filename).is_relative_to(_PACKAGE):
        return None
    return f"{frames[-1].filename}, line {frames[-1].lineno}, in {frames[-1].name}"

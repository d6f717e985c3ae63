"""What an error at one place of a chunk's path becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from interlock.errors import StepFailed
from interlock.runtime.strand import as_failure
from interlock.verdict import AbortSignal, BailSignal, Latch, Phase, Signal

if TYPE_CHECKING:
    from interlock.runtime.entry import Entry
    from interlock.steps import Turn

__all__ = ["failure_of"]


def failure_of(latch: Latch, path: str, error: BaseException, turn: Turn | None = None) -> BaseException:
    """What is to be raised for an error.

    Args:
        latch: The run's.
        path: Where it was raised.
        error: What was raised; given back to let it pass.
        turn: Of the user's function that raised it: what that noted before counts.
    """
    told = as_failure(latch, path, error, Phase.OUTPUT_STREAM, cast("Entry | None", turn))
    if isinstance(told, Signal) and not isinstance(told, AbortSignal) and not _is_recorded(told):
        return StepFailed(path, told, phase=Phase.OUTPUT_STREAM)
    return told


def _is_recorded(signal: Signal) -> bool:
    """Whether a signal is more than an exception that somebody made by hand."""
    return isinstance(signal, BailSignal) and getattr(signal.scope, "bailed", None) is not None

"""What a measured run gave; a run that did not complete is no measurement."""

from __future__ import annotations

from typing import TypeVar

from interlock.workflows import Completed, Outcome

__all__ = ["output_of"]

T = TypeVar("T")


def output_of(outcome: Outcome[T]) -> T:
    """The output of a completed run.

    Raises:
        RuntimeError: It ended in another way.
    """
    if isinstance(outcome, Completed):
        return outcome.output
    raise RuntimeError(f"the measured run ended with {outcome!r:.300}")

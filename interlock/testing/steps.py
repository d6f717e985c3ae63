"""Trying a step's function by itself."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, TypeVar

from interlock.context import RequestContext
from interlock.steps import Step, StepContext, StepRun, Turn, create_step
from interlock.verdict import CheckRecord, Latch

__all__ = ["step_context"]

I = TypeVar("I")  # noqa: E741


class _Host:
    """Stands for a run: gives the state, and forgets what is written."""

    def __init__(self, state: object) -> None:
        self._state = state

    def state_view(self, turn: Turn, run: StepRun) -> object:
        return copy.copy(self._state)

    def written(self, turn: Turn, name: str, value: object) -> None:
        """Nobody reads along."""

    def checked(self, turn: Turn, checks: Sequence[CheckRecord]) -> None:
        """Nobody looks."""


def _nothing(ctx: StepContext[Any]) -> None:
    """Stands for the step."""


class _Place:
    """The place of a step in no graph."""

    def __init__(self, step_id: str) -> None:
        self.step_id = self.path = step_id
        self.step: Step[Any, Any] = create_step(_nothing, id=step_id)


def step_context(
    value: I,
    /,
    *,
    step_id: str = "step",
    run_input: object = None,
    state: object = None,
    request_context: RequestContext | None = None,
    resume_data: object = None,
    attempt: int = 1,
    iteration: int = 1,
) -> StepContext[I]:
    """A context to call a step's function with, in a test of that function alone.

    Args:
        value: The step's input.
        step_id: The step.
        run_input: What the run was started with; None: the step's input.
        state: What ``ctx.state`` is; a mapping, or an instance of a state schema.
        request_context: What the caller handed over.
        resume_data: What the step was resumed with.
        attempt, iteration: From 1.

    Example:
        >>> step_context("a ticket", attempt=2).attempt
        2
    """
    run = StepRun(
        "run_test",
        value if run_input is None else run_input,
        request_context if request_context is not None else RequestContext(),
        Latch(),
        None,
        _Host({} if state is None else state),
    )
    turn = Turn(_Place(step_id), (iteration,))
    notes = turn.noted()
    notes.attempts, notes.resume_data = attempt, resume_data
    made: StepContext[Any] = StepContext(value, run, turn)
    return made

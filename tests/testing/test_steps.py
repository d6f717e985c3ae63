"""A context to call a step's function with."""

from __future__ import annotations

import pytest

from interlock import StepContext, step
from interlock.testing import step_context
from interlock.verdict import AbortSignal, SuspendSignal


@step
def score(ctx: StepContext[str]) -> int:
    if ctx.input == "bad":
        ctx.abort("bad words")
    if ctx.input == "unclear" and ctx.resume_data is None:
        ctx.suspend("how bad?")
    return len(ctx.input) * ctx.attempt + (ctx.resume_data or 0)


def test_a_steps_function_is_called_by_itself() -> None:
    assert score(step_context("fine")) == 4
    assert score(step_context("fine", attempt=2)) == 8
    assert score(step_context("unclear", resume_data=3)) == 10


def test_its_signals_can_be_caught() -> None:
    with pytest.raises(AbortSignal, match="bad words"):
        score(step_context("bad"))
    with pytest.raises(SuspendSignal):
        score(step_context("unclear"))


def test_what_was_given_is_there() -> None:
    ctx = step_context(1, step_id="s", run_input="all", state={"n": 1}, iteration=3)
    assert (ctx.step_id, ctx.run_input, ctx.state, ctx.iteration, ctx.attempt) == ("s", "all", {"n": 1}, 3, 1)
    ctx.state["n"] = 2
    assert ctx.state == {"n": 1}
    ctx.set_state(n=5)
    ctx.write("progress", 1)

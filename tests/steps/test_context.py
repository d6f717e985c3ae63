"""What a step function is given."""

from __future__ import annotations

import pytest

from interlock.context import RequestContext
from interlock.steps import StepContext, StepRun, Turn, create_step
from interlock.verdict import AbortSignal, Latch, Phase


def count(ctx: StepContext[str]) -> int:
    return len(ctx.input)


class Place:
    """A step's place in a graph."""

    step = None

    def __init__(self, step_id: str) -> None:
        self.step_id = self.path = step_id


def turn_of(step_id: str) -> Turn:
    return Turn(Place(step_id))


def run_of(phase: Phase | None = None) -> StepRun:
    return StepRun("run_1", "the run's input", RequestContext(user="ann"), Latch(), phase)


def test_a_step_sees_its_input_the_runs_input_and_the_callers_values() -> None:
    ctx = StepContext("hello", run_of(), turn_of("count"))
    assert (ctx.input, ctx.run_input, ctx.run_id, ctx.step_id) == ("hello", "the run's input", "run_1", "count")
    assert ctx.request_context["user"] == "ann"


def test_the_input_cannot_be_exchanged() -> None:
    ctx = StepContext("hello", run_of(), turn_of("count"))
    with pytest.raises(AttributeError):
        ctx.input = "other"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError):
        ctx.other = 1  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]


def test_an_earlier_output_is_found_by_the_step_itself() -> None:
    run, first, twin = run_of(), create_step(count), create_step(count)
    run.outputs[first] = 0
    ctx = StepContext("x", run, turn_of("later"))
    assert ctx.output_of(first) == 0
    with pytest.raises(LookupError, match=r"step 'count' has not run before 'later' in run 'run_1'.*default="):
        ctx.output_of(twin)


def test_a_default_stands_in_for_a_step_that_has_not_run() -> None:
    ctx = StepContext("x", run_of(), turn_of("later"))
    assert ctx.output_of(create_step(count), default=7) == 7
    assert ctx.output_of(create_step(count, output_schema=None), default=0) == 0


def test_an_abort_is_recorded_with_step_reason_and_details_before_it_is_raised() -> None:
    run = run_of(Phase.INPUT)
    with pytest.raises(AbortSignal):
        StepContext("x", run, turn_of("score")).abort("too risky", retry=True, metadata={"score": 0.9})
    tripwire = run.latch.tripwire
    assert tripwire is not None
    assert (tripwire.reason, tripwire.processor_id, tripwire.phase) == ("too risky", "score", Phase.INPUT)
    assert (tripwire.retry, tripwire.metadata) == (True, {"score": 0.9})


@pytest.mark.parametrize(("reason", "said"), [(None, "stopped by 'score'"), ("", "")])
def test_an_abort_without_a_reason_names_the_step(reason: str | None, said: str) -> None:
    run = run_of()
    with pytest.raises(AbortSignal):
        StepContext("x", run, turn_of("score")).abort(reason)
    assert run.latch.tripwire is not None
    assert run.latch.tripwire.reason == said
    assert run.latch.tripwire.phase is None

"""What a step function is given."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from interlock.context import RequestContext
from interlock.errors import RunError
from interlock.steps import Step, StepContext, StepRun, Turn, create_step
from interlock.verdict import AbortSignal, BailSignal, Latch, Phase, SuspendSignal, Tripwire


def count(ctx: StepContext[str]) -> int:
    return len(ctx.input)


class Place:
    """A step's place in a graph."""

    step: Step[Any, Any] | None = None

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


def test_a_first_turn_is_the_first_attempt_and_iteration_and_was_not_resumed() -> None:
    ctx = StepContext("x", run_of(), turn_of("score"))
    assert (ctx.attempt, ctx.iteration, ctx.resume_data, ctx.state) == (1, 1, None, {})


def test_the_iteration_is_the_innermost() -> None:
    turn = Turn(Place("score"), (3, 2))
    assert StepContext("x", run_of(), turn).iteration == 2


def test_a_bail_is_recorded_before_it_is_raised_and_the_first_one_counts() -> None:
    run, turn = run_of(), turn_of("score")
    woken: list[str] = []
    run.watch(lambda: woken.append("woken"))
    with pytest.raises(BailSignal):
        StepContext("x", run, turn).bail(None)
    assert (run.bailed, run.stopped, woken) == ((None,), True, ["woken"])
    with pytest.raises(BailSignal):
        StepContext("x", run, turn_of("other")).bail("late")
    assert run.bailed == (None,)


def test_a_watcher_of_a_run_that_has_bailed_is_woken_at_once() -> None:
    run = run_of()
    run.bail(1)
    woken: list[str] = []
    run.watch(lambda: woken.append("woken"))
    assert woken == ["woken"]


def test_a_watcher_is_woken_by_a_tripwire_and_not_once_it_has_gone() -> None:
    run = run_of()
    woken: list[str] = []

    def wake() -> None:
        woken.append("woken")

    run.watch(wake)
    run.unwatch(wake)
    run.watch(wake)
    run.latch.trip(Tripwire("stop", "guard"))
    assert (run.stopped, woken) == (True, ["woken"])


def test_a_suspension_is_recorded_with_what_it_shows_before_it_is_raised() -> None:
    turn = Turn(StepPlace(create_step(count, suspend_schema=int)))
    with pytest.raises(SuspendSignal):
        StepContext("x", run_of(), turn).suspend("7", label="ask")
    signal = turn.noted().signal
    assert isinstance(signal, SuspendSignal)
    assert (signal.payload, signal.label) == (7, "ask")


def test_what_does_not_fit_the_suspend_schema_suspends_nothing() -> None:
    turn = Turn(StepPlace(create_step(count, suspend_schema=int)))
    with pytest.raises(ValidationError):
        StepContext("x", run_of(), turn).suspend("seven")
    assert turn.noted().signal is None


def test_what_a_step_left_running_cannot_suspend_it_whatever_it_would_show() -> None:
    turn = Turn(StepPlace(create_step(count, suspend_schema=int)))
    ctx = StepContext("x", run_of(), turn)
    turn.noted().over = True
    for payload in (7, "seven"):
        with pytest.raises(
            RunError, match="'count' has ended its turn: what it left running cannot wait for an answer"
        ):
            ctx.suspend(payload)
    assert turn.noted().signal is None


def test_what_is_no_step_and_what_runs_in_an_agent_cannot_suspend() -> None:
    with pytest.raises(RunError, match=r"'map' cannot suspend: a map, a condition or a block has nobody to wait for"):
        StepContext("x", run_of(), turn_of("map")).suspend()
    with pytest.raises(RunError, match="a step of a workflow of processors has nobody"):
        StepContext("x", run_of(Phase.INPUT), Turn(StepPlace(create_step(count)))).suspend()


def test_changes_of_the_state_wait_until_the_step_has_succeeded() -> None:
    turn = turn_of("score")
    ctx = StepContext("x", run_of(), turn)
    ctx.set_state(count=1, seen=["a"])
    ctx.set_state(count=2)
    assert turn.noted().deltas == [("count", 1), ("seen", ["a"]), ("count", 2)]
    assert ctx.state == {}


def test_what_nobody_reads_is_written_nowhere() -> None:
    StepContext("x", run_of(), turn_of("score")).write("progress", 0.5)


class StepPlace(Place):
    """The place of a step."""

    def __init__(self, step: Step[Any, Any]) -> None:
        super().__init__(step.id)
        self.step = step

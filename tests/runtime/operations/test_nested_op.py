"""Workflows in workflows."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from interlock import StepContext, create_step, create_workflow
from interlock.errors import StepFailed
from interlock.workflows import Suspended
from tests.runtime.operations.acting import Actor, completed, failed, flow, record, statuses, turns

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("waits", [None, 1])
async def test_its_output_goes_on_and_its_run_input_is_what_it_was_given(waits: int | None) -> None:
    def tell(ctx: StepContext[Any]) -> Any:
        return (ctx.run_input, ctx.input)

    inner = flow("inner").then(Actor().gives("a", 2, waits=waits)).then(create_step(tell)).commit()
    assert completed(await flow().then(Actor().gives("b", 1)).then(inner).commit().run(0)) == (1, 2)


@pytest.mark.parametrize("waits", [None, 1])
@pytest.mark.parametrize("swallows", [False, True])
async def test_a_bail_ends_the_nested_run_alone_and_what_follows_goes_on(waits: int | None, swallows: bool) -> None:
    act = Actor()

    async def out(ctx: StepContext[Any]) -> Any:
        await turns(waits or 0)
        try:
            ctx.bail("early")
        except BaseException:
            if not swallows:
                raise

    inner = flow("inner").then(create_step(out)).then(act.gives("never")).commit()
    outcome = await flow().then(inner).then(act.gives("after")).commit().run(0)
    assert completed(outcome) == "early"
    assert act.log == ["after"]
    assert statuses(outcome) == {"inner": "success", "inner/out": "bailed", "after": "success"}
    assert record(outcome, "inner/out").output == "early"


async def test_a_bail_three_deep_in_a_parallel_block_ends_the_innermost_and_cancels_its_arms_alone() -> None:
    act = Actor()
    innermost = flow("innermost").parallel([act.stays("a"), act.bails("out", 7, waits=1)]).commit()
    middle = flow("middle").parallel([innermost, act.gives("b", 2, waits=5)]).commit()
    outcome = await flow().parallel([middle, act.gives("c", 3, waits=9)]).commit().run(0)
    assert completed(outcome) == {"middle": {"innermost": 7, "b": 2}, "c": 3}
    assert act.log == ["out", "a cancelled", "b", "c"]


@pytest.mark.parametrize("waits", [None, 1])
async def test_what_a_nested_run_was_ended_with_stays_when_the_run_is_resumed(waits: int | None) -> None:
    act = Actor()
    inner = flow("inner").parallel([act.stays("a"), act.bails("out", 7, waits=waits)]).commit()
    run = flow().then(inner).parallel([act.gives("b"), act.asks("ask")]).commit().create_run()
    assert isinstance(await run.start(0), Suspended)
    assert completed(await run.resume("yes")) == {"b": 7, "ask": "yes"}
    assert act.log.count("out") == 1


async def test_a_nested_run_that_is_ended_needs_no_answers_any_more() -> None:
    act = Actor()
    inner = flow("inner").parallel([act.asks("a"), act.bails("out", 7, waits=1)]).commit()
    run = flow().then(inner).then(act.asks("b")).commit().create_run()
    outcome = await run.start(0)
    assert isinstance(outcome, Suspended)
    assert [one.path for one in outcome.suspensions] == ["b"]
    assert completed(await run.resume("yes")) == "yes"


async def test_its_output_is_validated_and_defaults_are_applied() -> None:
    inner = create_workflow(id="inner", output_schema=int).then(Actor().gives("a", "7")).commit()
    assert completed(await flow().then(inner).commit().run(0)) == 7
    wrong = create_workflow(id="wrong", output_schema=int).then(Actor().gives("a", "x")).commit()
    error = failed(await flow().then(wrong).commit().run(0))
    assert isinstance(error, StepFailed)
    assert error.step_id == "wrong"
    assert isinstance(error.cause, ValidationError)


async def test_a_run_input_that_does_not_fit_fails_before_any_of_its_steps() -> None:
    act = Actor()
    inner = create_workflow(id="inner", input_schema=int).then(act.gives("a")).commit()
    outcome = await flow().then(act.gives("b", "x")).then(inner).commit().run(0)
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.step_id == "inner"
    assert act.log == ["b"]


async def test_output_of_gives_what_a_nested_workflow_gave_also_after_a_resume() -> None:
    act = Actor()
    inner = flow("inner").then(act.gives("a", 7)).commit()

    def tell(ctx: StepContext[Any]) -> Any:
        return ctx.output_of(inner)

    run = flow().then(inner).then(act.asks("ask")).then(create_step(tell)).commit().create_run()
    assert isinstance(await run.start(0), Suspended)
    assert completed(await run.resume("yes")) == 7

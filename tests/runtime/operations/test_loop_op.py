"""A body again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from interlock import StepContext, create_step, create_workflow
from interlock.errors import StepFailed
from interlock.workflows import Suspended
from tests.runtime.operations.acting import Actor, completed, failed, flow, record, turns

pytestmark = pytest.mark.anyio


def counting(waits: bool = False) -> Any:
    """A step that counts on."""

    def now(ctx: StepContext[Any]) -> int:
        return int(ctx.input) + 1

    async def later(ctx: StepContext[Any]) -> int:
        await turns(1)
        return now(ctx)

    return create_step(later if waits else now, id="count")


def asking(answer: Callable[[StepContext[Any]], Any], waits: bool) -> Any:
    """A condition, at once or later."""

    async def later(ctx: StepContext[Any]) -> Any:
        await turns(1)
        return answer(ctx)

    return later if waits else answer


waiting = pytest.mark.parametrize("waits", [False, True])


@waiting
@pytest.mark.parametrize("body_waits", [False, True])
async def test_while_goes_on_as_long_as_the_condition_holds_and_until_as_long_as_it_does_not(
    waits: bool, body_waits: bool
) -> None:
    below = asking(lambda ctx: ctx.input < 5, waits)
    outcome = await flow().do_while(counting(body_waits), below).commit().run(0)
    assert completed(outcome) == 5
    assert [one.iteration for one in outcome.steps if one.path == "count"] == [1, 2, 3, 4, 5]
    above = asking(lambda ctx: ctx.input >= 3, waits)
    assert completed(await flow().do_until(counting(body_waits), above).commit().run(0)) == 3


@waiting
async def test_the_body_runs_at_least_once(waits: bool) -> None:
    for builder in (
        flow().do_while(counting(), asking(lambda ctx: False, waits)),
        flow().do_until(counting(), asking(lambda ctx: True, waits)),
    ):
        assert completed(await builder.commit().run(0)) == 1


@waiting
async def test_the_condition_is_asked_about_the_last_output_and_told_how_often_the_body_ran(waits: bool) -> None:
    asked: list[tuple[int, int]] = []

    def ask(ctx: StepContext[Any]) -> bool:
        asked.append((ctx.input, ctx.iteration))
        return ctx.iteration < 3

    completed(await flow().do_while(counting(), asking(ask, waits)).commit().run(10))
    assert asked == [(11, 1), (12, 2), (13, 3)]


@pytest.mark.parametrize("value", [0, "", False, {}, [], None])
async def test_a_falsy_output_is_what_the_condition_is_asked_about_and_what_the_loop_gives(value: Any) -> None:
    def give(ctx: StepContext[Any]) -> Any:
        return value

    seen: list[Any] = []

    def ask(ctx: StepContext[Any]) -> bool:
        seen.append(ctx.input)
        return ctx.iteration < 2

    assert completed(await flow().do_while(create_step(give), ask).commit().run("x")) == value
    assert seen == [value, value]


@waiting
async def test_more_iterations_than_allowed_are_a_failure(waits: bool) -> None:
    def always(ctx: StepContext[Any]) -> bool:
        return True

    outcome = await flow().do_while(counting(), asking(always, waits), max_iterations=3).commit().run(0)
    assert "'do-while' went round 3 times" in str(failed(outcome))
    assert sum(one.path == "count" for one in outcome.steps) == 3

    def enough(ctx: StepContext[Any]) -> bool:
        return bool(ctx.input < 3)

    outcome = await flow().do_while(counting(), asking(enough, waits), max_iterations=3).commit().run(0)
    assert completed(outcome) == 3, "the last iteration that is allowed may end it"


@waiting
async def test_a_condition_that_raises_fails_the_run_naming_the_loop(waits: bool) -> None:
    def ask(ctx: StepContext[Any]) -> bool:
        raise OSError("broken")

    error = failed(await flow().do_until(counting(), asking(ask, waits)).commit().run(0))
    assert isinstance(error, StepFailed)
    assert error.step_id == "do-until"


@waiting
@pytest.mark.parametrize("swallows", [False, True])
@pytest.mark.parametrize("signal", ["bail", "abort"])
async def test_a_condition_may_end_the_workflow_or_block_the_run(waits: bool, swallows: bool, signal: str) -> None:
    def ask(ctx: StepContext[Any]) -> bool:
        try:
            getattr(ctx, signal)("out")
        except BaseException:
            if not swallows:
                raise
        return True

    outcome = await flow().do_while(counting(), asking(ask, waits), max_iterations=5).commit().run(0)
    assert outcome.status == ("success" if signal == "bail" else "tripwire")
    assert sum(one.path == "count" for one in outcome.steps) == 1
    if signal == "bail":
        assert completed(outcome) == "out"


@waiting
async def test_a_condition_cannot_suspend(waits: bool) -> None:
    def ask(ctx: StepContext[Any]) -> bool:
        ctx.suspend()

    error = failed(await flow().do_while(counting(), asking(ask, waits)).commit().run(0))
    assert "cannot suspend" in str(error)


async def test_a_step_that_waits_in_a_loop_is_resumed_in_its_iteration_and_what_was_decided_is_not_asked_again() -> (
    None
):
    asked: list[int] = []

    def ask(ctx: StepContext[Any]) -> bool:
        asked.append(ctx.iteration)
        return ctx.iteration < 3

    act = Actor()
    run = flow().do_while(act.asks("ask"), ask).commit().create_run()
    outcome = await run.start("first")
    for number in range(3):
        assert isinstance(outcome, Suspended)
        assert outcome.suspensions[0].index == number
        outcome = await run.resume(f"answer {number}")
    assert completed(outcome) == "answer 2"
    assert asked == [1, 2, 3]
    assert len(act.log) == 6


async def test_a_bail_in_the_body_ends_the_workflow_and_in_a_nested_body_only_that() -> None:
    act = Actor()
    outcome = await flow().do_while(act.bails("out", "now"), lambda ctx: True).then(act.gives("b")).commit().run(0)
    assert completed(outcome) == "now"
    assert record(outcome, "do-while").status == "bailed"
    inner = create_workflow(id="inner").then(counting()).then(act.bails("early", 7)).commit()
    outcome = await flow().do_while(inner, lambda ctx: ctx.iteration < 2).commit().run(0)
    assert completed(outcome) == 7
    assert sum(one.path == "inner" for one in outcome.steps) == 2

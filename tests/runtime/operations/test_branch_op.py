"""Conditions, and the arms they choose."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import StepContext, create_step
from interlock.errors import StepFailed
from interlock.workflows import Suspended
from tests.runtime.operations.acting import Actor, completed, failed, flow, record, statuses, turns

pytestmark = pytest.mark.anyio
waiting = pytest.mark.parametrize("waits", [False, True])


def says(answer: Any, waits: bool = False, log: list[Any] | None = None) -> Any:
    """A condition."""

    def now(ctx: StepContext[Any]) -> Any:
        if log is not None:
            log.append(answer)
        return answer

    async def later(ctx: StepContext[Any]) -> Any:
        await turns(1)
        return now(ctx)

    return later if waits else now


@waiting
async def test_the_first_condition_that_holds_decides_and_none_is_asked_behind_it(waits: bool) -> None:
    act, asked = Actor(), list[Any]()
    arms: list[tuple[Any, Any]] = [
        (says("", waits, asked), act.gives("a", 1)),
        (says("yes", waits, asked), act.gives("b", 2)),
        (says("too", waits, asked), act.gives("c", 3)),
    ]
    outcome = await flow().branch(arms).commit().run(0)
    assert completed(outcome) == {"b": 2}
    assert asked == ["", "yes"]
    assert record(outcome, "branch").chosen == ("b",)
    assert statuses(outcome) == {"branch": "success", "b": "success"}


@waiting
async def test_with_all_every_arm_whose_condition_holds_runs_at_once_each_on_its_copy(waits: bool) -> None:
    meet = anyio.Event()

    def edits(name: str) -> Any:
        async def edit(ctx: StepContext[Any]) -> Any:
            ctx.input.append(name)
            if name == "a":
                await meet.wait()
            else:
                meet.set()
            return ctx.input

        return create_step(edit, id=name)

    arms: list[tuple[Any, Any]] = [
        (says(True, waits), edits("a")),
        (says(False, waits), edits("b")),
        (says(1, waits), edits("c")),
    ]
    with anyio.fail_after(5):
        outcome = await flow().branch(arms, mode="all").commit().run(["x"])
    assert completed(outcome) == {"a": ["x", "a"], "c": ["x", "c"]}
    assert record(outcome, "branch").chosen == ("a", "c")


async def test_an_arm_of_several_steps_is_keyed_by_its_last() -> None:
    act = Actor()
    arm = [act.gives("a", 1), act.gives("b", waits=1), act.gives("c")]
    outcome = await flow().branch([(says(True), arm)]).commit().run(0)
    assert completed(outcome) == {"c": 1}
    assert act.log == ["a", "b", "c"]


@waiting
async def test_where_none_holds_the_otherwise_runs_and_without_one_nothing(waits: bool) -> None:
    act = Actor()
    arms: list[tuple[Any, Any]] = [(says(None, waits), act.gives("a", 1))]
    outcome = await flow().branch(arms, otherwise=[act.gives("b"), act.gives("c", 3)]).commit().run(0)
    assert completed(outcome) == {"c": 3}
    outcome = await flow().branch(arms).commit().run(0)
    assert completed(outcome) == {}
    assert record(outcome, "branch").chosen == ()
    assert completed(await flow().branch(arms).merge().commit().run("the input")) == "the input"


@waiting
@pytest.mark.parametrize("mode", ["first", "all"])
async def test_a_condition_that_raises_fails_the_run_naming_the_block_and_no_arm_begins(waits: bool, mode: Any) -> None:
    def now(ctx: StepContext[Any]) -> bool:
        raise OSError("broken")

    async def later(ctx: StepContext[Any]) -> bool:
        await turns(1)
        return now(ctx)

    act = Actor()
    arms: list[tuple[Any, Any]] = [(says(mode == "all"), act.gives("a")), (later if waits else now, act.gives("b"))]
    error = failed(await flow().branch(arms, mode=mode).commit().run(0))
    assert isinstance(error, StepFailed)
    assert (error.step_id, str(error.cause)) == ("branch", "broken")
    assert act.log == []


@waiting
@pytest.mark.parametrize("swallows", [False, True])
@pytest.mark.parametrize("signal", ["bail", "abort"])
async def test_a_condition_may_end_the_workflow_or_block_the_run(waits: bool, swallows: bool, signal: str) -> None:
    def now(ctx: StepContext[Any]) -> bool:
        try:
            getattr(ctx, signal)("out")
        except BaseException:
            if not swallows:
                raise
        return True

    async def later(ctx: StepContext[Any]) -> bool:
        await turns(1)
        return now(ctx)

    act = Actor()
    arms: list[tuple[Any, Any]] = [(later if waits else now, act.gives("a")), (says(True), act.gives("b"))]
    outcome = await flow().branch(arms, mode="all").then(act.gives("c")).commit().run(0)
    assert outcome.status == ("success" if signal == "bail" else "tripwire")
    assert act.log == []
    if signal == "bail":
        assert completed(outcome) == "out"


@waiting
async def test_a_condition_cannot_suspend(waits: bool) -> None:
    def ask(ctx: StepContext[Any]) -> bool:
        ctx.suspend()

    error = failed(await flow().branch([(ask, Actor().gives("a"))]).commit().run(0))
    assert "'branch' cannot suspend" in str(error)


async def test_conditions_are_not_asked_again_when_an_arm_is_resumed() -> None:
    act, asked = Actor(), list[Any]()
    arms: list[tuple[Any, Any]] = [
        (says(0, log=asked), act.gives("a")),
        (says(1, log=asked), [act.gives("b"), act.asks("c"), act.gives("d")]),
    ]
    run = flow().branch(arms).commit().create_run()
    outcome = await run.start(5)
    assert isinstance(outcome, Suspended)
    assert completed(await run.resume("answer")) == {"d": "answer"}
    assert asked == [0, 1]
    assert act.log == ["b", "c", "c", "d"]


async def test_an_arm_that_fails_stops_the_others() -> None:
    act = Actor()
    arms: list[tuple[Any, Any]] = [
        (says(True), act.stays("a")),
        (says(True), [act.gives("b"), act.fails("c", waits=1), act.gives("d")]),
    ]
    with anyio.fail_after(5):
        outcome = await flow().branch(arms, mode="all").commit().run(0)
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.step_id == "c"
    assert sorted(act.log) == ["a cancelled", "b", "c"]

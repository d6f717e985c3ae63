"""Callbacks that raise what is no ``Exception``, that signal, or that would change the state: told, never a hang."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import StepContext, create_step, create_workflow
from interlock.errors import InterlockError, RunError, StepFailed
from interlock.runtime import Blocked, Canceled, Completed, Failed, RunStore
from tests.runtime.operations.acting import completed

pytestmark = pytest.mark.anyio


class Odd(BaseException):
    """No ``Exception``."""


def both(function: Callable[[Any], Any], waits: bool) -> Callable[[Any], Any]:
    """The function, or the same as a coroutine function that first lets others run."""

    async def later(given: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        return function(given)

    return later if waits else function


def raising(error: BaseException) -> Callable[[Any], Any]:
    def raises(given: Any) -> Any:
        raise error

    return raises


def acts(ctx: StepContext[Any]) -> Any:
    """Does what its input says."""
    match ctx.input:
        case "fail":
            raise ValueError("no")
        case "abort":
            ctx.abort("not so")
        case "ask" if ctx.resume_data is None:
            ctx.suspend()
        case _:
            pass
    return ctx.input


def workflow(**callbacks: Any) -> Any:
    return create_workflow(id="w", **callbacks).then(create_step(acts, id="acts")).commit()


waiting = pytest.mark.parametrize("waits", [False, True])
ODD = [Odd("odd"), BaseExceptionGroup("several", [Odd("odd"), ValueError("x")]), BaseException("bare")]


@waiting
@pytest.mark.parametrize("error", ODD, ids=["base", "group", "bare"])
async def test_an_end_that_is_told_to_who_raises_anything_stays_as_it_was(
    error: BaseException, waits: bool, maybe: RunStore | None
) -> None:
    made = workflow(on_finish=both(raising(error), waits), on_error=both(raising(error), waits))
    for value, kind, count in (("go", Completed, 1), ("abort", Blocked, 1), ("fail", Failed, 2)):
        outcome = await made.create_run(f"r-{value}", store=maybe).start(value)
        assert isinstance(outcome, kind)
        assert [type(one) for one in outcome.callback_errors] == [StepFailed] * count
        assert all(one.__cause__ is error for one in outcome.callback_errors)


@waiting
@pytest.mark.parametrize("error", ODD, ids=["base", "group", "bare"])
async def test_a_run_is_refused_by_whatever_on_start_raises(
    error: BaseException, waits: bool, maybe: RunStore | None
) -> None:
    outcome = await workflow(on_start=both(raising(error), waits)).create_run(store=maybe).start("go")
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, StepFailed)
    assert (outcome.error.step_id, outcome.error.__cause__) == ("w.on_start", error)
    assert not outcome.steps


@waiting
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancellation_that_nobody_asked_for_is_a_callbacks_error(waits: bool, maybe: RunStore | None) -> None:
    lonely = both(raising(asyncio.CancelledError()), waits)
    with anyio.fail_after(5):
        outcome = await workflow(on_finish=lonely).create_run("r", store=maybe).start("go")
        refused = await workflow(on_start=lonely).create_run("r2", store=maybe).start("go")
    assert isinstance(outcome, Completed)
    (error,) = outcome.callback_errors
    assert isinstance(error, InterlockError)
    assert "nobody cancelled this" in str(error)
    assert isinstance(refused, Failed)
    assert "nobody cancelled this" in str(refused.error)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_callback_that_awaits_a_task_which_was_cancelled_is_one_that_failed(maybe: RunStore | None) -> None:
    async def awaits(outcome: Any) -> None:
        task = asyncio.ensure_future(asyncio.sleep(3_600))
        task.cancel()
        await task

    with anyio.fail_after(5):
        outcome = await workflow(on_finish=awaits).create_run(store=maybe).start("go")
    assert isinstance(outcome, Completed)
    assert "nobody cancelled this" in str(outcome.callback_errors[0])


@pytest.mark.parametrize("name", ["on_start", "on_finish"])
@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
async def test_a_wish_to_stop_the_program_comes_out(
    name: str, stop: type[BaseException], maybe: RunStore | None
) -> None:
    with pytest.raises(stop):
        await workflow(**{name: raising(stop())}).create_run(store=maybe).start("go")


@pytest.mark.parametrize("name", ["on_start", "on_finish"])
async def test_a_caller_that_is_cancelled_while_a_callback_waits_is_cancelled(
    name: str, maybe: RunStore | None
) -> None:
    begun = anyio.Event()

    async def stays(given: Any) -> None:
        begun.set()
        await anyio.sleep_forever()

    came_out: list[bool] = []
    made = workflow(**{name: stays})
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:

            async def start() -> None:
                await made.create_run("r", store=maybe).start("go")
                came_out.append(True)

            group.start_soon(start)
            await begun.wait()
            group.cancel_scope.cancel()
    assert not came_out


async def test_a_cancel_while_on_start_waits_ends_the_run(maybe: RunStore | None) -> None:
    begun = anyio.Event()

    async def stays(ctx: StepContext[Any]) -> None:
        begun.set()
        await anyio.sleep_forever()

    run = workflow(on_start=stays).create_run(store=maybe)
    outcomes: list[Any] = []

    async def start() -> None:
        outcomes.append(await run.start("go"))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(start)
            await begun.wait()
            run.cancel()
    assert isinstance(outcomes[0], Canceled)
    assert not outcomes[0].steps


@waiting
async def test_on_start_may_not_change_the_state(waits: bool, maybe: RunStore | None) -> None:
    def sets(ctx: StepContext[Any]) -> None:
        ctx.set_state(n=1)

    outcome = await workflow(on_start=both(sets, waits)).create_run(store=maybe).start("go", state={"n": 0})
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, RunError)
    assert "on_start of 'w' called set_state()" in str(outcome.error)
    assert outcome.state == {"n": 0}
    assert not outcome.steps


@waiting
@pytest.mark.parametrize("swallowed", [False, True])
async def test_on_start_may_block_the_run_or_end_it_with_a_result(
    waits: bool, swallowed: bool, maybe: RunStore | None
) -> None:
    def starts(ctx: StepContext[Any]) -> None:
        try:
            if ctx.input == "block":
                ctx.abort("not you")
            ctx.bail("early")
        except BaseException:
            if not swallowed:
                raise

    made = workflow(on_start=both(starts, waits))
    blocked = await made.create_run("r", store=maybe).start("block")
    ended = await made.create_run("r2", store=maybe).start("end")
    assert isinstance(blocked, Blocked)
    assert blocked.tripwire.reason == "not you"
    assert completed(ended) == "early"
    assert not blocked.steps
    assert not ended.steps


@waiting
async def test_on_start_cannot_wait_for_an_answer(waits: bool, maybe: RunStore | None) -> None:
    def asks(ctx: StepContext[Any]) -> None:
        ctx.suspend()

    outcome = await workflow(on_start=both(asks, waits)).create_run(store=maybe).start("go")
    assert isinstance(outcome, Failed)
    assert "cannot suspend" in str(outcome.error)

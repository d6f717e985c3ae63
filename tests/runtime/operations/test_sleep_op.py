"""Waits."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from interlock import Blocked, Canceled, StepContext, create_step
from interlock.errors import StepFailed
from tests.runtime.operations.acting import Actor, completed, failed, flow, statuses, turns

pytestmark = pytest.mark.anyio


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, without waiting."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await turns(1)

    monkeypatch.setattr("interlock.runtime.operations.sleep_op.anyio.sleep", sleep)
    return waits


def says(value: Any, waits: bool) -> Any:
    """A function that gives it."""

    def now(ctx: StepContext[Any]) -> Any:
        return value

    async def later(ctx: StepContext[Any]) -> Any:
        await turns(1)
        return value

    return later if waits else now


async def test_what_flows_passes_through(slept: list[float]) -> None:
    act = Actor()
    for value in (7, 0, "", None, [1]):
        assert completed(await flow().sleep(60).then(act.gives("a")).commit().run(value)) == value
    assert [round(seconds) for seconds in slept] == [60] * 5


@pytest.mark.parametrize("waits", [False, True])
async def test_a_function_may_say_how_long(slept: list[float], waits: bool) -> None:
    completed(await flow().sleep(says(30, waits)).commit().run(1))
    assert [round(seconds) for seconds in slept] == [30]


@pytest.mark.parametrize("kind", ["datetime", "aware", "number", "function", "async function"])
async def test_until_waits_to_a_point_in_time(slept: list[float], kind: str) -> None:
    later = time.time() + 90
    point: Any = {
        "datetime": datetime.now() + timedelta(seconds=90),
        "aware": datetime.now(UTC) + timedelta(seconds=90),
        "number": later,
        "function": says(later, False),
        "async function": says(datetime.now(UTC) + timedelta(seconds=90), True),
    }[kind]
    completed(await flow().sleep_until(point).commit().run(1))
    assert [round(seconds) for seconds in slept] == [90]


async def test_a_point_in_time_that_is_past_is_not_waited_for(slept: list[float]) -> None:
    assert completed(await flow().sleep_until(0).sleep_until(datetime(2000, 1, 1)).sleep(0).commit().run(1)) == 1
    assert slept == []


@pytest.mark.parametrize("value", [-1, "5", None, True, float("inf"), float("nan")])
@pytest.mark.parametrize("waits", [False, True])
async def test_a_function_that_gives_no_time_fails_the_run(value: Any, waits: bool) -> None:
    error = failed(await flow().sleep(says(value, waits)).commit().run(1))
    assert "'sleep' waits for seconds, 0 or more, not for" in str(error)
    if value != -1:
        error = failed(await flow().sleep_until(says(value, waits)).commit().run(1))
        assert "'sleep-until' waits for a datetime, or seconds since the epoch" in str(error)


@pytest.mark.parametrize("waits", [False, True])
async def test_a_function_that_raises_fails_the_run_naming_the_wait(waits: bool) -> None:
    def now(ctx: StepContext[Any]) -> float:
        raise OSError("broken")

    async def later(ctx: StepContext[Any]) -> float:
        await turns(1)
        return now(ctx)

    error = failed(await flow().sleep(later if waits else now).commit().run(1))
    assert isinstance(error, StepFailed)
    assert error.step_id == "sleep"


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("signal", ["bail", "abort"])
async def test_a_function_that_swallows_its_bail_or_abort_ends_the_run_all_the_same(waits: bool, signal: str) -> None:
    def now(ctx: StepContext[Any]) -> Any:
        try:
            getattr(ctx, signal)("out")
        except BaseException:
            return 3_600

    async def later(ctx: StepContext[Any]) -> Any:
        await turns(1)
        return now(ctx)

    with anyio.fail_after(5):
        outcome = await flow().sleep(later if waits else now).commit().run(1)
    assert outcome.status == ("success" if signal == "bail" else "tripwire")
    if signal == "bail":
        assert completed(outcome) == "out"


async def test_cancel_interrupts_a_wait() -> None:
    run = flow().sleep(3_600).commit().create_run()
    outcome: Any = None

    async def cancel() -> None:
        await turns(3)
        run.cancel()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(cancel)
            outcome = await run.start(1)
    assert isinstance(outcome, Canceled)
    assert statuses(outcome) == {"sleep": "canceled"}


async def test_a_sibling_that_blocks_the_run_interrupts_a_wait() -> None:
    async def abort(ctx: StepContext[Any]) -> None:
        await turns(2)
        ctx.abort()

    inner = flow("inner").sleep(3_600).commit()
    with anyio.fail_after(5):
        outcome = await flow().parallel([inner, create_step(abort)]).commit().run(1)
    assert isinstance(outcome, Blocked)

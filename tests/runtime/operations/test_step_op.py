"""Functions of steps and maps."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from interlock import Blocked, Canceled, StepContext, create_step
from interlock.errors import StepFailed
from interlock.verdict import AbortSignal, BailSignal, PauseSignal, SuspendSignal, Tripwire
from interlock.workflows import Suspended
from tests.runtime.operations.acting import Actor, completed, failed, flow, record, statuses, turns

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("value", [0, "", False, {}, [], None])
@pytest.mark.parametrize("waits", [None, 1])
async def test_falsy_outputs_flow_and_are_recorded(value: Any, waits: int | None) -> None:
    async def later(ctx: StepContext[Any]) -> Any:
        await turns(waits or 0)
        return value

    def now(ctx: StepContext[Any]) -> Any:
        return value

    first = create_step(now if waits is None else later, id="first")

    def tell(ctx: StepContext[Any]) -> Any:
        return [ctx.input, ctx.output_of(first)]

    outcome = await flow().then(first).map(lambda ctx: ctx.input).then(create_step(tell)).commit().run("x")
    assert completed(outcome) == [value, value]
    assert record(outcome, "first").output == value
    assert record(outcome, "map").input == value


async def test_anything_that_can_be_awaited_is() -> None:
    class Own:
        def __await__(self) -> Any:
            yield from turns(1).__await__()
            return "awaited"

    def step(ctx: StepContext[Any]) -> Awaitable[str]:
        return Own()

    assert completed(await flow().then(create_step(step)).map(step).commit().run(1)) == "awaited"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_future_is_awaited() -> None:
    def step(ctx: StepContext[Any]) -> Any:
        future = asyncio.get_running_loop().create_future()
        future.set_result("result")
        return future

    assert completed(await flow().then(create_step(step)).commit().run(1)) == "result"


async def test_input_and_output_are_validated_and_defaults_are_applied() -> None:
    class Order(BaseModel):
        item: str
        count: int = 3

    def double(ctx: StepContext[Order]) -> Any:
        return {"item": ctx.input.item, "count": ctx.input.count * 2}

    step = create_step(double, input_schema=Order, output_schema=Order)
    act = Actor()
    outcome = await flow().then(act.gives("order", {"item": "tea"})).then(step).commit().run(0)
    assert completed(outcome) == Order(item="tea", count=6)


async def test_a_blocking_function_runs_in_a_thread_and_the_loop_goes_on_meanwhile() -> None:
    go_on = threading.Event()
    act = Actor()

    def block(ctx: StepContext[Any]) -> str:
        assert go_on.wait(10)
        return threading.current_thread().name

    async def free(ctx: StepContext[Any]) -> str:
        await turns(1)
        go_on.set()
        return threading.current_thread().name

    output = completed(await flow().parallel([create_step(block, blocking=True), create_step(free)]).commit().run(1))
    assert output["free"] == threading.current_thread().name != output["block"]
    assert act.log == []


async def test_a_blocking_function_is_left_alone_when_the_run_is_cancelled_and_what_it_then_does_changes_nothing() -> (
    None
):
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def block(ctx: StepContext[Any]) -> str:
        begun.set()
        go_on.wait(10)
        ctx.set_state(late=True)
        try:
            ctx.bail("late")
        finally:
            ended.set()

    run = flow().then(create_step(block, blocking=True)).commit().create_run()
    outcome: Any = None

    async def cancel() -> None:
        await anyio.to_thread.run_sync(begun.wait, 10)
        run.cancel()

    try:
        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(cancel)
                outcome = await run.start(1)
        assert isinstance(outcome, Canceled)
        assert statuses(outcome) == {"block": "canceled"}
    finally:
        go_on.set()
    assert await anyio.to_thread.run_sync(ended.wait, 10)
    assert outcome.state == {}


@pytest.mark.parametrize("kind", ["def", "async", "thread"])
@pytest.mark.parametrize("then", ["returns", "raises"])
@pytest.mark.parametrize("signal", ["suspend", "bail", "abort"])
async def test_a_signal_that_the_step_swallows_counts_all_the_same(kind: str, then: str, signal: str) -> None:
    def now(ctx: StepContext[Any]) -> str:
        try:
            getattr(ctx, signal)("out")
        except BaseException as error:
            if then == "raises":
                raise OSError("swallowed") from error
        return "went on"

    async def later(ctx: StepContext[Any]) -> str:
        await turns(1)
        return now(ctx)

    act = Actor()
    step = create_step(later if kind == "async" else now, id="step", blocking=kind == "thread")
    outcome = await flow().then(step).then(act.gives("after")).commit().run(1)
    assert act.log == []
    match signal:
        case "suspend":
            assert isinstance(outcome, Suspended)
            assert outcome.suspensions[0].payload == "out"
        case "bail":
            assert completed(outcome) == "out"
        case _:
            assert isinstance(outcome, Blocked)


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("signal", ["bail", "abort"])
async def test_a_map_may_end_the_workflow_or_block_the_run(waits: bool, signal: str) -> None:
    def now(ctx: StepContext[Any]) -> Any:
        try:
            getattr(ctx, signal)("out")
        except BaseException:
            return "went on"

    async def later(ctx: StepContext[Any]) -> Any:
        await turns(1)
        return now(ctx)

    act = Actor()
    outcome = await flow().map(later if waits else now).then(act.gives("after")).commit().run(1)
    assert outcome.status == ("success" if signal == "bail" else "tripwire")
    assert act.log == []


@pytest.mark.parametrize("waits", [False, True])
async def test_a_map_that_raises_fails_the_run_naming_it(waits: bool) -> None:
    def now(ctx: StepContext[Any]) -> Any:
        raise OSError("broken")

    async def later(ctx: StepContext[Any]) -> Any:
        await turns(1)
        now(ctx)

    error = failed(await flow().map(lambda ctx: 1).map(later if waits else now).commit().run(1))
    assert isinstance(error, StepFailed)
    assert error.step_id == "map-2"


@pytest.mark.parametrize(
    "signal", [SuspendSignal(), PauseSignal(), BailSignal(object()), AbortSignal(Tripwire("x", "y"))]
)
async def test_a_signal_made_by_hand_is_a_failure(signal: BaseException) -> None:
    """Nothing of it was recorded, so it means nothing."""

    def make(ctx: StepContext[Any]) -> None:
        raise signal

    outcome = await flow().then(create_step(make)).commit().run(1)
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.__cause__ is signal
    assert statuses(outcome) == {"make": "failed"}


async def test_a_step_that_is_dropped_before_it_began_was_never_tried() -> None:
    act = Actor()
    outcome = await flow().parallel([act.gives("a", waits=0), act.fails("b")]).commit().run(1)
    assert (record(outcome, "a").status, record(outcome, "a").attempts) == ("canceled", 0)
    assert act.log == ["b"]


async def test_an_exit_of_the_program_passes_through() -> None:
    def leave(ctx: StepContext[Any]) -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        await flow().then(create_step(leave)).commit().run(1)

"""Steps that are tried again, and steps that may take only so much time."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import anyio
import pytest
from pydantic import ValidationError

from interlock import Blocked, Canceled, StepContext, create_step, create_workflow
from interlock.errors import StepFailed
from interlock.workflows import Suspended
from tests.runtime.operations.acting import Actor, completed, failed, flow, record, retry, statuses, turns

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("waits", [None, 2])
async def test_a_step_is_tried_until_it_succeeds(waits: int | None) -> None:
    act = Actor()
    outcome = await flow().then(act.fails("a", times=2, waits=waits, retry=retry(4))).commit().run("x")
    assert completed(outcome) == "x"
    assert act.log == ["a", "a", "a"]
    assert record(outcome, "a").attempts == 3
    assert record(outcome, "a").error is None
    assert len(outcome.steps) == 1


@pytest.mark.parametrize("waits", [None, 2])
async def test_after_the_last_attempt_it_has_failed(waits: int | None) -> None:
    act = Actor()
    outcome = await flow().then(act.fails("a", waits=waits, retry=retry(3))).commit().run("x")
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.attempt == 3
    assert isinstance(error.__cause__, OSError)
    assert (act.log, record(outcome, "a").attempts) == (["a", "a", "a"], 3)


async def test_a_workflows_policy_is_that_of_steps_without_one_nested_ones_too() -> None:
    act = Actor()
    inner = flow("inner").then(act.fails("a", times=1)).commit()
    own = flow("own", retry=retry(1)).then(act.fails("b", times=1)).commit()
    outcome = await flow(retry=retry(2)).then(inner).then(act.gives("c")).then(own).commit().run(1)
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.step_id == "own/b"
    assert act.log == ["a", "a", "c", "b"]


@pytest.mark.parametrize("wrong", ["input", "nested input"])
async def test_an_input_that_does_not_fit_is_no_attempt_and_is_not_tried_again(wrong: str) -> None:
    act = Actor()
    bad = act.gives("bad", "no number")
    step: Any = act.gives("a", input_schema=int, retry=retry(5))
    if wrong == "nested input":
        step = create_step(create_workflow(id="a", input_schema=int).then(act.gives("inside")).commit(), retry=retry(5))
    outcome = await flow().then(bad).then(step).commit().run(1)
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.step_id == "a"
    assert isinstance(error.cause, ValidationError)
    assert act.log == ["bad"]
    assert record(outcome, "a").attempts == 0


async def test_an_output_that_does_not_fit_is_a_failed_attempt() -> None:
    tries: list[int] = []

    def give(ctx: StepContext[Any]) -> Any:
        tries.append(ctx.attempt)
        return "x" if ctx.attempt < 3 else 7

    outcome = await flow().then(create_step(give, output_schema=int, retry=retry(3))).commit().run(1)
    assert completed(outcome) == 7
    assert tries == [1, 2, 3]


def says_other(error: Exception) -> bool:
    return "other" in str(error)


@pytest.mark.parametrize("retry_on", [KeyError, (KeyError, ValueError), says_other])
async def test_what_the_policy_does_not_name_is_not_tried_again(retry_on: Any) -> None:
    act = Actor()
    failed(await flow().then(act.fails("a", retry=retry(3, retry_on=retry_on))).commit().run(1))
    assert act.log == ["a"]


async def test_a_policy_that_raises_is_a_failure_of_the_step() -> None:
    def ask(error: Exception) -> bool:
        raise LookupError("policy")

    act = Actor()
    error = failed(await flow().then(act.fails("a", retry=retry(3, retry_on=ask))).commit().run(1))
    assert isinstance(error, StepFailed)
    assert error.step_id == "a"


@pytest.mark.parametrize("signal", ["abort", "bail", "suspend"])
@pytest.mark.parametrize("swallows", [False, True])
@pytest.mark.parametrize("waits", [False, True])
async def test_signals_are_not_tried_again(signal: str, swallows: bool, waits: bool) -> None:
    """Also where the step makes another error of the signal."""
    tries: list[int] = []

    def now(ctx: StepContext[Any]) -> None:
        tries.append(ctx.attempt)
        try:
            if signal == "bail":
                ctx.bail("out")
            getattr(ctx, signal)("why")
        except BaseException as error:
            if swallows:
                raise OSError("swallowed") from error
            raise

    async def later(ctx: StepContext[Any]) -> None:
        await turns(1)
        now(ctx)

    outcome = await flow().then(create_step(later if waits else now, id="a", retry=retry(3))).commit().run(1)
    assert {"abort": "tripwire", "bail": "success", "suspend": "suspended"}[signal] == outcome.status
    assert tries == [1]


async def test_attempts_are_counted_on_after_a_resume() -> None:
    """The policy is not lost, nor does it begin again."""
    tries: list[int] = []

    def ask(ctx: StepContext[Any]) -> Any:
        tries.append(ctx.attempt)
        if ctx.attempt == 1 or (ctx.attempt == 2 and ctx.resume_data is not None):
            raise OSError("broken")
        if ctx.resume_data is None:
            ctx.suspend()
        raise OSError("broken for good")

    run = flow().then(create_step(ask, retry=retry(3))).commit().create_run()
    assert isinstance(await run.start(1), Suspended)
    assert tries == [1, 2]
    outcome = await run.resume("yes")
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert tries == [1, 2, 2, 3]
    assert (error.attempt, record(outcome, "ask").attempts) == (3, 3)


async def test_a_nested_workflow_is_tried_again_as_a_whole() -> None:
    act = Actor()
    calls: list[int] = []

    def second(ctx: StepContext[Any]) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise OSError("broken")
        return ctx.input

    inner = flow("inner").then(act.gives("a")).then(create_step(second)).commit()
    outcome = await flow().then(create_step(inner, retry=retry(2))).commit().run("x")
    assert completed(outcome) == "x"
    assert act.log == ["a", "a"]
    told = [(one.path, one.status) for one in outcome.steps]
    assert told == [
        ("inner", "success"),
        ("inner/a", "success"),
        ("inner/second", "failed"),
        ("inner/a", "success"),
        ("inner/second", "success"),
    ]
    assert record(outcome, "inner").attempts == 2


async def test_what_waited_in_an_attempt_that_failed_waits_no_more() -> None:
    act = Actor()
    calls: list[int] = []

    async def second(ctx: StepContext[Any]) -> None:
        await turns(2)
        calls.append(1)
        if len(calls) == 1:
            raise OSError("broken")

    inner = flow("inner").parallel([act.asks("ask"), create_step(second)]).commit()
    run = flow().then(create_step(inner, retry=retry(2))).commit().create_run()
    outcome = await run.start(1)
    assert isinstance(outcome, Suspended)
    assert len(outcome.suspensions) == 1
    output = completed(await run.resume("yes", token=outcome.suspensions[0].token))
    assert output == {"ask": "yes", "second": None}


async def test_cancel_interrupts_the_wait_before_another_attempt() -> None:
    act = Actor()
    run = flow().then(act.fails("a", waits=0, retry=retry(2, delay=3_600))).commit().create_run()
    outcome: Any = None

    async def cancel() -> None:
        await turns(10)
        run.cancel()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(cancel)
            outcome = await run.start(1)
    assert isinstance(outcome, Canceled)
    assert statuses(outcome) == {"a": "canceled"}
    assert record(outcome, "a").attempts == 1


@pytest.mark.parametrize("fails", [None, 0])
async def test_a_sibling_that_stops_the_run_interrupts_it_too(fails: int | None) -> None:
    act = Actor()

    async def abort(ctx: StepContext[Any]) -> None:
        await turns(5)
        ctx.abort()

    with anyio.fail_after(5):
        block = [act.fails("a", waits=fails, retry=retry(2, delay=3_600)), create_step(abort)]
        outcome = await flow().parallel(block).commit().run(1)
    assert isinstance(outcome, Blocked)
    assert act.log == ["a"]


async def test_where_a_block_ends_inline_a_first_attempt_that_failed_was_the_only_one() -> None:
    act = Actor()
    block = [act.fails("a", retry=retry(2, delay=3_600)), act.fails("b")]
    outcome = await flow().parallel(block).commit().run(1)
    assert act.log == ["a", "b"]
    assert statuses(outcome) == {"parallel": "failed", "a": "canceled", "b": "failed"}
    assert record(outcome, "a").attempts == 1


async def test_an_async_step_that_takes_too_long_is_interrupted_and_fails() -> None:
    act = Actor()

    async def slow(ctx: StepContext[Any]) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            act.log.append("interrupted")

    outcome = await flow().then(create_step(slow, timeout=0.01)).commit().run(1)
    error = failed(outcome)
    assert isinstance(error.__cause__, TimeoutError)
    assert "took longer than 0.01 s" in str(error)
    assert act.log == ["interrupted"]


async def test_the_time_is_for_each_attempt_and_running_out_of_it_is_tried_again() -> None:
    tries: list[int] = []

    async def slow(ctx: StepContext[Any]) -> str:
        tries.append(ctx.attempt)
        if ctx.attempt < 3:
            await anyio.sleep_forever()
        return "done"

    outcome = await flow().then(create_step(slow, timeout=0.01, retry=retry(3))).commit().run(1)
    assert completed(outcome) == "done"
    assert tries == [1, 2, 3]


async def test_a_def_step_that_took_too_long_is_found_to_have_once_it_has_returned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr("interlock.runtime.operations.attempts.perf_counter", lambda: clock[0])

    def slow(ctx: StepContext[Any]) -> str:
        clock[0] += 2.0
        return "late"

    error = failed(await flow().then(create_step(slow, timeout=1.5)).commit().run(1))
    assert isinstance(error.__cause__, TimeoutError)
    assert completed(await flow().then(create_step(slow, timeout=2.5)).commit().run(1)) == "late"


async def test_a_step_that_swallows_its_interruption_is_late_all_the_same() -> None:
    async def stubborn(ctx: StepContext[Any]) -> Any:
        try:
            await anyio.sleep_forever()
        except BaseException:
            return "late"

    error = failed(await flow().then(create_step(stubborn, timeout=0.01)).commit().run(1))
    assert isinstance(error.__cause__, TimeoutError)


@pytest.mark.parametrize("signal", ["suspend", "abort", "bail"])
async def test_a_signal_that_came_in_time_counts_although_the_step_then_took_too_long(signal: str) -> None:
    async def stubborn(ctx: StepContext[Any]) -> None:
        try:
            getattr(ctx, signal)("out")
        except BaseException:
            await anyio.sleep_forever()

    with anyio.fail_after(5):
        outcome = await flow().then(create_step(stubborn, timeout=0.01)).commit().run(1)
    assert outcome.status == {"suspend": "suspended", "abort": "tripwire", "bail": "success"}[signal]


async def test_a_blocking_step_that_takes_too_long_is_left_alone() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def slow(ctx: StepContext[Any]) -> None:
        go_on.wait(10)
        ended.set()

    try:
        began = time.monotonic()
        outcome = await flow().then(create_step(slow, blocking=True, timeout=0.01)).commit().run(1)
        assert isinstance(failed(outcome).__cause__, TimeoutError)
        assert time.monotonic() - began < 5
        assert not ended.is_set()
    finally:
        go_on.set()
    assert await anyio.to_thread.run_sync(ended.wait, 10)


async def test_a_nested_workflow_may_take_only_so_much_time() -> None:
    act = Actor()
    inner = flow("inner").then(act.gives("a")).parallel([act.stays("b"), act.stays("c")]).commit()
    outcome = await flow().then(create_step(inner, timeout=0.01)).commit().run(1)
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.step_id == "inner"
    assert isinstance(error.__cause__, TimeoutError)
    assert sorted(act.log) == ["a", "b cancelled", "c cancelled"]
    assert statuses(outcome)["inner/b"] == "canceled"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancellation_that_nobody_asked_for_is_a_failure() -> None:
    async def lonely(ctx: StepContext[Any]) -> None:
        raise asyncio.CancelledError

    every: list[dict[str, Any]] = [{}, {"retry": retry(2)}, {"timeout": 5.0}]
    for options in every:
        outcome = await flow().then(create_step(lonely, **options)).commit().run(1)
        assert "nobody cancelled this" in str(failed(outcome))

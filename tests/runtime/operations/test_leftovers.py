"""What an attempt that is over has left running has a context and notes of its own, and changes nothing any more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import pytest

from interlock import StepContext, create_step
from interlock.errors import RunError
from interlock.runtime import MemoryRunStore
from interlock.workflows import Suspended
from tests.runtime.operations.acting import completed, flow, record, retry, turns

pytestmark = pytest.mark.anyio
stored = pytest.mark.parametrize("stored", [False, True])

LATE: dict[str, Callable[[StepContext[Any]], object]] = {
    "set_state": lambda ctx: ctx.set_state(n=100, late=True),
    "suspend": lambda ctx: ctx.suspend("late"),
    "bail": lambda ctx: ctx.bail("late"),
}


def late(what: str, ctx: StepContext[Any]) -> BaseException | None:
    """Do something in a context of an attempt that is over; gives what that raised."""
    try:
        LATE[what](ctx)
    except BaseException as error:
        return error
    return None


def run_of(step: Any, stored: bool) -> Any:
    """A run of the step and of one behind it."""
    workflow = flow().then(step).then(create_step(lambda ctx: [ctx.input], id="after")).commit()
    return workflow.create_run(store=MemoryRunStore() if stored else None)


@stored
@pytest.mark.parametrize("what", LATE)
@pytest.mark.parametrize("when", ["during", "behind"])
@pytest.mark.parametrize("waits", [False, True])
async def test_what_an_attempt_that_failed_does_late_counts_for_nothing(
    what: str, when: str, waits: bool, stored: bool
) -> None:
    """During the next attempt, or in the step behind it."""
    contexts: list[StepContext[Any]] = []

    def now(ctx: StepContext[Any]) -> Any:
        contexts.append(ctx)
        if ctx.attempt == 1:
            ctx.set_state(n=1)
            raise OSError("broken")
        if when == "during":
            late(what, contexts[0])
        ctx.set_state(n=2)
        return "kept"

    async def later(ctx: StepContext[Any]) -> Any:
        await turns(1)
        return now(ctx)

    def after(ctx: StepContext[Any]) -> Any:
        if when == "behind":
            late(what, contexts[0])
            late(what, contexts[1])
        return [ctx.input]

    step = create_step(later if waits else now, id="a", retry=retry(2))
    run = flow().then(step).then(create_step(after)).commit().create_run(store=MemoryRunStore() if stored else None)
    outcome = await run.start(1)
    assert completed(outcome) == ["kept"]
    assert outcome.state == {"n": 2}
    assert contexts[0] is not contexts[1]
    assert record(outcome, "a").attempts == 2


@stored
@pytest.mark.parametrize("what", LATE)
async def test_a_thread_that_a_time_out_has_left_behind_changes_nothing(what: str, stored: bool) -> None:
    """The next attempt waits until the thread of the first has done its late deed."""
    go_on, ended = threading.Event(), threading.Event()
    raised: list[BaseException | None] = []

    def block(ctx: StepContext[Any]) -> Any:
        if ctx.attempt == 1:
            go_on.wait(10)
            raised.append(late(what, ctx))
            ended.set()
            return "late"
        go_on.set()
        assert ended.wait(10)
        ctx.set_state(n=ctx.attempt)
        return "in time"

    step = create_step(block, blocking=True, timeout=0.25, retry=retry(50))
    try:
        outcome = await run_of(step, stored).start(1)
    finally:
        go_on.set()
    assert completed(outcome) == ["in time"]
    assert outcome.state == {"n": record(outcome, "block").attempts}
    if what == "bail":
        assert isinstance(raised[0], RunError)
        assert "has ended its turn" in str(raised[0])


@stored
async def test_what_an_attempt_changed_in_the_clean_up_of_its_time_out_is_gone(stored: bool) -> None:
    async def slow(ctx: StepContext[Any]) -> Any:
        if ctx.attempt > 1:
            return "in time"
        try:
            await anyio.sleep_forever()
        finally:
            late("set_state", ctx)

    outcome = await run_of(create_step(slow, timeout=0.01, retry=retry(2)), stored).start(1)
    assert completed(outcome) == ["in time"]
    assert outcome.state == {}


@stored
async def test_each_attempt_has_its_own_number_and_begins_without_changes(stored: bool) -> None:
    seen: list[tuple[int, bool]] = []
    contexts: list[StepContext[Any]] = []

    def tries(ctx: StepContext[Any]) -> Any:
        contexts.append(ctx)
        seen.append((ctx.attempt, any(one is ctx for one in contexts[:-1])))
        ctx.set_state(**{f"attempt-{ctx.attempt}": True})
        if ctx.attempt < 3:
            raise OSError("broken")
        return [one.attempt for one in contexts]

    outcome = await run_of(create_step(tries, retry=retry(3)), stored).start(1)
    assert seen == [(1, False), (2, False), (3, False)]
    assert completed(outcome) == [[1, 2, 3]]
    assert outcome.state == {"attempt-3": True}


@stored
async def test_each_attempt_is_given_the_answer_and_an_old_ones_question_is_not_asked(stored: bool) -> None:
    contexts: list[StepContext[Any]] = []

    def ask(ctx: StepContext[Any]) -> Any:
        contexts.append(ctx)
        if ctx.resume_data is None:
            ctx.suspend("first")
        if ctx.attempt < 3:
            raise OSError("broken")
        with suppress(BaseException):
            contexts[-2].suspend("late")
        return ctx.resume_data

    run = run_of(create_step(ask, retry=retry(3)), stored)
    assert isinstance(await run.start(1), Suspended)
    assert completed(await run.resume("yes")) == ["yes"]
    assert [one.resume_data for one in contexts] == [None, "yes", "yes", "yes"]


@stored
@pytest.mark.parametrize("what", LATE)
async def test_a_step_that_has_failed_for_good_can_do_nothing_more(what: str, stored: bool) -> None:
    contexts: list[StepContext[Any]] = []

    def fails(ctx: StepContext[Any]) -> Any:
        contexts.append(ctx)
        raise OSError("broken")

    def behind(ctx: StepContext[Any]) -> Any:
        for one in contexts:
            late(what, one)
        return len(contexts)

    block = flow().parallel([create_step(fails, retry=retry(2))], on_error="collect").map(lambda ctx: 0)
    run = block.then(create_step(behind)).commit().create_run(store=MemoryRunStore() if stored else None)
    outcome = await run.start(1)
    assert completed(outcome) == 2
    assert outcome.state == {}

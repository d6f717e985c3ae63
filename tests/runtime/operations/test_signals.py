"""Signals of steps: of two the first counts; one that comes in a clean-up comes too late; none is lost in a group."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
import pytest

from interlock import Blocked, Canceled, StepContext, create_step
from interlock.errors import StepFailed
from interlock.runtime import MemoryRunStore
from interlock.steps import Step
from tests.runtime.operations.acting import Actor, completed, failed, flow, statuses, turns

pytestmark = pytest.mark.anyio
stored = pytest.mark.parametrize("stored", [False, True])

SIGNALS: dict[str, Callable[[StepContext[Any], str], object]] = {
    "abort": lambda ctx, said: ctx.abort(said),
    "bail": lambda ctx, said: ctx.bail(said),
    "suspend": lambda ctx, said: ctx.suspend(said),
}
signals = pytest.mark.parametrize("signal", SIGNALS)
how = pytest.mark.parametrize("swallowed", [False, True])


def signalling(name: str, signal: str, swallowed: bool) -> Step[Any, Any]:
    """A step that waits for ever, and signals when it is cancelled."""

    async def stay(ctx: StepContext[Any]) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            if swallowed:
                with suppress(BaseException):
                    SIGNALS[signal](ctx, "late")
            else:
                SIGNALS[signal](ctx, "late")

    return create_step(stay, id=name)


def run_of(builder: Any, stored: bool) -> Any:
    """A run, with a store or without."""
    return builder.commit().create_run(store=MemoryRunStore() if stored else None)


@stored
@signals
@how
@pytest.mark.parametrize("beside", [False, True])
async def test_a_signal_in_the_clean_up_after_a_cancel_is_ignored(
    signal: str, swallowed: bool, beside: bool, stored: bool
) -> None:
    act = Actor()
    last = signalling("last", signal, swallowed)
    builder = flow().parallel([last, signalling("other", signal, swallowed)]) if beside else flow().then(last)
    run = run_of(builder.then(act.gives("after")), stored)
    outcome: Any = None

    async def cancel() -> None:
        await turns(8)
        run.cancel()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(cancel)
            outcome = await run.start(1)
    assert isinstance(outcome, Canceled)
    assert statuses(outcome)["last"] == "canceled"
    assert act.log == []


@stored
@pytest.mark.parametrize("signal", ["bail", "suspend"])
@how
async def test_a_signal_in_the_clean_up_of_an_arm_that_is_not_needed_is_ignored(
    signal: str, swallowed: bool, stored: bool
) -> None:
    act = Actor()
    block = [signalling("slow", signal, swallowed), act.gives("quick", "quick", waits=3)]
    with anyio.fail_after(5):
        outcome = await run_of(flow().parallel(block, join="any").then(act.gives("after")), stored).start(1)
    assert completed(outcome) == {"quick": "quick"}
    assert act.log == ["quick", "after"]


@stored
@pytest.mark.parametrize("signal", ["bail", "suspend"])
@how
async def test_a_signal_in_the_clean_up_of_an_arm_beside_one_that_failed_is_ignored(
    signal: str, swallowed: bool, stored: bool
) -> None:
    act = Actor()
    block = [signalling("slow", signal, swallowed), act.fails("bad", waits=3)]
    with anyio.fail_after(5):
        outcome = await run_of(flow().parallel(block).then(act.gives("after")), stored).start(1)
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.step_id == "bad"
    assert act.log == ["bad"]


@stored
@how
@pytest.mark.parametrize("join", ["any", "all"])
async def test_a_tripwire_counts_whenever_it_comes_also_in_such_a_clean_up(
    join: Any, swallowed: bool, stored: bool
) -> None:
    act = Actor()
    last = act.fails("last", waits=3) if join == "all" else act.gives("last", waits=3)
    block = [signalling("slow", "abort", swallowed), last]
    with anyio.fail_after(5):
        outcome = await run_of(flow().parallel(block, join=join).then(act.gives("after")), stored).start(1)
    assert isinstance(outcome, Blocked)
    assert outcome.tripwire.reason == "late"
    assert act.log == ["last"]


@stored
@signals
@how
async def test_a_signal_in_the_clean_up_beside_a_bail_or_an_abort_does_not_replace_it(
    signal: str, swallowed: bool, stored: bool
) -> None:
    act = Actor()

    async def abort(ctx: StepContext[Any]) -> Any:
        await turns(3)
        ctx.abort("first")

    slow = signalling("slow", signal, swallowed)
    with anyio.fail_after(5):
        blocked = await run_of(flow().parallel([slow, create_step(abort)]), stored).start(1)
        bailed = await run_of(flow().parallel([slow, act.bails("out", "first", waits=3)]), stored).start(1)
    assert isinstance(blocked, Blocked)
    assert blocked.tripwire.reason == "first"
    if signal != "abort":
        assert completed(bailed) == "first"


@stored
@pytest.mark.parametrize("place", ["parallel", "any", "foreach", "dag"])
async def test_a_failure_in_the_clean_up_beside_a_bail_that_was_swallowed_is_ignored(place: str, stored: bool) -> None:
    """The one that bailed goes on, and is stopped with the others; of these one fails at that."""

    async def bails(ctx: StepContext[Any]) -> Any:
        await turns(3)
        with suppress(BaseException):
            ctx.bail("first")
        await anyio.sleep_forever()

    async def breaks(ctx: StepContext[Any]) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            raise OSError("broken at its end")

    async def either(ctx: StepContext[Any]) -> Any:
        return await (bails if ctx.input == "bails" else breaks)(ctx)

    steps = [create_step(breaks), create_step(bails), create_step(breaks, id="breaks-too")]
    builders: dict[str, Callable[[], Any]] = {
        "parallel": lambda: flow().parallel(steps),
        "any": lambda: flow().parallel(steps, join="any"),
        "dag": lambda: flow().dag({one: [] for one in steps}),
        "foreach": lambda: flow().map(lambda ctx: ["x", "bails", "y"]).foreach(create_step(either), concurrency=3),
    }
    with anyio.fail_after(5):
        outcome = await run_of(builders[place](), stored).start(1)
    assert completed(outcome) == "first"


@stored
@pytest.mark.parametrize("first", SIGNALS)
@pytest.mark.parametrize("second", SIGNALS)
async def test_of_two_signals_of_a_step_the_first_counts(first: str, second: str, stored: bool) -> None:
    """But for a tripwire, which is the whole run's and counts whenever it comes."""

    def both(ctx: StepContext[Any]) -> Any:
        try:
            SIGNALS[first](ctx, "first")
        finally:
            SIGNALS[second](ctx, "late")

    outcome = await run_of(flow().then(create_step(both)), stored).start(1)
    wins = "abort" if "abort" in (first, second) else first
    said = "first" if wins == first else "late"
    told: Any = {
        "abort": lambda: outcome.tripwire.reason,
        "bail": lambda: completed(outcome),
        "suspend": lambda: outcome.suspensions[0].payload,
    }[wins]()
    assert outcome.status == {"abort": "tripwire", "bail": "success", "suspend": "suspended"}[wins]
    assert told == said


@stored
@signals
async def test_a_signal_among_the_errors_of_a_group_counts(signal: str, stored: bool) -> None:
    async def several(ctx: StepContext[Any]) -> Any:
        async def child() -> None:
            SIGNALS[signal](ctx, "late")

        async def broken() -> None:
            raise OSError("broken")

        async with anyio.create_task_group() as group:
            group.start_soon(child)
            group.start_soon(broken)

    outcome = await run_of(flow().then(create_step(several)), stored).start(1)
    assert outcome.status == {"abort": "tripwire", "bail": "success", "suspend": "suspended"}[signal]


class Odd(BaseException):
    """No ``Exception``."""


@stored
@pytest.mark.parametrize("inside", [Odd("odd"), ValueError("wrong"), BaseExceptionGroup("inner", [Odd("odd")])])
@pytest.mark.parametrize("waits", [False, True])
async def test_a_group_that_a_step_makes_by_hand_is_its_failure(
    inside: BaseException, waits: bool, stored: bool
) -> None:
    def now(ctx: StepContext[Any]) -> Any:
        raise BaseExceptionGroup("several", [inside, OSError("broken")])

    async def later(ctx: StepContext[Any]) -> Any:
        await turns(1)
        now(ctx)

    act = Actor()
    for builder in (flow().then(create_step(later if waits else now, id="a")), flow().parallel([later, now])):
        outcome = await run_of(builder.then(act.gives("after")), stored).start(1)
        error = failed(outcome)
        assert isinstance(error, StepFailed)
        assert isinstance(error.cause, BaseExceptionGroup)
    assert act.log == []


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
async def test_a_wish_to_stop_the_program_in_a_group_comes_out(stop: type[BaseException]) -> None:
    def now(ctx: StepContext[Any]) -> Any:
        raise BaseExceptionGroup("several", [OSError("broken"), stop()])

    with pytest.raises(BaseExceptionGroup) as caught:
        await flow().then(create_step(now)).commit().run(1)
    assert caught.group_contains(stop)

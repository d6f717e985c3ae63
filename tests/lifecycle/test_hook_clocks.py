"""When a hook's clock starts, and what ends a hook that waits: at every point, on both event loops."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Literal

import anyio
import anyio.lowlevel
import pytest

from interlock import AgentResult, Phase, Processor, RetryPolicy, create_step
from tests.lifecycle.acting import Everywhere, acting_at, flow
from tests.lifecycle.failing import agent_with, checks_of

pytestmark = pytest.mark.anyio

PLACES: tuple[Literal["list", "parallel"], ...] = ("list", "parallel")


def hooked(phase: Phase, hook: Any) -> Processor:
    made: Any = type("Guard", (Processor,), {"id": "guard", f"process_{phase}": hook})
    processor: Processor = made()
    return processor


async def result_of(phase: Phase, step: Any, place: str = "list") -> AgentResult:
    entry = step if place == "list" else flow().parallel([step, Everywhere("beside")]).merge().commit()
    try:
        return await agent_with(phase, entry).generate("hello")
    except Exception as error:
        result: AgentResult = vars(error)["result"]
        return result


def keeps_busy(seconds: float = 0.03) -> None:
    """Lets nobody else run meanwhile."""
    time.sleep(seconds)


async def busy(self: object, ctx: Any) -> object:
    keeps_busy()
    return getattr(ctx, "chunk", None)


async def busy_before_it_waits(self: object, ctx: Any) -> object:
    keeps_busy()
    await anyio.lowlevel.checkpoint()
    return getattr(ctx, "chunk", None)


@pytest.mark.parametrize("retry", [None, RetryPolicy(attempts=2)], ids=["once", "tried again"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("phase", Phase)
async def test_what_a_hook_does_before_it_first_waits_takes_none_of_its_time(
    phase: Phase, place: str, retry: RetryPolicy | None
) -> None:
    for hook in (busy, busy_before_it_waits):
        step = create_step(hooked(phase, hook), timeout=0.02, on_failure="block", retry=retry)
        result = await result_of(phase, step, place)
        assert {check.verdict for check in checks_of(result, "guard", phase)} == {"passed"}


async def busy_once_it_has_waited(self: object, ctx: Any) -> None:
    await anyio.lowlevel.checkpoint()
    keeps_busy()


@pytest.mark.parametrize("phase", Phase)
async def test_a_hook_that_keeps_the_loop_busy_after_it_waited_is_late(phase: Phase) -> None:
    step = create_step(hooked(phase, busy_once_it_has_waited), timeout=0.01, on_failure="block")
    result = await result_of(phase, step)
    assert result.tripwire is not None
    assert result.tripwire.metadata == {"failure": "TimeoutError"}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("phase", Phase)
async def test_a_shadow_that_swallows_its_abort_and_waits_on_holds_nobody_up(phase: Phase, place: str) -> None:
    async def act(ctx: Any) -> None:
        with contextlib.suppress(BaseException):
            ctx.abort("bad")
        await anyio.sleep_forever()

    step = create_step(acting_at(phase, act, waits=True), shadow=True)
    with anyio.fail_after(20):
        result = await result_of(phase, step, place)
    assert result.tripwire is None
    assert {check.verdict for check in checks_of(result, "guard", phase)} == {"shadow-blocked"}


@pytest.mark.parametrize("patient", [False, True])
@pytest.mark.parametrize("phase", Phase)
async def test_a_shadow_that_has_recorded_an_abort_and_then_fails_is_not_tried_again(
    phase: Phase, patient: bool
) -> None:
    calls: list[Phase] = []

    def act(ctx: Any) -> None:
        calls.append(ctx.phase)
        with contextlib.suppress(BaseException):
            ctx.abort("bad")
        raise ValueError

    step = create_step(acting_at(phase, act, waits=patient), shadow=True, retry=RetryPolicy(attempts=3))
    result = await result_of(phase, step)
    checks = checks_of(result, "guard", phase)
    assert {(check.verdict, check.reason) for check in checks} == {("shadow-blocked", "would have blocked: bad")}
    assert len(calls) == sum(check.runs for check in checks)


@pytest.mark.parametrize("phase", Phase)
async def test_a_record_bears_the_detail_of_a_warning(phase: Phase) -> None:
    def act(ctx: Any) -> object:
        ctx.warn("odd")
        ctx.warn("very odd", {"score": 0.4})
        return getattr(ctx, "chunk", None)

    result = await result_of(phase, acting_at(phase, act, waits=False))
    checks = checks_of(result, "guard", phase)
    assert {(check.verdict, check.reason) for check in checks} == {("warned", "odd; very odd")}
    assert all(check.metadata == {"score": 0.4} for check in checks)

"""Waits at the per-chunk point, and lists, which do not flow there."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock.errors import RunError
from interlock.messages import TextDelta
from interlock.verdict import AbortSignal
from tests.lifecycle.acting import aborting
from tests.runtime.chunk_acting import Path, flow, guard, star

pytestmark = pytest.mark.anyio

X = TextDelta("x")
SOON = 0.001


def at_once(ctx: Any) -> float:
    return SOON


def then(ctx: Any) -> datetime:
    return datetime.now() + timedelta(seconds=SOON)


async def in_a_moment(ctx: Any) -> float:
    await anyio.lowlevel.checkpoint()
    return SOON


@pytest.mark.parametrize("seconds", [SOON, at_once, in_a_moment])
async def test_a_chunk_waits_and_goes_on_as_the_same_object(seconds: Any) -> None:
    path = Path(flow().sleep(seconds).then(guard("a")).commit())
    began = time.monotonic()
    assert await path.feed(X) is X
    assert time.monotonic() - began >= SOON


@pytest.mark.parametrize(
    "when",
    [
        lambda: time.time() + SOON,
        lambda: datetime.now(UTC) + timedelta(seconds=SOON),
        lambda: then,
    ],
)
async def test_a_chunk_waits_until_a_point_in_time(when: Any) -> None:
    path = Path(flow().sleep_until(when()).then(guard("a")).commit())
    assert await path.feed(X) is X


def test_where_there_is_nothing_to_wait_for_nothing_is_awaited() -> None:
    for waits in (flow().sleep(0), flow().sleep_until(0), flow().sleep_until(datetime(2001, 1, 1))):
        assert Path(waits.then(guard("a")).commit()).path.feed(X) is X


@pytest.mark.parametrize("wrong", ["soon", -1, None, float("nan"), True])
async def test_what_is_no_time_is_a_failure_that_names_the_wait(wrong: Any) -> None:
    path = Path(flow().sleep(lambda ctx: wrong).then(guard("a")).commit())
    with pytest.raises(RunError, match=r"'flow/sleep' waits for seconds, 0 or more, not for"):
        await path.feed(X)


async def test_a_guard_beside_a_wait_stops_it() -> None:
    waits = flow("waits").sleep(3600).then(guard("a")).commit()
    for turns in (0, 1):
        path = Path(flow().parallel([waits, guard("b", aborting(), turns=turns)]).merge().commit())
        with anyio.fail_after(5), pytest.raises(AbortSignal):
            await path.feed(X)


async def test_a_wait_can_be_cancelled() -> None:
    path = Path(guard("a", star, turns=1), flow().sleep(3600).then(guard("b")).commit())
    with anyio.move_on_after(SOON) as scope:
        await path.feed(X)
    assert scope.cancelled_caught
    told = {check.processor_id: (check.verdict, check.reason) for check in path.checks()}
    assert told == {"a": ("changed", None), "b": ("not-checked", "the run was canceled first")}


async def test_a_list_does_not_flow_at_the_per_chunk_point() -> None:
    log: list[str] = []
    each = flow("each").map(lambda ctx: ctx.input).foreach(guard("a", log=log)).map(first).commit()
    path = Path(flow().then(each).commit())
    with pytest.raises(RunError, match=r"'flow/each/foreach' goes over a list, but a chunk flows there"):
        await path.feed(X)
    assert log == []
    (check,) = path.checks()
    assert (check.verdict, check.reason, check.runs) == ("not-checked", "the run failed first", 0)


def first(ctx: Any) -> Any:
    return ctx.input[0]

"""Retries and time-outs at the per-chunk point: of hooks, functions and nested workflows."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import create_step
from interlock.errors import StepFailed
from interlock.messages import TextDelta
from interlock.processors import OutputStreamContext
from interlock.steps import RetryPolicy
from interlock.verdict import AbortSignal
from tests.lifecycle.acting import Everywhere, aborting
from tests.runtime.chunk_acting import Act, Path, flow, guard, shout

pytestmark = pytest.mark.anyio

X = TextDelta("x")
TWICE = RetryPolicy(attempts=2)


class Failing:
    """Fails so many times, then goes on."""

    def __init__(self, times: int, then: Act | None = None) -> None:
        self.left = times
        self.calls = 0
        self.then = then

    def __call__(self, ctx: Any) -> Any:
        self.calls += 1
        if self.left:
            self.left -= 1
            raise OSError("broken")
        return ctx.chunk if self.then is None else self.then(ctx)


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_hook_is_tried_again_and_its_last_attempt_counts(turns: int) -> None:
    act = Failing(1, shout)
    path = Path(create_step(guard("a", act, turns=turns), retry=TWICE), guard("b"))
    assert await path.texts("x", "y") == ["X", "Y"]
    assert act.calls == 3
    assert {c.processor_id: (c.verdict, c.runs) for c in path.checks()} == {"a": ("changed", 2), "b": ("passed", 2)}


@pytest.mark.parametrize("turns", [0, 1])
async def test_what_fails_in_every_attempt_fails_and_says_how_often_it_was_tried(turns: int) -> None:
    path = Path(create_step(guard("a", Failing(9), turns=turns), retry=TWICE))
    with pytest.raises(StepFailed, match=r"'processor:a' in phase 'output_stream' failed \(attempt 2\): OSError"):
        await path.feed(X)
    (check,) = path.checks()
    assert (check.verdict, check.reason) == ("not-checked", "failed: OSError")


async def test_a_function_is_told_which_attempt_it_is_and_a_workflows_policy_is_for_all_its_steps() -> None:
    attempts: list[int] = []

    def fails(ctx: Any) -> Any:
        attempts.append(ctx.attempt)
        if len(attempts) < 3:
            raise OSError("broken")
        return ctx.input

    path = Path(flow().then(create_step(fails, retry=RetryPolicy(attempts=3))).then(guard("a")).commit())
    assert await path.feed(X) is X
    assert await path.feed(X) is X
    assert attempts == [1, 2, 3, 1]


async def test_stopping_the_run_is_never_tried_again() -> None:
    log: list[str] = []
    path = Path(create_step(guard("a", aborting(), turns=1, log=log), retry=TWICE))
    with pytest.raises(AbortSignal):
        await path.feed(X)
    assert len(log) == 1


async def test_an_attempt_that_takes_too_long_is_a_failure() -> None:
    class Slow(Everywhere):
        async def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            await anyio.sleep_forever()

    path = Path(create_step(Slow("slow"), timeout=0.001))
    with pytest.raises(StepFailed, match=r"'processor:slow'.*TimeoutError: it took longer than 0.001 s"):
        await path.feed(X)


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_nested_workflow_is_tried_again_as_a_whole(turns: int) -> None:
    log: list[str] = []
    failing = guard("b", Failing(1, shout), turns=turns)
    inner = flow("inner").then(guard("a", turns=turns, log=log)).then(failing).commit()
    path = Path(create_step(inner, retry=TWICE), guard("last"))
    assert await path.texts("x") == ["X"]
    assert len(log) == 2
    assert {check.processor_id: check.runs for check in path.checks()} == {"a": 2, "b": 2, "last": 1}


async def test_what_waits_to_be_tried_is_dropped_where_a_sibling_stops_the_run() -> None:
    waiting = create_step(guard("a", turns=1), timeout=60)
    path = Path(flow().parallel([waiting, guard("b", aborting())]).merge().commit())
    with pytest.raises(AbortSignal):
        await path.feed(X)
    told = {check.processor_id: (check.verdict, check.reason) for check in path.checks()}
    assert told == {"a": ("not-checked", "'b' blocked first"), "b": ("blocked", "not here")}

"""Wherever a run is cancelled, from inside or outside: when it returns all has ended, and nothing is left over."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

import anyio
import anyio.lowlevel
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from interlock import Canceled
from interlock.runtime import MemoryRunStore
from interlock.workflows import Paused, StepRecord, Suspended
from tests.runtime.laws.building import Log, answer_to, built, result_of
from tests.runtime.laws.graphs import Graph, Temper, graphs
from tests.runtime.laws.naive import TooMany, results
from tests.runtime.laws.running import Manner, in_loop

manners = st.sampled_from(get_args(Manner))
SLOW = Temper(waits=8)


def expected_of(graph: Graph) -> list[Any]:
    """What it may come to where it is not cancelled in time."""
    try:
        return results(graph)
    except TooMany:
        assume(False)
        raise


async def turns(count: int) -> None:
    """Let others run so many times."""
    for _ in range(count):
        await anyio.lowlevel.checkpoint()


def check_ended(records: Sequence[StepRecord], log: Log) -> None:
    """Everything that began has ended."""
    assert "unfinished" not in {record.status for record in records}
    waiting = Counter(name for name, _, word in log if word == "waits")
    waiting.subtract(name for name, _, word in log if word in ("began", "cancelled"))
    assert not +waiting, "still waits"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=120, deadline=None)
@given(graphs(SLOW), manners, st.integers(0, 40), st.integers(0, 1_000))
def test_a_run_that_is_cancelled_at_any_moment_ends_as_canceled_or_as_it_had_before(
    backend: str, graph: Graph, manner: Manner, moment: int, seed: int
) -> None:
    expected = expected_of(graph)
    log: Log = []
    workflow = built(graph, log)
    order = random.Random(seed)

    async def go() -> Any:
        store = MemoryRunStore() if manner == "stored" else None
        run: Any = workflow.create_run(store=store)
        outcome: Any = None

        async def cancel() -> None:
            await turns(moment)
            run.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(cancel)
            if manner == "stream":
                async with run.stream(7) as events:
                    outcome = await events.outcome()
            else:
                outcome = await run.start(7, pause=manner == "paused")
            while isinstance(outcome, Suspended | Paused):
                if isinstance(outcome, Paused):
                    outcome = await run.next()
                else:
                    one = order.choice(list(outcome.suspensions))
                    outcome = await run.resume(answer_to(one.payload), token=one.token)
            group.cancel_scope.cancel()
        return outcome

    outcome = in_loop(backend, go)
    if not isinstance(outcome, Canceled):
        assert result_of(outcome) in expected
    check_ended(outcome.steps, log)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=120, deadline=None)
@given(graphs(SLOW), manners, st.integers(0, 40))
def test_a_scope_around_a_run_that_is_cancelled_at_any_moment_leaves_nothing_behind(
    backend: str, graph: Graph, manner: Manner, moment: int
) -> None:
    expected = expected_of(graph)
    log: Log = []
    workflow = built(graph, log)

    async def go() -> tuple[Any, bool]:
        run: Any = workflow.create_run(store=MemoryRunStore() if manner == "stored" else None)
        outcome: Any = None
        scope = anyio.CancelScope()

        async def cancel() -> None:
            await turns(moment)
            scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(cancel)
            with scope:
                if manner == "stream":
                    async with run.stream(7) as events:
                        async for _ in events:
                            pass
                    outcome = await events.outcome()
                else:
                    outcome = await run.start(7, pause=manner == "paused")
            group.cancel_scope.cancel()
        return outcome, scope.cancelled_caught

    outcome, caught = in_loop(backend, go)
    if outcome is not None and not isinstance(outcome, Suspended | Paused):
        assert result_of(outcome) in (*expected, ("canceled",))
    assert caught or outcome is not None
    check_ended([], log)


@settings(max_examples=120, deadline=None)
@given(graphs(SLOW), manners, st.integers(0, 40))
def test_a_task_that_is_cancelled_at_any_moment_while_it_runs_a_workflow_ends_as_cancelled(
    graph: Graph, manner: Manner, moment: int
) -> None:
    log: Log = []
    workflow = built(graph, log)

    async def go() -> None:
        run: Any = workflow.create_run(store=MemoryRunStore() if manner == "stored" else None)

        async def runs() -> Any:
            if manner != "stream":
                return await run.start(7, pause=manner == "paused")
            async with run.stream(7) as events:
                async for _ in events:
                    pass
            return await events.outcome()

        task = asyncio.ensure_future(runs())
        await turns(moment)
        if task.done():
            return
        assert task.cancel()
        await asyncio.wait([task])
        assert task.cancelled() or task.exception() is None

    in_loop("asyncio", go)
    check_ended([], log)

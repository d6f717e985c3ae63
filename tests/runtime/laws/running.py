"""Running graphs in every manner, on both event loops, and looking at what they leave behind."""

from __future__ import annotations

import asyncio
import gc
import random
import warnings
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

import anyio
import anyio.lowlevel
import trio

from interlock import Workflow
from interlock.runtime import MemoryRunStore
from interlock.workflows import Event, Outcome, Paused, Suspended
from tests.runtime.laws.building import answer_to

__all__ = ["Manner", "in_loop", "run_through", "streamed"]

T = TypeVar("T")

Manner = Literal["plain", "stream", "stored", "paused"]
"""How a run is made: as it is; read along; with a store, each resume by another run object; step by step."""


def in_loop(backend: str, function: Callable[[], Awaitable[T]]) -> T:
    """Run something in a fresh event loop; nothing may be left running or unawaited, nor the task half cancelled."""

    async def guarded() -> T:
        before = _tasks(backend)
        result = await function()
        for _ in range(3):
            if _tasks(backend) <= before:
                break
            await anyio.lowlevel.checkpoint()
        assert _tasks(backend) <= before, "left running"
        if backend == "asyncio":
            task = asyncio.current_task()
            assert task is not None
            assert task.cancelling() == 0
        return result

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = anyio.run(guarded, backend=backend)
        if caught:
            gc.collect()
    assert not caught, [str(one.message) for one in caught]
    return result


def _tasks(backend: str) -> int:
    if backend == "asyncio":
        return len(asyncio.all_tasks())
    return trio.lowlevel.current_statistics().tasks_living


async def streamed(run: Any, value: Any) -> tuple[Any, list[Event]]:
    """The outcome and events of a run that is read along."""
    seen: list[Event] = []
    async with run.stream(value) as events:
        async for event in events:
            seen.append(event)
    return await events.outcome(), seen


async def run_through(
    workflow: Workflow[Any, Any], manner: Manner, seed: int, *, value: Any = 7
) -> tuple[Outcome[Any], list[Outcome[Any]]]:
    """Run to the end, answering what waits one by one in some order; gives the outcome, and those before it."""
    order = random.Random(seed)
    store = MemoryRunStore() if manner == "stored" else None
    run: Any = workflow.create_run(store=store)
    outcome: Any
    if manner == "stream":
        outcome, _ = await streamed(run, value)
    else:
        outcome = await run.start(value, pause=manner == "paused")
    before: list[Outcome[Any]] = []
    for _ in range(200):
        if isinstance(outcome, Paused):
            outcome = await run.next()
        elif isinstance(outcome, Suspended):
            before.append(outcome)
            one = order.choice(list(outcome.suspensions))
            if store is not None:
                run = workflow.create_run(run.run_id, store=store)
            outcome = await run.resume(answer_to(one.payload), token=one.token)
        else:
            return outcome, before
    raise AssertionError(f"goes on for ever: {outcome}")

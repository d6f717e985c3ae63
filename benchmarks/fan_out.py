"""Branches that run at once and are joined, against ``asyncio.TaskGroup``.

As in the chain, the steps take and give anything, and nothing is checked against a schema.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.harness import Effort, Measured, Row, measure_cost, measure_ratio
from benchmarks.outcomes import output_of
from interlock.steps import StepContext, create_step
from interlock.workflows import Workflow, create_workflow

__all__ = ["ROWS"]

SLEEP = 0.010

Function = Callable[[StepContext[Any]], Awaitable[Any]]


def _branch(number: int) -> Function:
    async def branch(ctx: StepContext[Any]) -> Any:
        return ctx.input + number

    return branch


async def _sleeper(ctx: StepContext[Any]) -> Any:
    return await asyncio.sleep(SLEEP, ctx.input)


def _workflow(functions: Sequence[Function]) -> Workflow[Any, dict[str, Any]]:
    steps = [create_step(function, id=f"branch-{number}") for number, function in enumerate(functions)]
    return create_workflow(id="fan-out").parallel(steps).commit()


def _engine(width: int, times: int = 1) -> Callable[[], Awaitable[list[int]]]:
    workflow = _workflow([_branch(number) for number in range(width)])

    async def run() -> list[int]:
        results: list[int] = []
        for _ in range(times):
            results += output_of(await workflow.run(7)).values()
        return results

    return run


def _hand(width: int) -> Callable[[], Awaitable[list[int]]]:
    def function(number: int) -> Callable[[int], Awaitable[int]]:
        async def branch(value: int) -> int:
            return value + number

        return branch

    functions = [function(number) for number in range(width)]

    async def run() -> list[int]:
        results = [0] * width

        async def one(number: int, function: Callable[[int], Awaitable[int]]) -> None:
            results[number] = await function(7)

        async with asyncio.TaskGroup() as group:
            for number, function in enumerate(functions):
                group.create_task(one(number, function))
        return results

    return run


def _against_a_task_group(width: int) -> Callable[[Effort], Measured]:
    return lambda effort: measure_ratio(_engine(width), _hand(width), effort, units=width)


def _growth(effort: Effort) -> Measured:
    """What a branch among many costs, as a multiple of what one among few costs."""
    few, many = _engine(100, times=10), _engine(1_000)

    async def large() -> int:
        return len(await many())

    async def small() -> int:
        return len(await few())

    return measure_ratio(large, small, effort, units=1_000)


def _sleeping(effort: Effort) -> Measured:
    """The sleep itself does not depend on the machine, so only what comes on top of it is scaled."""
    workflow = _workflow([_sleeper] * 1_000)

    async def engine() -> None:
        output_of(await workflow.run(7))

    async def sleep() -> None:
        await asyncio.sleep(SLEEP)

    measured = measure_cost(engine, effort, unit="ms", over=sleep)
    return replace(measured, value=measured.value + SLEEP * 1e3)


ROWS: Sequence[Row] = (
    Row("fan-out of 10, join", 1.6, 1.2, "×", _against_a_task_group(10)),
    Row("fan-out of 100, join", 1.6, 1.2, "×", _against_a_task_group(100)),
    Row("fan-out of 1,000, join", 1.6, 1.2, "×", _against_a_task_group(1_000)),
    Row("1,000 branches that sleep 10 ms", 25, 19, "ms", _sleeping),
    Row("fan-out: growth per branch from 100 to 1,000", 1.3, 1.1, "×", _growth),
)

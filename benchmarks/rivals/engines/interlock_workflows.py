"""Interlock, through its public names alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from benchmarks.hand import AT_ONCE, INPUT, Run, item
from benchmarks.layered import sinks, value_of
from benchmarks.rivals.adapter import Adapter, Built
from benchmarks.rivals.workloads import graph
from interlock import Completed, StepContext, Workflow, create_step, create_workflow

__all__ = ["ADAPTER"]

Function = Callable[[StepContext[Any]], Awaitable[Any]]


def _run(workflow: Workflow[Any, Any], value: object) -> Run:
    async def run() -> int:
        outcome = await workflow.run(value)
        if not isinstance(outcome, Completed):
            raise RuntimeError(f"the run ended with {outcome!r:.300}")
        return int(outcome.output)

    return run


def _chain(length: int) -> Built:
    def function() -> Function:
        async def increment(ctx: StepContext[Any]) -> Any:
            return ctx.input + 1

        return increment

    functions = [function() for _ in range(length)]

    def make() -> Workflow[Any, Any]:
        builder = create_workflow(id="chain")
        for number, one in enumerate(functions):
            builder = builder.then(create_step(one, id=f"step-{number}"))
        return builder.commit()

    async def drive(workflow: Workflow[Any, Any]) -> int:
        return await _run(workflow, 0)()

    return Built(make, drive)


def _fan_out(width: int, sleep: float) -> Run:
    def function(number: int) -> Function:
        async def branch(ctx: StepContext[Any]) -> Any:
            return ctx.input + number

        async def sleeping(ctx: StepContext[Any]) -> Any:
            await asyncio.sleep(sleep)
            return ctx.input + number

        return sleeping if sleep else branch

    branches = [create_step(function(number), id=f"branch-{number}") for number in range(width)]
    return _run(create_workflow(id="fan-out").parallel(branches).map(_total).commit(), INPUT)


def _total(ctx: StepContext[Any]) -> Any:
    """What a keyed output or a list adds up to."""
    return sum(_values(ctx.input))


def _values(given: object) -> list[int]:
    """What several steps gave, by their ids or in a list; or what one gave."""
    if isinstance(given, dict):
        return list(cast("dict[str, int]", given).values())
    return cast("list[int]", given) if isinstance(given, list) else [cast("int", given)]


def _map(length: int) -> Run:
    async def one(ctx: StepContext[Any]) -> Any:
        return item(ctx.input)

    mapped = create_workflow(id="map").foreach(create_step(one, id="one"), concurrency=AT_ONCE)
    return _run(mapped.map(_total).commit(), list(range(length)))


def _dag(nodes: int) -> Run:
    needs = graph(nodes)

    def function(node: int) -> Function:
        async def compute(ctx: StepContext[Any]) -> Any:
            return value_of(node, _values(ctx.input))

        return compute

    steps = {node: create_step(function(node), id=f"node-{node}") for node in needs}
    builder = create_workflow(id="dag").dag({steps[node]: [steps[need] for need in needs[node]] for node in needs})
    return _run((builder.map(_total) if len(sinks(needs)) > 1 else builder).commit(), INPUT)


ADAPTER = Adapter(
    chain=_chain,
    fan_out=_fan_out,
    map=_map,
    dag=_dag,
    notes={
        "": "each run has a record of every step, as always; nobody reads its events",
        "build": "the steps are made too, as they are with the others",
    },
    distributions=("interlock",),
)

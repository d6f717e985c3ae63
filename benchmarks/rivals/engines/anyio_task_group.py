"""No engine: the same work by hand in anyio's task groups, for scale."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from benchmarks.hand import AT_ONCE, INPUT, Run, item
from benchmarks.layered import sinks, value_of
from benchmarks.rivals.adapter import Adapter
from benchmarks.rivals.workloads import graph

__all__ = ["ADAPTER"]


def _fan_out(width: int, sleep: float) -> Run:
    def function(number: int) -> Callable[[int], Awaitable[int]]:
        async def branch(value: int) -> int:
            return value + number

        async def sleeping(value: int) -> int:
            await anyio.sleep(sleep)
            return value + number

        return sleeping if sleep else branch

    functions = [function(number) for number in range(width)]

    async def run() -> int:
        results = [0] * width

        async def one(number: int, function: Callable[[int], Awaitable[int]]) -> None:
            results[number] = await function(INPUT)

        async with anyio.create_task_group() as group:
            for number, function in enumerate(functions):
                group.start_soon(one, number, function)
        return sum(results)

    return run


def _map(length: int) -> Run:
    items = list(range(length))

    async def run() -> int:
        results = [0] * length
        limit = anyio.Semaphore(AT_ONCE)

        async def one(value: int) -> int:
            return item(value)

        async def limited(number: int, value: int) -> None:
            async with limit:
                results[number] = await one(value)

        async with anyio.create_task_group() as group:
            for number, value in enumerate(items):
                group.start_soon(limited, number, value)
        return sum(results)

    return run


def _dag(nodes: int) -> Run:
    needs = graph(nodes)
    last = sinks(needs)
    followers: dict[int, list[int]] = {node: [] for node in needs}
    for node in needs:
        for need in needs[node]:
            followers[need].append(node)

    async def compute(node: int, inputs: list[int]) -> int:
        return value_of(node, inputs)

    async def run() -> int:
        values: dict[int, int] = {}
        waiting = {node: len(needs[node]) for node in needs}

        async def one(node: int) -> None:
            values[node] = await compute(node, [values[need] for need in needs[node]] or [INPUT])
            for follower in followers[node]:
                waiting[follower] -= 1
                if not waiting[follower]:
                    group.start_soon(one, follower)

        async with anyio.create_task_group() as group:
            for node in needs:
                if not needs[node]:
                    group.start_soon(one, node)
        return sum(values[node] for node in last)

    return run


NO_TASKS = "a chain needs no task group"

ADAPTER = Adapter(
    fan_out=_fan_out,
    map=_map,
    dag=_dag,
    cannot={"chain": NO_TASKS, "sequence": NO_TASKS, "build": "nothing is built"},
    notes={"": "no engine: hand-written code", "map": "a task for each item, behind a semaphore"},
    distributions=("anyio",),
)

"""The same work written by hand: a loop, ``asyncio.TaskGroup``, workers on one iterator, a countdown of needs.

Nothing here imports Interlock, so that a rival is measured without it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from benchmarks.layered import Needs, sinks, value_of

__all__ = ["AT_ONCE", "INPUT", "SLEEP", "Run", "countdown", "fan_out", "in_turn", "item", "workers"]

Run = Callable[[], Awaitable[int]]
"""One whole run, which gives a number that depends on every part of the work."""

INPUT: Final = 7
"""What each branch and each root of a graph is given."""

SLEEP: Final = 0.010
"""Seconds that a sleeping branch sleeps."""

AT_ONCE: Final = 32
"""Items of a map that are under way at once."""


def item(value: int) -> int:
    """What a map makes of an item."""
    return 3 * value + 1


def in_turn(length: int) -> Run:
    """So many functions, each awaited with what the one before returned."""

    def function() -> Callable[[int], Awaitable[int]]:
        async def increment(value: int) -> int:
            return value + 1

        return increment

    functions = [function() for _ in range(length)]

    async def run() -> int:
        value = 0
        for function in functions:
            value = await function(value)
        return value

    return run


def fan_out(width: int, *, sleep: float = 0.0) -> Run:
    """So many functions at once in a task group, and the sum of what they returned."""

    def function(number: int) -> Callable[[int], Awaitable[int]]:
        async def branch(value: int) -> int:
            return value + number

        async def sleeping(value: int) -> int:
            await asyncio.sleep(sleep)
            return value + number

        return sleeping if sleep else branch

    functions = [function(number) for number in range(width)]

    async def run() -> int:
        results = [0] * width

        async def one(number: int, function: Callable[[int], Awaitable[int]]) -> None:
            results[number] = await function(INPUT)

        async with asyncio.TaskGroup() as group:
            for number, function in enumerate(functions):
                group.create_task(one(number, function))
        return sum(results)

    return run


def workers(length: int, *, at_once: int = AT_ONCE) -> Run:
    """Tasks that take their next item from one iterator, and the sum of the results, which are kept in order."""
    items = list(range(length))

    async def one(value: int) -> int:
        return item(value)

    async def run() -> int:
        results = [0] * length
        ahead = iter(enumerate(items))

        async def worker() -> None:
            for number, value in ahead:
                results[number] = await one(value)

        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(worker())
        return sum(results)

    return run


def countdown(graph: Needs) -> Run:
    """A task per node, begun by the last of those it needs, and the sum of what the sinks gave."""
    followers: dict[int, list[int]] = {node: [] for node in graph}
    for node, needs in graph.items():
        for need in needs:
            followers[need].append(node)
    missing = {node: len(needs) for node, needs in graph.items()}
    last = sinks(graph)

    async def compute(node: int, inputs: list[int]) -> int:
        return value_of(node, inputs)

    async def run() -> int:
        values: dict[int, int] = {}
        waiting = dict(missing)

        async def one(node: int) -> None:
            values[node] = await compute(node, [values[need] for need in graph[node]] or [INPUT])
            for follower in followers[node]:
                waiting[follower] -= 1
                if not waiting[follower]:
                    group.create_task(one(follower))

        async with asyncio.TaskGroup() as group:
            for node, needs in graph.items():
                if not needs:
                    group.create_task(one(node))
        return sum(values[node] for node in last)

    return run

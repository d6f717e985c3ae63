"""Burr: actions over a state. A run uses up its ``Application``, so each makes one over a graph that is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import pairwise
from typing import Any

from benchmarks.hand import INPUT, Run, item
from benchmarks.rivals.adapter import Adapter, Built, foreign

__all__ = ["ADAPTER"]

Action = Callable[[Any], Awaitable[Any]]


def _action(function: Action, name: str) -> Any:
    decorated = foreign("burr.core").action(reads=["value"], writes=["value"])(function)
    return foreign("burr.core.action").create_action(decorated, name)


async def _drive(graph: Any, entry: str, last: str, **state: object) -> int:
    builder = foreign("burr.core").ApplicationBuilder().with_graph(graph).with_entrypoint(entry).with_state(**state)
    application = await builder.abuild()
    _, _, end = await application.arun(halt_after=[last])
    return int(end["value"])


def _chain(length: int) -> Built:
    lib = foreign("burr.core.graph")

    def function() -> Action:
        async def increment(state: Any) -> Any:
            return state.update(value=state["value"] + 1)

        return increment

    functions = [function() for _ in range(length)]
    names = [f"step-{number}" for number in range(length)]

    def make() -> Any:
        actions = [_action(one, name) for one, name in zip(functions, names, strict=True)]
        builder = lib.GraphBuilder().with_actions(*actions)
        return builder.with_transitions(*pairwise(names)).build()

    return Built(make, lambda graph: _drive(graph, names[0], names[-1], value=0))


class _Spread:
    """An action that spreads over others and adds up what they gave."""

    reads = ("value",)
    writes = ("value",)

    def state(self, state: Any, inputs: Any) -> Any:
        return state

    async def reduce(self, state: Any, states: AsyncIterator[Any]) -> Any:
        total = 0
        async for one in states:
            total += one["value"]
        return state.update(value=total)

    def is_async(self) -> bool:
        return True


def _spread(kind: type, base: str) -> Run:
    """What runs a graph of this one action."""
    action = type(kind.__name__, (kind, getattr(foreign("burr.core.parallelism"), base)), {})()
    graph = foreign("burr.core.graph").GraphBuilder().with_actions(spread=action).with_transitions().build()
    return lambda: _drive(graph, "spread", "spread", value=INPUT)


def _fan_out(width: int, sleep: float) -> Run:
    def function(number: int) -> Action:
        async def branch(state: Any) -> Any:
            if sleep:
                await asyncio.sleep(sleep)
            return state.update(value=state["value"] + number)

        return branch

    branches = [_action(function(number), f"branch-{number}") for number in range(width)]

    class Branches(_Spread):
        def actions(self, state: Any, context: Any, inputs: Any) -> Iterator[Any]:
            yield from branches

    return _spread(Branches, "MapActions")


def _map(length: int) -> Run:
    async def one(state: Any) -> Any:
        return state.update(value=item(state["value"]))

    on_each = _action(one, "one")

    class Items(_Spread):
        def action(self, state: Any, inputs: Any) -> Any:
            return on_each

        def states(self, state: Any, context: Any, inputs: Any) -> Iterator[Any]:
            for value in range(length):
                yield state.update(value=value)

    return _spread(Items, "MapStates")


ADAPTER = Adapter(
    chain=_chain,
    fan_out=_fan_out,
    map=_map,
    cannot={"dag": "an application is a state machine: one action after another, none of which waits for several"},
    notes={
        "": "making the application over a graph that is there already is part of a run",
        "fan-out": "`MapActions`: an application for each branch",
        "map": "`MapStates`, all items at once: coroutines have no limit to set",
    },
    distributions=("burr", "apache-burr"),
)

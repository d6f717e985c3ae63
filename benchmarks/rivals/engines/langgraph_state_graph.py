"""LangGraph: a ``StateGraph`` without a checkpointer, run by ``ainvoke``."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypedDict

from benchmarks.hand import AT_ONCE, INPUT, Run, item
from benchmarks.layered import sinks, value_of
from benchmarks.rivals.adapter import Adapter, Built, foreign
from benchmarks.rivals.workloads import graph

__all__ = ["ADAPTER"]

CONFIG = {"recursion_limit": 1_000_000}
"""A superstep counts as one recursion, and 25 is the default."""

Node = Callable[[Any], Awaitable[dict[str, int]]]


class Counter(TypedDict):
    """The state of a chain."""

    value: int


class Sum(TypedDict):
    """The state of a fan-out: branches write at once, so what they write is added up."""

    given: int
    total: Annotated[int, operator.add]


class Items(TypedDict):
    """The state of a map."""

    items: list[int]
    total: Annotated[int, operator.add]


def _chain(length: int) -> Built:
    lib = foreign("langgraph.graph")

    def function() -> Node:
        async def increment(state: Any) -> dict[str, int]:
            return {"value": state["value"] + 1}

        return increment

    functions = [function() for _ in range(length)]

    def make() -> Any:
        builder = lib.StateGraph(Counter)
        before = lib.START
        for number, one in enumerate(functions):
            builder.add_node(f"step-{number}", one)
            builder.add_edge(before, f"step-{number}")
            before = f"step-{number}"
        builder.add_edge(before, lib.END)
        return builder.compile()

    async def drive(compiled: Any) -> int:
        return int((await compiled.ainvoke({"value": 0}, CONFIG))["value"])

    return Built(make, drive)


def _fan_out(width: int, sleep: float) -> Run:
    lib = foreign("langgraph.graph")

    def function(number: int) -> Node:
        async def branch(state: Any) -> dict[str, int]:
            if sleep:
                await asyncio.sleep(sleep)
            return {"total": state["given"] + number}

        return branch

    async def join(_state: Any) -> dict[str, int]:
        return {}

    builder = lib.StateGraph(Sum)
    names = [f"branch-{number}" for number in range(width)]
    for number, name in enumerate(names):
        builder.add_node(name, function(number))
        builder.add_edge(lib.START, name)
    builder.add_node("join", join)
    builder.add_edge(names, "join")
    builder.add_edge("join", lib.END)
    compiled = builder.compile()

    async def run() -> int:
        return int((await compiled.ainvoke({"given": INPUT, "total": 0}, CONFIG))["total"])

    return run


def _map(length: int) -> Run:
    lib, send = foreign("langgraph.graph"), foreign("langgraph.types").Send

    async def one(state: Any) -> dict[str, int]:
        return {"total": item(state["value"])}

    async def join(_state: Any) -> dict[str, int]:
        return {}

    def spread(state: Any) -> list[Any]:
        return [send("one", {"value": value}) for value in state["items"]]

    builder = lib.StateGraph(Items)
    builder.add_node("one", one)
    builder.add_node("join", join)
    builder.add_conditional_edges(lib.START, spread, ["one"])
    builder.add_edge("one", "join")
    builder.add_edge("join", lib.END)
    compiled = builder.compile()
    items = list(range(length))

    async def run() -> int:
        config = {**CONFIG, "max_concurrency": AT_ONCE}
        return int((await compiled.ainvoke({"items": items, "total": 0}, config))["total"])

    return run


def _dag(nodes: int) -> Run:
    """Each node has a key of the state to itself, and is given those that it needs and no others."""
    lib = foreign("langgraph.graph")
    needs, last = graph(nodes), sinks(graph(nodes))

    def function(node: int) -> Node:
        keys = [f"node-{need}" for need in needs[node]]

        async def compute(state: Any) -> dict[str, int]:
            return {f"node-{node}": value_of(node, [state[key] for key in keys] or [INPUT])}

        return compute

    def shape(name: str, keys: list[str]) -> Any:
        return foreign("typing").TypedDict(name, dict.fromkeys(keys, int))

    state = shape("State", ["given", *(f"node-{node}" for node in needs)])
    output = shape("Output", [f"node-{node}" for node in last])
    builder = lib.StateGraph(state, output_schema=output)
    for node in needs:
        sees = shape(f"Needs{node}", [f"node-{need}" for need in needs[node]] or ["given"])
        builder.add_node(f"run-{node}", function(node), input_schema=sees)
        builder.add_edge([f"run-{need}" for need in needs[node]] or lib.START, f"run-{node}")
    for node in last:
        builder.add_edge(f"run-{node}", lib.END)
    compiled = builder.compile()

    async def run() -> int:
        return sum((await compiled.ainvoke({"given": INPUT}, CONFIG)).values())

    return run


ADAPTER = Adapter(
    chain=_chain,
    fan_out=_fan_out,
    map=_map,
    dag=_dag,
    notes={
        "": "no checkpointer; the recursion limit is raised from 25",
        "map": "a `Send` for each item, `max_concurrency=32`",
        "dag": "a key of the state for each node, which reads the keys it needs; supersteps wait for whole layers",
    },
    distributions=("langgraph", "langgraph-checkpoint", "langchain-core"),
)

"""Haystack: a ``Pipeline`` of components, run by ``run_async``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from benchmarks.hand import INPUT, Run
from benchmarks.layered import sinks, value_of
from benchmarks.rivals.adapter import Adapter, Built, foreign
from benchmarks.rivals.workloads import graph

__all__ = ["ADAPTER"]

AT_ONCE = 50
"""Nodes of the graph that may be under way at once: a whole layer."""


def _one_input() -> Any:
    """A component class: its instance adds a number to the one value it is given, perhaps after a while."""

    class OneInput:
        def __init__(self, add: int, sleep: float = 0.0) -> None:
            self.add, self.sleep = add, sleep

        def run(self, value: int) -> dict[str, int]:
            return {"value": value + self.add}

        async def run_async(self, value: int) -> dict[str, int]:
            if self.sleep:
                await asyncio.sleep(self.sleep)
            return {"value": value + self.add}

    return _component(OneInput, value=int)


def _many_inputs() -> Any:
    """A component class that takes any number of values: a node of the graph, or (None) what adds them up."""

    class ManyInputs:
        def __init__(self, node: int | None) -> None:
            self.node = node

        def run(self, values: Iterable[int]) -> dict[str, int]:
            given = list(values)
            return {"value": sum(given) if self.node is None else value_of(self.node, given)}

        async def run_async(self, values: Iterable[int]) -> dict[str, int]:
            return self.run(values)

    return _component(ManyInputs, values=foreign("haystack.core.component.types").Variadic[int])


def _component(kind: type, **inputs: Any) -> Any:
    """What the decorator makes of a class; the sockets are read from the annotations of its two methods."""
    component = foreign("haystack").component
    for name in ("run", "run_async"):
        method = getattr(kind, name)
        method.__annotations__ = {**inputs, "return": dict[str, int]}
        setattr(kind, name, component.output_types(value=int)(method))
    return component(kind)


def _chain(length: int) -> Built:
    lib, step = foreign("haystack"), _one_input()

    def make() -> Any:
        pipeline = lib.Pipeline()
        for number in range(length):
            pipeline.add_component(f"step-{number}", step(1))
        for number in range(length - 1):
            pipeline.connect(f"step-{number}.value", f"step-{number + 1}.value")
        return pipeline

    async def drive(pipeline: Any) -> int:
        return int((await pipeline.run_async({"step-0": {"value": 0}}))[f"step-{length - 1}"]["value"])

    return Built(make, drive)


def _fan_out(width: int, sleep: float) -> Run:
    lib, branch, join = foreign("haystack"), _one_input(), _many_inputs()
    pipeline = lib.Pipeline()
    pipeline.add_component("source", branch(0))
    pipeline.add_component("join", join(None))
    for number in range(width):
        pipeline.add_component(f"branch-{number}", branch(number, sleep))
        pipeline.connect("source.value", f"branch-{number}.value")
        pipeline.connect(f"branch-{number}.value", "join.values")

    async def run() -> int:
        done = await pipeline.run_async({"source": {"value": INPUT}}, concurrency_limit=width)
        return int(done["join"]["value"])

    return run


def _dag(nodes: int) -> Run:
    lib, root, inner = foreign("haystack"), _one_input(), _many_inputs()
    needs = graph(nodes)
    pipeline = lib.Pipeline()
    for node in needs:
        pipeline.add_component(f"node-{node}", inner(node) if needs[node] else root(node + 1))
    for node in needs:
        for need in needs[node]:
            pipeline.connect(f"node-{need}.value", f"node-{node}.values")
    roots = {f"node-{node}": {"value": INPUT} for node in needs if not needs[node]}
    last = [f"node-{node}" for node in sinks(needs)]

    async def run() -> int:
        done = await pipeline.run_async(roots, concurrency_limit=AT_ONCE)
        return sum(done[name]["value"] for name in last)

    return run


ADAPTER = Adapter(
    chain=_chain,
    fan_out=_fan_out,
    dag=_dag,
    cannot={"map": "a pipeline has no map over a list"},
    notes={"fan-out": "a component before the branches hands its input to them", "": "`concurrency_limit` is raised"},
    distributions=("haystack-ai",),
)

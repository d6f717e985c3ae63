"""pydantic-graph: its ``GraphBuilder``, without instrumentation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.hand import INPUT, Run, item
from benchmarks.rivals.adapter import Adapter, Built, foreign

__all__ = ["ADAPTER"]

Function = Callable[[Any], Awaitable[int]]


def _chain(length: int) -> Built:
    lib = foreign("pydantic_graph")

    def function() -> Function:
        async def increment(ctx: Any) -> int:
            return int(ctx.inputs) + 1

        return increment

    functions = [function() for _ in range(length)]

    def make() -> Any:
        builder = lib.GraphBuilder(input_type=int, output_type=int, auto_instrument=False)
        before = builder.start_node
        for number, one in enumerate(functions):
            step = builder.step(one, node_id=f"step-{number}")
            builder.add(builder.edge_from(before).to(step))
            before = step
        builder.add(builder.edge_from(before).to(builder.end_node))
        return builder.build()

    async def drive(built: Any) -> int:
        return int(await built.run(inputs=0))

    return Built(make, drive)


def _fan_out(width: int, sleep: float) -> Run:
    lib = foreign("pydantic_graph")

    def function(number: int) -> Function:
        async def branch(ctx: Any) -> int:
            if sleep:
                await asyncio.sleep(sleep)
            return int(ctx.inputs) + number

        return branch

    builder = lib.GraphBuilder(input_type=int, output_type=int, auto_instrument=False)
    steps = [builder.step(function(number), node_id=f"branch-{number}") for number in range(width)]
    total = builder.join(lib.reduce_sum, initial=0)
    builder.add(builder.edge_from(builder.start_node).to(*steps))
    builder.add(builder.edge_from(*steps).to(total), builder.edge_from(total).to(builder.end_node))
    built = builder.build()

    async def run() -> int:
        return int(await built.run(inputs=INPUT))

    return run


def _map(length: int) -> Run:
    lib = foreign("pydantic_graph")

    async def one(ctx: Any) -> int:
        return item(ctx.inputs)

    builder = lib.GraphBuilder(input_type=list[int], output_type=int, auto_instrument=False)
    step = builder.step(one, node_id="one")
    total = builder.join(lib.reduce_sum, initial=0)
    builder.add(
        builder.edge_from(builder.start_node).map().to(step),
        builder.edge_from(step).to(total),
        builder.edge_from(total).to(builder.end_node),
    )
    built = builder.build()
    items = list(range(length))

    async def run() -> int:
        return int(await built.run(inputs=items))

    return run


ADAPTER = Adapter(
    chain=_chain,
    fan_out=_fan_out,
    map=_map,
    cannot={"dag": "a join gathers the branches of one fork: no node waits for chosen others"},
    notes={"map": "all items at once: there is no limit to set"},
    distributions=("pydantic-graph",),
)

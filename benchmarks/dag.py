"""A graph whose nodes start as soon as what they need is there, against a countdown in ``asyncio.TaskGroup``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from benchmarks.hand import INPUT, countdown
from benchmarks.harness import Effort, Measured, Row, measure_ratio
from benchmarks.layered import layered, sinks, value_of
from benchmarks.outcomes import output_of
from interlock.steps import Step, StepContext, create_step
from interlock.workflows import create_workflow

__all__ = ["ROWS"]


def inputs_of(given: object) -> list[int]:
    """What a node is given as a list: one thing as it is, several by the ids of those that gave them."""
    return list(cast("dict[str, int]", given).values()) if isinstance(given, dict) else [cast("int", given)]


def _step(node: int) -> Step[Any, Any]:
    async def compute(ctx: StepContext[Any]) -> Any:
        return value_of(node, inputs_of(ctx.input))

    return create_step(compute, id=f"node-{node}")


def _engine(nodes: int, times: int = 1) -> Callable[[], Awaitable[int]]:
    needs = layered(nodes, 3 * nodes)
    steps = {node: _step(node) for node in needs}
    workflow = (
        create_workflow(id="dag").dag({steps[node]: [steps[one] for one in needs[node]] for node in needs}).commit()
    )
    several = len(sinks(needs)) > 1

    async def run() -> int:
        total = 0
        for _ in range(times):
            output = output_of(await workflow.run(INPUT))
            total += sum(output.values()) if several else output
        return total

    return run


def _against_a_countdown(effort: Effort) -> Measured:
    return measure_ratio(_engine(1_000), countdown(layered(1_000, 3_000)), effort, units=1_000)


def _growth(effort: Effort) -> Measured:
    """What a node of a large graph costs, as a multiple of what one of a small graph costs."""
    return measure_ratio(_nodes_of(1_000, 1), _nodes_of(100, 10), effort, units=1_000)


def _nodes_of(nodes: int, times: int) -> Callable[[], Awaitable[int]]:
    """So many runs, which give the number of nodes that ran: two sizes of graph have no other result in common."""
    engine = _engine(nodes, times)

    async def run() -> int:
        await engine()
        return nodes * times

    return run


ROWS: tuple[Row, ...] = (
    Row("graph of 1,000 nodes, 3,000 edges", 1.5, 1.0, "×", _against_a_countdown),
    Row("graph: growth per node from 100 to 1,000", 1.3, 1.1, "×", _growth),
)

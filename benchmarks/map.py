"""A step on each item of a long list, so many at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.hand import AT_ONCE, item
from benchmarks.harness import Effort, Measured, Row, measure_cost, measure_memory, measure_ratio
from benchmarks.outcomes import output_of
from interlock.steps import StepContext, create_step
from interlock.workflows import create_workflow

__all__ = ["ROWS"]

ITEMS = 10_000


async def _one(ctx: StepContext[Any]) -> Any:
    return item(ctx.input)


def _engine(length: int, times: int = 1) -> Callable[[], Awaitable[int]]:
    workflow = create_workflow(id="map").foreach(create_step(_one, id="one"), concurrency=AT_ONCE).commit()
    items = list(range(length))
    last = item(length - 1)

    async def run() -> int:
        done = 0
        for _ in range(times):
            results = output_of(await workflow.run(items))
            if results[-1] != last:
                raise RuntimeError(f"the last item gave {results[-1]} and not {last}")
            done += len(results)
        return done

    return run


def _cost(effort: Effort) -> Measured:
    return measure_cost(_engine(ITEMS), effort, unit="µs", units=ITEMS)


def _memory(_: Effort) -> Measured:
    return measure_memory(_engine(ITEMS))


def _growth(effort: Effort) -> Measured:
    """What an item of a long list costs, as a multiple of what one of a short list costs."""
    return measure_ratio(_engine(1_000), _engine(100, times=10), effort, units=1_000)


ROWS: tuple[Row, ...] = (
    Row("map over 10,000 items, 32 at once: an item", 1.5, 0.8, "µs", _cost),
    Row("map over 10,000 items, 32 at once: further memory", 15, 15, "MB", _memory),
    Row("map: growth per item from 100 to 1,000", 1.3, 1.1, "×", _growth),
)

"""A chain of steps while somebody reads its events."""

from __future__ import annotations

from benchmarks.chain import chain, increments
from benchmarks.harness import Effort, Measured, Row, measure_cost
from benchmarks.outcomes import output_of

__all__ = ["ROWS"]

STEPS = 1_000


def _read_along(effort: Effort) -> Measured:
    workflow = chain(increments(STEPS))

    async def run() -> int:
        last, results = 0, 0
        async with workflow.create_run().stream(0) as events:
            async for event in events:
                last = event.seq
                results += event.type == "step-result"
            output = output_of(await events.outcome())
        if output != STEPS or results != STEPS:
            raise RuntimeError(f"{STEPS} steps gave {output} and told of {results} results in {last} events")
        return last

    return measure_cost(run, effort, unit="µs", units=STEPS)


ROWS: tuple[Row, ...] = (Row("chain of 1,000 steps, one reader of events: a step", 5, 3, "µs", _read_along),)

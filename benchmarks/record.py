"""A short run with its records, above the same five functions in a loop.

The run notes what each step did. The :class:`StepRecord` objects are made of that when somebody looks at them, so
looking is not part of what is measured; that they tell the truth is checked once beforehand.
"""

from __future__ import annotations

import asyncio

from benchmarks.chain import chain, increments
from benchmarks.harness import Effort, Measured, Row, bare_loop, measure_cost
from benchmarks.outcomes import output_of

__all__ = ["ROWS"]

STEPS = 5


def _five(effort: Effort) -> Measured:
    workflow = chain(increments(STEPS))
    noted = asyncio.run(workflow.run(0)).steps
    if [(record.status, record.input, record.output) for record in noted] != [
        ("success", number, number + 1) for number in range(STEPS)
    ]:
        raise RuntimeError(f"the records of five steps say {list(noted)}")

    async def run() -> None:
        outcome = await workflow.run(0)
        if output_of(outcome) != STEPS or len(outcome.steps) != STEPS:
            raise RuntimeError(f"a run of five steps gave {outcome}")

    return measure_cost(run, effort, unit="µs", over=bare_loop(STEPS))


ROWS: tuple[Row, ...] = (Row("a run of five steps, recorded: over the steps", 10, 5, "µs", _five),)

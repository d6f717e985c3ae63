"""A short run with its records, above the same five functions in a loop."""

from __future__ import annotations

from benchmarks.chain import chain, increments
from benchmarks.harness import Effort, Measured, Row, bare_loop, measure_cost
from benchmarks.outcomes import output_of

__all__ = ["ROWS"]

STEPS = 5


def _five(effort: Effort) -> Measured:
    workflow = chain(increments(STEPS))

    async def run() -> None:
        outcome = await workflow.run(0)
        done = [record.output for record in outcome.steps if record.status == "success"]
        if output_of(outcome) != STEPS or done != [1, 2, 3, 4, 5]:
            raise RuntimeError(f"the records of five steps say {done}")

    return measure_cost(run, effort, unit="µs", over=bare_loop(STEPS))


ROWS: tuple[Row, ...] = (Row("a run of five steps, recorded: over the steps", 10, 5, "µs", _five),)

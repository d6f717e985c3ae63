"""Building a workflow of steps that are there already, and checking it."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.chain import chain, increments
from benchmarks.harness import Effort, Measured, Row, measure_cost, measure_ratio

__all__ = ["ROWS"]


def _build(effort: Effort) -> Measured:
    steps = increments(1_000)
    return measure_cost(lambda: chain(steps), effort, unit="ms")


def _growth(effort: Effort) -> Measured:
    """What a node of a large workflow costs to build, as a multiple of what one of a small workflow costs."""
    steps = increments(1_000)

    def large() -> int:
        return len(chain(steps).plan.nodes)

    def small() -> int:
        return sum(len(chain(steps[:100]).plan.nodes) for _ in range(10))

    return measure_ratio(large, small, effort, units=1_000)


ROWS: Sequence[Row] = (
    Row("build and check 1,000 nodes", 15, 8, "ms", _build),
    Row("build: growth per node from 100 to 1,000", 1.3, 1.1, "×", _growth),
)

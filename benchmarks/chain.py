"""A chain of steps, against a loop that awaits the same functions one after the other.

The steps take and give anything: checking values against schemas is work that the loop does not do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from benchmarks.harness import Effort, Measured, Row, bare_loop, measure_ratio
from benchmarks.outcomes import output_of
from interlock.steps import Step, StepContext, create_step
from interlock.workflows import Workflow, create_workflow

__all__ = ["ROWS", "chain", "increments"]


def _increment() -> Callable[[StepContext[Any]], Awaitable[Any]]:
    """A step function of its own."""

    async def increment(ctx: StepContext[Any]) -> Any:
        return ctx.input + 1

    return increment


def increments(length: int) -> list[Step[Any, Any]]:
    """So many steps that each add one."""
    return [create_step(_increment(), id=f"step-{number}") for number in range(length)]


def chain(steps: Sequence[Step[Any, Any]]) -> Workflow[Any, Any]:
    """A workflow of these steps, one after the other."""
    builder = create_workflow(id="chain")
    for step in steps:
        builder = builder.then(step)
    return builder.commit()


def _run(length: int, times: int = 1) -> Callable[[], Awaitable[int]]:
    workflow = chain(increments(length))

    async def run() -> int:
        total = 0
        for _ in range(times):
            total += output_of(await workflow.run(0))
        return total

    return run


def _against_the_loop(length: int) -> Callable[[Effort], Measured]:
    return lambda effort: measure_ratio(_run(length), bare_loop(length), effort, units=length)


def _growth(effort: Effort) -> Measured:
    """What a step of a long chain costs, as a multiple of what one of a short chain costs."""
    return measure_ratio(_run(1_000), _run(100, times=10), effort, units=1_000)


ROWS: Sequence[Row] = (
    Row("chain of 100 steps, nobody watching", 16, 9, "×", _against_the_loop(100)),
    Row("chain of 1,000 steps, nobody watching", 16, 9, "×", _against_the_loop(1_000)),
    Row("chain: growth per step from 100 to 1,000", 1.3, 1.1, "×", _growth),
)

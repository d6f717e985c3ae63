"""A node of a graph or an item of a list that was to begin when another blocked the run does not begin."""

from __future__ import annotations

from typing import Any

import anyio.lowlevel
import pytest

from interlock import Blocked, StepContext, create_step
from interlock.steps import RetryPolicy
from tests.runtime.operations.acting import flow

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("turns", [0, 1, 2])
@pytest.mark.parametrize(
    "options", [{}, {"timeout": 30.0}, {"retry": RetryPolicy(attempts=2)}], ids=["plain", "", "again"]
)
@pytest.mark.parametrize("block", ["dag", "foreach", "parallel"])
@pytest.mark.parametrize("nested", [False, True])
async def test_what_has_not_begun_when_the_run_is_blocked_does_not_begin(
    block: str, options: dict[str, Any], nested: bool, turns: int
) -> None:
    begun: list[str] = []
    at_the_block: list[str] = []

    async def guard(ctx: StepContext[Any]) -> None:
        for _ in range(turns):
            await anyio.lowlevel.checkpoint()
        at_the_block.extend(begun)
        ctx.abort("stop")

    def noting(name: str) -> Any:
        async def note(ctx: StepContext[Any]) -> Any:
            begun.append(name)
            await anyio.lowlevel.checkpoint()
            return ctx.input

        return create_step(note, id=name, **options)

    first, second, item = noting("first"), noting("second"), noting("item")
    match block:
        case "dag":
            late = flow("late").dag({first: [], second: [first]}).commit()
        case "foreach":
            late = flow("late").map(lambda ctx: [1, 2, 3]).foreach(item, concurrency=2).commit()
        case _:
            late = flow("late").parallel([first, second]).commit()
    entry = flow("outer").then(late).commit() if nested else late
    outcome = await flow().parallel([create_step(guard, id="guard"), entry]).commit().run("x")
    assert isinstance(outcome, Blocked)
    assert begun == at_the_block

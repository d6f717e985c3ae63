"""Arms that are stopped because their block ends without them: nothing that they do any more counts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import StepContext, Workflow, create_step, create_workflow
from interlock.runtime import Completed, Failed, MemoryRunStore
from interlock.steps import RetryPolicy
from tests.runtime.operations.acting import completed

pytestmark = pytest.mark.anyio


async def quick(ctx: StepContext[Any]) -> str:
    for _ in range(3):
        await anyio.lowlevel.checkpoint()
    return "quick"


async def fails(ctx: StepContext[Any]) -> str:
    for _ in range(3):
        await anyio.lowlevel.checkpoint()
    raise ValueError("first")


class Stopped:
    """A step that waits for ever, and does something about it when it is stopped."""

    def __init__(self, late: Callable[[StepContext[Any]], object]) -> None:
        self.late = late
        self.calls = 0

    async def __call__(self, ctx: StepContext[Any]) -> object:
        self.calls += 1
        with contextlib.suppress(BaseException):
            await anyio.sleep_forever()
        return self.late(ctx)


def _raises(_: StepContext[Any]) -> None:
    raise OSError("late")


LATE: dict[str, Callable[[StepContext[Any]], object]] = {
    "gives": lambda ctx: "late",
    "raises": _raises,
    "bails": lambda ctx: ctx.bail("late"),
    "suspends": lambda ctx: ctx.suspend("late"),
    "writes": lambda ctx: ctx.set_state(key="late"),
}

late = pytest.mark.parametrize("late", list(LATE))
BLOCKS: dict[str, Callable[[Any], Any]] = {
    "any": lambda arm: create_workflow(id="w").parallel([arm, create_step(quick, id="other")], join="any"),
    "fails": lambda arm: create_workflow(id="w").parallel([arm, create_step(fails, id="other")]),
    "fails, selective": lambda arm: create_workflow(id="w").parallel(
        [arm, create_step(fails, id="other")], concurrency=2
    ),
    "dag": lambda arm: create_workflow(id="w").dag({arm: [], create_step(fails, id="other"): []}),
    "branch": lambda arm: create_workflow(id="w").branch(
        [(lambda ctx: True, arm), (lambda ctx: True, create_step(fails, id="other"))], mode="all"
    ),
}
blocks = pytest.mark.parametrize("block", list(BLOCKS))


def seen(outcome: Any) -> Any:
    if isinstance(outcome, Completed):
        return completed(outcome), outcome.state
    assert isinstance(outcome, Failed), outcome
    return str(outcome.error), outcome.state


def expected(block: str) -> Any:
    return ({"other": "quick"}, {}) if block == "any" else ("step 'other' failed: ValueError: first", {})


@late
@blocks
async def test_whatever_it_does_then_changes_nothing(block: str, late: str) -> None:
    step = create_step(Stopped(LATE[late]), id="stopped")
    with anyio.fail_after(5):
        outcome = await BLOCKS[block](step).commit().run(1)
    assert seen(outcome) == expected(block)
    assert {record.step_id: record.status for record in outcome.steps}["stopped"] == "canceled"


@late
@blocks
async def test_no_further_step_of_its_chain_begins_and_it_is_not_tried_again(block: str, late: str) -> None:
    stopped, after = Stopped(LATE[late]), Stopped(lambda ctx: None)
    arm: Any = (
        create_workflow(id="arm")
        .then(create_step(stopped, id="stopped", retry=RetryPolicy(attempts=3)))
        .then(create_step(after, id="after"))
        .commit()
    )
    with anyio.fail_after(5):
        outcome = await BLOCKS[block](arm).commit().run(1)
    assert seen(outcome) == expected(block)
    assert (stopped.calls, after.calls) == (1, 0)


@late
@blocks
async def test_nor_does_it_where_the_process_died_before_the_block_had_ended(block: str, late: str) -> None:
    stopped = Stopped(LATE[late])
    workflow: Workflow[Any, Any] = BLOCKS[block](create_step(stopped, id="stopped")).commit()
    store = MemoryRunStore()
    with anyio.fail_after(5):
        live = await workflow.create_run("r", store=store).start(1)
    assert seen(live) == expected(block)
    rows = await store.read("r")
    for cut in range(1, len(rows)):
        died = MemoryRunStore()
        await died.append("r", 0, rows[:cut])
        with anyio.fail_after(5):
            outcome = await workflow.recover("r", store=died)
        assert seen(outcome) == expected(block), cut


async def test_a_late_bail_in_a_block_that_failed_does_not_end_what_collects_the_failure() -> None:
    slow = create_step(Stopped(LATE["bails"]), id="slow")
    flow = create_workflow(id="w").foreach(
        create_workflow(id="body").parallel([slow, create_step(fails)]).map(lambda ctx: "body").commit(),
        concurrency=2,
        on_error="collect",
    )
    output = completed(await flow.commit().run([1, 2]))
    assert [str(one.error) for one in output] == [
        "step 'body/fails' failed (iteration 1): ValueError: first",
        "step 'body/fails' failed (iteration 2): ValueError: first",
    ]

"""What a forked run's steps are given: what it was forked with stays through every further fork, and is checked."""

from __future__ import annotations

from typing import Any

import pydantic
import pytest

from interlock import StepContext, Workflow, create_step, create_workflow
from interlock.errors import RunError
from interlock.runtime import RunStore, Suspended
from tests.runtime.operations.acting import completed, flow

pytestmark = pytest.mark.anyio


def add(amount: int, id: str) -> Any:  # noqa: A002
    """A step that adds."""

    def adds(ctx: StepContext[Any]) -> Any:
        return ctx.input + amount

    return create_step(adds, id=id)


def sums() -> Workflow[Any, Any]:
    """Three steps, whose outputs tell which of them was given what."""
    return create_workflow(id="sums").then(add(1, "a")).then(add(10, "b")).then(add(100, "c")).commit()


async def test_a_fork_at_an_earlier_step_still_gives_the_later_one_what_its_parent_was_forked_with(
    kept: RunStore,
) -> None:
    workflow = sums()
    assert completed(await workflow.create_run("one", store=kept).start(0)) == 111
    assert completed(await workflow.time_travel("one", "c", store=kept, input=5, new_run_id="two")) == 105
    assert completed(await workflow.time_travel("two", "b", store=kept, new_run_id="three")) == 105
    assert completed(await workflow.time_travel("three", "b", store=kept, input=7, new_run_id="four")) == 105


async def test_a_fork_at_the_same_step_is_given_the_same_unless_it_is_given_something_else(kept: RunStore) -> None:
    workflow = sums()
    await workflow.create_run("one", store=kept).start(0)
    await workflow.time_travel("one", "b", store=kept, input=1_000, new_run_id="two")
    assert completed(await workflow.time_travel("two", "b", store=kept, new_run_id="three")) == 1_110
    assert completed(await workflow.time_travel("three", "b", store=kept, input=0, new_run_id="four")) == 110
    assert completed(await workflow.time_travel("four", "c", store=kept, new_run_id="five")) == 110
    assert completed(await workflow.time_travel("one", "b", store=kept, new_run_id="six")) == 111


async def test_a_fork_that_waits_is_resumed_with_what_it_was_given(kept: RunStore) -> None:
    def ask(ctx: StepContext[int]) -> int:
        if ctx.resume_data is None:
            ctx.suspend(ctx.input)
        return ctx.input + int(ctx.resume_data)

    workflow = create_workflow(id="w").then(add(1, "a")).then(create_step(ask, id="ask")).commit()
    run = workflow.create_run("one", store=kept)
    await run.start(0)
    await run.resume(0)
    forked = await workflow.time_travel("one", "ask", store=kept, input=50, new_run_id="two")
    assert isinstance(forked, Suspended)
    assert forked.suspensions[0].payload == 50
    assert completed(await workflow.create_run("two", store=kept).resume(3)) == 53


async def test_the_input_of_a_fork_is_made_what_the_steps_schema_says(kept: RunStore) -> None:
    class Order(pydantic.BaseModel):
        count: int = 3

    given: list[Any] = []

    def takes(ctx: StepContext[Order]) -> int:
        given.append(ctx.input)
        return ctx.input.count

    workflow = flow().then(create_step(takes)).commit()
    await workflow.create_run("one", store=kept).start({"count": 1})
    given.clear()
    assert completed(await workflow.time_travel("one", "takes", store=kept, input={})) == 3
    assert given == [Order()]


async def test_an_input_that_does_not_fit_raises_and_no_run_is_made(kept: RunStore) -> None:
    calls: list[int] = []

    def takes(ctx: StepContext[int]) -> int:
        calls.append(ctx.input)
        return ctx.input

    workflow = create_workflow(id="w").then(create_step(takes, id="takes")).commit()
    await workflow.create_run("one", store=kept).start(1)
    with pytest.raises(pydantic.ValidationError):
        await workflow.time_travel("one", "takes", store=kept, input="no number", new_run_id="two")
    assert [one.run_id for one in await kept.runs()] == ["one"]
    assert calls == [1]
    assert completed(await workflow.time_travel("one", "takes", store=kept, input=2, new_run_id="two")) == 2


async def test_a_run_of_another_workflow_is_not_forked(kept: RunStore) -> None:
    await sums().create_run("one", store=kept).start(0)
    other = create_workflow(id="other").then(add(1, "a")).commit()
    for allowed in (False, True):
        with pytest.raises(RunError, match="'one' is one of workflow 'sums', not of 'other'"):
            await other.time_travel("one", "a", store=kept, new_run_id="two", allow_changed_graph=allowed)
    assert [one.run_id for one in await kept.runs()] == ["one"]

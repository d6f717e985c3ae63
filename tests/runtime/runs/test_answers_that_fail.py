"""Answers that come to nothing, too late or twice: what is kept of them, and who is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic import BaseModel

from interlock import StepContext, create_step, create_workflow
from interlock.errors import AlreadyResumed, RunError, StateConflict
from interlock.runtime import (
    Canceled,
    Completed,
    Failed,
    LocalEngine,
    MemoryRunStore,
    RunStore,
    StepError,
    Suspended,
)
from interlock.steps import RetryPolicy
from interlock.storage import JournalRow
from tests.runtime.operations.acting import completed

pytestmark = pytest.mark.anyio


def ask(ctx: StepContext[Any]) -> Any:
    return ctx.resume_data or ctx.suspend()


class Needed(BaseModel):
    """A state of which a key has no default."""

    total: int
    name: str = "x"


async def test_a_state_that_is_not_whole_yet_is_kept_and_told_as_it_is(kept: RunStore) -> None:
    workflow = (
        create_workflow(id="w", state_schema=Needed)
        .then(create_step(ask))
        .map(lambda ctx: ctx.state)
        .then(create_step(lambda ctx: ctx.set_state(total=3), id="whole"))
        .commit()
    )
    first = await workflow.create_run("r", store=kept).start(1)
    assert isinstance(first, Suspended)
    assert not hasattr(first.state, "total")
    outcome = await workflow.create_run("r", store=kept).resume(1)
    assert isinstance(outcome, Completed), outcome
    assert outcome.state == Needed(total=3)
    records = {record.step_id: record for record in (await workflow.recover("r", store=kept)).steps}
    assert not hasattr(records["map"].output, "total")


async def test_what_is_tried_again_is_the_same_after_a_resume_from_the_store(each: RunStore | None) -> None:
    calls = 0

    def breaks_once(ctx: StepContext[Any]) -> str:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise ConnectionError("broken")
        return "whole"

    for policy, tried in ((OSError, 2), ((KeyError, ConnectionError), 2), (ValueError, 1)):
        calls = 0
        inner: Any = create_workflow(id="inner").parallel(
            [create_step(breaks_once), create_step(ask)], on_error="wait_all"
        )
        retry = RetryPolicy(attempts=3, retry_on=policy)
        workflow = create_workflow(id="w").then(create_step(inner.commit(), retry=retry)).commit()
        name = f"run of {tried} and {policy}"
        run = workflow.create_run(name, store=each)
        assert isinstance(await run.start(1), Suspended)
        outcome = await (run if each is None else workflow.create_run(name, store=each)).resume("yes")
        assert isinstance(outcome, Suspended if tried == 2 else Failed), (policy, outcome)  # it asks anew, too
        assert calls == tried


async def test_a_conflict_is_one_also_where_the_process_died_before_its_block_had_ended() -> None:
    def writes(ctx: StepContext[Any]) -> None:
        ctx.set_state(key=ctx.step_id)

    steps = [create_step(writes, id=id) for id in ("a", "b")]  # noqa: A001
    workflow = create_workflow(id="w").parallel(steps, on_error="collect").commit()
    store = MemoryRunStore()
    live = await workflow.create_run("r", store=store).start(1)
    assert isinstance(live, Failed)
    rows = await store.read("r")
    for cut in range(2, len(rows)):
        died = MemoryRunStore()
        await died.append("r", 0, rows[:cut])
        outcome = await workflow.recover("r", store=died)
        assert isinstance(outcome, Failed), (cut, outcome)
        assert isinstance(outcome.error, StateConflict), (cut, outcome)
        assert set(outcome.error.steps) == {"a", "b"}


class Telling(MemoryRunStore):
    """A store that calls something when a run tells how it has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.call: Any = None

    async def append(self, run_id: str, after: int, rows: Sequence[JournalRow]) -> bool:
        if self.call is not None and any(row.type == "workflow-finish" for row in rows):
            self.call, call = None, self.call
            call()
            await anyio.lowlevel.checkpoint()
        return await super().append(run_id, after, rows)


@pytest.mark.parametrize("paused", [False, True])
async def test_a_run_that_is_cancelled_while_it_writes_that_it_waits_ends(paused: bool) -> None:
    store = Telling()
    workflow = create_workflow(id="w").then(create_step(ask)).commit()
    run = workflow.create_run("r", store=store)
    store.call = run.cancel
    assert isinstance(await run.start(1, pause=paused), Canceled)
    assert [one.status for one in await store.runs()] == ["canceled"]


async def test_an_answer_whose_leg_was_interrupted_has_been_used() -> None:
    async def slow(ctx: StepContext[Any]) -> Any:
        if ctx.resume_data is None:
            ctx.suspend()
        await anyio.sleep_forever()

    run = create_workflow(id="w").then(create_step(slow)).commit().create_run()
    outcome = await run.start(1)
    assert isinstance(outcome, Suspended)
    with anyio.move_on_after(0.01):
        await run.resume("first")
    with pytest.raises(AlreadyResumed):
        await run.resume("second", token=outcome.suspensions[0].token)


async def test_of_two_that_answer_without_a_token_from_two_processes_the_late_one_is_told_so(kept: RunStore) -> None:
    begun, go_on = anyio.Event(), anyio.Event()

    async def slow(ctx: StepContext[Any]) -> Any:
        if ctx.resume_data is None:
            ctx.suspend(label="go?")
        begun.set()
        await go_on.wait()
        return ctx.resume_data

    workflow = create_workflow(id="w").then(create_step(slow)).commit()
    assert isinstance(await workflow.create_run("r", store=kept).start(1), Suspended)
    ended: list[Any] = []

    async def answer() -> None:
        ended.append(await workflow.create_run("r", store=kept, engine=LocalEngine()).resume("first"))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(answer)
            await begun.wait()
            for meant in ({}, {"label": "go?"}, {"step": "slow"}):
                late: Any = workflow.create_run("r", store=kept, engine=LocalEngine())
                with pytest.raises(AlreadyResumed, match="and the run goes on; if its process has died"):
                    await late.resume("second", **meant)
            go_on.set()
    assert completed(ended[0]) == "first"


@pytest.mark.parametrize("given", [5, [("a", 1)], "text"])
async def test_a_request_context_that_is_no_mapping_is_refused_before_anything_is_used(
    given: Any, each: RunStore | None
) -> None:
    workflow = create_workflow(id="w").then(create_step(ask)).commit()
    run = workflow.create_run("r", store=each)
    refused = pytest.raises(TypeError, match="request_context= is a mapping of names to values")
    with refused:
        await run.start(1, request_context=given)
    assert isinstance(await run.start(1), Suspended)
    with refused:
        await run.resume(1, request_context=given)
    if each is not None:
        with refused:
            await workflow.recover("r", store=each, request_context=given)
        with refused:
            await workflow.time_travel("r", "ask", store=each, request_context=given)
    assert completed(await run.resume("yes")) == "yes"


@pytest.mark.parametrize("stored", [False, True])
async def test_two_runs_whose_steps_wait_for_one_another_are_told_so(stored: bool) -> None:
    store = MemoryRunStore() if stored else None
    runs: dict[str, Any] = {}
    told: list[RunError] = []
    both = {"a": anyio.Event(), "b": anyio.Event()}

    def step(mine: str, other: str) -> Any:
        async def resumes(ctx: StepContext[Any]) -> str:
            if ctx.resume_data is None:
                ctx.suspend()
            both[mine].set()
            await both[other].wait()
            try:
                await runs[other].resume(1)
            except RunError as error:
                told.append(error)
            return "done"

        return create_step(resumes, id=mine)

    for mine, other in (("a", "b"), ("b", "a")):
        workflow: Any = create_workflow(id=mine).then(step(mine, other)).commit()
        runs[mine] = workflow.create_run(mine, store=store)
        await runs[mine].start(1)
    ended: list[Any] = []

    async def answer(name: str) -> None:
        ended.append(await runs[name].resume(0))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(answer, "a")
            group.start_soon(answer, "b")
    assert [completed(one) for one in ended] == ["done", "done"]
    assert "nor by one of a run that its own steps wait for" in str(told[0])


@pytest.mark.parametrize("join", ["any", 2])
async def test_of_arms_that_fail_while_they_are_stopped_nothing_is_collected(join: Any) -> None:
    def stopped(ctx: StepContext[Any]) -> Any:
        async def waits() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                raise ValueError("too late")

        return waits()

    async def quick(ctx: StepContext[Any]) -> str:
        await anyio.lowlevel.checkpoint()
        return ctx.step_id

    quickly = [create_step(quick, id=f"quick-{number}") for number in range(1 if join == "any" else 2)]
    block: Any = [create_step(stopped, id="stopped"), *quickly]
    outcome = await create_workflow(id="w").parallel(block, join=join, on_error="collect").commit().run(1)
    assert completed(outcome) == {step.id: step.id for step in quickly}
    assert not [one for one in completed(outcome).values() if isinstance(one, StepError)]


class Cancelled(Exception):
    """An error that is called like trio's."""


async def test_an_error_that_is_only_called_like_a_cancellation_is_an_error() -> None:
    def raises(_: Any) -> None:
        raise Cancelled("no")

    def asks(ctx: StepContext[Any]) -> Any:
        try:
            ctx.suspend("go?")
        finally:
            raise Cancelled("on the way out")

    failed = await create_workflow(id="w").then(create_step(raises)).commit().run(1)
    assert isinstance(failed, Failed)
    assert "step 'raises' failed: Cancelled: no" in str(failed.error)
    outcome = await create_workflow(id="w", on_finish=raises).map(lambda ctx: 1).commit().run(1)
    assert completed(outcome) == 1
    assert [type(error) for error in outcome.callback_errors] == [Cancelled]
    assert isinstance(await create_workflow(id="w").then(create_step(asks)).commit().run(1), Suspended)

"""Runs that go one step at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import StepContext, Workflow, create_step, create_workflow
from interlock.errors import AlreadyStarted, NothingSuspended, RunError
from interlock.runtime import Canceled, Completed, MemoryRunStore, Outcome, Paused, RunStore, Suspended
from tests.runtime.runs.graphs import Graph, World, answer_to, built, first_waiting, graphs, told
from tests.runtime.runs.test_killed_anywhere import state_is_sure

pytestmark = pytest.mark.anyio
stores = pytest.mark.parametrize("store", [None, MemoryRunStore], ids=["no store", "a store"])


def some(log: list[str], *ids: str) -> list[Any]:
    """Steps that note that they ran."""

    def made(id: str) -> Any:  # noqa: A002
        async def noted(ctx: StepContext[Any]) -> Any:
            await anyio.lowlevel.checkpoint()
            log.append(id)
            return ctx.input

        return create_step(noted, id=id)

    return [made(id) for id in ids]  # noqa: A001


def asking(log: list[str]) -> Workflow[Any, Any]:
    """A step that asks beside two steps in a row."""

    def ask(ctx: StepContext[Any]) -> Any:
        log.append("ask")
        if ctx.resume_data is None:
            ctx.suspend(label="ask")
        return ctx.resume_data

    one, two, last = some(log, "one", "two", "last")
    row = create_workflow(id="row").then(one).then(two).commit()
    return (
        create_workflow(id="asking")
        .parallel([create_step(ask, id="ask"), row])
        .map(lambda ctx: dict(ctx.input))
        .then(last)
        .commit()
    )


@stores
async def test_a_chain_takes_one_step_at_a_time_and_says_which_is_next(store: type[MemoryRunStore] | None) -> None:
    log: list[str] = []
    one, two, three = some(log, "one", "two", "three")
    workflow = create_workflow(id="w").then(one).map(lambda ctx: ctx.input + 1).then(two).then(three).commit()
    run = workflow.create_run(store=None if store is None else store())
    outcome: Outcome[Any] | Paused = await run.start(1, pause=True)
    for ready in ("one", "two", "three"):
        assert isinstance(outcome, Paused)
        assert outcome.next == (ready,)
        assert ready not in log
        outcome = await run.next()
        assert log[-1] == ready
    assert isinstance(outcome, Completed)
    assert outcome.output == 2


@stores
async def test_branches_that_stand_ready_go_one_after_the_other(store: type[MemoryRunStore] | None) -> None:
    log: list[str] = []
    one, two, three, last = some(log, "one", "two", "three", "last")
    inner = create_workflow(id="inner").then(one).then(two).commit()
    workflow = create_workflow(id="w").parallel([inner, three]).map(lambda ctx: len(ctx.input)).then(last).commit()
    run = workflow.create_run(store=None if store is None else store())
    outcome: Any = await run.start(1, pause=True)
    seen: list[Sequence[str]] = []
    while isinstance(outcome, Paused):
        seen.append(tuple(outcome.next))
        before = len(log)
        outcome = await run.next()
        assert len(log) == before + 1, "one step each time"
    assert seen[0] == ("inner/one", "three")
    assert seen[-1] == ("last",)
    assert sorted(log) == ["last", "one", "three", "two"]
    assert outcome.output == 2


@stores
async def test_loops_lists_and_branches_pause_before_each_of_their_steps(store: type[MemoryRunStore] | None) -> None:
    log: list[str] = []
    each, again, other, arm = some(log, "each", "again", "other", "arm")
    workflow = (
        create_workflow(id="w")
        .map(lambda ctx: [1, 2, 3])
        .foreach(each)
        .do_until(again, lambda ctx: ctx.iteration == 2)
        .branch([(lambda ctx: False, other), (lambda ctx: True, arm)])
        .commit()
    )
    run = workflow.create_run(store=None if store is None else store())
    outcome: Any = await run.start(1, pause=True)
    taken = 0
    while isinstance(outcome, Paused):
        taken += 1
        outcome = await run.next()
        assert len(log) == taken
    assert log == ["each", "each", "each", "again", "again", "arm"]
    assert outcome.status == "success"


@stores
async def test_a_run_that_waits_beside_steps_pauses_before_these_and_is_suspended_behind_them(
    store: type[MemoryRunStore] | None,
) -> None:
    log: list[str] = []
    run = asking(log).create_run(store=None if store is None else store())
    outcome: Outcome[Any] | Paused = await run.start(1, pause=True)
    assert isinstance(outcome, Paused)
    assert outcome.next == ("ask", "row/one")
    outcome = await run.next()
    assert isinstance(outcome, Paused)
    assert outcome.next == ("row/one",)
    outcome = await run.next()
    outcome = await run.next()
    assert isinstance(outcome, Suspended)
    assert log == ["ask", "one", "two"]
    with pytest.raises(RunError, match="does not stand before a step"):
        await run.next()
    outcome = await run.resume(5)
    assert isinstance(outcome, Completed)
    assert outcome.output == {"ask": 5, "row": 1}
    assert log == ["ask", "one", "two", "ask", "last"]


@stores
async def test_an_answer_given_before_a_step_lets_the_run_go_on_to_its_end(store: type[MemoryRunStore] | None) -> None:
    log: list[str] = []
    run = asking(log).create_run(store=None if store is None else store())
    await run.start(1, pause=True)
    await run.next()
    outcome = await run.resume(5, label="ask")
    assert isinstance(outcome, Completed)
    assert sorted(log) == ["ask", "ask", "last", "one", "two"]


@stores
async def test_nothing_waits_before_the_first_step(store: type[MemoryRunStore] | None) -> None:
    run = asking([]).create_run(store=None if store is None else store())
    await run.start(1, pause=True)
    with pytest.raises(NothingSuspended):
        await run.resume(5)
    assert isinstance(await run.next(), Paused)


@stores
async def test_a_cancel_between_two_steps_is_the_end(store: type[MemoryRunStore] | None) -> None:
    log: list[str] = []
    one, two = some(log, "one", "two")
    run = create_workflow(id="w").then(one).then(two).commit().create_run(store=None if store is None else store())
    await run.start(1, pause=True)
    await run.next()
    run.cancel()
    assert isinstance(await run.next(), Canceled)
    assert log == ["one"]
    with pytest.raises(RunError):
        await run.next()


async def test_a_run_that_was_not_started_step_by_step_takes_no_steps() -> None:
    one, two = some([], "one", "two")
    run = create_workflow(id="w").then(one).then(two).commit().create_run()
    with pytest.raises(RunError, match="start it with pause=True"):
        await run.next()
    await run.start(1)
    with pytest.raises(RunError):
        await run.next()
    with pytest.raises(AlreadyStarted):
        await run.start(1, pause=True)


async def test_a_stored_run_that_stands_before_a_step_is_recovered_to_its_end() -> None:
    log: list[str] = []
    store = MemoryRunStore()
    one, two = some(log, "one", "two")
    workflow = create_workflow(id="w").then(one).then(two).commit()
    run = workflow.create_run("r", store=store)
    await run.start(1, pause=True)
    await run.next()
    assert (await store.runs())[0].status == "paused"
    outcome = await workflow.recover("r", store=store)
    assert isinstance(outcome, Completed)
    assert log == ["one", "two"]


@pytest.mark.parametrize("stored", [False, True])
@settings(max_examples=settings().max_examples // 3)
@given(graph=graphs(), data=st.data())
def test_step_by_step_a_run_ends_as_it_does_at_one_go(stored: bool, graph: Graph, data: st.DataObject) -> None:
    async def main() -> None:
        whole: Any = await built(graph, World()).create_run().start(5)
        store: RunStore | None = MemoryRunStore() if stored else None
        world = World()
        run = built(graph, world).create_run(store=store)
        outcome: Any = await run.start(5, pause=True)
        for _ in range(500):
            if not isinstance(outcome, Paused):
                break
            assert outcome.next
            before = world.calls.total()
            outcome = await run.next()
            assert world.calls.total() - before <= 3, "at most one step, with its attempts"
        sure = state_is_sure(graph)
        assert told(outcome, with_state=sure) == told(whole, with_state=sure)
        while isinstance(outcome, Suspended):
            waits = first_waiting(outcome)
            outcome = await run.resume(answer_to(waits), token=waits.token)
        assert outcome.status in ("success", "failed", "tripwire")

    anyio.run(main)

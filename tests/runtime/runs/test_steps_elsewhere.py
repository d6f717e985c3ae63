"""Runs that go step by step, each step taken by another object, engine or process on the same store."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import StepContext, Workflow, create_step, create_workflow
from interlock.errors import GraphChanged, JournalConflict, RunError, UnknownRun
from interlock.runtime import Failed, LocalEngine, MemoryRunStore, Paused, RunStore, Suspended
from tests.runtime.operations.acting import completed

pytestmark = pytest.mark.anyio


def three(log: list[str], *, ids: tuple[str, ...] = ("one", "two", "three")) -> Workflow[Any, Any]:
    """Steps in a row that count, and note the state."""

    def made(id: str) -> Any:  # noqa: A002
        async def noted(ctx: StepContext[Any]) -> Any:
            await anyio.lowlevel.checkpoint()
            log.append(id)
            ctx.set_state(**{id: ctx.request_context.get("who")})
            return ctx.input + 1

        return create_step(noted, id=id)

    builder: Any = create_workflow(id="w")
    for id in ids:  # noqa: A001
        builder = builder.then(made(id))
    made_of_all: Workflow[Any, Any] = builder.commit()
    return made_of_all


@pytest.mark.parametrize("engines", ["one", "each its own"])
async def test_each_step_is_taken_by_another_object(engines: str, kept: RunStore) -> None:
    log: list[str] = []
    one = LocalEngine()

    def run(workflow: Workflow[Any, Any]) -> Any:
        return workflow.create_run("r", store=kept, engine=one if engines == "one" else LocalEngine())

    outcome = await run(three(log)).start(0, pause=True, state={"zero": 0}, request_context={"who": "ann"})
    for ready in ("one", "two", "three"):
        assert isinstance(outcome, Paused)
        assert outcome.next == (ready,)
        assert [one.status for one in await kept.runs()] == ["paused"]
        outcome = await run(three(log)).next()
        assert log[-1] == ready
    assert completed(outcome) == 3
    assert outcome.state == {"zero": 0, "one": "ann", "two": "ann", "three": "ann"}
    assert log == ["one", "two", "three"]
    claims = [row.type for row in await kept.read("r") if row.type == "workflow-recover"]
    assert len(claims) == 3, "whoever takes a step claims the run first"
    with pytest.raises(RunError, match="does not stand before a step"):
        await run(three(log)).next()


async def test_the_same_object_goes_on_with_further_steps(kept: RunStore) -> None:
    log: list[str] = []
    await three(log).create_run("r", store=kept).start(0, pause=True)
    run = three(log).create_run("r", store=kept, engine=LocalEngine())
    assert isinstance(await run.next(), Paused)
    assert isinstance(await run.next(), Paused)
    assert completed(await run.next()) == 3
    assert log == ["one", "two", "three"]


async def test_one_that_was_overtaken_fails_and_nothing_runs_twice_in_the_journal(kept: RunStore) -> None:
    log: list[str] = []
    old = three(log).create_run("r", store=kept)
    await old.start(0, pause=True)
    new = three(log).create_run("r", store=kept, engine=LocalEngine())
    assert isinstance(await new.next(), Paused)
    outcome = await old.next()
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, JournalConflict)
    assert log == ["one"], "the step does not begin, because its start cannot be kept"
    await new.next()
    assert completed(await new.next()) == 3


async def test_of_two_engines_that_take_the_next_step_at_once_one_does(kept: RunStore) -> None:
    log: list[str] = []
    await three(log).create_run("r", store=kept).start(0, pause=True)
    ended: list[Any] = []

    async def take(run: Any) -> None:
        try:
            ended.append(await run.next())
        except RunError as error:  # RunBusy, or that the run does not stand before a step any more
            ended.append(error)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for _ in range(2):
                group.start_soon(take, three(log).create_run("r", store=kept, engine=LocalEngine()))
    assert not any(isinstance(one, Failed) for one in ended), "whoever is too late has begun nothing"
    kinds = sorted("taken" if isinstance(one, Paused) else "refused" for one in ended)
    assert kinds in (["refused", "taken"], ["taken", "taken"])
    assert log == (["one", "two"] if kinds == ["taken", "taken"] else ["one"])


async def test_an_answer_lets_a_paused_run_of_another_object_go_on(kept: RunStore) -> None:
    def ask(ctx: StepContext[Any]) -> Any:
        if ctx.resume_data is None:
            ctx.suspend()
        return ctx.resume_data

    workflow = (
        create_workflow(id="w")
        .parallel([create_step(ask), create_step(lambda ctx: ctx.input, id="beside")])
        .map(lambda ctx: dict(ctx.input))
        .commit()
    )
    await workflow.create_run("r", store=kept).start(1, pause=True)
    await workflow.create_run("r", store=kept, engine=LocalEngine()).next()
    outcome = await workflow.create_run("r", store=kept, engine=LocalEngine()).next()
    assert isinstance(outcome, Suspended)
    with pytest.raises(RunError, match="does not stand before a step"):
        await workflow.create_run("r", store=kept).next()
    assert completed(await workflow.create_run("r", store=kept).resume(5)) == {"ask": 5, "beside": 1}


async def test_what_stands_before_no_step_or_is_another_is_refused() -> None:
    store, log = MemoryRunStore(), list[str]()
    with pytest.raises(UnknownRun):
        await three(log).create_run("none", store=store).next()
    await three(log).create_run("ended", store=store).start(0)
    with pytest.raises(RunError, match="does not stand before a step"):
        await three(log).create_run("ended", store=store).next()
    await three(log).create_run("r", store=store).start(0, pause=True)
    with pytest.raises(GraphChanged):
        await three(log, ids=("one", "other")).create_run("r", store=store).next()
    other: Workflow[Any, Any] = create_workflow(id="other").map(lambda ctx: 1).commit()
    with pytest.raises(RunError, match="is one of workflow 'w', not of 'other'"):
        await other.create_run("r", store=store).next()
    assert log == ["one", "two", "three"]

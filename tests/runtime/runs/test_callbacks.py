"""What a workflow calls when a run begins, ends or fails; and the state that an outcome tells."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import anyio.lowlevel
import pytest
from pydantic import BaseModel

from interlock import StepContext, create_step, create_workflow
from interlock.errors import StepFailed
from interlock.runtime import Blocked, Canceled, Completed, Failed, MemoryRunStore, RunStore, Suspended
from tests.runtime.runs.ending import store_of

pytestmark = pytest.mark.anyio
stores = pytest.mark.parametrize("store", [None, MemoryRunStore], ids=["no store", "a store"])
Kind = type[MemoryRunStore] | None


def kept(store: Kind) -> RunStore | None:
    """A store, or none."""
    return None if store is None else store()


class Log(list[str]):
    """What was called; its methods are callbacks."""

    def started(self, ctx: StepContext[Any]) -> None:
        self.append(f"start {ctx.input}")

    async def started_later(self, ctx: StepContext[Any]) -> None:
        await anyio.lowlevel.checkpoint()
        self.started(ctx)

    def finished(self, outcome: Any) -> None:
        self.append(f"finish {outcome.status}")

    async def finished_later(self, outcome: Any) -> None:
        await anyio.lowlevel.checkpoint()
        self.finished(outcome)

    def failed(self, outcome: Failed) -> None:
        self.append(f"error {outcome.error}")


def acts(ctx: StepContext[Any]) -> Any:
    """Does what its input says."""
    match ctx.input:
        case "fail":
            raise ValueError("no")
        case "abort":
            ctx.abort("not so")
        case "bail":
            ctx.bail("early")
        case "ask" if ctx.resume_data is None:
            ctx.suspend()
        case _:
            pass
    return ctx.input


@stores
@pytest.mark.parametrize("later", [False, True])
async def test_every_end_is_told_of_and_failures_first_to_on_error(store: Kind, later: bool) -> None:
    for value, end in {
        "go": ["finish success"],
        "bail": ["finish success"],
        "abort": ["finish tripwire"],
        "fail": ["error step 'acts' failed: ValueError: no", "finish failed"],
    }.items():
        log = Log()
        workflow = (
            create_workflow(
                id="w",
                on_start=log.started_later if later else log.started,
                on_finish=log.finished_later if later else log.finished,
                on_error=log.failed,
            )
            .then(create_step(acts, id="acts"))
            .commit()
        )
        await workflow.create_run(store=kept(store)).start(value)
        assert log == [f"start {value}", *end]


@stores
async def test_a_run_that_waits_has_begun_once_and_not_ended_yet(store: Kind) -> None:
    log = Log()
    workflow = (
        create_workflow(id="w", on_start=log.started, on_finish=log.finished)
        .then(create_step(acts, id="acts"))
        .commit()
    )
    run = workflow.create_run(store=kept(store))
    assert isinstance(await run.start("ask"), Suspended)
    assert log == ["start ask"]
    assert isinstance(await run.resume("yes"), Completed)
    assert log == ["start ask", "finish success"]


@stores
async def test_on_start_may_refuse_the_run_and_nothing_runs_then(store: Kind) -> None:
    ran: list[str] = []

    def refuses(ctx: StepContext[Any]) -> None:
        raise PermissionError("not you")

    log = Log()
    workflow = (
        create_workflow(id="w", on_start=refuses, on_finish=log.finished, on_error=log.failed)
        .then(create_step(lambda ctx: ran.append("ran"), id="one"))
        .commit()
    )
    outcome = await workflow.create_run(store=kept(store)).start(1)
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, StepFailed)
    assert isinstance(outcome.error.cause, PermissionError)
    assert not ran
    assert not outcome.steps
    assert log == ["error step 'w.on_start' failed: PermissionError: not you", "finish failed"]


async def test_a_run_that_died_before_its_first_step_is_not_let_off_on_start() -> None:
    asked: list[int] = []
    refusing = [False]

    def starts(ctx: StepContext[Any]) -> None:
        asked.append(ctx.input)
        if refusing[0]:
            raise PermissionError("not you")

    workflow = (
        create_workflow(id="w", on_start=starts)
        .then(create_step(acts, id="acts"))
        .then(create_step(acts, id="again"))
        .commit()
    )
    store = MemoryRunStore()
    await workflow.create_run("r", store=store).start(1)
    rows = await store.read("r")
    refusing[0] = True
    asked.clear()
    dead = await store_of(rows[:1])
    assert isinstance(await workflow.recover("r", store=dead), Failed)
    assert asked == [1]
    assert isinstance(await workflow.recover("r", store=await store_of(rows[:2])), Completed)
    assert asked == [1], "where a step has begun it had been asked"


@stores
async def test_a_callback_that_raises_changes_no_outcome_and_is_told_of_in_it(store: Kind) -> None:
    def breaks(outcome: Any) -> None:
        raise RuntimeError("broken callback")

    async def breaks_later(outcome: Any) -> None:
        await anyio.lowlevel.checkpoint()
        raise RuntimeError("broken later")

    workflow = (
        create_workflow(id="w", on_finish=breaks_later, on_error=breaks).then(create_step(acts, id="acts")).commit()
    )
    outcome = await workflow.create_run(store=kept(store)).start("go")
    assert isinstance(outcome, Completed)
    assert [str(one) for one in outcome.callback_errors] == ["broken later"]
    outcome = await workflow.create_run(store=kept(store)).start("fail")
    assert isinstance(outcome, Failed)
    assert [str(one) for one in outcome.callback_errors] == ["broken callback", "broken later"]


@stores
async def test_a_run_that_is_cancelled_before_it_starts_begins_nothing(store: Kind) -> None:
    log = Log()
    workflow = (
        create_workflow(id="w", on_start=log.started, on_finish=log.finished)
        .then(create_step(acts, id="acts"))
        .commit()
    )
    run = workflow.create_run(store=kept(store))
    run.cancel()
    assert isinstance(await run.start("go"), Canceled)
    assert log == ["finish canceled"]


async def test_a_run_that_died_behind_its_last_step_tells_its_end_when_it_is_recovered() -> None:
    log = Log()
    workflow = create_workflow(id="w", on_finish=log.finished).then(create_step(acts, id="acts")).commit()
    store = MemoryRunStore()
    await workflow.create_run("r", store=store).start("go")
    rows = await store.read("r")
    log.clear()
    assert isinstance(await workflow.recover("r", store=await store_of(rows[:-1])), Completed)
    assert log == ["finish success"]
    log.clear()
    assert isinstance(await workflow.recover("r", store=store), Completed)
    assert log == [], "one that has ended is only told of"


class Total(BaseModel):
    """A state."""

    total: Annotated[int, operator.add] = 0


class Loose(TypedDict, total=False):
    """A state."""

    total: int


@stores
async def test_the_state_is_told_as_its_schema_has_it_whatever_the_end(store: Kind) -> None:
    def adds(ctx: StepContext[Any]) -> Any:
        ctx.set_state(total=2)
        return ctx.input

    for schema, expected in ((Total, Total(total=2)), (Loose, {"total": 2})):
        for value, kind in {"go": Completed, "abort": Blocked, "fail": Failed, "ask": Suspended}.items():
            workflow = (
                create_workflow(id="w", state_schema=schema)
                .then(create_step(adds, id="adds"))
                .then(create_step(acts, id="acts"))
                .commit()
            )
            where = kept(store)
            outcome = await workflow.create_run("r", store=where).start(value)
            assert isinstance(outcome, kind)
            assert outcome.state == expected
            if where is not None:
                assert (await workflow.recover("r", store=where)).state == expected


@stores
async def test_without_a_schema_the_state_is_a_dict(store: Kind) -> None:
    workflow = create_workflow(id="w").then(create_step(acts, id="acts")).commit()
    assert (await workflow.create_run(store=kept(store)).start("go")).state == {}
    assert (await workflow.create_run(store=kept(store)).start("go", state={"a": [1]})).state == {"a": [1]}

"""Answering steps that wait: which is meant, what is checked, what goes on as it was."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pydantic
import pytest
from pydantic import BaseModel

from interlock import RequestContext, StepContext, Workflow, create_step, create_workflow
from interlock.errors import AlreadyResumed, GraphChanged, NothingSuspended, StepFailed
from interlock.runtime import Canceled, Completed, Failed, MemoryRunStore, Outcome, RunStore, Suspended
from interlock.runtime.operations import sleep_op
from interlock.steps import RetryPolicy
from tests.runtime.runs.ending import store_of

pytestmark = pytest.mark.anyio
stores = pytest.mark.parametrize("store", [None, MemoryRunStore], ids=["no store", "a store"])
Kind = type[MemoryRunStore] | None


def kept(store: Kind) -> RunStore | None:
    """A store, or none."""
    return None if store is None else store()


def ask(ctx: StepContext[Any]) -> Any:
    """Asks, and gives the answer."""
    if ctx.resume_data is None:
        ctx.suspend({"asks": ctx.step_id}, label=f"label of {ctx.step_id}")
    return ctx.resume_data


def asking(*ids: str, **options: Any) -> Workflow[Any, Any]:
    """Steps that ask, beside one another."""
    steps = [create_step(ask, id=id, **options) for id in ids]  # noqa: A001
    return create_workflow(id="asking").parallel(steps).map(lambda ctx: dict(ctx.input)).commit()


@stores
async def test_a_suspension_says_which_step_waits_and_for_what(store: Kind) -> None:
    outcome = await asking("one").create_run(store=kept(store)).start(1)
    assert isinstance(outcome, Suspended)
    (waits,) = outcome.suspensions
    assert (waits.step_id, waits.path, waits.label, waits.index) == ("one", "one", "label of one", None)
    assert waits.payload == {"asks": "one"}
    assert {one.step_id: one.status for one in outcome.steps}["one"] == "suspended"


@stores
async def test_a_step_is_meant_by_itself_its_id_its_label_or_its_token(store: Kind) -> None:
    one, two = create_step(ask, id="one"), create_step(ask, id="two")
    workflow = create_workflow(id="asking").parallel([one, two]).map(lambda ctx: dict(ctx.input)).commit()
    for by in ("step", "id", "label", "token"):
        run = workflow.create_run(store=kept(store))
        outcome = await run.start(1)
        assert isinstance(outcome, Suspended)
        waits = next(one for one in outcome.suspensions if one.step_id == "two")
        ways: dict[str, dict[str, Any]] = {
            "step": {"step": two},
            "id": {"step": "two"},
            "label": {"label": "label of two"},
            "token": {"token": waits.token},
        }
        with pytest.raises(NothingSuspended, match=r"several steps wait, 'one' .*'two'"):
            await run.resume(2)
        outcome = await run.resume(2, **ways[by])
        assert isinstance(outcome, Suspended), by
        assert [one.step_id for one in outcome.suspensions] == ["one"]
        outcome = await run.resume(1)
        assert isinstance(outcome, Completed)
        assert outcome.output == {"one": 1, "two": 2}


@stores
async def test_an_item_of_a_list_is_meant_by_its_index(store: Kind) -> None:
    workflow = create_workflow(id="w").foreach(create_step(ask, id="each"), concurrency=2).commit()
    run = workflow.create_run(store=kept(store))
    outcome: Outcome[Any] = await run.start(["a", "b", "c"])
    assert isinstance(outcome, Suspended)
    assert sorted(one.index or 0 for one in outcome.suspensions) == [0, 1, 2]
    for index in (2, 0, 1):
        outcome = await run.resume(index * 10, index=index)
    assert isinstance(outcome, Completed)
    assert outcome.output == [0, 10, 20]


@stores
async def test_what_does_not_wait_cannot_be_answered(store: Kind) -> None:
    run = asking("one").create_run(store=kept(store))
    outcome = await run.start(1)
    assert isinstance(outcome, Suspended)
    other = create_step(ask, id="one")
    wrong: list[dict[str, Any]] = [{"step": "two"}, {"label": "no"}, {"token": "no"}, {"index": 0}, {"step": other}]
    for meant in wrong:
        with pytest.raises(NothingSuspended):
            await run.resume(1, **meant)
    assert isinstance(await run.resume(1), Completed)
    with pytest.raises(AlreadyResumed, match="'one'"):
        await run.resume(1, token=outcome.suspensions[0].token)
    with pytest.raises(AlreadyResumed):
        await run.resume(1)


async def test_a_run_that_was_not_started_has_nothing_to_answer() -> None:
    with pytest.raises(NothingSuspended, match="not been started"):
        await asking("one").create_run().resume(1)


@stores
async def test_two_answers_at_once_one_counts(store: Kind) -> None:
    where = kept(store)
    workflow = asking("one", "two")
    run = workflow.create_run("r", store=where)
    other = run if where is None else workflow.create_run("r", store=where)
    outcome = await run.start(1)
    assert isinstance(outcome, Suspended)
    token = outcome.suspensions[0].token
    said: list[str] = []

    async def answer(one: Any, data: int) -> None:
        try:
            said.append((await one.resume(data, token=token)).status)
        except AlreadyResumed:
            said.append("already")

    async with anyio.create_task_group() as group:
        for number, one in enumerate((run, other, run)):
            group.start_soon(answer, one, number + 1)
    assert sorted(said) == ["already", "already", "suspended"]


@stores
async def test_the_answer_is_checked_first_and_a_bad_one_leaves_the_run_waiting(store: Kind) -> None:
    class Answer(BaseModel):
        approved: bool
        by: str = "nobody"

    def asks(ctx: StepContext[Any]) -> Any:
        if ctx.resume_data is None:
            ctx.suspend()
        return type(ctx.resume_data).__name__, ctx.resume_data.by

    workflow = create_workflow(id="w").then(create_step(asks, id="asks", resume_schema=Answer)).commit()
    run = workflow.create_run(store=kept(store))
    await run.start(1)
    with pytest.raises(pydantic.ValidationError):
        await run.resume({"by": "ann"})
    outcome = await run.resume({"approved": True})
    assert isinstance(outcome, Completed)
    assert tuple(outcome.output) == ("Answer", "nobody"), "defaults are there, and it is what the schema says"


@stores
async def test_the_payload_is_checked_and_a_bad_one_is_the_steps_failure(store: Kind) -> None:
    def asks(ctx: StepContext[Any]) -> Any:
        ctx.suspend("not a number")

    workflow = create_workflow(id="w").then(create_step(asks, id="asks", suspend_schema=int)).commit()
    outcome = await workflow.create_run(store=kept(store)).start(1)
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, StepFailed)
    assert outcome.error.step_id == "asks"


@stores
async def test_a_step_can_ask_again_and_each_time_has_a_token_of_its_own(store: Kind) -> None:
    def twice(ctx: StepContext[Any]) -> Any:
        if ctx.resume_data is None or ctx.resume_data < 10:
            ctx.suspend()
        return ctx.resume_data

    run = create_workflow(id="w").then(create_step(twice, id="twice")).commit().create_run(store=kept(store))
    first = await run.start(1)
    second = await run.resume(1)
    assert isinstance(first, Suspended)
    assert isinstance(second, Suspended)
    assert first.suspensions[0].token != second.suspensions[0].token
    with pytest.raises(AlreadyResumed):
        await run.resume(20, token=first.suspensions[0].token)
    assert isinstance(await run.resume(20, token=second.suspensions[0].token), Completed)


@stores
async def test_what_need_not_be_answered_any_more_cannot_be(store: Kind) -> None:
    workflow = (
        create_workflow(id="w")
        .parallel([create_step(ask, id="one"), create_step(ask, id="two")], join="any")
        .map(lambda ctx: list(ctx.input))
        .then(create_step(ask, id="later"))
        .commit()
    )
    run = workflow.create_run(store=kept(store))
    outcome = await run.start(1)
    assert isinstance(outcome, Suspended)
    tokens = {one.step_id: one.token for one in outcome.suspensions}
    outcome = await run.resume(1, step="two")
    assert isinstance(outcome, Suspended)
    assert [one.step_id for one in outcome.suspensions] == ["later"], "the other branch need not any more"
    assert {one.step_id: one.status for one in outcome.steps}["one"] == "canceled"
    with pytest.raises(NothingSuspended):
        await run.resume(1, token=tokens["one"])
    assert isinstance(await run.resume(1), Completed)


async def test_a_run_that_ended_while_a_step_waited_cannot_be_answered() -> None:
    async def fails(ctx: StepContext[Any]) -> Any:
        await anyio.lowlevel.checkpoint()
        raise ValueError("no")

    store = MemoryRunStore()
    workflow = create_workflow(id="w").parallel([create_step(ask, id="ask"), create_step(fails, id="fails")]).commit()
    run = workflow.create_run("r", store=store)
    assert isinstance(await run.start(1), Failed)
    with pytest.raises(NothingSuspended):
        await run.resume(1)
    assert (await store.runs())[0].status == "failed"


async def test_what_still_waited_when_a_run_was_canceled_cannot_be_answered() -> None:
    store = MemoryRunStore()
    workflow = asking("one", "two")
    run = workflow.create_run("r", store=store)
    await run.start(1)
    run.cancel()
    assert isinstance(await run.resume(1, step="one"), Canceled)
    rows = await store.read("r")
    with pytest.raises(NothingSuspended):
        await workflow.create_run("r", store=store).resume(1, step="two")
    assert await store.read("r") == rows


@stores
async def test_attempts_go_on_where_they_were_when_a_step_is_resumed(store: Kind) -> None:
    attempts: list[int] = []

    def unsteady(ctx: StepContext[Any]) -> Any:
        attempts.append(ctx.attempt)
        if ctx.attempt == 1:
            raise ValueError("no")
        if ctx.resume_data is None:
            ctx.suspend()
        raise ValueError("never")

    workflow = create_workflow(id="w").then(create_step(unsteady, id="u", retry=RetryPolicy(attempts=4))).commit()
    run = workflow.create_run(store=kept(store))
    assert isinstance(await run.start(1), Suspended)
    outcome = await run.resume(1)
    assert isinstance(outcome, Failed)
    assert attempts == [1, 2, 2, 3, 4]
    assert outcome.steps[0].attempts == 4


@stores
async def test_the_state_goes_on_as_it_was(store: Kind) -> None:
    def counts(ctx: StepContext[Any]) -> Any:
        ctx.set_state(count=ctx.state.get("count", 0) + 1)
        return ctx.input

    def asks(ctx: StepContext[Any]) -> Any:
        ctx.set_state(lost=True)
        if ctx.resume_data is None:
            ctx.suspend()
        return ctx.state["count"]

    workflow = (
        create_workflow(id="w")
        .then(create_step(counts, id="counts"))
        .then(create_step(asks, id="asks"))
        .then(create_step(lambda ctx: counts(ctx), id="again"))
        .commit()
    )
    run = workflow.create_run(store=kept(store))
    outcome = await run.start(1, state={"count": 10})
    assert outcome.state == {"count": 11}, "what a step that waits has changed does not count yet"
    outcome = await run.resume(1)
    assert isinstance(outcome, Completed)
    assert outcome.output == 11
    assert outcome.state == {"count": 12, "lost": True}


@stores
async def test_another_request_context_can_be_given_with_the_answer(store: Kind) -> None:
    def who(ctx: StepContext[Any]) -> Any:
        if ctx.resume_data is None:
            ctx.suspend()
        return ctx.request_context["user"]

    def workflow() -> Any:
        return create_workflow(id="w").then(create_step(who, id="who")).commit().create_run(store=kept(store))

    run = workflow()
    await run.start(1, request_context=RequestContext(user="ann"))
    assert (await run.resume(1)).output == "ann"
    run = workflow()
    await run.start(1, request_context=RequestContext(user="ann"))
    assert (await run.resume(1, request_context=RequestContext(user="bob"))).output == "bob"


async def test_what_of_the_request_context_can_be_recorded_is_there_in_another_process() -> None:
    def who(ctx: StepContext[Any]) -> Any:
        if ctx.resume_data is None:
            ctx.suspend()
        return dict(ctx.request_context)

    store = MemoryRunStore()
    workflow = create_workflow(id="w").then(create_step(who, id="who")).commit()
    context = RequestContext(user="ann", limit={1, 2}, lock=object())
    await workflow.create_run("r", store=store).start(1, request_context=context)
    for resumed in (
        await workflow.create_run("r", store=await store_of(await store.read("r"))).resume(1),
        await _recovered_after_an_answer(workflow, store),
    ):
        assert isinstance(resumed, Completed)
        assert resumed.output == {"user": "ann", "limit": {1, 2}}


async def _recovered_after_an_answer(workflow: Workflow[Any, Any], store: MemoryRunStore) -> Outcome[Any]:
    await workflow.create_run("r", store=store).resume(1)
    rows = await store.read("r")
    answered = next(row.seq for row in rows if row.type == "workflow-resume")
    return await workflow.recover("r", store=await store_of(rows[:answered]))


def shaped(*ids: str) -> Workflow[Any, Any]:
    """A workflow of these steps; the last asks."""
    builder: Any = create_workflow(id="shaped")
    for id in ids[:-1]:  # noqa: A001
        builder = builder.then(create_step(lambda ctx: ctx.input, id=id))
    workflow: Workflow[Any, Any] = builder.then(create_step(ask, id=ids[-1])).commit()
    return workflow


async def test_a_run_of_another_graph_is_not_gone_on_with_unless_that_is_allowed() -> None:
    store = MemoryRunStore()
    await shaped("one", "ask").create_run("r", store=store).start(1)
    other = shaped("one", "new", "ask")
    rows = await store.read("r")
    with pytest.raises(GraphChanged, match=r"allow_changed_graph=True.*recover\(\)|recover"):
        await other.create_run("r", store=store).resume(1)
    with pytest.raises(GraphChanged):
        await other.recover("r", store=await store_of(rows[:4]))
    assert list(await store.read("r")) == list(rows), "it still waits"

    taken = await other.recover("r", store=store, allow_changed_graph=True)
    assert isinstance(taken, Suspended)
    assert [one.step_id for one in taken.suspensions] == ["ask"]
    assert [one.step_id for one in taken.steps if one.status == "success"] == ["one", "new"]
    outcome = await other.create_run("r", store=store).resume(5)
    assert isinstance(outcome, Completed)
    assert outcome.output == 5
    with pytest.raises(GraphChanged):
        await shaped("one", "ask").create_run("r", store=store).resume(1)


async def test_the_same_graph_made_anew_goes_on_with_a_run() -> None:
    store = MemoryRunStore()
    await shaped("one", "ask").create_run("r", store=store).start(1)
    assert isinstance(await shaped("one", "ask").create_run("r", store=store).resume(1), Completed)


async def test_a_wait_goes_on_with_what_is_left_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1_000.0]
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr(sleep_op, "time", lambda: clock[0])
    monkeypatch.setattr("interlock.runtime.operations.sleep_op.anyio.sleep", sleep)
    store = MemoryRunStore()
    workflow = create_workflow(id="w").sleep(60).commit()
    assert isinstance(await workflow.create_run("r", store=store).start(1), Completed)
    rows = await store.read("r")
    begun = next(row.seq for row in rows if row.type == "sleep")
    for later, left in ((1_000.0, [60.0]), (1_045.0, [15.0]), (1_060.0, []), (9_000.0, [])):
        clock[0] = later
        slept.clear()
        outcome = await workflow.recover("r", store=await store_of(rows[:begun]))
        assert isinstance(outcome, Completed)
        assert slept == left


async def test_an_error_is_told_in_the_same_words_in_another_process() -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            return "odd"

    def raises(ctx: StepContext[Any]) -> Any:
        raise Odd

    failing: list[Workflow[Any, Any]] = [
        create_workflow(id="w").then(create_step(raises, id="raises")).commit(),
        create_workflow(id="w").foreach(create_step(raises, id="raises")).commit(),
        create_workflow(id="w").then(create_step(raises, id="raises", input_schema=str)).commit(),
        create_workflow(id="w", output_schema=str).then(create_step(lambda ctx: 1, id="one")).commit(),
    ]
    for workflow in failing:
        store = MemoryRunStore()
        live = await workflow.create_run("r", store=store).start(1)
        rows = await store.read("r")
        for stored in (
            await workflow.recover("r", store=store),
            await workflow.recover("r", store=await store_of(rows[:-1])),
        ):
            assert isinstance(live, Failed)
            assert isinstance(stored, Failed)
            assert str(stored.error) == str(live.error)
            if isinstance(live.error, StepFailed):
                assert isinstance(stored.error, StepFailed)
                assert stored.error.step_id == live.error.step_id


async def test_what_waits_in_a_block_that_has_enough_without_it_waits_no_more_although_nobody_came_by() -> None:
    store = MemoryRunStore()
    steps = [create_step(ask, id=id) for id in ("one", "two")]  # noqa: A001
    pair = create_workflow(id="pair").parallel(steps, join=1, concurrency=1).map(lambda ctx: "done").commit()
    workflow = create_workflow(id="w").foreach(pair).commit()
    run = workflow.create_run("r", store=store)
    outcome: Outcome[Any] = await run.start(["a", "b"])
    assert isinstance(outcome, Suspended)
    assert [(one.step_id, one.index) for one in outcome.suspensions] == [("one", 0), ("two", 0)]
    outcome = await run.resume(1, step="one")
    assert isinstance(outcome, Suspended)
    assert [(one.step_id, one.index) for one in outcome.suspensions] == [("one", 1), ("two", 1)]
    stored = await workflow.recover("r", store=store)
    assert isinstance(stored, Suspended)
    assert stored.suspensions == list(outcome.suspensions)

"""Reading a run's events along from an answer on."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pydantic
import pytest

from interlock import StepContext, Workflow, create_step, create_workflow
from interlock.errors import AlreadyResumed, GraphChanged, NothingSuspended, RunError, UnknownRun
from interlock.runtime import Canceled, MemoryRunStore, RunStore, Suspended
from tests.runtime.operations.acting import completed

pytestmark = pytest.mark.anyio


async def ask(ctx: StepContext[Any]) -> Any:
    await anyio.lowlevel.checkpoint()
    if ctx.resume_data is None:
        ctx.suspend({"asks": ctx.step_id}, label=f"label of {ctx.step_id}")
    ctx.write("heard", ctx.resume_data)
    return ctx.resume_data


async def last(ctx: StepContext[Any]) -> Any:
    await anyio.lowlevel.checkpoint()
    return [ctx.input, ctx.request_context.get("who")]


def asking(*ids: str, **options: Any) -> Workflow[Any, Any]:
    """Steps that ask, beside one another, and a last one."""
    steps = [create_step(ask, id=id, **options) for id in ids or ("one",)]  # noqa: A001
    return (
        create_workflow(id="asking").parallel(steps).map(lambda ctx: dict(ctx.input)).then(create_step(last)).commit()
    )


async def waiting(store: RunStore | None, *ids: str, **options: Any) -> tuple[Any, Suspended]:
    """A run that waits; with a store, another object of it."""
    workflow = asking(*ids, **options)
    run = workflow.create_run("r", store=store)
    outcome = await run.start(1)
    assert isinstance(outcome, Suspended)
    return run if store is None else workflow.create_run("r", store=store), outcome


async def test_the_events_from_the_answer_on_are_told_to_the_end(each: RunStore | None) -> None:
    run, outcome = await waiting(each)
    (waits,) = outcome.suspensions
    async with run.resume_stream("yes") as events:
        seen = [event async for event in events]
    assert [(one.type, one.path) for one in seen] == [
        ("workflow-resume", ""),
        ("step-start", "one"),
        ("step-output", "one"),
        ("step-result", "one"),
        ("step-result", "parallel"),
        ("step-start", "map"),
        ("step-result", "map"),
        ("step-start", "last"),
        ("step-result", "last"),
        ("workflow-finish", ""),
    ]
    assert completed(seen[-1].outcome) == [{"one": "yes"}, None]
    assert seen[-1].outcome is await events.outcome()
    assert seen[0].data == {"token": waits.token, "resume_data": "yes"}


async def test_the_numbers_of_events_go_on_where_they_were(each: RunStore | None) -> None:
    workflow = asking()
    run = workflow.create_run("r", store=each)
    async with run.stream(1) as first:
        before = [event.seq async for event in first]
    async with run.resume_stream("yes") as second:
        after = [event.seq async for event in second]
    assert before == list(range(1, len(before) + 1))
    assert after == list(range(after[0], after[0] + len(after)))
    assert after[0] > before[-1]
    if each is not None:
        assert after[-1] == (await each.read("r"))[-1].seq


async def test_which_step_is_meant_is_said_as_in_resume(each: RunStore | None) -> None:
    run, outcome = await waiting(each, "one", "two", "three")
    token = next(one.token for one in outcome.suspensions if one.path == "three")
    meant: list[dict[str, Any]] = [{"step": "two"}, {"label": "label of one"}, {"token": token}]
    for number, how in enumerate(meant):
        async with run.resume_stream(number, **how) as events:
            outcome = await events.outcome()
    assert completed(outcome) == [{"one": 1, "two": 0, "three": 2}, None]


async def test_it_comes_to_what_resume_comes_to(each: RunStore | None) -> None:
    run, _ = await waiting(each, "one", "two")
    async with run.resume_stream("a", step="one", request_context={"who": "ann"}) as events:
        seen = [event async for event in events]
    assert isinstance(seen[-1].outcome, Suspended)
    assert [one.path for one in seen[-1].outcome.suspensions] == ["two"]
    assert completed(await run.resume("b", request_context={"who": "bob"})) == [{"one": "a", "two": "b"}, "bob"]


async def test_a_wrong_answer_raises_where_the_stream_is_entered_and_the_run_still_waits(each: RunStore | None) -> None:
    run, _ = await waiting(each, "one", "two", resume_schema=int)
    with pytest.raises(NothingSuspended, match="several steps wait"):
        async with run.resume_stream(1):
            pytest.fail("nothing begins")
    with pytest.raises(pydantic.ValidationError):
        async with run.resume_stream("no number", step="one"):
            pytest.fail("nothing begins")
    with anyio.fail_after(5):
        async with run.resume_stream("1", step="one") as events:
            assert isinstance(await events.outcome(), Suspended)
        with pytest.raises(AlreadyResumed):
            async with run.resume_stream(1, step="one"):
                pytest.fail("nothing begins")
        assert completed(await run.resume(2)) == [{"one": 1, "two": 2}, None]


async def test_leaving_early_cancels_the_run_and_lets_the_next_in(each: RunStore | None) -> None:
    run, _ = await waiting(each)
    with anyio.fail_after(5):
        async with run.resume_stream("yes") as events:
            async for _event in events:
                break
        outcome = await events.outcome()
        assert isinstance(outcome, Canceled)
        with pytest.raises((AlreadyResumed, NothingSuspended)):
            await run.resume("yes")


async def test_a_stream_that_is_not_entered_does_nothing(each: RunStore | None) -> None:
    run, _ = await waiting(each)
    events = run.resume_stream("never")
    with pytest.raises(RunError, match="async with run"):
        await events.outcome()
    assert completed(await run.resume("yes")) == [{"one": "yes"}, None]


async def test_of_two_streams_that_answer_one_step_one_runs(each: RunStore | None) -> None:
    run, _ = await waiting(each)
    ended: list[Any] = []

    async def answer(said: str) -> None:
        try:
            async with run.resume_stream(said, step="one") as events:
                ended.append(await events.outcome())
        except AlreadyResumed as error:
            ended.append(error)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(answer, "a")
            group.start_soon(answer, "b")
    assert sorted(type(one).__name__ for one in ended) == ["AlreadyResumed", "Completed"]


async def test_a_stored_run_that_there_is_not_or_of_another_shape_is_refused() -> None:
    store = MemoryRunStore()
    await waiting(store)
    with pytest.raises(UnknownRun):
        async with asking().create_run("none", store=store).resume_stream(1):
            pytest.fail("nothing begins")
    with pytest.raises(GraphChanged):
        async with asking("one", "new").create_run("r", store=store).resume_stream(1):
            pytest.fail("nothing begins")
    with pytest.raises(NothingSuspended):
        async with asking().create_run("r").resume_stream(1):
            pytest.fail("nothing begins")

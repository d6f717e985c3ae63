"""Reading a run's events along."""

from __future__ import annotations

import threading
from typing import Any, cast

import anyio
import anyio.lowlevel
import pydantic
import pytest
from hypothesis import given, settings

from interlock import StepContext, Workflow, create_step, create_workflow
from interlock.errors import AlreadyStarted, RunError
from interlock.runtime import Canceled, Completed, Event, Failed, MemoryRunStore, RunStream, Suspended
from interlock.runtime.journal.reader import MOST, ROOM
from interlock.workflows.engine import EventStream
from interlock.workflows.nodes import steps_by_path
from tests.runtime.runs.graphs import Graph, World, built, graphs, told
from tests.runtime.runs.test_killed_anywhere import state_is_sure

pytestmark = pytest.mark.anyio
stores = pytest.mark.parametrize("store", [None, MemoryRunStore], ids=["no store", "a store"])


async def aside(ctx: StepContext[Any]) -> Any:
    await anyio.lowlevel.checkpoint()
    return ctx.input


def two_steps(**options: Any) -> Workflow[Any, Any]:
    """Two steps."""
    builder: Any = create_workflow(id="two", **options)
    workflow: Workflow[Any, Any] = (
        builder.then(create_step(aside, id="one")).then(create_step(aside, id="two")).commit()
    )
    return workflow


@stores
async def test_events_come_in_the_order_in_which_things_happen(store: type[MemoryRunStore] | None) -> None:
    def writes(ctx: StepContext[Any]) -> Any:
        ctx.write("said", ctx.input)
        ctx.set_state(key=1)
        return ctx.input

    workflow = (
        create_workflow(id="w")
        .then(create_step(writes, id="writes"))
        .branch([(lambda ctx: True, create_step(aside, id="arm"))])
        .map(lambda ctx: [1])
        .foreach(create_step(aside, id="each"))
        .commit()
    )
    run = workflow.create_run(store=None if store is None else store())
    async with run.stream(7) as events:
        seen = [event async for event in events]
    assert [(event.type, event.path) for event in seen] == [
        ("workflow-start", ""),
        ("step-start", "writes"),
        ("step-output", "writes"),
        ("state-changed", "writes"),
        ("step-result", "writes"),
        ("step-start", "branch"),
        ("branch-chosen", "branch"),
        ("step-start", "arm"),
        ("step-result", "arm"),
        ("step-result", "branch"),
        ("step-start", "map"),
        ("step-result", "map"),
        ("step-start", "foreach"),
        ("step-start", "each"),
        ("step-result", "each"),
        ("foreach-progress", "foreach"),
        ("step-result", "foreach"),
        ("workflow-finish", ""),
    ]
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    assert seen[0].data["input"] == 7
    assert seen[2].data == {"name": "said", "value": 7}
    assert seen[3].data == {"state": {"key": 1}}
    assert isinstance(seen[-1].outcome, Completed)
    assert seen[-1].outcome is await events.outcome()
    with pytest.raises(AttributeError, match="has no outcome"):
        _ = seen[0].outcome


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=settings().max_examples // 3)
@given(graph=graphs())
def test_the_events_of_a_stored_run_are_its_journal(backend: str, graph: Graph) -> None:
    async def main() -> None:
        store = MemoryRunStore()
        async with built(graph, World()).create_run("r", store=store).stream(5) as events:
            seen: list[Event] = [event async for event in events]
        rows = await store.read("r")
        assert [(one.seq, one.type, one.path, one.at) for one in seen] == [
            (row.seq, row.type, row.path, row.at) for row in rows
        ]

    anyio.run(main, backend=backend)


@settings(max_examples=settings().max_examples // 3)
@given(graph=graphs())
def test_what_is_read_along_changes_nothing(graph: Graph) -> None:
    async def main() -> None:
        whole = await built(graph, World()).create_run().start(5)
        workflow = built(graph, World())
        async with workflow.create_run().stream(5) as events:
            seen = [event async for event in events]
            outcome = await events.outcome()
        sure = state_is_sure(graph)
        assert told(outcome, with_state=sure) == told(whole, with_state=sure)
        assert seen[-1].type == "workflow-finish"
        begun = {(event.path, event.at) for event in seen if event.type == "step-start"}
        for event in seen:
            if event.type == "step-result":
                assert (event.path, event.at) in begun, "what was not begun has no result"
        known = {path for path, _ in steps_by_path(workflow.plan)}
        assert {one.path for one in outcome.steps if one.path in known} <= {path for path, _ in begun}

    anyio.run(main)


@stores
async def test_leaving_early_cancels_the_run(store: type[MemoryRunStore] | None) -> None:
    ended: list[str] = []

    async def forever(ctx: StepContext[Any]) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("forever")

    kept = None if store is None else store()
    workflow = create_workflow(id="w").then(create_step(forever, id="forever")).commit()
    async with workflow.create_run("r", store=kept).stream(1) as events:
        async for event in events:
            if event.type == "step-start":
                break
    assert ended == ["forever"] or store is not None, "with a store it may not have begun"
    assert isinstance(await events.outcome(), Canceled)
    if kept is not None:
        assert (await kept.runs())[0].status == "canceled"


async def test_an_error_of_the_reader_passes_as_it_is_and_ends_the_run() -> None:
    async def forever(ctx: StepContext[Any]) -> None:
        await anyio.sleep_forever()

    run = create_workflow(id="w").then(create_step(forever, id="forever")).commit().create_run()
    entered: list[EventStream[Any]] = []

    async def read() -> None:
        async with run.stream(1) as events:
            entered.append(events)
            async for _ in events:
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await read()
    assert isinstance(await entered[0].outcome(), Canceled)


async def test_a_reader_that_is_cancelled_ends_the_run() -> None:
    async def forever(ctx: StepContext[Any]) -> None:
        await anyio.sleep_forever()

    run = create_workflow(id="w").then(create_step(forever, id="forever")).commit().create_run()
    entered: list[EventStream[Any]] = []
    with anyio.CancelScope() as scope:
        async with run.stream(1) as events:
            entered.append(events)
            async for event in events:
                if event.type == "step-start":
                    scope.cancel()
    assert scope.cancelled_caught
    with pytest.raises(RunError, match="interrupted"):
        await entered[0].outcome()


async def test_a_wrong_call_raises_where_the_stream_is_entered() -> None:
    store = MemoryRunStore()
    typed = two_steps(input_schema=int)
    stream = typed.create_run().stream("x")
    with pytest.raises(pydantic.ValidationError):
        async with stream:
            pytest.fail("it must not be entered")
    run = typed.create_run("r", store=store)
    await run.start(1)
    for again in (run, typed.create_run("r", store=store)):
        with pytest.raises(AlreadyStarted):
            async with again.stream(1):
                pytest.fail("it must not be entered")
    assert (await store.runs())[0].status == "success"


async def test_a_stream_is_entered_once_and_read_only_inside() -> None:
    stream = cast("RunStream[Any]", two_steps().create_run().stream(1))
    with pytest.raises(RunError, match="async with"):
        await anext(stream)
    with pytest.raises(RunError, match="async with"):
        await stream.outcome()
    async with stream:
        pass
    with pytest.raises(RunError, match="once"):
        async with stream:
            pytest.fail("it must not be entered")


async def test_the_outcome_can_be_waited_for_without_reading() -> None:
    count = ROOM + 10
    workflow = (
        create_workflow(id="w").map(lambda ctx: list(range(count))).foreach(create_step(aside, id="each")).commit()
    )
    async with workflow.create_run().stream(1) as events:
        outcome = await events.outcome()
        assert isinstance(outcome, Completed)
        assert len(outcome.output) == count
        left = [event.type async for event in events]
    assert left == ["workflow-finish"]


async def test_a_slow_reader_holds_the_run_back() -> None:
    begun = 0

    def each(ctx: StepContext[Any]) -> Any:
        nonlocal begun
        begun += 1
        return ctx.input

    count = 5 * ROOM
    workflow = (
        create_workflow(id="w").map(lambda ctx: list(range(count))).foreach(create_step(each, id="each")).commit()
    )
    async with workflow.create_run().stream(1) as events:
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        assert 0 < begun < ROOM, "nobody reads, so it waits"
        read = 0
        async for _ in events:
            read += 1
            assert 3 * begun < read + 2 * ROOM
    assert begun == count
    assert read == 3 * count + 6


async def test_a_step_that_writes_without_end_while_nobody_reads_stays_bounded_and_says_what_was_dropped() -> None:
    count = 100_000

    def floods(ctx: StepContext[Any]) -> int:
        for number in range(count):
            ctx.write("number", number)
        return 1

    workflow = create_workflow(id="w").then(create_step(floods, id="floods")).commit()
    async with workflow.create_run().stream(1) as events:
        seen = [event async for event in events]
    written = [event for event in seen if event.type == "step-output"]
    assert len(seen) <= MOST + 10
    dropped = sum(event.data.get("dropped", 0) for event in seen)
    assert len(written) + dropped == count
    assert dropped > 0
    assert seen[-1].seq == count + 4, "the numbers tell of what is missing, too"


async def test_two_readers_share_the_events() -> None:
    workflow = create_workflow(id="w").map(lambda ctx: [1] * 50).foreach(create_step(aside, id="each")).commit()
    seen: list[int] = []

    async def read(events: Any) -> None:
        async for event in events:
            seen.append(event.seq)
            await anyio.lowlevel.checkpoint()

    with anyio.fail_after(20):
        async with workflow.create_run().stream(1) as events, anyio.create_task_group() as group:
            group.start_soon(read, events)
            group.start_soon(read, events)
    assert sorted(seen) == list(range(1, len(seen) + 1))


@stores
async def test_what_a_thread_writes_comes_in_order_before_its_steps_result(store: type[MemoryRunStore] | None) -> None:
    def writes(ctx: StepContext[Any]) -> Any:
        for number in range(20):
            ctx.write("number", number)
        return ctx.input

    async def beside(ctx: StepContext[Any]) -> Any:
        for number in range(20):
            ctx.write("other", number)
            await anyio.lowlevel.checkpoint()

    kept = None if store is None else store()
    workflow = (
        create_workflow(id="w")
        .parallel([create_step(writes, id="thread", blocking=True), create_step(beside, id="beside")])
        .commit()
    )
    async with workflow.create_run("r", store=kept).stream(1) as events:
        seen = [event async for event in events]
    assert isinstance(await events.outcome(), Completed)
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    of_thread = [(event.type, event.data.get("value")) for event in seen if event.path == "thread"][1:]
    assert of_thread == [*[("step-output", number) for number in range(20)], ("step-result", None)]
    if kept is not None:
        assert [row.seq for row in await kept.read("r")] == [event.seq for event in seen]


async def test_what_a_thread_writes_that_cannot_be_kept_is_its_steps_failure() -> None:
    def writes(ctx: StepContext[Any]) -> Any:
        ctx.write("lock", threading.Lock())

    workflow = create_workflow(id="w").then(create_step(writes, id="thread", blocking=True)).commit()
    outcome = await workflow.create_run(store=MemoryRunStore()).start(1)
    assert isinstance(outcome, Failed)
    assert "the 'lock' written by 'thread'" in str(outcome.error)


async def test_what_is_written_after_the_end_is_told_to_nobody() -> None:
    contexts: list[StepContext[Any]] = []

    def keeps(ctx: StepContext[Any]) -> Any:
        contexts.append(ctx)
        ctx.write("now", 1)
        return 1

    store = MemoryRunStore()
    run = create_workflow(id="w").then(create_step(keeps, id="keeps")).commit().create_run("r", store=store)
    async with run.stream(1) as events:
        await events.outcome()
        contexts[0].write("late", 2)
        assert [event.type async for event in events] == ["workflow-finish"]
    assert (await store.read("r"))[-1].type == "workflow-finish"


async def test_what_is_written_while_the_run_waits_is_told_to_nobody() -> None:
    contexts: list[StepContext[Any]] = []

    def keeps(ctx: StepContext[Any]) -> Any:
        contexts.append(ctx)
        if ctx.resume_data is None:
            ctx.suspend()
        return 1

    store = MemoryRunStore()
    run = create_workflow(id="w").then(create_step(keeps, id="keeps")).commit().create_run("r", store=store)
    seen: list[str] = []
    async with run.stream(1) as events:
        async for event in events:
            seen.append(event.type)
            if event.type == "workflow-finish":
                assert isinstance(event.outcome, Suspended)
                contexts[0].write("late", 2)
    assert seen == ["workflow-start", "step-start", "step-suspended", "workflow-finish"]
    assert isinstance(await run.resume(1), Completed)


async def test_a_run_that_suspends_ends_its_stream() -> None:
    def ask(ctx: StepContext[Any]) -> Any:
        if ctx.resume_data is None:
            ctx.suspend("why")
        return ctx.resume_data

    run = create_workflow(id="w").then(create_step(ask, id="ask")).commit().create_run()
    async with run.stream(1) as events:
        seen = [event async for event in events]
    assert [event.type for event in seen] == ["workflow-start", "step-start", "step-suspended", "workflow-finish"]
    assert seen[2].data["payload"] == "why"
    outcome = await events.outcome()
    assert isinstance(outcome, Suspended)
    assert seen[2].data["token"] == outcome.suspensions[0].token
    assert isinstance(await run.resume(2), Completed)

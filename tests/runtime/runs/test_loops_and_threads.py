"""A run that several event loops and threads have to do with, and steps that would wait for their own run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Annotated, Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from pydantic import AfterValidator

from interlock import StepContext, Workflow, create_step, create_workflow
from interlock.errors import AlreadyResumed, AlreadyStarted, NothingSuspended, RunBusy, RunError, StepFailed
from interlock.runtime import Completed, Failed, MemoryRunStore, Paused, RunStore, Suspended
from tests.runtime.operations.acting import completed

pytestmark = pytest.mark.anyio
backends = pytest.mark.parametrize("others", ["asyncio", "trio"])


class Asking:
    """A workflow that asks, then works until it is let go."""

    def __init__(self, *ids: str) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.inside = self.most = 0
        self.workflow: Workflow[Any, Any] = (
            create_workflow(id="w")
            .parallel([create_step(self._ask, id=id) for id in ids or ("ask",)])  # noqa: A001
            .map(lambda ctx: dict(ctx.input))
            .commit()
        )

    async def _ask(self, ctx: StepContext[Any]) -> Any:
        if ctx.resume_data is None:
            ctx.suspend()
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.begun.set()
        await anyio.to_thread.run_sync(self.go_on.wait, 10)
        self.inside -= 1
        return ctx.resume_data


def in_a_thread(function: Callable[[], Any], backend: str) -> tuple[threading.Thread, list[Any]]:
    """Await something in an event loop of a thread of its own; gives the thread, and where its result will be."""
    results: list[Any] = []

    async def main() -> None:
        try:
            with anyio.fail_after(10):
                results.append(await function())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=lambda: anyio.run(main, backend=backend))
    thread.start()
    return thread, results


@backends
async def test_two_answers_from_two_loops_are_taken_one_after_the_other(others: str, each: RunStore | None) -> None:
    """Whoever comes second waits, in a loop of its own, until the first has gone as far as it goes."""
    asking = Asking("one", "two")
    run = asking.workflow.create_run("r", store=each)
    assert isinstance(await run.start(1), Suspended)
    thread, results = in_a_thread(lambda: run.resume("a", step="one"), others)
    with anyio.fail_after(10):
        assert await anyio.to_thread.run_sync(asking.begun.wait, 10)
        asking.go_on.set()
        mine = await run.resume("b", step="two")
        await anyio.to_thread.run_sync(thread.join)
    (theirs,) = results
    assert isinstance(theirs, Suspended)
    assert completed(mine) == {"one": "a", "two": "b"}
    assert asking.most == 1


@backends
async def test_of_two_answers_to_one_step_from_two_loops_one_counts(others: str, each: RunStore | None) -> None:
    asking = Asking()
    run = asking.workflow.create_run("r", store=each)
    assert isinstance(await run.start(1), Suspended)
    thread, results = in_a_thread(lambda: run.resume("theirs"), others)
    with anyio.fail_after(10):
        assert await anyio.to_thread.run_sync(asking.begun.wait, 10)
        asking.go_on.set()
        with pytest.raises((AlreadyResumed, NothingSuspended)):
            await run.resume("mine", step="ask")
        await anyio.to_thread.run_sync(thread.join)
    (theirs,) = results
    assert completed(theirs) == {"ask": "theirs"}
    assert asking.most == 1


@backends
async def test_a_run_that_another_loop_runs_is_not_started_or_recovered_here(others: str) -> None:
    begun, go_on = threading.Event(), threading.Event()

    async def work(ctx: StepContext[Any]) -> Any:
        begun.set()
        await anyio.to_thread.run_sync(go_on.wait, 10)
        return ctx.input

    store = MemoryRunStore()
    workflow = create_workflow(id="w").then(create_step(work)).commit()
    run = workflow.create_run("r", store=store)
    thread, results = in_a_thread(lambda: run.start(1), others)
    try:
        with anyio.fail_after(10):
            assert await anyio.to_thread.run_sync(begun.wait, 10)
            for again in (run, workflow.create_run("r", store=store)):
                with pytest.raises(AlreadyStarted):
                    await again.start(2)
            with pytest.raises(RunBusy):
                await workflow.recover("r", store=store)
    finally:
        go_on.set()
        await anyio.to_thread.run_sync(thread.join)
    assert completed(results[0]) == 1


@backends
async def test_a_cancel_from_another_thread_ends_a_run_that_waits(others: str, each: RunStore | None) -> None:
    begun = threading.Event()

    async def stay(ctx: StepContext[Any]) -> Any:
        begun.set()
        await anyio.sleep_forever()

    run = create_workflow(id="w").then(create_step(stay)).commit().create_run("r", store=each)
    thread, results = in_a_thread(lambda: run.start(1), others)
    with anyio.fail_after(10):
        assert await anyio.to_thread.run_sync(begun.wait, 10)
        run.cancel()
        await anyio.to_thread.run_sync(thread.join)
    assert results[0].status == "canceled"


class Itself:
    """A run one of whose steps has to do with the run itself, and ways of doing so that would wait for ever."""

    def __init__(self, store: RunStore | None) -> None:
        self.store = store
        self.run: Any = None
        self.workflow: Any = None

    async def resume(self) -> Any:
        return await self.run.resume("again")

    async def next(self) -> Any:
        return await self.run.next()

    async def resume_stream(self) -> Any:
        async with self.run.resume_stream("again") as events:
            return await events.outcome()

    async def another(self) -> Any:
        return await self.workflow.create_run("r", store=self.store).resume("again")

    async def recover(self) -> Any:
        return await self.workflow.recover("r", store=self.store)


@pytest.mark.parametrize("how", ["resume", "next", "resume_stream"])
@pytest.mark.parametrize("first", [True, False])
async def test_a_step_that_waits_for_its_own_run_fails_instead(how: str, first: bool, maybe: RunStore | None) -> None:
    """In the run's first leg, and in one behind an answer."""
    itself = Itself(maybe)

    async def calls(ctx: StepContext[Any]) -> Any:
        if not first and ctx.resume_data is None:
            ctx.suspend()
        return await getattr(itself, how)()

    itself.run = create_workflow(id="w").then(create_step(calls)).commit().create_run("r", store=maybe)
    with anyio.fail_after(5):
        outcome = await itself.run.start(1)
        if not first:
            assert isinstance(outcome, Suspended)
            outcome = await itself.run.resume("yes")
    assert isinstance(outcome, Failed)
    error = outcome.error.cause if isinstance(outcome.error, StepFailed) else outcome.error
    assert isinstance(error, RunError)
    assert "by one of its own steps" in str(error)


@pytest.mark.parametrize("how", ["another", "recover"])
async def test_nor_does_it_wait_by_another_object_of_the_run(how: str, kept: RunStore) -> None:
    itself = Itself(kept)

    async def calls(ctx: StepContext[Any]) -> Any:
        return await getattr(itself, how)()

    itself.workflow = create_workflow(id="w").then(create_step(calls)).commit()
    with anyio.fail_after(5):
        outcome = await itself.workflow.create_run("r", store=kept).start(1)
    assert isinstance(outcome, Failed)
    error = outcome.error.cause if isinstance(outcome.error, StepFailed) else outcome.error
    assert isinstance(error, RunError)


async def test_a_child_task_of_a_step_does_not_wait_either(maybe: RunStore | None) -> None:
    itself = Itself(maybe)
    raised: list[Exception] = []

    async def calls(ctx: StepContext[Any]) -> Any:
        async def child() -> None:
            try:
                await itself.resume()
            except RunError as error:
                raised.append(error)

        async with anyio.create_task_group() as group:
            group.start_soon(child)
        return ctx.input

    itself.run = create_workflow(id="w").then(create_step(calls)).commit().create_run("r", store=maybe)
    with anyio.fail_after(5):
        assert isinstance(await itself.run.start(1), Completed)
    assert "by one of its own steps" in str(raised[0])


async def test_a_step_may_run_another_run_of_its_workflow(maybe: RunStore | None) -> None:
    workflow: Any = None

    async def down(ctx: StepContext[int]) -> Any:
        if ctx.input == 0:
            return []
        outcome = await workflow.create_run(f"r-{ctx.input - 1}", store=maybe).start(ctx.input - 1)
        return [ctx.input, *outcome.output]

    workflow = create_workflow(id="w").then(create_step(down)).commit()
    with anyio.fail_after(5):
        outcome = await workflow.create_run("r-3", store=maybe).start(3)
    assert completed(outcome) == [3, 2, 1]


async def test_steps_taken_by_two_at_once_are_taken_one_after_the_other(maybe: RunStore | None) -> None:
    inside, most, log = [0], [0], list[str]()

    def step(id: str) -> Any:  # noqa: A002
        async def work(ctx: StepContext[Any]) -> Any:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            await anyio.lowlevel.checkpoint()
            inside[0] -= 1
            log.append(id)
            return ctx.input

        return create_step(work, id=id)

    workflow = create_workflow(id="w").then(step("one")).then(step("two")).then(step("three")).commit()
    run = workflow.create_run("r", store=maybe)
    assert isinstance(await run.start(1, pause=True), Paused)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(run.next)
            group.start_soon(run.next)
        assert isinstance(await run.next(), Completed)
    assert log == ["one", "two", "three"]
    assert most == [1]


def _noting(ran: list[int]) -> Callable[[StepContext[Any]], None]:
    def note(_: StepContext[Any]) -> None:
        ran.append(1)

    return note


@pytest.mark.parametrize("stored", [False, True])
def test_of_two_threads_that_start_one_run_at_the_same_moment_one_does(stored: bool) -> None:
    """Both are validating the input when the other begins to."""
    both = threading.Barrier(2)

    def patient(value: int) -> int:
        both.wait(5)
        return value

    ran: list[int] = []
    step: Any = create_step(_noting(ran), id="runs")
    workflow = create_workflow(id="w", input_schema=Annotated[int, AfterValidator(patient)]).then(step).commit()
    run: Any = workflow.create_run("r", store=MemoryRunStore() if stored else None)
    ended: list[str] = []

    def start() -> None:
        try:
            ended.append(anyio.run(run.start, 1).status)
        except AlreadyStarted:
            ended.append("started already")

    threads = [threading.Thread(target=start) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert sorted(ended) == ["started already", "success"]
    assert ran == [1]

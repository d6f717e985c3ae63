"""Cancelled runs stop at the next step, whatever runs: the outcome is Canceled, and nothing else begins."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from interlock import StepContext, create_step, create_workflow
from interlock.runtime import Canceled, Completed, MemoryRunStore, RunStore, Suspended
from interlock.steps import RetryPolicy

pytestmark = pytest.mark.anyio


class Scene:
    """A run that one of its steps cancels, and what ran in it."""

    def __init__(self) -> None:
        self.run: Any = None
        self.log: list[str] = []

    def step(self, id: str, *, cancels: bool = False, kind: str = "def", **options: Any) -> Any:  # noqa: A002
        """A step that never suspends: a function, or a coroutine function that awaits nothing."""

        def now(ctx: StepContext[Any]) -> Any:
            self.log.append(id)
            if cancels:
                self.run.cancel()
            return ctx.input

        async def later(ctx: StepContext[Any]) -> Any:
            return now(ctx)

        return create_step(later if kind == "async" else now, id=id, **options)

    async def play(self, builder: Any, store: RunStore | None, given: Any = 1) -> Any:
        """The outcome."""
        self.run = builder.then(self.step("after")).commit().create_run("r", store=store)
        with anyio.fail_after(5):
            return await self.run.start(given)


kinds = pytest.mark.parametrize("kind", ["def", "async"])
PLACES: dict[str, Callable[[Scene, str], Any]] = {
    "then": lambda scene, kind: create_workflow(id="w").then(scene.step("one", cancels=True, kind=kind)),
    "parallel": lambda scene, kind: create_workflow(id="w").parallel(
        [scene.step("one", cancels=True, kind=kind), scene.step("other", kind=kind)]
    ),
    "any": lambda scene, kind: create_workflow(id="w").parallel(
        [scene.step("one", cancels=True, kind=kind), scene.step("other", kind=kind)], join="any"
    ),
    "branch": lambda scene, kind: create_workflow(id="w").branch(
        [(lambda ctx: True, [scene.step("one", cancels=True, kind=kind), scene.step("other", kind=kind)])]
    ),
    "foreach": lambda scene, kind: (
        create_workflow(id="w").map(lambda ctx: [1, 2, 3]).foreach(scene.step("one", cancels=True, kind=kind))
    ),
    "loop": lambda scene, kind: create_workflow(id="w").do_while(
        scene.step("one", cancels=True, kind=kind), lambda ctx: True
    ),
    "dag": lambda scene, kind: create_workflow(id="w").dag(
        {scene.step("one", cancels=True, kind=kind): [], scene.step("other", kind=kind): ["one"]}
    ),
    "nested": lambda scene, kind: create_workflow(id="w").then(
        create_workflow(id="inner")
        .then(scene.step("one", cancels=True, kind=kind))
        .then(scene.step("other", kind=kind))
        .commit()
    ),
}


@kinds
@pytest.mark.parametrize("place", PLACES)
async def test_behind_a_cancel_no_step_begins_though_none_of_them_ever_waits(
    place: str, kind: str, each: RunStore | None
) -> None:
    scene = Scene()
    outcome = await scene.play(PLACES[place](scene, kind), each)
    assert isinstance(outcome, Canceled)
    assert scene.log[-1] == "one", "of two that begin at once either may be the first"
    assert "after" not in scene.log
    if each is not None:
        (summary,) = await each.runs()
        assert summary.status == "canceled"


@kinds
async def test_a_cancel_by_the_last_step_counts_too(kind: str, maybe: RunStore | None) -> None:
    scene = Scene()
    scene.run = (
        create_workflow(id="w").then(scene.step("one", cancels=True, kind=kind)).commit().create_run("r", store=maybe)
    )
    outcome = await scene.run.start(1)
    assert isinstance(outcome, Canceled)
    assert [one.status for one in outcome.steps] == ["canceled"]


@kinds
async def test_a_cancelled_step_is_not_tried_again(kind: str, maybe: RunStore | None) -> None:
    scene = Scene()

    def now(ctx: StepContext[Any]) -> Any:
        scene.log.append(f"attempt {ctx.attempt}")
        scene.run.cancel()
        raise OSError("broken")

    async def later(ctx: StepContext[Any]) -> Any:
        now(ctx)

    step = create_step(later if kind == "async" else now, id="one", retry=RetryPolicy(attempts=5))
    outcome = await scene.play(create_workflow(id="w").then(step), maybe)
    assert isinstance(outcome, Canceled)
    assert scene.log == ["attempt 1"]


@pytest.mark.parametrize("what", ["map", "condition", "source of a wait", "on_start"])
async def test_a_cancel_by_a_function_that_is_no_step_counts_as_well(what: str, maybe: RunStore | None) -> None:
    scene = Scene()

    def cancels(ctx: StepContext[Any]) -> Any:
        scene.run.cancel()
        return 0

    builders: dict[str, Callable[[], Any]] = {
        "map": lambda: create_workflow(id="w").map(cancels),
        "condition": lambda: create_workflow(id="w").branch([(cancels, scene.step("arm"))]),
        "source of a wait": lambda: create_workflow(id="w").sleep(cancels),
        "on_start": lambda: create_workflow(id="w", on_start=cancels).then(scene.step("one")),
    }
    assert isinstance(await scene.play(builders[what](), maybe), Canceled)
    assert scene.log == []


async def test_from_another_thread_a_cancel_stops_steps_that_never_wait() -> None:
    """A loop that would go on for ever is cancelled while the event loop has no turn at all."""
    begun = threading.Event()
    count = [0]

    def spin(ctx: StepContext[Any]) -> Any:
        count[0] += 1
        begun.set()
        return ctx.input

    run = create_workflow(id="w").do_while(create_step(spin), lambda ctx: True, max_iterations=10**9).commit()
    made = run.create_run()

    def cancel() -> None:
        begun.wait(10)
        made.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    outcome = await made.start(1)
    thread.join()
    assert isinstance(outcome, Canceled)


async def test_a_run_that_waits_for_an_answer_ends_when_it_is_resumed(maybe: RunStore | None) -> None:
    asked: list[Any] = []

    def ask(ctx: StepContext[Any]) -> Any:
        asked.append(ctx.resume_data)
        if ctx.resume_data is None:
            ctx.suspend()
        return ctx.resume_data

    run = create_workflow(id="w").then(create_step(ask)).commit().create_run("r", store=maybe)
    assert isinstance(await run.start(1), Suspended)
    run.cancel()
    assert isinstance(await run.resume("yes"), Canceled)
    assert asked == [None]


async def test_a_cancel_behind_the_end_changes_nothing(maybe: RunStore | None) -> None:
    scene = Scene()
    outcome = await scene.play(create_workflow(id="w").then(scene.step("one")), maybe)
    scene.run.cancel()
    assert isinstance(outcome, Completed)
    if maybe is not None:
        assert isinstance(await scene.run._workflow.recover("r", store=maybe), Completed)


async def test_a_tripwire_before_the_cancel_stands() -> None:
    run: Any = None

    def both(ctx: StepContext[Any]) -> Any:
        try:
            ctx.abort("first")
        finally:
            run.cancel()

    run = create_workflow(id="w").then(create_step(both)).commit().create_run(store=MemoryRunStore())
    assert (await run.start(1)).status == "tripwire"


async def test_another_object_of_a_stored_run_cancels_it_too() -> None:
    store, begun = MemoryRunStore(), anyio.Event()

    async def works(ctx: StepContext[Any]) -> None:
        begun.set()
        await anyio.sleep_forever()

    workflow = create_workflow(id="w").then(create_step(works)).commit()
    outcomes: list[Any] = []

    async def start() -> None:
        outcomes.append(await workflow.create_run("r", store=store).start(1))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(start)
            await begun.wait()
            workflow.create_run("r", store=store).cancel()
    assert isinstance(outcomes[0], Canceled)


async def test_cancelling_one_object_of_a_run_that_waits_in_a_store_says_what_ends_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def ask(ctx: StepContext[Any]) -> Any:
        return ctx.resume_data or ctx.suspend()

    for store in (None, MemoryRunStore()):
        run = create_workflow(id="w").then(create_step(ask)).commit().create_run("r", store=store)
        assert isinstance(await run.start(1), Suspended)
        run.cancel()
        captured = capsys.readouterr()
        assert ("cancel_run(store, run_id)" in captured.out + captured.err) is (store is not None)
        assert isinstance(await run.resume(1), Canceled)

"""Faults that workflow engines are known for, one by one: none of them is here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from interlock import Blocked, Canceled, Completed, StepContext, create_step, create_workflow
from interlock.errors import AlreadyResumed, AlreadyStarted, DefinitionError, StepFailed
from interlock.runtime import MemoryRunStore
from interlock.steps import RetryPolicy
from interlock.storage import JournalRow
from interlock.workflows import Suspended, WorkflowBuilder
from tests.runtime.operations.acting import Actor, completed, failed, flow, statuses, turns

pytestmark = pytest.mark.anyio
FALSY: list[Any] = [0, "", False, {}, [], None]


async def test_no_siblings_input_is_mutated() -> None:
    """Branches of a parallel block share one object, and the last to write wins."""

    def edits(name: str, waits: int) -> Any:
        async def edit(ctx: StepContext[Any]) -> Any:
            ctx.input["seen"].append(name)
            await turns(waits)
            return dict(ctx.input)

        return create_step(edit, id=name)

    given: dict[str, Any] = {"seen": []}
    output = completed(await flow().parallel([edits("a", 3), edits("b", 1)]).commit().run(given))
    assert output == {"a": {"seen": ["a"]}, "b": {"seen": ["b"]}}
    assert given == {"seen": []}


@pytest.mark.parametrize("value", FALSY)
async def test_no_falsy_output_is_lost(value: Any) -> None:
    def give(ctx: StepContext[Any]) -> Any:
        return value

    act = Actor()
    workflow = (
        flow()
        .then(create_step(give, id="first"))
        .parallel([act.gives("a"), act.gives("b", waits=1)])
        .map(lambda ctx: ctx.input["b"])
        .branch([(lambda ctx: True, act.gives("c"))])
        .merge()
        .do_until(act.gives("d"), lambda ctx: True)
        .map(lambda ctx: [ctx.input])
        .foreach(act.gives("e"))
        .map(lambda ctx: ctx.input[0])
        .dag({act.gives("f"): [], act.gives("g"): ["f"]})
        .sleep(0)
        .commit()
    )
    assert completed(await workflow.run("x")) == value


@pytest.mark.parametrize("value", FALSY)
async def test_no_falsy_answer_is_taken_for_none(value: Any) -> None:
    """A run is resumed with 0 or False, and the step is told nothing of it, or suspends for ever."""
    tries: list[Any] = []

    def ask(ctx: StepContext[Any]) -> Any:
        tries.append(ctx.resume_data)
        if len(tries) == 1:
            ctx.suspend()
        return [ctx.resume_data]

    run = flow().then(create_step(ask)).commit().create_run()
    assert isinstance(await run.start(1), Suspended)
    assert completed(await run.resume(value)) == [value]


def raising(waits: bool) -> Callable[[StepContext[Any]], Any]:
    """A function that raises, at once or later."""

    def now(ctx: StepContext[Any]) -> Any:
        raise OSError("broken")

    async def later(ctx: StepContext[Any]) -> Any:
        await turns(1)
        now(ctx)

    return later if waits else now


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("place", ["branch", "do-while", "do-until", "map", "sleep", "sleep-until", "foreach"])
async def test_no_function_that_raises_hangs_the_run_or_is_taken_for_a_no(place: str, waits: bool) -> None:
    act = Actor()
    broken: Any = raising(waits)
    one: Any = flow().map(lambda ctx: [ctx.input])
    builders: dict[str, Callable[[], Any]] = {
        "branch": lambda: one.branch([(broken, act.gives("a"))]),
        "do-while": lambda: one.do_while(act.gives("a"), broken),
        "do-until": lambda: one.do_until(act.gives("a"), broken),
        "map": lambda: flow().map(broken),
        "sleep": lambda: one.sleep(broken),
        "sleep-until": lambda: one.sleep_until(broken),
        "foreach": lambda: one.foreach(act.gives("a"), concurrency=broken),
    }
    made = builders[place]()
    with anyio.fail_after(5):
        outcome = await made.then(act.gives("after")).commit().run(1)
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.step_id == place
    assert "after" not in act.log


@pytest.mark.parametrize("value", ["abc", None, (1, 2), {"a": 1}])
async def test_no_foreach_runs_over_letters_or_does_nothing_where_no_list_flows(value: Any) -> None:
    act = Actor()
    assert "goes over a list" in str(failed(await flow().foreach(act.gives("item")).commit().run(value)))
    assert act.log == []


async def test_no_foreach_over_an_empty_list_hangs() -> None:
    with anyio.fail_after(5):
        assert completed(await flow().foreach(Actor().gives("item"), concurrency=3).commit().run([])) == []


async def test_no_attempts_are_burnt_on_an_input_that_can_never_fit() -> None:
    act = Actor()
    step = act.gives("a", input_schema=int, retry=RetryPolicy(attempts=5, delay=3_600))
    with anyio.fail_after(5):
        failed(await flow().map(lambda ctx: "no number").then(step).commit().run(1))
    assert act.log == []


async def asks_and_fails(store: MemoryRunStore | None) -> tuple[Any, list[int]]:
    """A run that waits, with a step that fails whenever it has been answered."""
    tries: list[int] = []

    def ask(ctx: StepContext[Any]) -> Any:
        tries.append(ctx.attempt)
        if ctx.resume_data is None:
            ctx.suspend()
        if ctx.attempt < 3:
            raise OSError("broken")
        return ctx.attempt

    step = create_step(ask, retry=RetryPolicy(attempts=3))
    run = flow().then(step).commit().create_run(store=store)
    assert isinstance(await run.start(1), Suspended)
    return run, tries


@pytest.mark.parametrize("stored", [False, True])
async def test_no_resumed_step_has_lost_its_retry_policy(stored: bool) -> None:
    run, tries = await asks_and_fails(MemoryRunStore() if stored else None)
    assert completed(await run.resume("yes")) == 3
    assert tries == [1, 1, 2, 3]


async def test_no_recovered_step_has_lost_its_retry_policy_or_begins_to_count_anew() -> None:
    """The process dies while the step waits before its second attempt."""
    tries: list[int] = []

    async def flaky(ctx: StepContext[Any]) -> Any:
        tries.append(ctx.attempt)
        raise OSError("broken")

    store = MemoryRunStore()
    workflow = flow().then(create_step(flaky, retry=RetryPolicy(attempts=3))).commit()
    run = workflow.create_run(store=store)
    failed(await run.start(1))
    rows = await store.read(run.run_id)
    cut = next(row.seq for row in rows if row.type == "step-retry")
    died: list[JournalRow] = list(rows[:cut])
    again = MemoryRunStore()
    await again.append("died", 0, died)
    tries.clear()
    error = failed(await workflow.recover("died", store=again))
    assert isinstance(error, StepFailed)
    assert tries == [2, 3]
    assert error.attempt == 3


@pytest.mark.parametrize("order", [["a", "b"], ["b", "a"]])
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("waits", [None, 1])
async def test_no_branch_that_waits_keeps_another_from_being_resumed(
    order: list[str], stored: bool, waits: int | None
) -> None:
    act = Actor()
    store = MemoryRunStore() if stored else None
    workflow = flow().parallel([act.asks("a", waits=waits), act.gives("c", 3), act.asks("b", waits=waits)]).commit()
    run = workflow.create_run(store=store)
    first = await run.start(1)
    assert isinstance(first, Suspended)
    assert {one.path for one in first.suspensions} == {"a", "b"}
    if stored:
        run = workflow.create_run(run.run_id, store=store)
    second = await run.resume(f"yes {order[0]}", step=order[0])
    assert isinstance(second, Suspended)
    assert [one.path for one in second.suspensions] == [order[1]]
    kept = next(one.token for one in first.suspensions if one.path == order[1])
    assert second.suspensions[0].token == kept, "what waits is still the same"
    with pytest.raises(AlreadyResumed):
        await run.resume("again", step=order[0])
    third = await run.resume(f"yes {order[1]}", token=kept)
    assert completed(third) == {"a": "yes a", "c": 3, "b": "yes b"}
    assert act.log.count("c") == 1, "what had ended does not run again"


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
async def test_no_item_of_a_foreach_is_given_the_answer_of_another(order: list[int]) -> None:
    run = flow().foreach(Actor().asks("item"), concurrency=3).commit().create_run()
    outcome = await run.start(["a", "b", "c"])
    for index in order:
        outcome = await run.resume(f"answer {index}", index=index)
    assert completed(outcome) == ["answer 0", "answer 1", "answer 2"]


@pytest.mark.parametrize("waits", [None, 1])
@pytest.mark.parametrize("place", ["then", "parallel", "foreach", "branch", "loop", "dag", "nested"])
async def test_no_place_is_too_deep_for_a_bail(place: str, waits: int | None) -> None:
    act = Actor()
    out = act.bails("out", "early", waits=waits)
    start: WorkflowBuilder[Any, Any, Any] = flow().map(lambda ctx: [ctx.input, 2])
    builders: dict[str, Callable[[], Any]] = {
        "then": lambda: start.then(out),
        "parallel": lambda: start.parallel([act.stays("stays"), out]),
        "foreach": lambda: start.foreach(out, concurrency=2),
        "branch": lambda: start.branch([(lambda ctx: True, [act.gives("before"), out])]),
        "loop": lambda: start.do_while(out, lambda ctx: True),
        "dag": lambda: start.dag({act.stays("stays"): [], out: []}),
        "nested": lambda: start.then(flow("inner").parallel([act.stays("stays"), out]).commit()),
    }
    made = builders[place]()
    with anyio.fail_after(5):
        outcome = await made.then(act.gives("after")).commit().run(1)
    assert completed(outcome) == "early"
    assert ("after" in act.log) is (place == "nested"), "a nested bail ends the nested run"


async def test_no_step_overwrites_another_of_its_id() -> None:
    act = Actor()
    with pytest.raises(DefinitionError, match="the id 'same' stands twice: at node 1 and at node 2"):
        flow().then(act.gives("same")).then(act.gives("same")).commit()
    inner = flow("inner").then(act.gives("same")).commit()
    assert completed(await flow().then(act.gives("same")).then(inner).commit().run(1)) == 1


@pytest.mark.parametrize("name", ["input", "map", "parallel", "branch", "foreach", "sleep", "merge", "dag", "do-while"])
async def test_no_step_named_like_something_of_the_engine_takes_its_place(name: str) -> None:
    act = Actor()
    workflow = (
        flow()
        .map(lambda ctx: ctx.input + 1)
        .then(act.gives(name))
        .parallel([act.gives("a"), act.gives("b")])
        .merge(with_=lambda outputs: outputs["a"])
        .branch([(lambda ctx: True, act.gives("c"))])
        .merge()
        .map(lambda ctx: [ctx.input])
        .foreach(act.gives("d"))
        .map(lambda ctx: ctx.input[0])
        .do_while(act.gives("e"), lambda ctx: False)
        .dag({act.gives("f"): []})
        .sleep(0)
        .commit()
    )
    outcome = await workflow.run(1)
    assert completed(outcome) == 2
    paths = [one.path for one in outcome.steps]
    assert len(paths) == len(set(paths))
    assert [one.kind for one in outcome.steps if one.path == name] == ["function"]


@pytest.mark.parametrize("kind", ["async", "def", "thread"])
async def test_no_kind_of_step_ignores_its_time_out(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = anyio.Event()

    async def later(ctx: StepContext[Any]) -> None:
        await go_on.wait()

    def now(ctx: StepContext[Any]) -> None:
        ticks.append(10.0)

    def thread(ctx: StepContext[Any]) -> None:
        anyio.from_thread.run(go_on.wait)

    ticks = [0.0]
    if kind == "def":
        monkeypatch.setattr("interlock.runtime.operations.attempts.perf_counter", lambda: sum(ticks))
    step = create_step(
        {"async": later, "def": now, "thread": thread}[kind], id="slow", timeout=0.01, blocking=kind == "thread"
    )
    with anyio.fail_after(5):
        outcome = await flow().then(step).commit().run(1)
    assert isinstance(failed(outcome).__cause__, TimeoutError)
    go_on.set()
    if kind == "thread":
        await turns(3)


@pytest.mark.parametrize("where", ["retry", "sleep", "step"])
async def test_no_cancel_waits_for_what_is_under_way(where: str) -> None:
    act = Actor()
    builders: dict[str, Callable[[], Any]] = {
        "retry": lambda: flow().then(act.fails("a", waits=0, retry=RetryPolicy(attempts=2, delay=3_600))),
        "sleep": lambda: flow().sleep(3_600),
        "step": lambda: flow().then(act.stays("a")),
    }
    run = builders[where]().then(act.gives("after")).commit().create_run()
    outcome: Any = None

    async def cancel() -> None:
        await turns(5)
        run.cancel()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(cancel)
            outcome = await run.start(1)
    assert isinstance(outcome, Canceled)
    assert "after" not in act.log


@pytest.mark.parametrize("signal", ["suspend", "bail", "abort"])
@pytest.mark.parametrize("how", ["returns", "raises", "finally", "group"])
async def test_no_step_that_catches_everything_catches_the_engines_signals(signal: str, how: str) -> None:
    async def swallow(ctx: StepContext[Any]) -> Any:
        if how == "group":

            async def child() -> None:
                getattr(ctx, signal)("out")

            async with anyio.create_task_group() as group:
                group.start_soon(child)
            return "went on"
        try:
            getattr(ctx, signal)("out")
        except BaseException as error:
            if how == "raises":
                raise OSError("another") from error
        finally:
            if how == "finally":
                return "went on"  # noqa: B012
        return "went on"

    act = Actor()
    outcome = await flow().then(create_step(swallow)).then(act.gives("after")).commit().run(1)
    assert {"suspend": Suspended, "bail": Completed, "abort": Blocked}[signal] is type(outcome)
    assert act.log == []
    if signal == "bail":
        assert completed(outcome) == "out"


async def test_no_run_can_be_started_twice() -> None:
    act = Actor()
    store = MemoryRunStore()
    workflow = flow().then(act.gives("a", waits=3)).commit()
    run = workflow.create_run()
    outcomes: list[Any] = []

    async def start(one: Any) -> None:
        try:
            outcomes.append(await one.start(1))
        except AlreadyStarted as error:
            outcomes.append(error)

    for pair in ((run, run), (workflow.create_run("same", store=store), workflow.create_run("same", store=store))):
        outcomes.clear()
        async with anyio.create_task_group() as group:
            for one in pair:
                group.start_soon(start, one)
        assert {type(one) for one in outcomes} == {Completed, AlreadyStarted}
    assert act.log == ["a", "a"]


@pytest.mark.parametrize("stored", [False, True])
async def test_no_two_resumes_of_one_step_both_run(stored: bool) -> None:
    act = Actor()
    store = MemoryRunStore() if stored else None
    workflow = flow().then(act.asks("ask", waits=2)).then(act.gives("after", waits=2)).commit()
    run = workflow.create_run(store=store)
    outcome = await run.start(1)
    assert isinstance(outcome, Suspended)
    token = outcome.suspensions[0].token
    ends: list[Any] = []

    async def resume(answer: str) -> None:
        one = workflow.create_run(run.run_id, store=store) if stored else run
        try:
            ends.append(await one.resume(answer, token=token))
        except AlreadyResumed as error:
            ends.append(error)

    async with anyio.create_task_group() as group:
        for answer in ("one", "two"):
            group.start_soon(resume, answer)
    assert {type(one) for one in ends} == {Completed, AlreadyResumed}
    assert act.log.count("after") == 1


async def test_no_record_of_an_outcome_changes_when_the_run_goes_on() -> None:
    run = flow().parallel([Actor().asks("a"), Actor().asks("b")]).commit().create_run()
    first = await run.start(1)
    before = statuses(first)
    completed_later = await run.resume("yes", step="a")
    await run.resume("yes", step="b")
    assert statuses(first) == before
    assert statuses(completed_later)["b"] == "suspended"


async def test_no_workflow_knows_what_a_step_gave_in_another() -> None:
    """A step object may stand in several workflows; what it gave in one is not known in another."""
    shared = Actor().gives("shared", 1)

    def ask(ctx: StepContext[Any]) -> Any:
        return ctx.output_of(shared, default="unknown")

    inner = create_workflow(id="inner").then(create_step(ask)).commit()
    assert completed(await flow().then(shared).then(inner).commit().run(1)) == "unknown"

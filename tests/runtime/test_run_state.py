"""The state of a run: deltas, who may write at once, copies."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any

import anyio
import pytest
from typing_extensions import TypedDict

from interlock import Completed, Failed, StepContext, create_step, create_workflow
from interlock.errors import StateConflict
from interlock.runtime import MemoryRunStore
from interlock.steps import RetryPolicy
from interlock.workflows import Suspended, WorkflowBuilder, append

pytestmark = pytest.mark.anyio


class Tally(TypedDict, total=False):
    """What the steps here write."""

    count: Annotated[int, operator.add]
    names: Annotated[list[str], append]
    last: str
    items: list[int]


def writes(name: str, **changes: Any) -> Any:
    """A step that changes the state."""

    def change(ctx: StepContext[Any]) -> None:
        ctx.set_state(**changes)

    return create_step(change, id=name)


def suspends(name: str, **changes: Any) -> Any:
    """A step that changes the state once it is answered."""

    def ask(ctx: StepContext[Any]) -> None:
        if ctx.resume_data is None:
            ctx.set_state(**changes)
            ctx.suspend()
        ctx.set_state(**changes)

    return create_step(ask, id=name)


def flow() -> WorkflowBuilder[Any, Any, Any]:
    """A workflow of which this is the state."""
    return create_workflow(id="flow", state_schema=Tally)


async def _waits(_: StepContext[Any]) -> None:
    await anyio.sleep_forever()


def is_even(ctx: StepContext[Any]) -> bool:
    """Whether the run was started with an even number."""
    return bool(ctx.run_input in (0, 2, 4))


async def test_what_a_step_changes_is_seen_by_those_behind_it_and_not_by_itself() -> None:
    seen: list[Any] = []

    def count(ctx: StepContext[Any]) -> None:
        ctx.set_state(count=2)
        seen.append(ctx.state)

    outcome = await flow().then(create_step(count)).map(lambda ctx: ctx.state).commit().run(None)
    assert seen == [{}]
    assert isinstance(outcome, Completed)
    assert outcome.output == {"count": 2}
    assert outcome.state == {"count": 2}


async def test_an_attempt_that_fails_changes_nothing() -> None:
    def count(ctx: StepContext[Any]) -> None:
        ctx.set_state(count=1)
        if ctx.attempt < 3:
            raise OSError("broken")

    outcome = await flow().then(create_step(count, retry=RetryPolicy(attempts=3))).commit().run(None)
    assert outcome.state == {"count": 1}


@pytest.mark.parametrize("stored", [False, True])
async def test_a_step_that_waits_changes_nothing_until_it_has_been_answered(stored: bool) -> None:
    run = flow().then(suspends("ask", count=1)).commit().create_run(store=MemoryRunStore() if stored else None)
    assert (await run.start(None)).state == {}
    assert (await run.resume(True)).state == {"count": 1}


@pytest.mark.parametrize("order", [0, 1])
async def test_two_that_write_one_key_at_once_fail_the_run_naming_both_whichever_is_first(order: int) -> None:
    """The later step of the two fails, whatever the time between them."""
    first = anyio.Event()

    def writer(name: str, waits: bool) -> Any:
        async def write(ctx: StepContext[Any]) -> None:
            if waits:
                await first.wait()
            ctx.set_state(last=name)
            first.set()

        return create_step(write, id=name)

    pair = [writer("a", order == 1), writer("b", order == 0)]
    outcome = await flow().parallel(pair).commit().run(None)
    assert isinstance(outcome, Failed)
    earlier, later = ("a", "b") if order == 0 else ("b", "a")
    assert f"'{earlier}' and '{later}' wrote 'last' of the run's state at the same time" in str(outcome.error)


async def test_a_key_with_a_reducer_may_be_written_by_all() -> None:
    block = [writes(name, count=1, names=name) for name in "abc"]
    outcome = await flow().parallel(block).commit().run(None)
    assert outcome.state == {"count": 3, "names": ["a", "b", "c"]}


def looped(kind: str) -> WorkflowBuilder[Any, Any, Any]:
    """A workflow in which steps that write one key run one after the other."""
    arms = create_workflow(id="arms").branch(
        [(is_even, writes("even", last="even"))], otherwise=writes("odd", last="odd")
    )
    body = arms.map(lambda ctx: 1).commit()
    match kind:
        case "loop":
            return flow().do_while(writes("a", last="a"), lambda ctx: ctx.iteration < 3)
        case "loop of arms":
            return flow().do_while(body, lambda ctx: ctx.iteration < 3)
        case "foreach":
            return flow().map(lambda ctx: [1, 2, 3]).foreach(body)
        case "foreach that says so":
            return flow().map(lambda ctx: [1, 2, 3]).foreach(body, concurrency=lambda ctx: 1)
        case _:
            a, b, c, d = (writes(name, last=name) for name in "abcd")
            return flow().dag({a: [], b: [a], d: ["b", "c"], c: [b]})


@pytest.mark.parametrize("kind", ["loop", "loop of arms", "foreach", "foreach that says so", "dag"])
async def test_steps_one_after_the_other_may_write_one_key(kind: str) -> None:
    outcome = await looped(kind).commit().run(1)
    assert isinstance(outcome, Completed), outcome


def two(ctx: StepContext[Any]) -> int:
    return 2


@pytest.mark.parametrize("width", [2, two])
async def test_items_that_may_be_at_once_may_not(width: Any) -> None:
    outcome = await flow().map(lambda ctx: [1, 2]).foreach(writes("a", last="a"), concurrency=width).commit().run(1)
    assert isinstance(outcome, Failed)
    assert "'a' and 'a' wrote 'last'" in str(outcome.error)


async def test_nodes_of_a_graph_without_a_way_from_one_to_the_other_may_not() -> None:
    a, b, c = (writes(name, last=name) for name in "abc")
    outcome = await flow().dag({writes("z", count=1): [], a: ["z"], b: ["z"], c: ["b"]}).commit().run(1)
    assert isinstance(outcome, Failed)
    assert "'a' and 'b' wrote" in str(outcome.error)


async def test_arms_of_two_attempts_are_never_at_once() -> None:
    """The first attempt's arm wrote the key; in the second it is the other's turn."""
    attempts: list[int] = []

    def first(ctx: StepContext[Any]) -> None:
        attempts.append(1)
        if len(attempts) == 1:
            ctx.set_state(last="first")

    def second(ctx: StepContext[Any]) -> None:
        if len(attempts) == 1:
            raise OSError("broken")
        ctx.set_state(last="second")

    inner = create_workflow(id="inner").parallel([create_step(first), create_step(second)]).commit()
    outcome = await flow().then(create_step(inner, retry=RetryPolicy(attempts=2))).commit().run(1)
    assert isinstance(outcome, Completed), outcome
    assert outcome.state == {"last": "second"}


async def test_a_step_that_failed_to_write_is_at_odds_with_nobody() -> None:
    """It claims a key, then another of its changes does not fit."""

    def wrong(ctx: StepContext[Any]) -> None:
        if ctx.attempt == 1:
            ctx.set_state(last="wrong", count="x")

    block = [create_step(wrong, retry=RetryPolicy(attempts=2)), writes("other", last="other")]
    outcome = await flow().parallel(block).commit().run(1)
    assert isinstance(outcome, Completed), outcome
    assert outcome.state == {"last": "other"}


@pytest.mark.parametrize("block", ["collect", "wait_all", "any", "foreach", "dag", "nested", "retried block"])
@pytest.mark.parametrize("stored", [False, True])
async def test_a_conflict_fails_the_run_whatever_collects_failures_or_tries_again(block: str, stored: bool) -> None:
    calls = 0

    def again(ctx: StepContext[Any]) -> None:
        nonlocal calls
        calls += 1
        ctx.set_state(last=f"call {calls}")

    policy = RetryPolicy(attempts=5)
    first, second = (create_step(again, id=name, retry=policy) for name in ("first", "second"))
    builder: Any = flow()
    match block:
        case "foreach":
            builder = builder.foreach(first, concurrency=2, on_error="collect")
        case "dag":
            builder = builder.dag({first: [], second: []})
        case "nested":
            inner: Any = create_workflow(id="inner").parallel([first, second], on_error="collect").commit()
            builder = builder.parallel([inner, writes("other")], on_error="collect")
        case "retried block":
            whole: Any = (
                create_workflow(id="inner", retry=policy).parallel([first, second], on_error="collect").commit()
            )
            builder = builder.then(whole)
        case "any":
            waits: Any = create_step(_waits, id="waits")
            builder = builder.parallel([first, second, waits], join=2, on_error="collect")
        case _:
            builder = builder.parallel([first, second], on_error=block)
    run = builder.commit().create_run(store=MemoryRunStore() if stored else None)
    outcome = await run.start([1, 2])
    assert isinstance(outcome, Failed), outcome
    assert isinstance(outcome.error, StateConflict), outcome.error
    assert outcome.error.key == "last"
    assert {step.rpartition("/")[2] for step in outcome.error.steps} == {"first", "second"} - (
        {"second"} if block == "foreach" else set()
    )
    assert calls == 2


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("nested", [False, True])
async def test_one_that_wrote_before_the_run_was_resumed_counts_whatever_the_order_in_the_list(
    stored: bool, nested: bool
) -> None:
    other: Any = writes("other", last="other")
    if nested:
        other = create_workflow(id="inner").then(other).commit()
    store = MemoryRunStore() if stored else None
    workflow = flow().parallel([suspends("asked", last="asked"), other]).commit()
    run = workflow.create_run(store=store)
    assert isinstance(await run.start(1), Suspended)
    outcome = await workflow.create_run(run.run_id, store=store).resume(1) if stored else await run.resume(1)
    assert isinstance(outcome, Failed), outcome
    assert "wrote 'last' of the run's state at the same time" in str(outcome.error)
    assert "'asked'" in str(outcome.error)
    assert "other'" in str(outcome.error)


async def test_items_one_by_one_that_ended_before_the_run_was_resumed_are_at_odds_with_nobody() -> None:
    store = MemoryRunStore()
    items = flow().map(lambda ctx: [1, 2, 3]).foreach(writes("a", last="a"), concurrency=lambda ctx: 1)
    workflow = items.then(suspends("ask", last="ask")).commit()
    run = workflow.create_run(store=store)
    await run.start(1)
    outcome = await workflow.create_run(run.run_id, store=store).resume(1)
    assert isinstance(outcome, Completed), outcome


@pytest.mark.parametrize("schema", [{}, {"state_schema": Tally}])
async def test_editing_the_state_or_what_was_given_to_it_changes_nothing(schema: dict[str, Any]) -> None:
    given = [1]

    def write(ctx: StepContext[Any]) -> None:
        ctx.set_state(items=given)

    def edit(ctx: StepContext[Any]) -> list[int]:
        given.append(2)
        ctx.state["items"].append(3)
        return ctx.state["items"]  # type: ignore[no-any-return]

    outcome = (
        await create_workflow(id="flow", **schema).then(create_step(write)).then(create_step(edit)).commit().run(1)
    )
    assert isinstance(outcome, Completed)
    assert outcome.output == [1]
    assert outcome.state == {"items": [1]}


@pytest.mark.parametrize("schema", [{}, {"state_schema": Tally}])
async def test_what_the_state_begins_with_is_a_copy(schema: dict[str, Any]) -> None:
    given = {"items": [1]}

    def edit(ctx: StepContext[Any]) -> None:
        ctx.state["items"].append(2)

    outcome = (
        await create_workflow(id="flow", **schema).then(create_step(edit)).commit().create_run().start(1, state=given)
    )
    assert outcome.state == {"items": [1]}
    given["items"].append(3)
    assert outcome.state == {"items": [1]}


def decides(kind: str, ask: Callable[[Any], Any]) -> WorkflowBuilder[Any, Any, Any]:
    """A workflow with a function that only decides something."""
    made = flow().map(lambda ctx: [1])
    match kind:
        case "branch":
            return made.branch([(ask, writes("a"))])
        case "loop":
            return made.do_until(writes("a"), ask)
        case "foreach":
            return made.foreach(writes("a"), concurrency=ask)
        case _:
            return made.sleep(ask)


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("kind", ["branch", "loop", "foreach", "sleep"])
async def test_a_function_that_only_decides_may_not_change_the_state(kind: str, waits: bool) -> None:
    def ask(ctx: StepContext[Any]) -> int:
        ctx.set_state(count=1)
        return 1

    async def later(ctx: StepContext[Any]) -> int:
        return ask(ctx)

    outcome = await decides(kind, later if waits else ask).commit().run(1)
    assert isinstance(outcome, Failed)
    assert "only decides something called set_state()" in str(outcome.error)

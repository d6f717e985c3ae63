"""A body on each item of a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from interlock import Blocked, StepContext, create_step, create_workflow
from interlock.errors import StepFailed
from interlock.runtime import MemoryRunStore
from interlock.workflows import StepError, Suspended
from tests.runtime.operations.acting import Actor, completed, failed, flow, record, statuses, turns

pytestmark = pytest.mark.anyio


def body(function: Callable[[StepContext[Any]], Any]) -> Any:
    """A step that is called ``item``."""
    return create_step(function, id="item")


async def test_order_is_kept_whatever_the_order_in_which_items_end() -> None:
    async def wait(ctx: StepContext[Any]) -> int:
        await turns(10 - ctx.input)
        return int(ctx.input) * 2

    outcome = await flow().foreach(body(wait), concurrency=3).commit().run([1, 5, 9, 2, 7])
    assert completed(outcome) == [2, 10, 18, 4, 14]
    assert sorted(one.iteration for one in outcome.steps if one.path == "item") == [1, 2, 3, 4, 5]


async def test_over_nothing_it_gives_nothing() -> None:
    outcome = await flow().foreach(Actor().gives("item")).commit().run([])
    assert completed(outcome) == []
    assert statuses(outcome) == {"foreach": "success"}


@pytest.mark.parametrize("value", [None, "text", (1, 2), {1}, {"a": 1}, 7, iter([1])])
async def test_over_anything_but_a_list_it_fails_and_says_of_what_kind_it_is(value: Any) -> None:
    act = Actor()
    outcome = await flow().foreach(act.gives("item")).commit().run(value)
    assert f"'foreach' goes over a list, but a {type(value).__name__} flows there" in str(failed(outcome))
    assert act.log == []


@pytest.mark.parametrize("value", [0, "", False, {}, [], None])
async def test_falsy_items_and_outputs_are_values(value: Any) -> None:
    outcome = await flow().foreach(Actor().gives("item")).commit().run([value, value])
    assert completed(outcome) == [value, value]


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("asked", ["number", "def", "async"])
async def test_it_is_a_window_that_slides(width: int, asked: str) -> None:
    """As many as may are under way all the time: whenever one ends the next begins."""
    running: set[int] = set()
    seen: list[int] = []

    async def work(ctx: StepContext[Any]) -> None:
        running.add(ctx.input)
        seen.append(len(running))
        await turns(2 + ctx.input * 7 % 5)
        running.remove(ctx.input)

    def now(ctx: StepContext[Any]) -> int:
        assert ctx.input == list(range(6))
        return width

    async def later(ctx: StepContext[Any]) -> int:
        await turns(1)
        return width

    concurrency: Any = {"number": width, "def": now, "async": later}[asked]
    completed(await flow().foreach(body(work), concurrency=concurrency).commit().run(list(range(6))))
    assert sorted(seen) == [*range(1, width), *[width] * (7 - width)]


@pytest.mark.parametrize("width", [0, -1, True, "2", None, 1.5])
async def test_a_width_that_is_none_fails(width: Any) -> None:
    outcome = await flow().foreach(Actor().gives("item"), concurrency=lambda ctx: width).commit().run([1])
    assert "concurrency must be a whole number, at least 1" in str(failed(outcome))


@pytest.mark.parametrize("waits", [False, True])
async def test_a_function_for_the_width_that_raises_fails_naming_the_block(waits: bool) -> None:
    def now(ctx: StepContext[Any]) -> int:
        raise OSError("broken")

    async def later(ctx: StepContext[Any]) -> int:
        await turns(1)
        return now(ctx)

    outcome = await flow().foreach(Actor().gives("item"), concurrency=later if waits else now).commit().run([1])
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.step_id == "foreach"


@pytest.mark.parametrize("waits", [False, True])
async def test_a_function_for_the_width_that_swallows_its_bail_or_abort_ends_the_run_all_the_same(waits: bool) -> None:
    for signal in ("bail", "abort"):
        act = Actor()

        def now(ctx: StepContext[Any], signal: str = signal) -> Any:
            try:
                getattr(ctx, signal)("out")
            except BaseException:
                return 1

        async def later(ctx: StepContext[Any], now: Any = now) -> Any:
            await turns(1)
            return now(ctx)

        outcome = await flow().foreach(act.gives("item"), concurrency=later if waits else now).commit().run([1])
        assert outcome.status == ("success" if signal == "bail" else "tripwire")
        assert act.log == []


def broken_at(*places: int, waits: int = 0) -> Any:
    """An item at some places is broken; others take longer."""

    async def work(ctx: StepContext[Any]) -> int:
        if ctx.input in places:
            await turns(waits)
            raise OSError(f"item {ctx.input} is broken")
        await turns(5)
        return int(ctx.input)

    return body(work)


@pytest.mark.parametrize("width", [1, 2, 5])
async def test_a_failed_item_stops_the_others_and_those_to_come(width: int) -> None:
    outcome = await flow().foreach(broken_at(2), concurrency=width).commit().run(list(range(5)))
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert "item 2 is broken" in str(error)
    told = {one.iteration: one.status for one in outcome.steps if one.path == "item"}
    assert told[3] == "failed"
    if width == 1:
        assert told == {1: "success", 2: "success", 3: "failed"}


@pytest.mark.parametrize("width", [1, 2, 5])
async def test_with_wait_all_all_items_run_and_the_first_failure_in_time_is_told(width: int) -> None:
    async def work(ctx: StepContext[Any]) -> None:
        await turns(20 - 4 * ctx.input)
        if ctx.input in (1, 3):
            raise OSError(f"item {ctx.input} is broken")

    outcome = await flow().foreach(body(work), concurrency=width, on_error="wait_all").commit().run(list(range(5)))
    assert f"item {3 if width == 5 else 1} is broken" in str(failed(outcome))
    assert sum(one.path == "item" for one in outcome.steps) == 5


@pytest.mark.parametrize("width", [1, 2, 5])
@pytest.mark.parametrize("waits", [None, 0, 9])
async def test_with_collect_a_failed_item_is_a_value_in_its_place(width: int, waits: int | None) -> None:
    def now(ctx: StepContext[Any]) -> Any:
        if ctx.input in (0, 2, 3):
            raise OSError(f"item {ctx.input} is broken")
        return ctx.input

    step = body(now) if waits is None else broken_at(0, 2, 3, waits=waits)
    outcome = await flow().foreach(step, concurrency=width, on_error="collect").commit().run(list(range(5)))
    output = completed(outcome)
    assert [output[1], output[4]] == [1, 4]
    for place in (0, 2, 3):
        assert isinstance(output[place], StepError)
        assert output[place].step_id == "item"
        assert f"item {place} is broken" in str(output[place].error)


async def test_items_that_fail_inline_behind_one_that_waited_are_counted_once() -> None:
    """A worker that goes on to items which end at once must not take the wait before them for theirs."""

    def work(ctx: StepContext[Any]) -> Any:
        if ctx.input == 0:
            return turns(3)
        if ctx.input % 2:
            raise OSError(f"item {ctx.input}")
        return ctx.input

    outcome = await flow().foreach(body(work), concurrency=1, on_error="collect").commit().run(list(range(6)))
    output = completed(outcome)
    assert [one for one in output if not isinstance(one, StepError)] == [None, 2, 4]
    assert [str(one.error.__cause__) for one in output if isinstance(one, StepError)] == ["item 1", "item 3", "item 5"]


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("waits", [None, 1])
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
async def test_items_that_wait_are_resumed_by_their_index_in_any_order(
    width: int, waits: int | None, order: list[int]
) -> None:
    act = Actor()
    run = flow().foreach(act.asks("item", waits=waits), concurrency=width).commit().create_run()
    outcome = await run.start(["a", "b", "c"])
    assert isinstance(outcome, Suspended)
    told = {one.index: one.payload for one in outcome.suspensions}
    assert told == {number: {"input": letter} for number, letter in enumerate("abc")}
    for index in order:
        assert isinstance(outcome, Suspended)
        outcome = await run.resume(f"answer {index}", index=index)
    assert completed(outcome) == ["answer 0", "answer 1", "answer 2"]
    assert len(act.log) == 6


async def test_an_item_that_waits_does_not_keep_others_from_their_ends() -> None:
    calls: list[int] = []

    def work(ctx: StepContext[Any]) -> Any:
        calls.append(ctx.input)
        if ctx.input == 1 and ctx.resume_data is None:
            ctx.suspend()
        return ctx.input

    run = flow().foreach(body(work), concurrency=2).commit().create_run()
    outcome = await run.start([0, 1, 2])
    assert isinstance(outcome, Suspended)
    assert [one.status for one in outcome.steps if one.path == "item"] == ["success", "suspended", "success"]
    assert completed(await run.resume("go on")) == [0, 1, 2]
    assert calls == [0, 1, 2, 1], "what has ended does not run again"


@pytest.mark.parametrize("waits", [None, 1])
@pytest.mark.parametrize("asked", [False, True])
async def test_where_items_go_one_by_one_those_behind_one_that_waits_do_not_begin(
    waits: int | None, asked: bool
) -> None:
    begun: list[int] = []

    async def later(ctx: StepContext[Any]) -> Any:
        begun.append(ctx.input)
        await turns(waits or 0)
        return ctx.input if ctx.input != 1 else ctx.resume_data or ctx.suspend()

    def now(ctx: StepContext[Any]) -> Any:
        begun.append(ctx.input)
        return ctx.input if ctx.input != 1 else ctx.resume_data or ctx.suspend()

    def one(_: StepContext[Any]) -> int:
        return 1

    run = flow().foreach(body(now if waits is None else later), concurrency=one if asked else 1).commit().create_run()
    outcome = await run.start([0, 1, 2, 3])
    assert isinstance(outcome, Suspended)
    assert [one.index for one in outcome.suspensions] == [1]
    assert begun == [0, 1]
    assert completed(await run.resume("go on")) == [0, "go on", 2, 3]
    assert begun == [0, 1, 1, 2, 3]


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("waits", [False, True])
async def test_a_bail_in_an_item_ends_the_workflow_and_no_further_item_begins(width: int, waits: bool) -> None:
    begun: list[int] = []

    def now(ctx: StepContext[Any]) -> None:
        begun.append(ctx.input)
        if ctx.input == 1:
            ctx.bail("out")

    async def later(ctx: StepContext[Any]) -> None:
        now(ctx)
        await turns(1)

    outcome = await flow().foreach(body(later if waits else now), concurrency=width).commit().run(list(range(6)))
    assert completed(outcome) == "out"
    assert max(begun) <= width
    assert record(outcome, "foreach").status == "bailed"


@pytest.mark.parametrize("order", [0, 1])
async def test_an_item_that_ends_in_the_very_turn_of_a_bail_begins_no_other(order: int) -> None:
    log: list[str] = []

    async def wait(ctx: StepContext[Any]) -> None:
        await turns(3)
        if ctx.input == order:
            log.append("bail")
            ctx.bail("out")

    def work(ctx: StepContext[Any]) -> Any:
        log.append(f"begun {ctx.input}")
        return wait(ctx) if ctx.input < 2 else None

    outcome = await flow().foreach(body(work), concurrency=2).commit().run(list(range(20)))
    assert completed(outcome) == "out"
    assert log[-1] == "bail"
    assert record(outcome, "foreach").status == "bailed"


async def test_progress_is_told_once_for_each_item_also_where_the_run_is_resumed() -> None:
    store = MemoryRunStore()
    run = flow().foreach(Actor().asks("item"), concurrency=2).then(Actor().gives("b")).commit().create_run(store=store)
    outcome = await run.start(["a", "b", "c"])
    for index in (1, 0, 2):
        outcome = await run.resume("yes", index=index)
    assert completed(outcome) == ["yes"] * 3
    rows = [row.data for row in await store.read(run.run_id) if row.type == "foreach-progress"]
    assert [row["done"] for row in rows] == [1, 2, 3]


async def test_an_abort_in_an_item_blocks_the_run() -> None:
    async def work(ctx: StepContext[Any]) -> None:
        await turns(1)
        if ctx.input == 1:
            ctx.abort("enough")
        await anyio.sleep_forever()

    with anyio.fail_after(5):
        outcome = await flow().foreach(body(work), concurrency=3).commit().run(list(range(6)))
    assert isinstance(outcome, Blocked)
    assert record(outcome, "foreach").status == "tripwire"


async def test_a_nested_workflow_as_body_is_run_for_each_item_with_a_scope_of_its_own() -> None:
    def early(ctx: StepContext[Any]) -> Any:
        if ctx.input == 2:
            ctx.bail("early")
        return ctx.input

    inner = create_workflow(id="inner").then(create_step(early)).map(lambda ctx: ctx.input * 10).commit()
    outcome = await flow().foreach(inner, concurrency=2).commit().run([1, 2, 3])
    assert completed(outcome) == [10, "early", 30]

"""Any graph without cycles."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import Blocked, StepContext, create_step
from interlock.errors import StepFailed
from interlock.workflows import Suspended
from tests.runtime.operations.acting import Actor, completed, failed, flow, statuses, turns

pytestmark = pytest.mark.anyio


def joining(name: str, waits: int | None = None) -> Any:
    """A step that shows what it was given."""

    def now(ctx: StepContext[Any]) -> str:
        given: Any = ctx.input
        inside = ", ".join(f"{key}={given[key]}" for key in given) if hasattr(given, "keys") else str(given)
        return f"{name}({inside})"

    async def later(ctx: StepContext[Any]) -> str:
        await turns(waits or 0)
        return now(ctx)

    return create_step(now if waits is None else later, id=name)


@pytest.mark.parametrize("waits", [None, 0, 2])
async def test_no_needs_give_the_input_one_its_output_several_a_dict_in_their_order(waits: int | None) -> None:
    a, b, c, d = (joining(name, waits) for name in "abcd")
    outcome = await flow().dag({a: [], b: [a], c: ["a"], d: [c, b]}).commit().run("x")
    assert completed(outcome) == "d(c=c(a(x)), b=b(a(x)))"


async def test_several_sinks_give_their_outputs_keyed() -> None:
    a, b, c = (joining(name) for name in "abc")
    outcome = await flow().dag({a: [], b: [a], c: [a]}).commit().run("x")
    assert completed(outcome) == {"b": "b(a(x))", "c": "c(a(x))"}


async def test_the_order_of_writing_does_not_matter() -> None:
    a, b, c = (joining(name, 1) for name in "abc")
    assert completed(await flow().dag({c: [b, a], b: [a], a: []}).commit().run("x")) == "c(b=b(a(x)), a=a(x))"


async def test_a_node_starts_as_soon_as_its_own_needs_have_ended() -> None:
    """Not in layers: what hangs on the quick root ends while the slow one still runs."""
    act = Actor()
    done = anyio.Event()

    async def slow(ctx: StepContext[Any]) -> None:
        await done.wait()
        act.log.append("slow")

    async def last(ctx: StepContext[Any]) -> None:
        act.log.append("last")
        done.set()

    step, quick = create_step(slow), act.gives("quick", waits=1)
    graph: dict[Any, list[Any]] = {
        step: [],
        quick: [],
        act.gives("next", waits=1): [quick],
        create_step(last): ["next"],
        joining("end"): [step, "last"],
    }
    with anyio.fail_after(5):
        completed(await flow().dag(graph).commit().run(1))
    assert act.log == ["quick", "next", "last", "slow"]


@pytest.mark.parametrize("root", [None, 1])
@pytest.mark.parametrize("waits", [(None, None, None), (1, None, None), (None, 1, None), (1, 1, 1)])
async def test_several_nodes_that_one_makes_ready_all_run_whether_they_wait_or_not(
    root: int | None, waits: tuple[int | None, ...]
) -> None:
    a = joining("a", root)
    others = [joining(name, wait) for name, wait in zip("bcd", waits, strict=True)]
    outcome = await flow().dag({a: [], **{one: [a] for one in others}}).commit().run("x")
    assert completed(outcome) == {name: f"{name}(a(x))" for name in "bcd"}


async def test_an_output_that_several_take_is_copied_for_each() -> None:
    def edits(name: str) -> Any:
        async def edit(ctx: StepContext[Any]) -> Any:
            ctx.input.append(name)
            await turns(2)
            return ctx.input

        return create_step(edit, id=name)

    a, b, c = edits("a"), edits("b"), edits("c")
    given = ["x"]
    assert completed(await flow().dag({a: [], b: [a], c: [a]}).commit().run(given)) == {
        "b": ["x", "a", "b"],
        "c": ["x", "a", "c"],
    }
    given = ["x"]
    assert completed(await flow().dag({a: [], b: []}).commit().run(given)) == {"a": ["x", "a"], "b": ["x", "b"]}
    assert given == ["x"]


async def test_a_node_that_fails_stops_the_graph_and_what_needs_it_does_not_begin() -> None:
    act = Actor()
    a, b, c = act.fails("a", waits=1), act.stays("b"), act.gives("c")
    with anyio.fail_after(5):
        outcome = await flow().dag({a: [], b: [], c: [a, b]}).commit().run(1)
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.step_id == "a"
    assert statuses(outcome) == {"dag": "failed", "a": "failed", "b": "canceled"}


@pytest.mark.parametrize("waits", [None, 1])
async def test_a_bail_or_an_abort_in_a_node_stops_the_graph(waits: int | None) -> None:
    act = Actor()
    with anyio.fail_after(5):
        out = act.bails("out", 7, waits=waits)
        assert completed(await flow().dag({act.stays("b"): [], out: [], act.gives("c"): ["out"]}).commit().run(1)) == 7

    def abort(ctx: StepContext[Any]) -> None:
        ctx.abort()

    with anyio.fail_after(5):
        outcome = await flow().dag({act.stays("b"): [], create_step(abort): []}).commit().run(1)
    assert isinstance(outcome, Blocked)


@pytest.mark.parametrize("order", [["a", "b"], ["b", "a"]])
async def test_nodes_that_wait_are_resumed_one_by_one_in_any_order_and_others_go_on_meanwhile(order: list[str]) -> None:
    act = Actor()
    a, b = act.asks("a", waits=1), act.asks("b")
    graph: dict[Any, list[Any]] = {
        a: [],
        b: [],
        act.gives("c", waits=3): [],
        joining("after-a"): [a],
        joining("end"): ["b", "c", "after-a"],
    }
    run = flow().dag(graph).commit().create_run()
    outcome = await run.start("x")
    assert isinstance(outcome, Suspended)
    assert {one.path for one in outcome.suspensions} == {"a", "b"}
    assert statuses(outcome)["c"] == "success"
    for name in order:
        outcome = await run.resume(f"yes {name}", step=name)
    assert completed(outcome) == "end(b=yes b, c=x, after-a=after-a(yes a))"
    assert act.log.count("c") == 1


@pytest.mark.parametrize("order", [0, 1])
async def test_a_node_that_ends_in_the_very_turn_of_a_bail_begins_no_other(order: int) -> None:
    log: list[str] = []

    def out(ctx: StepContext[Any]) -> None:
        log.append("bail")
        ctx.bail("out")

    async def leave(ctx: StepContext[Any]) -> None:
        await turns(3)
        out(ctx)

    async def stay(ctx: StepContext[Any]) -> None:
        await turns(3)
        log.append("stayed")

    def further(ctx: StepContext[Any]) -> None:
        log.append("begun")

    pair = [create_step(leave), create_step(stay)]
    graph: dict[Any, list[Any]] = {pair[order]: [], pair[1 - order]: [], create_step(further): ["stay"]}
    assert completed(await flow().dag(graph).commit().run(0)) == "out"
    assert log[log.index("bail") :] in (["bail"], ["bail", "stayed"])

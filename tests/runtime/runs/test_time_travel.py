"""A run forked from another at one of its steps: its own run, with a parent; the old one stays as it was."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from interlock import RequestContext, StepContext, Workflow, create_step, create_workflow
from interlock.errors import AlreadyStarted, GraphChanged, RunError, UnknownRun
from interlock.runtime import Completed, Failed, MemoryRunStore, Suspended
from interlock.storage import JournalRow
from tests.runtime.runs.ending import ran_twice, recovered, store_of, tempers, to_the_end
from tests.runtime.runs.graphs import Graph, World, built, graphs, told

pytestmark = pytest.mark.anyio


class Sum(BaseModel):
    """A state."""

    n: Annotated[int, operator.add] = 0
    note: str = ""


class Calls(Counter[str]):
    """How often each step was called; makes steps that count."""

    def step(self, id: str, change: Callable[[Any], Any] = lambda value: value + 1) -> Any:  # noqa: A002
        def called(ctx: StepContext[Any]) -> Any:
            self[id] += 1
            ctx.set_state(n=1)
            return change(ctx.input)

        return create_step(called, id=id)


def chain(calls: Calls) -> Workflow[Any, Any]:
    """Three steps in a row."""
    return (
        create_workflow(id="chain", state_schema=Sum)
        .then(calls.step("one"))
        .then(calls.step("two"))
        .then(calls.step("three", lambda value: value * 10))
        .commit()
    )


async def test_what_stood_before_the_step_is_taken_over_and_the_rest_runs() -> None:
    calls, store = Calls(), MemoryRunStore()
    workflow = chain(calls)
    old = await workflow.create_run("old", store=store).start(1)
    before = list(await store.read("old"))
    calls.clear()
    new = await workflow.time_travel("old", "two", store=store, new_run_id="new")
    assert isinstance(new, Completed)
    assert isinstance(old, Completed)
    assert new.output == old.output == 30
    assert new.run_id == "new"
    assert calls == {"two": 1, "three": 1}
    assert new.state == Sum(n=3)
    assert [one.step_id for one in new.steps] == ["one", "two", "three"]
    assert list(await store.read("old")) == before


async def test_the_new_run_names_its_parent() -> None:
    store = MemoryRunStore()
    workflow = chain(Calls())
    await workflow.create_run("old", store=store).start(1)
    await workflow.time_travel("old", "two", store=store, new_run_id="new")
    parents = {one.run_id: one.parent for one in await store.runs()}
    assert parents == {"old": None, "new": "old"}


async def test_the_step_can_be_given_another_input_and_the_state_another_value() -> None:
    store = MemoryRunStore()
    workflow = chain(Calls())
    await workflow.create_run("old", store=store).start(1)
    new = await workflow.time_travel("old", "two", store=store, input=7, state={"n": 100, "note": "forked"})
    assert isinstance(new, Completed)
    assert new.output == 80
    assert new.state == Sum(n=102, note="forked")
    assert {one.step_id: one.input for one in new.steps}["two"] == 7


async def test_none_is_an_input_like_any_other() -> None:
    store = MemoryRunStore()
    workflow = create_workflow(id="w").then(create_step(lambda ctx: ctx.input, id="one")).commit()
    await workflow.create_run("old", store=store).start(1)
    new = await workflow.time_travel("old", "one", store=store, input=None)
    assert isinstance(new, Completed)
    assert new.output is None


async def test_a_fork_that_is_killed_is_recovered_with_the_same_input_and_state() -> None:
    calls, store = Calls(), MemoryRunStore()
    workflow = chain(calls)
    await workflow.create_run("old", store=store).start(1)
    await workflow.time_travel("old", "two", store=store, new_run_id="new", input=7, state={"n": 100})
    rows = await store.read("new")
    kept = 1 + next(row.data["parent"]["rows"] for row in rows)
    for cut in range(kept, len(rows)):
        calls.clear()
        again = await workflow.recover("r", store=await store_of(rows[:cut]))
        assert isinstance(again, Completed), f"after row {cut}"
        assert again.output == 80
        assert again.state == Sum(n=102)
        assert calls["one"] == 0


async def test_a_fork_of_a_fork_knows_its_own_parent() -> None:
    store = MemoryRunStore()
    workflow = chain(Calls())
    await workflow.create_run("a", store=store).start(1)
    await workflow.time_travel("a", "two", store=store, new_run_id="b", input=7)
    outcome = await workflow.time_travel("b", "three", store=store, new_run_id="c")
    assert isinstance(outcome, Completed)
    assert outcome.output == 80, "what the parent's step gave, not what the grandparent's did"
    assert {one.run_id: one.parent for one in await store.runs()} == {"a": None, "b": "a", "c": "b"}


async def test_steps_of_nested_workflows_loops_and_lists_are_named_by_their_path() -> None:
    calls, store = Calls(), MemoryRunStore()
    inner = create_workflow(id="inner").then(calls.step("x")).then(calls.step("y")).commit()
    other = create_workflow(id="other").then(calls.step("x2")).then(calls.step("y2")).commit()
    workflow = (
        create_workflow(id="w", state_schema=Sum)
        .then(inner)
        .map(lambda ctx: [ctx.input, ctx.input])
        .foreach(other)
        .map(lambda ctx: sum(ctx.input))
        .do_until(calls.step("loop"), lambda ctx: ctx.input > 12)
        .commit()
    )
    whole = await workflow.create_run("old", store=store).start(1)
    assert isinstance(whole, Completed)
    for path, called in {
        "inner/y": {"y": 1, "x2": 2, "y2": 2, "loop": 3},
        "other/y2": {"x2": 1, "y2": 2, "loop": 3},
        "other": {"x2": 2, "y2": 2, "loop": 3},
        "loop": {"loop": 3},
    }.items():
        calls.clear()
        again = await workflow.time_travel("old", path, store=store)
        assert told(again) == told(whole), path
        assert calls == called, path


async def test_an_id_names_a_nested_step_where_it_is_the_only_one() -> None:
    calls, store = Calls(), MemoryRunStore()
    same = calls.step("same")
    one = create_workflow(id="one").then(same).then(calls.step("only")).commit()
    two = create_workflow(id="two").then(same).commit()
    workflow = create_workflow(id="w", state_schema=Sum).then(one).then(two).commit()
    await workflow.create_run("old", store=store).start(1)
    assert isinstance(await workflow.time_travel("old", "only", store=store), Completed)
    with pytest.raises(RunError, match="'one/same', 'two/same'"):
        await workflow.time_travel("old", "same", store=store)
    with pytest.raises(RunError, match="'one/same', 'two/same'"):
        await workflow.time_travel("old", same, store=store)


async def test_a_step_is_named_by_itself_too() -> None:
    store, calls = MemoryRunStore(), Calls()
    step = calls.step("one")
    workflow = create_workflow(id="w", state_schema=Sum).then(step).commit()
    await workflow.create_run("old", store=store).start(1)
    assert isinstance(await workflow.time_travel("old", step, store=store), Completed)
    with pytest.raises(RunError, match="no such step"):
        await workflow.time_travel("old", calls.step("one"), store=store)


async def test_wrong_calls_are_told_apart() -> None:
    store = MemoryRunStore()
    workflow = chain(Calls())
    await workflow.create_run("old", store=store).start(1)
    with pytest.raises(RunError, match="no such step"):
        await workflow.time_travel("old", "four", store=store)
    with pytest.raises(UnknownRun):
        await workflow.time_travel("none", "two", store=store)
    with pytest.raises(AlreadyStarted):
        await workflow.time_travel("old", "two", store=store, new_run_id="old")
    shorter = create_workflow(id="chain", state_schema=Sum).then(Calls().step("two")).commit()
    with pytest.raises(GraphChanged):
        await shorter.time_travel("old", "two", store=store)
    allowed = await shorter.time_travel("old", "two", store=store, allow_changed_graph=True)
    assert isinstance(allowed, Completed)


async def test_a_step_that_did_not_begin_is_no_place_to_start_from() -> None:
    def fails(ctx: StepContext[Any]) -> Any:
        raise ValueError("no")

    store = MemoryRunStore()
    workflow = (
        create_workflow(id="w", state_schema=Sum)
        .then(create_step(fails, id="fails"))
        .then(Calls().step("after"))
        .commit()
    )
    assert isinstance(await workflow.create_run("old", store=store).start(1), Failed)
    with pytest.raises(RunError, match="'after' did not begin in run 'old'"):
        await workflow.time_travel("old", "after", store=store)


async def test_a_failed_run_can_be_run_anew_from_the_step_that_failed() -> None:
    broken = [True]

    def fails(ctx: StepContext[Any]) -> Any:
        if broken:
            raise ValueError("no")
        return ctx.input

    store, calls = MemoryRunStore(), Calls()
    workflow = (
        create_workflow(id="w", state_schema=Sum).then(calls.step("one")).then(create_step(fails, id="fails")).commit()
    )
    assert isinstance(await workflow.create_run("old", store=store).start(1), Failed)
    broken.clear()
    outcome = await workflow.time_travel("old", "fails", store=store)
    assert isinstance(outcome, Completed)
    assert calls == {"one": 1}


async def test_what_had_been_answered_before_is_answered_and_the_step_itself_asks_again() -> None:
    def ask(ctx: StepContext[Any]) -> Any:
        if ctx.resume_data is None:
            ctx.suspend(ctx.step_id)
        return ctx.input + ctx.resume_data

    store = MemoryRunStore()
    workflow = create_workflow(id="w").then(create_step(ask, id="first")).then(create_step(ask, id="second")).commit()
    run = workflow.create_run("old", store=store)
    await run.start(0)
    await run.resume(1)
    await run.resume(10)
    new = await workflow.time_travel("old", "second", store=store, new_run_id="new")
    assert isinstance(new, Suspended)
    assert [one.step_id for one in new.suspensions] == ["second"]
    ended = await workflow.create_run("new", store=store).resume(20)
    assert isinstance(ended, Completed)
    assert ended.output == 21


async def test_a_fork_is_a_run_of_its_own_to_callbacks() -> None:
    told_of: list[str] = []

    def started(ctx: StepContext[Any]) -> None:
        told_of.append(f"start {ctx.run_id}")

    workflow = (
        create_workflow(id="w", on_start=started, on_finish=lambda outcome: told_of.append(f"end {outcome.run_id}"))
        .then(create_step(lambda ctx: ctx.input, id="one"))
        .then(create_step(lambda ctx: ctx.input, id="two"))
        .commit()
    )
    store = MemoryRunStore()
    await workflow.create_run("old", store=store).start(1)
    await workflow.time_travel("old", "two", store=store, new_run_id="new")
    assert told_of == ["start old", "end old", "start new", "end new"]


async def test_the_request_context_is_the_old_one_unless_another_is_given() -> None:
    def who(ctx: StepContext[Any]) -> Any:
        return ctx.request_context.get("user")

    store = MemoryRunStore()
    workflow = create_workflow(id="w").then(create_step(who, id="who")).commit()
    await workflow.create_run("old", store=store).start(1, request_context=RequestContext(user="ann"))
    outcome = await workflow.time_travel("old", "who", store=store)
    assert isinstance(outcome, Completed)
    assert outcome.output == "ann"
    outcome = await workflow.time_travel("old", "who", store=store, request_context=RequestContext(user="bob"))
    assert isinstance(outcome, Completed)
    assert outcome.output == "bob"


@settings(max_examples=settings().max_examples // 4, suppress_health_check=[HealthCheck.too_slow])
@given(graph=graphs(enders=()), data=st.data())
def test_a_fork_at_any_step_of_any_graph_ends_like_the_old_run(graph: Graph, data: st.DataObject) -> None:
    async def main() -> None:
        world, store = World(), MemoryRunStore()
        workflow = built(graph, world)
        whole = await workflow.create_run("old", store=store).start(5)
        whole = await to_the_end(workflow, whole, store, "old")
        rows = await store.read("old")
        begun = first_starts(rows)
        paths = sorted(path for path in begun if path in dict(workflow_steps(workflow)))
        if not paths:
            return
        path = data.draw(st.sampled_from(paths))
        world.calls.clear()
        world.tempers = tempers(rows[: begun[path] - 1])
        outcome = await workflow.time_travel("old", path, store=store, new_run_id="r")
        outcome = await to_the_end(workflow, outcome, store, "r")
        assert told(outcome) == told(whole)
        after = await store.read("r")
        kept = 1 + next(row.data["parent"]["rows"] for row in after)
        assert not ran_twice(after, kept, world.calls), "what had finished before is not run again"
        again = await recovered(workflow, store)
        assert told(again) == told(whole)

    anyio.run(main)


def first_starts(rows: list[JournalRow] | Any) -> dict[str, int]:
    """Where each path began first."""
    begun: dict[str, int] = {}
    for row in rows:
        if row.type == "step-start":
            begun.setdefault(row.path, row.seq)
    return begun


def workflow_steps(workflow: Workflow[Any, Any]) -> Any:
    """The steps of a workflow, by path."""
    from interlock.workflows.nodes import steps_by_path

    return steps_by_path(workflow.plan)

"""A run that is broken off at any moment goes on as if nothing had been."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from interlock import StepContext, Workflow, create_step, create_workflow
from interlock.runtime import Canceled, Completed, Failed, MemoryRunStore, Outcome, Suspended
from interlock.workflows.outcome import StepRecord
from tests.runtime.runs.ending import finished, ran_twice, recovered, standing, store_of, tempers, unbroken
from tests.runtime.runs.graphs import Graph, World, answer_to, built, first_waiting, graphs, told

backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])
few = settings(
    max_examples=settings().max_examples * 2 // 3,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def state_is_sure(graph: Graph) -> bool:
    """Whether the state at the end is sure: where a step ends the run early, others may or may not have written."""
    kinds = graph.kinds()
    return not kinds["fail"] and not kinds["bail"] and not kinds["abort"]


def cuts(data: st.DataObject, first: int, last: int, most: int = 6) -> Sequence[int]:
    """Some of the rows after which a run may be broken off."""
    return sorted(data.draw(st.sets(st.integers(first, last - 1), max_size=most))) if first < last else ()


def tally(steps: Sequence[StepRecord]) -> list[tuple[object, ...]]:
    """Records as they can be compared with those that a journal gives, in one order."""
    made: list[tuple[object, ...]] = []
    for one in steps:
        error = None if one.error is None else str(one.error)
        waits = None if one.suspension is None else one.suspension.token
        chosen = None if one.chosen is None else tuple(one.chosen)
        told = (one.path, one.iteration, one.status, one.kind, one.attempts, chosen, one.verdict, error, waits)
        made.append((*told, repr(one.input), repr(one.output)))
    return sorted(made, key=repr)


@backends
@few
@given(graph=graphs(), data=st.data())
def test_killed_after_any_row_a_run_ends_as_if_it_had_not_been(backend: str, graph: Graph, data: st.DataObject) -> None:
    async def main() -> None:
        world = World()
        workflow, whole, rows = await unbroken(graph, world)
        sure = state_is_sure(graph)
        for cut in cuts(data, 1, len(rows)):
            world.calls.clear()
            world.tempers = tempers(rows[:cut])
            store = await store_of(rows[:cut])
            again = await recovered(workflow, store)
            assert told(again, with_state=sure) == told(whole, with_state=sure), f"after row {cut}"
            assert tally((await workflow.recover("r", store=store)).steps) == tally(again.steps), f"after row {cut}"
            assert not ran_twice(await store.read("r"), cut, world.calls), f"after row {cut}"

    anyio.run(main, backend=backend)


@few
@given(graph=graphs(), data=st.data())
def test_killed_twice_it_does_too(graph: Graph, data: st.DataObject) -> None:
    async def main() -> None:
        world = World()
        workflow, whole, rows = await unbroken(graph, world)
        sure = state_is_sure(graph)
        for cut in cuts(data, 1, len(rows), 3):
            store = await store_of(rows[:cut])
            world.tempers = tempers(rows[:cut])
            await recovered(workflow, store)
            longer = await store.read("r")
            for second in cuts(data, cut + 1, len(longer), 3):
                world.calls.clear()
                world.tempers = tempers(longer[:second])
                store = await store_of(longer[:second])
                again = await recovered(workflow, store)
                assert told(again, with_state=sure) == told(whole, with_state=sure), f"after rows {cut}, {second}"
                assert not ran_twice(await store.read("r"), second, world.calls)

    anyio.run(main)


@few
@given(graph=graphs(leaves=("plain", "random", "moody", "ask", "flaky"), enders=("fail", "moody")), data=st.data())
def test_what_was_journalled_stays_also_where_steps_are_of_another_mind_the_next_time(
    graph: Graph, data: st.DataObject
) -> None:
    async def main() -> None:
        world = World(dice=lambda key: data.draw(st.integers(0, 9)))
        workflow, _, rows = await unbroken(graph, world)
        for cut in cuts(data, 1, len(rows)):
            store = await store_of(rows[:cut])
            await recovered(workflow, store)
            after = await store.read("r")
            assert after[:cut] == rows[:cut]
            now = finished(after)
            for key, row in standing(after, cut).items():
                assert (now[key].data["status"], now[key].data.get("output")) == (
                    row.data["status"],
                    row.data.get("output"),
                )
            for row in after[cut:]:
                if row.type == "step-start":
                    assert (row.path, row.at) not in finished(after[: row.seq]), "began again after it had ended"

    anyio.run(main)


@few
@given(graph=graphs())
def test_a_run_without_a_store_ends_like_one_that_has_one(graph: Graph) -> None:
    async def main() -> None:
        _, whole, _ = await unbroken(graph, World())
        run = built(graph, World()).create_run()
        outcome: Outcome[Any] = await run.start(5)
        while isinstance(outcome, Suspended):
            waits = first_waiting(outcome)
            before = tally(outcome.steps)
            resumed = await run.resume(answer_to(waits), token=waits.token)
            assert tally(outcome.steps) == before, "what an outcome told has changed since"
            outcome = resumed
        sure = state_is_sure(graph)
        assert told(outcome, with_state=sure) == told(whole, with_state=sure)

    anyio.run(main)


@backends
@few
@given(graph=graphs(), data=st.data())
def test_a_stored_outcome_is_the_one_that_was_told(backend: str, graph: Graph, data: st.DataObject) -> None:
    async def main() -> None:
        workflow, store = built(graph, World()), MemoryRunStore()
        live: Outcome[Any] = await workflow.create_run("r", store=store).start(5)
        while True:
            stored = await workflow.recover("r", store=store)
            assert told(stored) == told(live)
            assert tally(stored.steps) == tally(live.steps)
            assert stored.run_id == live.run_id
            assert stored.duration == live.duration
            if not isinstance(live, Suspended) or not isinstance(stored, Suspended):
                break
            assert {one.token for one in stored.suspensions} == {one.token for one in live.suspensions}
            waits = data.draw(st.sampled_from(list(live.suspensions)))
            live = await workflow.create_run("r", store=store).resume(answer_to(waits), token=waits.token)

    anyio.run(main, backend=backend)


def having(kind: str) -> Callable[[Graph], bool]:
    """Whether a graph has a node of a kind."""
    return lambda graph: graph.kinds()[kind] > 0


def test_the_laws_meet_every_combinator_and_every_way_to_end() -> None:
    """Hypothesis is asked for a graph with all of it, so that the laws above cannot be empty."""
    first = settings(max_examples=5_000, phases=[Phase.generate], database=None)
    for kind in ("parallel", "branch", "foreach", "loop", "dag", "nested", "ask", "fail", "bail", "abort", "flaky"):
        assert find(graphs(), having(kind), settings=first).kinds()[kind]


@backends
def test_the_first_failure_in_time_is_the_first_also_where_it_is_only_told_of(backend: str) -> None:
    async def main() -> None:
        order = anyio.Event()

        async def late(ctx: StepContext[Any]) -> None:
            await order.wait()
            raise ValueError("late")

        async def early(ctx: StepContext[Any]) -> None:
            await anyio.lowlevel.checkpoint()
            order.set()
            raise ValueError("early")

        workflow = (
            create_workflow(id="w")
            .parallel([create_step(late, id="late"), create_step(early, id="early")], on_error="wait_all")
            .commit()
        )
        store = MemoryRunStore()
        whole = await workflow.create_run("r", store=store).start(1)
        assert isinstance(whole, Failed)
        assert "early" in str(whole.error)
        rows = await store.read("r")
        both = [row.seq for row in rows if row.type == "step-result" and row.path in ("early", "late")]
        again = await workflow.recover("r", store=await store_of(rows[: max(both)]))
        assert told(again) == told(whole)

    anyio.run(main, backend=backend)


@few
@given(data=st.data())
def test_a_condition_that_would_say_something_else_the_next_time_is_not_asked_again(data: st.DataObject) -> None:
    asked: Counter[str] = Counter()

    def flips(name: str) -> Callable[[StepContext[Any]], bool]:
        def condition(ctx: StepContext[Any]) -> bool:
            asked[f"{name} {ctx.at}"] += 1
            return data.draw(st.booleans())

        return condition

    def again(ctx: StepContext[Any]) -> bool:
        asked[f"again {ctx.iteration}"] += 1
        return ctx.iteration < 5 and data.draw(st.booleans())

    def width(ctx: StepContext[Any]) -> int:
        return data.draw(st.integers(1, 3))

    def passes(ctx: StepContext[Any]) -> Any:
        return ctx.input

    def keys(ctx: StepContext[Any]) -> Any:
        return sorted(ctx.input)

    one, two, three, four = (create_step(passes, id=id) for id in ("one", "two", "three", "four"))  # noqa: A001
    builder: Any = create_workflow(id="w").branch(
        [(flips("first"), [one, two]), (flips("second"), three)], mode=data.draw(st.sampled_from(["first", "all"]))
    )
    builder = builder.map(keys).do_while(four, again)
    workflow: Workflow[Any, Any] = builder.foreach(create_step(lambda ctx: 1, id="each"), concurrency=width).commit()

    async def main() -> None:
        store = MemoryRunStore()
        await workflow.create_run("r", store=store).start(1)
        rows = await store.read("r")
        for cut in range(1, len(rows)):
            asked.clear()
            kept = await store_of(rows[:cut])
            outcome = await recovered(workflow, kept)
            assert isinstance(outcome, Completed)
            after = await kept.read("r")
            chosen = [tuple(row.data["chosen"]["v"]) for row in after if row.type == "branch-chosen"]
            ran = {row.path for row in after if row.type == "step-result"} & {"one", "two", "three"}
            assert len(chosen) == 1, "it is chosen once"
            assert ran == set(chosen[0]) | ({"one"} if "two" in chosen[0] else set())
            went_on = [(row.data["iteration"], row.data["again"]) for row in after if row.type == "loop-progress"]
            assert went_on == [(number, number < len(went_on)) for number in range(1, len(went_on) + 1)]
            if any(row.type == "branch-chosen" for row in rows[:cut]):
                assert not asked["first ()"]
            told_before = [row.data["iteration"] for row in rows[:cut] if row.type == "loop-progress"]
            assert not any(asked[f"again {number}"] for number in told_before)

    anyio.run(main)


@pytest.mark.anyio
async def test_what_failed_in_a_block_has_failed_also_where_it_would_not_the_next_time() -> None:
    moods = [True]

    def moody(ctx: StepContext[Any]) -> bool:
        if moods:
            raise ValueError("in a bad mood")
        return True

    def passes(ctx: StepContext[Any]) -> Any:
        return ctx.input

    def kinds(ctx: StepContext[Any]) -> Any:
        return [type(one).__name__ for one in ctx.input.values()]

    arm = create_workflow(id="arm").branch([(moody, create_step(passes, id="inside"))]).commit()
    workflow = (
        create_workflow(id="w").parallel([arm, create_step(passes, id="other")], on_error="collect").map(kinds).commit()
    )
    store = MemoryRunStore()
    whole = await workflow.create_run("r", store=store).start(1)
    assert isinstance(whole, Completed)
    assert whole.output == ["StepError", "int"]
    rows = await store.read("r")
    failed = next(row.seq for row in rows if row.type == "step-result" and row.data["status"] == "failed")
    moods.clear()
    for cut in range(failed, len(rows)):
        again = await workflow.recover("r", store=await store_of(rows[:cut]))
        assert isinstance(again, Completed)
        assert again.output == whole.output, f"after row {cut}"


@pytest.mark.anyio
async def test_no_step_begins_once_a_cancel_has_been_seen() -> None:
    log: list[str] = []
    store = MemoryRunStore()

    async def asks(ctx: StepContext[Any]) -> Any:
        await store.ask_to_cancel("r")

    async def begins(ctx: StepContext[Any]) -> Any:
        log.append(ctx.step_id)

    def chain(id: str) -> Any:  # noqa: A002
        first = create_step(asks, id=f"{id}-asks")
        return create_workflow(id=id).then(first).then(create_step(begins, id=f"{id}-begins")).commit()

    workflow = create_workflow(id="w").parallel([chain("a"), chain("b"), chain("c")]).commit()
    outcome = await workflow.create_run("r", store=store).start(1)
    assert isinstance(outcome, Canceled)
    assert log == []

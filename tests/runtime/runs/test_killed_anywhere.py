"""A run that is broken off at any moment goes on as if nothing had been."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from interlock.runtime import MemoryRunStore, Outcome, Suspended
from interlock.workflows.outcome import StepRecord
from tests.runtime.runs.ending import finished, recovered, store_of, unbroken
from tests.runtime.runs.graphs import Graph, World, answer_to, built, first_waiting, graphs, told

backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])
few = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


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
            store = await store_of(rows[:cut])
            again = await recovered(workflow, store)
            assert told(again, with_state=sure) == told(whole, with_state=sure), f"after row {cut}"
            twice = {key for key in finished(rows[:cut]) if world.calls[key]}
            assert not twice, f"ran twice after row {cut}"

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
            await recovered(workflow, store)
            longer = await store.read("r")
            for second in cuts(data, cut + 1, len(longer), 3):
                world.calls.clear()
                again = await recovered(workflow, await store_of(longer[:second]))
                assert told(again, with_state=sure) == told(whole, with_state=sure), f"after rows {cut}, {second}"
                assert not {key for key in finished(longer[:second]) if world.calls[key]}

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
            stands = {key: (row.data["status"], row.data.get("output")) for key, row in finished(after[:cut]).items()}
            now = {key: (row.data["status"], row.data.get("output")) for key, row in finished(after).items()}
            assert {key: now[key] for key in stands if key in now} == {k: v for k, v in stands.items() if k in now}
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


def test_the_laws_meet_every_combinator_and_every_way_to_end() -> None:
    """Hypothesis is asked for a graph with all of it, so that the laws above cannot be empty."""
    first = settings(max_examples=5_000, phases=[Phase.generate], database=None)
    for kind in ("parallel", "branch", "foreach", "loop", "dag", "nested", "ask", "fail", "bail", "abort", "flaky"):
        assert find(graphs(), lambda graph, kind=kind: graph.kinds()[kind] > 0, settings=first).kinds()[kind]

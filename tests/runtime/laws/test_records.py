"""What a run tells of itself: a record for each thing that began, and events that tell the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import Completed, StepContext, create_step, create_workflow
from interlock.runtime.journal.reader import ROOM
from interlock.workflows import Event, StepRecord, Suspended
from tests.runtime.laws.building import built, result_of
from tests.runtime.laws.graphs import Graph, Temper, graphs
from tests.runtime.laws.running import Manner, in_loop, run_through, streamed
from tests.runtime.laws.told import Told, records

CALM = Temper(does=("give", "falsy", "suspend"), upsets=False, partial=False, heals=True)
manners = st.sampled_from(get_args(Manner))


def told(record: StepRecord) -> Told:
    """A record as the walk tells it."""
    return Told(record.path, record.kind, record.iteration, record.attempts)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=100, deadline=None)
@given(graphs(CALM), manners, st.integers(0, 1_000))
def test_where_nothing_ends_early_there_is_one_record_for_everything_that_began_and_all_are_successes(
    backend: str, graph: Graph, manner: Manner, seed: int
) -> None:
    outcome, before = in_loop(backend, lambda: run_through(built(graph), manner, seed))
    assert isinstance(outcome, Completed)
    assert Counter(map(told, outcome.steps)) == Counter(records(graph))
    assert {record.status for record in outcome.steps} <= {"success"}
    assert all(record.path.rpartition("/")[2] == record.step_id for record in outcome.steps)
    for earlier in before:  # what was told stays told
        waiting = [record for record in earlier.steps if record.suspension is not None]
        assert isinstance(earlier, Suspended)
        assert Counter(record.suspension for record in waiting) == Counter(earlier.suspensions)
        assert {record.status for record in waiting} == {"suspended"}


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=100, deadline=None)
@given(graphs(CALM), manners, st.integers(0, 1_000))
def test_records_stand_in_the_order_in_which_what_they_tell_of_started(
    backend: str, graph: Graph, manner: Manner, seed: int
) -> None:
    """A block stands before what is in it, a chain in its order; so does a later iteration behind an earlier one."""
    outcome, _ = in_loop(backend, lambda: run_through(built(graph), manner, seed))
    places: dict[str, int] = {}
    for place, record in enumerate(outcome.steps):
        places.setdefault(record.path, place)
    expected = [one.path for one in records(graph)]
    for workflow in {path.rpartition("/")[0] for path in expected}:
        if workflow:
            inside = [place for path, place in places.items() if path.startswith(f"{workflow}/")]
            assert places[workflow] < min(inside)
    top = [node for node in expected if "/" not in node and node.partition("-")[0] in ("map", "parallel", "dag")]
    assert sorted(set(top), key=lambda path: places[path]) == list(dict.fromkeys(top))


def check_events(events: Sequence[Event], outcome: Any) -> None:
    """What must hold of the events of a run that was not resumed."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[0].type == "workflow-start"
    assert [event.type for event in events].count("workflow-finish") == 1
    assert events[-1].type == "workflow-finish"
    assert events[-1].outcome is outcome
    steps = list(outcome.steps)
    assert [event.path for event in events if event.type == "step-start"] == [record.path for record in steps]
    under_way: set[tuple[str, tuple[int, ...]]] = set()
    waiting: set[tuple[str, tuple[int, ...]]] = set()
    ends: Counter[tuple[str, str]] = Counter()
    retries: Counter[str] = Counter()
    for event in events:
        turn = (event.path, event.at)
        match event.type:
            case "step-start":
                assert turn not in under_way | waiting
                under_way.add(turn)
            case "step-result":
                assert turn in under_way | waiting, f"{turn} ends without having begun"
                under_way.discard(turn)
                waiting.discard(turn)
                ends[event.path, event.data["status"]] += 1
            case "step-suspended":
                under_way.remove(turn)
                waiting.add(turn)
            case "step-retry":
                retries[event.path] += 1
            case "workflow-start" | "workflow-finish":
                pass
            case _:
                assert turn in under_way, f"{event.type} of {turn}, which is not under way"
    halted = [record.path for record in steps if record.status == "suspended" and record.suspension is None]
    asking = [record.path for record in steps if record.suspension is not None]
    assert Counter(path for path, _ in under_way) == Counter(halted), "never ended"
    assert Counter(path for path, _ in waiting) == Counter(asking)
    assert not (halted or asking) or isinstance(outcome, Suspended)
    assert ends == Counter((record.path, record.status) for record in steps if record.status != "suspended")
    assert retries <= Counter(path for record in steps for path in [record.path] * record.attempts)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=200, deadline=None)
@given(graphs(Temper(threads=True)))
def test_events_and_records_tell_the_same_whatever_happens(backend: str, graph: Graph) -> None:
    outcome, events = in_loop(backend, lambda: streamed(built(graph).create_run(), 7))
    check_events(events, outcome)
    assert "unfinished" not in {record.status for record in outcome.steps}
    if result_of(outcome)[0] == "value":
        assert "tripwire" not in {record.status for record in outcome.steps}


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=100, deadline=None)
@given(graphs(), st.integers(0, 30))
def test_a_run_that_is_cancelled_while_it_is_read_along_tells_how_everything_ended(
    backend: str, graph: Graph, turns: int
) -> None:
    async def cancelled() -> tuple[Any, list[Event]]:
        run = built(graph).create_run()
        seen: list[Event] = []
        async with run.stream(7) as events:
            async for event in events:
                seen.append(event)
                if len(seen) == turns:
                    run.cancel()
        return await events.outcome(), seen

    outcome, events = in_loop(backend, cancelled)
    check_events(events, outcome)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("pace", [1, 3])
@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("waits", [False, True])
def test_a_slow_reader_slows_the_run_so_that_only_so_many_events_wait(
    backend: str, pace: int, width: int, waits: bool
) -> None:
    count = 1_500

    def now(ctx: StepContext[Any]) -> Any:
        return ctx.input

    async def later(ctx: StepContext[Any]) -> Any:
        await anyio.lowlevel.checkpoint()
        return ctx.input

    step = create_step(later if waits else now, id="step")
    workflow = create_workflow(id="long").foreach(step, concurrency=width).commit()

    async def read() -> tuple[Any, int, int]:
        most = seen = 0
        async with workflow.create_run().stream(list(range(count))) as events:
            async for _ in events:
                seen += 1
                most = max(most, len(events._buffer._events))  # type: ignore[attr-defined]
                for _ in range(pace):
                    await anyio.lowlevel.checkpoint()
        return await events.outcome(), seen, most

    outcome, seen, most = in_loop(backend, read)
    assert outcome.output == list(range(count))
    assert seen == 3 * count + 4
    assert most <= ROOM + 4 * width

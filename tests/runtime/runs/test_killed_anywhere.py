"""A run that is broken off at any moment goes on as if nothing had been."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from interlock import Workflow
from interlock.runtime import MemoryRunStore, Outcome, RunStore, Suspended
from interlock.storage import JournalRow
from tests.runtime.runs.graphs import Graph, Key, World, answer_to, built, first_waiting, graphs, told

backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])
quick = settings(
    phases=[Phase.generate], max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


async def to_the_end(workflow: Workflow[Any, Any], outcome: Outcome[Any], store: RunStore, run_id: str) -> Outcome[Any]:
    """Answer whatever waits, one after the other."""
    for _ in range(100):
        if not isinstance(outcome, Suspended):
            return outcome
        waits = first_waiting(outcome)
        outcome = await workflow.create_run(run_id, store=store).resume(answer_to(waits), token=waits.token)
    raise AssertionError("it does not come to an end")


async def store_of(rows: Sequence[JournalRow]) -> MemoryRunStore:
    """A store that has just these rows of a run ``"r"``."""
    store = MemoryRunStore()
    await store.append("r", 0, rows)
    return store


def finished(rows: Sequence[JournalRow]) -> dict[Key, JournalRow]:
    """The turns that ended, by their last row; what an attempt of a block did that was tried again does not count."""
    ended: dict[Key, JournalRow] = {}
    for row in rows:
        if row.type == "step-result" and row.data["status"] in ("success", "failed", "bailed"):
            ended[row.path, row.at] = row
        elif row.type == "step-retry":
            for path, at in list(ended):
                if path.startswith(f"{row.path}/") and at[: len(row.at)] == row.at:
                    del ended[path, at]
    return ended


async def unbroken(graph: Graph, world: World) -> tuple[Workflow[Any, Any], Outcome[Any], Sequence[JournalRow]]:
    """A graph's workflow, how it ends, and its journal."""
    workflow, store = built(graph, world), MemoryRunStore()
    outcome = await workflow.create_run("r", store=store).start(5)
    outcome = await to_the_end(workflow, outcome, store, "r")
    return workflow, outcome, await store.read("r")


def state_counts(graph: Graph) -> bool:
    """Whether the state at the end is sure: where a step ends the run early, others may or may not have written."""
    kinds = graph.kinds()
    return not kinds["fail"] and not kinds["bail"] and not kinds["abort"]


@backends
@quick
@given(graph=graphs(), data=st.data())
def test_killed_after_any_row_a_run_ends_as_if_it_had_not_been(backend: str, graph: Graph, data: st.DataObject) -> None:
    async def main() -> None:
        world = World()
        workflow, whole, rows = await unbroken(graph, world)
        sure = state_counts(graph)
        for cut in range(1, len(rows)):
            world.calls.clear()
            store = await store_of(rows[:cut])
            again = await to_the_end(workflow, await workflow.recover("r", store=store), store, "r")
            assert told(again, with_state=sure) == told(whole, with_state=sure), f"after row {cut}"
            done = finished(rows[:cut])
            assert not {key for key in done if world.calls[key]}, f"ran twice after row {cut}"

    anyio.run(main, backend=backend)

"""Taking stored runs to their ends, and what their journals say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlock import Workflow
from interlock.runtime import MemoryRunStore, Outcome, RunStore, Suspended
from interlock.storage import JournalRow
from tests.runtime.runs.graphs import Graph, Key, World, answer_to, built, first_waiting

__all__ = ["finished", "ran_twice", "recovered", "standing", "store_of", "tempers", "to_the_end", "unbroken"]


async def to_the_end(workflow: Workflow[Any, Any], outcome: Outcome[Any], store: RunStore, run_id: str) -> Outcome[Any]:
    """Answer whatever waits, one after the other."""
    for _ in range(100):
        if not isinstance(outcome, Suspended):
            return outcome
        waits = first_waiting(outcome)
        outcome = await workflow.create_run(run_id, store=store).resume(answer_to(waits), token=waits.token)
    raise AssertionError("it does not come to an end")


async def recovered(workflow: Workflow[Any, Any], store: RunStore, run_id: str = "r") -> Outcome[Any]:
    """Recover a run, and take it to its end."""
    return await to_the_end(workflow, await workflow.recover(run_id, store=store), store, run_id)


async def store_of(rows: Sequence[JournalRow]) -> MemoryRunStore:
    """A store that has just these rows of a run ``"r"``, as one has whose process died after them."""
    store = MemoryRunStore()
    await store.append("r", 0, rows)
    return store


async def unbroken(graph: Graph, world: World) -> tuple[Workflow[Any, Any], Outcome[Any], Sequence[JournalRow]]:
    """A graph's workflow, how it ends, and its journal."""
    workflow, store = built(graph, world), MemoryRunStore()
    outcome = await workflow.create_run("r", store=store).start(5)
    outcome = await to_the_end(workflow, outcome, store, "r")
    return workflow, outcome, await store.read("r")


def standing(after: Sequence[JournalRow], cut: int) -> dict[Key, JournalRow]:
    """The turns that had ended by a row, and are not in a block that was tried again later; by their last row there."""
    again = [row for row in after[cut:] if row.type == "step-retry"]
    return {
        (path, at): ended
        for (path, at), ended in finished(after[:cut]).items()
        if not any(path.startswith(f"{row.path}/") and at[: len(row.at)] == row.at for row in again)
    }


def ran_twice(after: Sequence[JournalRow], cut: int, calls: Mapping[Key, int]) -> list[Key]:
    """The turns that had ended by a row, and were called all the same when the run went on.

    Args:
        after: The journal at the end.
        cut: Behind which row the run was broken off.
        calls: How often each turn was called since.
    """
    return [key for key in standing(after, cut) if calls[key]]


def tempers(rows: Sequence[JournalRow]) -> set[Key]:
    """The turns that have had their bad moment, as far as these rows tell."""
    return {(row.path, row.at) for row in rows if row.type == "step-result" and row.data["status"] == "failed"}


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

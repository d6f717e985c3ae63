"""Workflows of processors whose runs are kept: contexts come back from the journal with their conversation."""

from __future__ import annotations

from typing import Any

import anyio.lowlevel
import pytest

from interlock import Processor, Workflow, create_workflow
from interlock.messages import TextEdit
from interlock.processors import InputContext, ProcessorStepSchema
from interlock.runtime import Blocked, Completed, MemoryRunStore
from tests.runtime.runs.ending import store_of

pytestmark = pytest.mark.anyio


class Noting(Processor):
    """Takes the word that it is called by out of the message, or stops the run."""

    def __init__(self, id: str, calls: list[str], *, aborts: bool = False) -> None:  # noqa: A002
        super().__init__(id=id)
        self.calls = calls
        self.aborts = aborts

    async def process_input(self, ctx: InputContext) -> Any:
        await anyio.lowlevel.checkpoint()
        self.calls.append(self.id)
        if self.aborts:
            ctx.abort("stopped here")
        message = ctx.messages[-1]
        at = message.text.index(self.id)
        ctx.message_list.edit_text(message.id, 0, TextEdit(at, at + len(self.id), "[X]"))
        return ctx.message_list


def guarded(calls: list[str], *, aborts: bool = False) -> Workflow[Any, Any]:
    """Two processors beside one another, and one behind."""
    first, second = Noting("first", calls), Noting("second", calls)
    return (
        create_workflow(id="guarded", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
        .parallel([first, second])
        .merge()
        .then(Noting("third", calls, aborts=aborts))
        .commit()
    )


async def test_a_stored_run_of_processors_gives_what_one_without_a_store_does() -> None:
    plain = await guarded([]).create_run().start(InputContext("first second third"))
    stored = await guarded([]).create_run(store=MemoryRunStore()).start(InputContext("first second third"))
    assert isinstance(plain, Completed)
    assert isinstance(stored, Completed)
    assert stored.output.messages[-1].text == "[X] [X] [X]"
    assert stored.output.messages[-1].text == plain.output.messages[-1].text
    assert [(one.processor_id, one.verdict) for one in stored.checks] == [
        (one.processor_id, one.verdict) for one in plain.checks
    ]


@pytest.mark.parametrize("aborts", [False, True])
async def test_killed_after_any_row_it_ends_as_if_it_had_not_been(aborts: bool) -> None:
    calls: list[str] = []
    workflow, store = guarded(calls, aborts=aborts), MemoryRunStore()
    whole = await workflow.create_run("r", store=store).start(InputContext("first second third"))
    rows = await store.read("r")
    for cut in range(1, len(rows)):
        calls.clear()
        again = await workflow.recover("r", store=await store_of(rows[:cut]))
        assert type(again) is type(whole), f"after row {cut}: {again}"
        if isinstance(again, Completed) and isinstance(whole, Completed):
            assert again.output.messages[-1].text == whole.output.messages[-1].text, f"after row {cut}"
            verdicts = {one.processor_id: one.verdict for one in again.checks}
            assert verdicts == {one.processor_id: one.verdict for one in whole.checks}, f"after row {cut}"
        if isinstance(again, Blocked) and isinstance(whole, Blocked):
            assert again.tripwire == whole.tripwire
        done = {
            row.path.rpartition("processor:")[2]
            for row in rows[:cut]
            if row.type == "step-result" and row.data["status"] == "success" and "processor:" in row.path
        }
        assert not done & set(calls), f"ran twice after row {cut}"


async def test_a_stored_outcome_tells_each_processors_verdict() -> None:
    workflow, store = guarded([]), MemoryRunStore()
    live = await workflow.create_run("r", store=store).start(InputContext("first second third"))
    stored = await workflow.recover("r", store=store)
    assert {(one.path, one.verdict) for one in stored.steps} == {(one.path, one.verdict) for one in live.steps}
    assert {one.verdict for one in stored.steps if one.kind == "processor"} == {"changed"}

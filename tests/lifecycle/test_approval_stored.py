"""A run that waits for an approval in a store: another process goes on with it, once, where it stood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlock import Agent, Phase, Processor, tool
from interlock.errors import AlreadyResumed, NothingSuspended, RunError, StorageError, UnknownRun, UnrecordableValue
from interlock.processors import (
    InputContext,
    InputStepContext,
    OutputResultContext,
    OutputStepContext,
    OutputStreamContext,
    PIIDetector,
    StepChanges,
)
from interlock.runtime import MemoryRunStore, SQLiteRunStore, cancel_run
from interlock.storage import JournalRow, RunStore
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import chunks_and_result, kinds

pytestmark = pytest.mark.anyio

RAN: list[object] = []


@tool(needs_approval=True)
def pay(amount: int = 5) -> str:
    """Pay somebody."""
    RAN.append(amount)
    return f"paid {amount}"


@pytest.fixture(autouse=True)
def no_tool_has_run() -> None:
    RAN.clear()


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RunStore:
    return MemoryRunStore() if request.param == "memory" else SQLiteRunStore(tmp_path / "runs.db")


class Watching(Processor):
    """Counts what it sees, over the whole run."""

    id = "watching"

    def process_input(self, ctx: InputContext) -> None:
        ctx.state["inputs"] = ctx.state.get("inputs", 0) + 1

    def process_output_stream(self, ctx: OutputStreamContext) -> Any:
        ctx.state["chunks"] = ctx.state.get("chunks", 0) + 1
        return ctx.chunk

    def process_output_result(self, ctx: OutputResultContext) -> None:
        ctx.warn(f"{ctx.state['inputs']} inputs, {ctx.state['chunks']} chunks, {ctx.request_context.get('who')}")


def till(store: RunStore, script: Any, guards: Sequence[Processor] = (), **more: Any) -> Agent:
    """An agent as each process makes its own."""
    guard = Watching()
    return Agent(
        id="till",
        model=ScriptedModel(script),
        instructions="You pay.",
        tools=[pay],
        input_processors=[guard],
        output_processors=[guard, *guards],
        run_store=store,
        **more,
    )


ASKS: list[Any] = ["I pay. ", ScriptedModel.tool_call("pay", {"amount": 7}, id="c1")]


async def test_another_process_goes_on_where_the_run_stood(store: RunStore) -> None:
    whole = till(store, [ASKS, "Done."])
    same = await whole.resume((await whole.generate("hello", request_context={"who": "ann"})).run_id, approve=True)
    RAN.clear()
    waits = await till(store, [ASKS]).generate("hello", request_context={"who": "ann"})
    assert RAN == []
    other = till(store, ["Done."])
    result = await other.resume(waits.run_id, approve=True)
    assert RAN == [7]
    assert (result.status, result.text, result.run_id) == ("success", "I pay. Done.", waits.run_id)
    assert "paid 7" in other.model.received(0)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    assert [m.text for m in result.messages.all] == [m.text for m in same.messages.all]
    assert [m.text for m in result.messages.system_messages()] == ["You pay."]
    assert [(s.step_number, s.text, s.finish_reason) for s in result.steps] == [
        (s.step_number, s.text, s.finish_reason) for s in same.steps
    ]
    assert result.usage == same.usage
    assert [(c.phase, c.verdict, c.reason, c.runs) for c in result.checks] == [
        (c.phase, c.verdict, c.reason, c.runs) for c in same.checks
    ]
    assert "1 inputs" in str(result.checks[1].reason)
    assert "ann" in str(result.checks[1].reason)


async def test_the_store_lists_it_as_what_it_is(store: RunStore) -> None:
    agent = till(store, [ASKS, "Done."])
    waits = await agent.generate("hello")
    (told,) = await store.runs()
    assert (told.run_id, told.workflow_id, told.status) == (waits.run_id, "till", "suspended")
    await agent.resume(waits.run_id, approve=True)
    (told,) = await store.runs()
    assert told.status == "success"


async def test_a_run_that_never_waits_leaves_nothing_in_the_store(store: RunStore) -> None:
    await till(store, ["hello"]).generate("hello")
    assert await store.runs() == []


async def test_it_is_gone_on_with_once(store: RunStore) -> None:
    waits = await till(store, [ASKS]).generate("hello")
    async with till(store, ["Done."]).resume_stream(waits.run_id, approve=True) as stream:
        with pytest.raises(AlreadyResumed):
            await till(store, ["Done."]).resume(waits.run_id, approve=True)
        assert (await stream.result()).status == "success"
    with pytest.raises(NothingSuspended, match="has ended: success"):
        await till(store, ["Done."]).resume(waits.run_id, approve=True)
    assert RAN == [7]


async def test_a_wrong_answer_uses_nothing_up(store: RunStore) -> None:
    waits = await till(store, [ASKS]).generate("hello")
    with pytest.raises(NothingSuspended, match="does not wait for tool call 'c9', but for 'c1'"):
        await till(store, []).resume(waits.run_id, tool_call_id="c9", approve=True)
    assert (await till(store, ["Done."]).resume(waits.run_id, tool_call_id="c1", approve=True)).status == "success"


async def test_a_run_that_cannot_be_made_again_for_now_waits_on(store: RunStore) -> None:
    class Down(Exception):
        """What the list is made of cannot be had."""

    def down(context: object) -> list[Any]:
        raise Down

    waits = await till(store, [ASKS]).generate("hello")
    agent = Agent(id="till", model="embedded/echo", tools=[pay], run_store=store, error_processors=down)
    with pytest.raises(Down):
        await agent.resume(waits.run_id, approve=True)
    assert RAN == []
    assert (await till(store, ["Done."]).resume(waits.run_id, approve=True)).text == "I pay. Done."


async def test_what_the_store_does_not_have_is_told(store: RunStore) -> None:
    with pytest.raises(UnknownRun):
        await till(store, []).resume("nobody", approve=True)
    waits = await till(store, [ASKS]).generate("hello")
    other = Agent(id="other", model="embedded/echo", run_store=store)
    with pytest.raises(RunError, match="is none of agent 'other'"):
        await other.resume(waits.run_id, approve=True)


async def test_what_was_given_to_the_call_alone_goes_on_in_its_own_process_only(store: RunStore) -> None:
    agent = till(store, [])
    waits = await agent.generate("hello", model=ScriptedModel([ASKS, "Done."]))
    with pytest.raises(RunError, match="was made with model of its own, which no store keeps"):
        await till(store, ["Done."]).resume(waits.run_id, approve=True)
    assert (await agent.resume(waits.run_id, approve=True)).text == "I pay. Done."


async def test_a_tool_that_a_processor_offered_goes_on_in_its_own_process_only(store: RunStore) -> None:
    class Offering(Processor):
        id = "offering"

        def process_input_step(self, ctx: InputStepContext) -> StepChanges:
            return StepChanges(tools=[pay])

    def made(script: Any) -> Agent:
        return Agent(id="till", model=ScriptedModel(script), input_processors=[Offering()], run_store=store)

    agent = made([ASKS, "Done."])
    waits = await agent.generate("hello")
    with pytest.raises(RunError, match="was made with tools of its own, which no store keeps"):
        await made(["Done."]).resume(waits.run_id, approve=True)
    assert (await agent.resume(waits.run_id, approve=True)).text == "I pay. Done."
    assert RAN == [7]


async def test_a_call_whose_tool_the_agent_has_no_more_waits_on(store: RunStore) -> None:
    waits = await till(store, [ASKS]).generate("hello")
    without = Agent(id="till", model="embedded/echo", run_store=store)
    with pytest.raises(RunError, match="waits with calls of 'pay', which agent 'till' has not"):
        await without.resume(waits.run_id, approve=True)
    assert (await till(store, ["Done."]).resume(waits.run_id, approve=True)).text == "I pay. Done."


async def test_options_that_are_data_go_on(store: RunStore) -> None:
    waits = await till(store, [ASKS]).generate("hello", max_steps=1, release="run")
    chunks: list[Any] = []
    async with till(store, ["Done."]).resume_stream(waits.run_id, approve=True) as stream:
        chunks = [chunk async for chunk in stream]
        result = await stream.result()
    assert result.finish_reason == "max-steps"
    assert "".join(c.text for c in chunks if c.type == "text-delta") == "I pay. "


async def test_state_that_is_no_data_fails_the_run_and_names_the_key(store: RunStore) -> None:
    class Careless(Processor):
        id = "careless"

        def process_output_step(self, ctx: OutputStepContext) -> None:
            ctx.state["lock"] = open  # what is no data

    agent = Agent(model=ScriptedModel([ASKS]), tools=[pay], output_processors=[Careless()], run_store=store)
    with pytest.raises(UnrecordableValue, match="lock"):
        await agent.generate("hello")
    assert await store.runs() == []


class Once(Processor):
    """Asks for another try at the first chunk of a type, in each process."""

    id = "once"

    def __init__(self, type: str) -> None:  # noqa: A002
        super().__init__()
        self.type = type

    def process_output_stream(self, ctx: OutputStreamContext) -> Any:
        if ctx.chunk.type == self.type:
            ctx.abort("not so", retry=True)
        return ctx.chunk


async def test_a_result_that_is_refused_after_the_wait_stands_as_the_tools_error(store: RunStore) -> None:
    waits = await till(store, [ASKS], max_processor_retries=1).generate("hello")
    second = till(store, ["Then differently."], guards=[Once("tool-result")])
    result = await second.resume(waits.run_id, approve=True)
    assert (result.text, RAN) == ("I pay. Then differently.", [7])
    assert "not so" in second.model.received(0)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    assert [s.finish_reason for s in result.steps] == ["tool-calls", "stop"]


async def test_a_retry_asked_for_when_no_tool_has_run_takes_the_whole_step_back(store: RunStore) -> None:
    two = [*ASKS, ScriptedModel.tool_call("pay", {"amount": 8}, id="c2")]
    waits = await till(store, [two], max_processor_retries=1).generate("hello")
    second = till(store, ["Then differently."], guards=[Once("tool-call-approval")])
    result = await second.resume(waits.run_id, tool_call_id="c1", approve=True)
    assert (result.text, RAN) == ("Then differently.", [])
    assert "not so" in second.model.received(0)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    assert [s.finish_reason for s in result.steps] == ["retry", "stop"]


async def test_a_block_after_the_wait_is_written_as_the_end(store: RunStore) -> None:
    class Never(Processor):
        id = "never"

        def process_output_result(self, ctx: OutputResultContext) -> None:
            ctx.abort("never")

    def made(script: Any) -> Agent:
        return Agent(id="a", model=ScriptedModel(script), tools=[pay], output_processors=[Never()], run_store=store)

    waits = await made([ASKS]).generate("hello")
    async with made(["Done."]).resume_stream(waits.run_id, approve=True) as stream:
        chunks = [chunk async for chunk in stream]
    assert kinds(chunks)[-1] == "tripwire"
    assert [told.status for told in await store.runs()] == ["tripwire"]


async def test_leaving_the_resumed_stream_is_written_as_the_end(store: RunStore) -> None:
    waits = await till(store, [ASKS]).generate("hello")
    async with till(store, ["Done."]).resume_stream(waits.run_id, approve=True) as stream:
        await anext(stream)
    assert [told.status for told in await store.runs()] == ["canceled"]


async def test_answers_one_by_one_are_kept(store: RunStore) -> None:
    calls = [ScriptedModel.tool_call("pay", {"amount": n}, id=f"c{n}") for n in (1, 2)]
    _, waits = await chunks_and_result(till(store, [[*calls]]))
    still = await till(store, []).resume(waits.run_id, approve=False, reason="no", tool_call_id="c1")
    assert [call.tool_call_id for call in still.suspended] == ["c2"]
    last = till(store, ["Done."])
    assert (await last.resume(waits.run_id, approve=True)).status == "success"
    assert RAN == [2]


@pytest.mark.parametrize(
    "spoilt", [{"waiting": 5}, {"stands": None}, {"settings": {"color": 1}}, {"of_the_call": None}]
)
async def test_a_journal_that_cannot_be_read_is_told_and_left_as_it_is(spoilt: dict[str, Any]) -> None:
    class Spoilt(MemoryRunStore):
        spoils = True

        async def read(self, run_id: str, *, after: int = 0) -> Sequence[JournalRow]:
            rows = await super().read(run_id, after=after)
            return [replace(row, data=self._data(row)) for row in rows] if self.spoils else rows

        def _data(self, row: JournalRow) -> dict[str, Any]:
            data = {**row.data, **spoilt}
            return {name: value for name, value in data.items() if value is not None}

    store = Spoilt()
    waits = await till(store, [ASKS]).generate("hello")
    with pytest.raises(StorageError, match=f"the journal of run '{waits.run_id}' cannot be read"):
        await till(store, []).resume(waits.run_id, approve=True)
    store.spoils = False
    assert (await till(store, ["Done."]).resume(waits.run_id, approve=True)).text == "I pay. Done."


@pytest.mark.parametrize("stored", [False, True])
async def test_a_guard_to_which_no_text_came_before_is_said_to_have_looked_after(stored: bool, store: RunStore) -> None:
    def made(script: list[Any]) -> Agent:
        return Agent(
            id="till",
            model=ScriptedModel(script),
            tools=[pay],
            run_store=store if stored else None,
            output_processors=[PIIDetector()],
        )

    last = "mail ann@example.com"
    agent = made([ScriptedModel.tool_call("pay", {"amount": 7}), last])
    waits = await agent.generate("hello")
    result = await (made([last]) if stored else agent).resume(waits.run_id, approve=True)
    assert [(c.verdict, c.reason) for c in result.checks if c.phase is Phase.OUTPUT_STREAM] == [("changed", None)]


async def test_a_run_that_waits_may_be_cancelled_in_its_store(store: RunStore) -> None:
    agent = till(store, [ASKS])
    waits = await agent.generate("hello")
    assert await cancel_run(store, waits.run_id) == "canceled"
    assert [told.status for told in await store.runs()] == ["canceled"]
    assert await cancel_run(store, waits.run_id) == "ended"
    for one in (agent, till(store, ["Done."])):
        with pytest.raises(NothingSuspended, match="it has ended: canceled"):
            await one.resume(waits.run_id, approve=True)
    assert RAN == []


async def test_one_that_somebody_goes_on_with_is_not_unless_its_process_has_died(store: RunStore) -> None:
    waits = await till(store, [ASKS]).generate("hello")
    async with till(store, ["Done."]).resume_stream(waits.run_id, approve=True) as stream:
        with pytest.raises(RunError, match=r"is an agent's that somebody goes on with: cancel\(\) the stream there"):
            await cancel_run(store, waits.run_id)
        assert [(told.status, told.cancel_asked) for told in await store.runs()] == [("running", False)]
        assert await cancel_run(store, waits.run_id, force=True) == "canceled"
        assert (await stream.result()).status == "failed"
    assert [told.status for told in await store.runs()] == ["canceled"]


async def test_what_is_no_row_of_an_agents_run_is_damage_to_who_cancels_it(store: RunStore) -> None:
    waits = await till(store, [ASKS]).generate("hello")
    await store.append(waits.run_id, 1, [JournalRow(2, "step-start", 0.0)])
    with pytest.raises(StorageError, match=r"row 2 \(step-start\): it is none of an agent's run"):
        await cancel_run(store, waits.run_id)

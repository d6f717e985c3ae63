"""A store that fails, and values that no journal holds: told in the outcome, with the step's name; never a hang."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypedDict

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import StepContext, Workflow, create_step, create_workflow
from interlock.errors import JournalConflict, StorageError, UnknownRun, UnrecordableValue
from interlock.runtime import Completed, Failed, MemoryRunStore, Suspended
from interlock.steps import RetryPolicy
from interlock.storage import JournalRow, RunSummary
from tests.runtime.runs.ending import recovered, to_the_end
from tests.runtime.runs.graphs import Graph, World, built, graphs

pytestmark = pytest.mark.anyio


class FailingStore(MemoryRunStore):
    """Fails at one write, or at every read.

    Args:
        at: At which write, from 1; 0: at none.
        error: What it raises.
        reads: What reads give instead of what there is.
    """

    def __init__(
        self, at: int = 0, error: Exception | None = None, reads: Callable[[Sequence[JournalRow]], Any] | None = None
    ) -> None:
        super().__init__()
        self.writes = 0
        self.after: list[int] = []
        self._at = at
        self._error = error if error is not None else StorageError("the disk is full")
        self._reads = reads

    async def append(self, run_id: str, after: int, rows: Sequence[JournalRow]) -> bool:
        self.writes += 1
        if self.writes == self._at:
            await anyio.lowlevel.checkpoint()
            raise self._error
        self.after.append(self.writes)
        return await super().append(run_id, after, rows)

    async def read(self, run_id: str, *, after: int = 0) -> Sequence[JournalRow]:
        rows = await super().read(run_id, after=after)
        return rows if self._reads is None else self._reads(rows)


async def aside(ctx: StepContext[Any]) -> Any:
    await anyio.lowlevel.checkpoint()
    return ctx.input


def some_steps() -> Workflow[Any, Any]:
    """Three steps, of which two are beside one another."""
    return (
        create_workflow(id="some")
        .then(create_step(aside, id="one"))
        .parallel([create_step(aside, id="left"), create_step(aside, id="right")], on_error="collect")
        .map(lambda ctx: 7)
        .then(create_step(aside, id="last"))
        .commit()
    )


@pytest.mark.parametrize("error", [StorageError("no"), OSError("no"), RuntimeError("no"), JournalConflict("r", 1, 2)])
async def test_a_write_that_fails_is_the_runs_failure_wherever_it_comes(error: Exception) -> None:
    at = 0
    for at in range(2 if isinstance(error, JournalConflict) else 1, 30):
        store = FailingStore(at, error)
        with anyio.fail_after(20):
            outcome = await some_steps().create_run("r", store=store).start(1)
        if store.writes < at:  # so many there are not
            assert isinstance(outcome, Completed)
            break
        assert isinstance(outcome, Failed), f"at write {at}"
        assert isinstance(outcome.error, StorageError)
        assert outcome.error is error or outcome.error.__cause__ is error
        assert max(store.after, default=0) < at, "nothing is written behind what failed"
        if at > 1:
            again = await some_steps().recover("r", store=store)
            assert isinstance(again, Completed)
            assert again.output == 7
    assert at > 4


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=settings().max_examples // 4)
@given(graph=graphs(), data=st.data())
def test_a_run_whose_write_failed_anywhere_can_be_recovered(backend: str, graph: Graph, data: st.DataObject) -> None:
    async def main() -> None:
        workflow = built(graph, World())
        whole = FailingStore()
        await to_the_end(workflow, await workflow.create_run("r", store=whole).start(5), whole, "r")
        store = FailingStore(data.draw(st.integers(2, max(2, whole.writes))))
        with anyio.fail_after(20):
            outcome: Any = await workflow.create_run("r", store=store).start(5)
            for _ in range(20):
                if not isinstance(outcome, Suspended):
                    break
                try:
                    outcome = await workflow.create_run("r", store=store).resume(1, token=outcome.suspensions[0].token)
                except StorageError:
                    break  # the answer could not be kept: the run still waits
            outcome = await recovered(workflow, store)
        assert outcome.status in ("success", "failed", "tripwire")
        assert not isinstance(getattr(outcome, "error", None), StorageError)

    anyio.run(main, backend=backend)


async def test_an_answer_that_could_not_be_kept_leaves_the_run_waiting() -> None:
    def ask(ctx: StepContext[Any]) -> Any:
        if ctx.resume_data is None:
            ctx.suspend()
        return ctx.resume_data

    workflow = create_workflow(id="asks").then(create_step(ask, id="ask")).commit()
    store = FailingStore(4)
    run = workflow.create_run("r", store=store)
    assert isinstance(await run.start(1), Suspended)
    assert store.writes == 3
    with pytest.raises(StorageError, match="the disk is full"):
        await run.resume(5)
    with pytest.raises(UnrecordableValue, match=r"the answer of the run is an? .*lock"):
        await run.resume(threading.Lock())
    assert isinstance(await workflow.recover("r", store=store), Suspended)
    outcome = await run.resume(6)
    assert isinstance(outcome, Completed)
    assert outcome.output == 6


class Broken:
    """Anything that is no row."""


GARBAGE: dict[str, Callable[[Sequence[JournalRow]], Any]] = {
    "no rows": lambda rows: [Broken()],
    "none of the first": lambda rows: rows[1:],
    "a gap": lambda rows: [rows[0], rows[2]],
    "twice the same": lambda rows: [rows[0], rows[0]],
    "no start": lambda rows: [JournalRow(1, "step-result", 0.0, "one", (), {})],
    "a result of nothing": lambda rows: [rows[0], JournalRow(2, "step-result", 0.0, "one", (), {})],
    "a value of no kind": lambda rows: [rows[0], JournalRow(2, "step-start", 0.0, "one", (), {"input": {"$": "what"}})],
    "not data": lambda rows: [rows[0], JournalRow(2, "step-start", 0.0, "one", (), 5)],  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    "nothing like a list": lambda rows: 7,
}


@pytest.mark.parametrize("kind", GARBAGE)
async def test_a_store_that_gives_back_garbage_is_a_storage_error_that_names_the_run(kind: str) -> None:
    store = FailingStore(reads=GARBAGE[kind])
    await some_steps().create_run("r", store=store).start(1)
    with pytest.raises(StorageError, match="run 'r'"):
        await some_steps().recover("r", store=store)
    with pytest.raises(StorageError, match="run 'r'"):
        await some_steps().create_run("r", store=store).resume(1)
    with pytest.raises(StorageError, match="run 'r'"):
        await some_steps().time_travel("r", "one", store=store)


async def test_a_read_that_fails_is_a_storage_error() -> None:
    def fails(rows: Sequence[JournalRow]) -> Any:
        raise OSError("no such disk")

    store = FailingStore(reads=fails)
    await some_steps().create_run("r", store=store).start(1)
    with pytest.raises(StorageError, match="run 'r': no such disk"):
        await some_steps().recover("r", store=store)


async def test_a_run_that_the_store_does_not_have_is_unknown() -> None:
    store = MemoryRunStore()
    with pytest.raises(UnknownRun, match="'r'"):
        await some_steps().recover("r", store=store)
    with pytest.raises(UnknownRun):
        await some_steps().create_run("r", store=store).resume(1)
    with pytest.raises(UnknownRun):
        await some_steps().time_travel("r", "one", store=store)


class Counting(TypedDict, total=False):
    """A state with a key that adds up."""

    n: Annotated[int, operator.add]
    what: Any


def lock(ctx: StepContext[Any]) -> Any:
    return threading.Lock()


def sets(ctx: StepContext[Any]) -> Any:
    ctx.set_state(n=1, what=threading.Lock())
    return 1


def sets_and_locks(ctx: StepContext[Any]) -> Any:
    ctx.set_state(n=1)
    return threading.Lock()


def writes(ctx: StepContext[Any]) -> Any:
    ctx.write("lock", threading.Lock())
    return 1


def asks(ctx: StepContext[Any]) -> Any:
    ctx.suspend(threading.Lock())


def bails(ctx: StepContext[Any]) -> Any:
    ctx.bail(threading.Lock())


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lock, "the output of 'culprit'"),
        (sets, "the state of 'culprit'"),
        (writes, "the 'lock' written by 'culprit'"),
        (asks, "the payload of 'culprit'"),
        (bails, "the output of 'culprit'"),
    ],
    ids=["output", "state", "write", "payload", "bail"],
)
async def test_a_value_that_cannot_be_recorded_fails_the_run_and_names_the_step(
    function: Callable[..., Any], said: str
) -> None:
    store = MemoryRunStore()
    workflow = (
        create_workflow(id="w", state_schema=Counting)
        .then(create_step(aside, id="before"))
        .then(create_step(function, id="culprit"))
        .commit()
    )
    with anyio.fail_after(20):
        outcome = await workflow.create_run("r", store=store).start(1)
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, UnrecordableValue)
    assert said in str(outcome.error)
    assert outcome.state == {}
    summary: RunSummary = (await store.runs())[0]
    assert summary.status == "failed"
    again = await workflow.recover("r", store=store)
    assert isinstance(again, Failed)
    assert str(again.error) == str(outcome.error)


@pytest.mark.parametrize("function", [lock, sets, sets_and_locks, writes, asks], ids=lambda given: given.__name__)
async def test_it_is_that_steps_failure_where_failures_are_collected(function: Callable[..., Any]) -> None:
    def asks_well(ctx: StepContext[Any]) -> Any:
        if ctx.resume_data is None:
            ctx.suspend()
        ctx.set_state(n=10)
        return 1

    store = MemoryRunStore()
    workflow = (
        create_workflow(id="w", state_schema=Counting)
        .parallel([create_step(function, id="culprit"), create_step(asks_well, id="waits")], on_error="collect")
        .map(lambda ctx: sorted(type(one).__name__ for one in ctx.input.values()))
        .commit()
    )
    outcome = await workflow.create_run("r", store=store).start(1)
    assert isinstance(outcome, Suspended)
    assert [one.path for one in outcome.suspensions] == ["waits"]
    assert outcome.state == {}
    assert {one.path: one.status for one in outcome.steps}["culprit"] == "failed"
    outcome = await workflow.create_run("r", store=store).resume(1)
    assert isinstance(outcome, Completed)
    assert outcome.output == ["StepError", "int"]
    assert outcome.state == {"n": 10}, "what a step that failed had changed is not kept"


async def test_an_input_that_cannot_be_recorded_fails_the_run() -> None:
    store = MemoryRunStore()
    outcome = await some_steps().create_run("r", store=store).start(threading.Lock())
    assert isinstance(outcome, Failed)
    assert "the input of the run" in str(outcome.error)
    assert not await store.runs()


async def test_an_output_that_only_the_schema_made_unrecordable_fails_the_run() -> None:
    told: list[str] = []

    class Wrapper:
        """No journal holds one of these."""

        def __init__(self, value: object) -> None:
            self.value = value
            self.lock = threading.Lock()

    from pydantic import BeforeValidator, InstanceOf

    wrapped: Any = Annotated[InstanceOf[Wrapper], BeforeValidator(Wrapper)]
    builder: Any = create_workflow(
        id="w", output_schema=wrapped, on_finish=lambda outcome: told.append(outcome.status)
    ).map(lambda ctx: ctx.input)
    store = MemoryRunStore()
    outcome = await builder.commit().create_run("r", store=store).start(1)
    assert isinstance(outcome, Failed)
    assert "the output of the run" in str(outcome.error)
    assert told == ["failed"], "callbacks are told of the outcome that there is"
    assert (await store.runs())[0].status == "failed"


async def test_a_store_that_fails_before_the_end_is_what_callbacks_are_told_of() -> None:
    told: list[str] = []
    store = FailingStore(3)
    workflow = (
        create_workflow(id="w", on_finish=lambda outcome: told.append(outcome.status))
        .then(create_step(aside, id="one"))
        .commit()
    )
    outcome = await workflow.create_run("r", store=store).start(1)
    assert outcome.status == "failed"
    assert told == ["failed"]


async def test_a_step_that_is_tried_again_has_what_it_changed_taken_back_each_time() -> None:
    def sets_badly(ctx: StepContext[Any]) -> int:
        ctx.set_state(n=1, what=threading.Lock() if ctx.attempt < 3 else 0)
        return ctx.attempt

    workflow = (
        create_workflow(id="w", state_schema=Counting)
        .then(create_step(sets_badly, id="sets", retry=RetryPolicy(attempts=3)))
        .commit()
    )
    outcome = await workflow.create_run("r", store=MemoryRunStore()).start(1)
    assert isinstance(outcome, Completed)
    assert outcome.output == 3
    assert outcome.state == {"n": 1, "what": 0}


async def test_events_end_with_the_outcome_that_there_is_after_all() -> None:
    class Endless(MemoryRunStore):
        async def append(self, run_id: str, after: int, rows: Sequence[JournalRow]) -> bool:
            if any(row.type == "workflow-finish" for row in rows):
                raise StorageError("no end is kept here")
            return await super().append(run_id, after, rows)

    async with some_steps().create_run("r", store=Endless()).stream(1) as events:
        last = [event async for event in events][-1]
    assert last.type == "workflow-finish"
    assert isinstance(last.outcome, Failed)
    assert last.outcome is await events.outcome()


class Contradicting(MemoryRunStore):
    """A store that refuses every answer as if somebody else had been quicker, although nobody has written."""

    async def append(self, run_id: str, after: int, rows: Sequence[JournalRow]) -> bool:
        if any(row.type == "workflow-resume" for row in rows):
            raise JournalConflict(run_id, after, after + 1)
        return await super().append(run_id, after, rows)


@pytest.mark.anyio
async def test_a_store_that_contradicts_itself_is_not_asked_for_ever() -> None:
    store = Contradicting()

    def ask(ctx: StepContext[Any]) -> None:
        ctx.suspend()

    run = create_workflow(id="w").then(create_step(ask)).commit().create_run(store=store)
    assert isinstance(await run.start(1), Suspended)
    with anyio.fail_after(5), pytest.raises(JournalConflict):
        await run.resume(1)

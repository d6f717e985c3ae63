"""Ending a stored run from outside of it."""

from __future__ import annotations

import operator
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import anyio
import anyio.lowlevel
import pytest
from pydantic import BaseModel

from interlock import Canceled, StepContext, create_step, create_workflow
from interlock.errors import RunError, StorageError, UnknownRun
from interlock.runtime import Completed, MemoryRunStore, SQLiteRunStore, Suspended
from interlock.runtime.stored_cancel import cancel_run
from interlock.storage import JournalRow, RunStore
from interlock.workflows import Workflow

pytestmark = pytest.mark.anyio


class Tally(BaseModel):
    """A state."""

    n: Annotated[int, operator.add] = 0


def _counted(ctx: StepContext[int]) -> int:
    ctx.set_state(n=1)
    return ctx.input + 1


def _ask(ctx: StepContext[int]) -> int:
    if ctx.resume_data is None:
        ctx.suspend({"n": ctx.input}, label="more")
    return ctx.input + int(ctx.resume_data)


asks: Workflow[int, Any] = (
    create_workflow(id="asks", input_schema=int, state_schema=Tally)
    .then(create_step(_counted, id="count"))
    .parallel([create_step(_ask, id="ask"), create_step(_counted, id="other")])
    .commit()
)


async def _waiting(store: RunStore) -> str:
    run = asks.create_run(store=store)
    assert isinstance(await run.start(1), Suspended)
    return run.run_id


def _number(state: Any) -> int:
    """The count in a state, which is a dict where the run had not ended by itself before."""
    return state.n if isinstance(state, Tally) else int(state.get("n", 0))


async def _cut(rows: Sequence[JournalRow], length: int) -> MemoryRunStore:
    """A store whose run died after so many rows."""
    store = MemoryRunStore()
    await store.append("r", 0, rows[:length])
    return store


async def test_a_run_that_waits_ends_at_once() -> None:
    store = MemoryRunStore()
    run_id = await _waiting(store)
    assert await cancel_run(store, run_id) == "canceled"
    assert [run.status for run in await store.runs()] == ["canceled"]
    outcome = await asks.recover(run_id, store=store)
    assert isinstance(outcome, Canceled)
    assert outcome.state == Tally(n=2)
    statuses = {record.path: record.status for record in outcome.steps}
    assert statuses == {"count": "success", "parallel": "canceled", "ask": "canceled", "other": "success"}


async def test_what_was_canceled_cannot_be_resumed() -> None:
    store = MemoryRunStore()
    run_id = await _waiting(store)
    await cancel_run(store, run_id)
    before = await store.read(run_id)
    with pytest.raises(RunError):
        await asks.create_run(run_id, store=store).resume(1)
    assert await store.read(run_id) == before


async def test_a_second_cancel_says_that_it_had_ended_and_writes_nothing() -> None:
    store = MemoryRunStore()
    run_id = await _waiting(store)
    await cancel_run(store, run_id)
    before = await store.read(run_id)
    assert await cancel_run(store, run_id) == "ended"
    assert await cancel_run(store, run_id, force=True) == "ended"
    assert await store.read(run_id) == before


async def test_of_a_resume_and_a_cancel_at_once_one_wins(tmp_path: Any) -> None:
    store = SQLiteRunStore(tmp_path / "runs.db")
    for _ in range(5):
        run_id = await _waiting(store)
        ended: list[object] = []
        result = ""

        async def resume(run_id: str = run_id, ended: list[object] = ended) -> None:
            try:
                ended.append(await asks.create_run(run_id, store=store).resume(1))
            except RunError as error:
                ended.append(error)

        async with anyio.create_task_group() as group:
            group.start_soon(resume)
            result = await cancel_run(store, run_id)
        (told,) = ended
        status = next(run.status for run in await store.runs() if run.run_id == run_id)
        if result == "canceled":
            assert isinstance(told, RunError | Canceled)
            assert status == "canceled"
        else:  # it was resumed first: it ends by itself, or as it is asked to
            assert isinstance(told, Completed | Canceled)
            assert status == told.status


class _Overtaken(MemoryRunStore):
    """A store in which somebody resumes the run after it was read, once."""

    def __init__(self) -> None:
        super().__init__()
        self.resume = False

    async def read(self, run_id: str, *, after: int = 0) -> Sequence[JournalRow]:
        rows = await super().read(run_id, after=after)
        if self.resume:
            self.resume = False
            await asks.create_run(run_id, store=self).resume(1)
        return rows


async def test_a_cancel_that_comes_second_looks_again_and_writes_nothing() -> None:
    store = _Overtaken()
    run_id = await _waiting(store)
    store.resume = True
    assert await cancel_run(store, run_id) == "ended"
    assert [run.status for run in await store.runs()] == ["success"]


class _Standing(MemoryRunStore):
    """A store in which a run comes to stand still just before it could see that it is asked to end."""

    async def ask_to_cancel(self, run_id: str) -> bool:
        last = len(await self.read(run_id))
        await self.append(run_id, last, [JournalRow(0, "workflow-finish", 9.0, data={"status": "suspended"})])
        return await super().ask_to_cancel(run_id)


async def test_a_run_that_suspends_while_it_is_asked_is_canceled_all_the_same() -> None:
    store = _Standing()
    await store.append("r", 0, [JournalRow(1, "workflow-start", 7.0, data={"workflow": "asks"})])
    assert await cancel_run(store, "r") == "canceled"
    assert [run.status for run in await store.runs()] == ["canceled"]


async def test_a_run_that_is_running_ends_when_it_next_writes() -> None:
    under_way, go_on = anyio.Event(), anyio.Event()

    async def wait(ctx: StepContext[int]) -> int:
        under_way.set()
        await go_on.wait()
        return ctx.input

    reached: list[int] = []

    async def late(ctx: StepContext[int]) -> None:
        await anyio.lowlevel.checkpoint()
        reached.append(ctx.input)

    flow = create_workflow(id="flow", input_schema=int).then(create_step(wait, id="wait"))
    workflow = flow.then(create_step(late, id="late")).commit()
    store = MemoryRunStore()
    run = workflow.create_run("r", store=store)
    outcomes: list[object] = []

    async def start() -> None:
        outcomes.append(await run.start(1))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(start)
            await under_way.wait()
            assert await cancel_run(store, "r") == "asked"
            assert await cancel_run(store, "r") == "asked"
            go_on.set()
    assert isinstance(outcomes[0], Canceled)
    assert reached == []
    assert [summary.status for summary in await store.runs()] == ["canceled"]


async def test_a_run_whose_process_died_is_asked_and_ends_when_it_is_recovered() -> None:
    store = MemoryRunStore()
    rows = await store.read(await _waiting(store))
    died = await _cut(rows, 4)
    assert await cancel_run(died, "r") == "asked"
    assert isinstance(await asks.recover("r", store=died), Canceled)


async def test_force_ends_a_run_whose_process_died_wherever_that_was() -> None:
    store = MemoryRunStore()
    run_id = await _waiting(store)
    await asks.create_run(run_id, store=store).resume(1)
    rows = await store.read(run_id)
    for length in range(1, len(rows)):
        died = await _cut(rows, length)
        assert await cancel_run(died, "r", force=True) == "canceled", length
        outcome = await asks.recover("r", store=died)
        assert isinstance(outcome, Canceled), length
        assert {record.status for record in outcome.steps} <= {"success", "canceled"}, length
        counted = sum(row.type == "state-changed" for row in rows[:length])
        assert _number(outcome.state) == counted, length


async def test_a_process_that_lives_after_all_fails_at_its_next_write() -> None:
    under_way, go_on = anyio.Event(), anyio.Event()

    async def wait(ctx: StepContext[int]) -> int:
        under_way.set()
        await go_on.wait()
        return ctx.input

    store = MemoryRunStore()
    workflow = create_workflow(id="flow", input_schema=int).then(create_step(wait, id="wait")).commit()
    run = workflow.create_run("r", store=store)
    outcomes: list[Any] = []

    async def start() -> None:
        outcomes.append(await run.start(1))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(start)
            await under_way.wait()
            assert await cancel_run(store, "r", force=True) == "canceled"
            go_on.set()
    assert outcomes[0].status == "failed"
    assert "somebody else has written to it" in str(outcomes[0].error)
    assert [summary.status for summary in await store.runs()] == ["canceled"]


async def test_an_unknown_run_is_an_error() -> None:
    with pytest.raises(UnknownRun):
        await cancel_run(MemoryRunStore(), "nobody")


class _Damaged(MemoryRunStore):
    """A store that gives other rows than were written, as one does whose file was damaged."""

    def __init__(self) -> None:
        super().__init__()
        self.damage: Callable[[list[JournalRow]], object] = lambda rows: None

    async def read(self, run_id: str, *, after: int = 0) -> Sequence[JournalRow]:
        rows = list(await super().read(run_id, after=after))
        self.damage(rows)
        return rows


def _without(place: int) -> Callable[[list[JournalRow]], object]:
    return lambda rows: rows.pop(place)


def _begun_twice(rows: list[JournalRow]) -> None:
    rows.append(replace(rows[0], seq=len(rows) + 1))


def _with_the_first_twice(rows: list[JournalRow]) -> None:
    rows.insert(1, rows[0])


def _with_data(place: int, data: Any) -> Callable[[list[JournalRow]], object]:
    def damage(rows: list[JournalRow]) -> None:
        rows[place] = replace(rows[place], data=data)

    return damage


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (_without(1), r"cannot be read: row 3 \(state-changed\): row 2 is expected there"),
        (_without(0), r"cannot be read: row 2 \(step-start\): row 1 is expected there"),
        (_with_the_first_twice, "row 2 is expected there"),
        (_begun_twice, "a run begins with workflow-start"),
        (_with_data(1, ["x"]), r"row 2 \(step-start\): its data is no mapping"),
        (_with_data(0, {"state": [1]}), "its state is no mapping"),
        (_with_data(-1, {"status": "suspended", "duration": "long"}), "its duration is no number"),
    ],
)
@pytest.mark.parametrize("force", [False, True])
async def test_a_damaged_journal_is_an_error_and_stays_as_it_is(damage: Any, told: str, force: bool) -> None:
    store = _Damaged()
    run_id = await _waiting(store)
    before = await store.read(run_id)
    store.damage = damage
    with anyio.fail_after(30), pytest.raises(StorageError, match=told):
        await cancel_run(store, run_id, force=force)
    store.damage = lambda rows: None
    assert await store.read(run_id) == before


async def test_a_journal_that_has_lost_its_last_rows_is_an_error_and_no_conflict() -> None:
    store = _Damaged()
    run_id = await _waiting(store)
    last = len(await store.read(run_id))
    store.damage = _without(-1)
    with anyio.fail_after(30), pytest.raises(StorageError, match=f"it has {last - 1} rows, .* row {last} is the last"):
        await cancel_run(store, run_id, force=True)


@pytest.mark.parametrize("gone", ["= 1", "= 2", "> 4", "> 0"])
async def test_a_run_in_a_file_that_lost_rows_is_an_error(tmp_path: Path, gone: str) -> None:
    store = SQLiteRunStore(tmp_path / "runs.db")
    run_id = await _waiting(store)
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute(f"DELETE FROM journal WHERE seq {gone}")
    with anyio.fail_after(30), pytest.raises(StorageError, match="is missing"):
        await cancel_run(store, run_id)

"""Runs kept in an SQLite file."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from interlock.errors import JournalConflict, StorageError
from interlock.storage import JournalRow, RunStore, SQLiteRunStore
from interlock.testing import run_store_checks
from interlock.testing.run_stores import RunStoreCheck


def _row(kind: str = "step-result", **data: object) -> JournalRow:
    return JournalRow(0, kind, 1.0, data=data)


def _start(**data: object) -> JournalRow:
    return _row("workflow-start", workflow="w", **data)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[], SQLiteRunStore]:
    numbers = iter(range(1_000))
    return lambda: SQLiteRunStore(tmp_path / f"{next(numbers)}.db")


@pytest.mark.anyio
@pytest.mark.parametrize("check", run_store_checks)
async def test_a_store_in_a_file_keeps_the_rule(check: RunStoreCheck, fresh: Callable[[], SQLiteRunStore]) -> None:
    def reopen(store: RunStore) -> SQLiteRunStore:
        assert isinstance(store, SQLiteRunStore)
        return SQLiteRunStore(store.path)

    await check(fresh, reopen=reopen)


@pytest.mark.anyio
@pytest.mark.parametrize("check", run_store_checks)
async def test_a_store_in_sqlites_memory_keeps_the_rule(check: RunStoreCheck) -> None:
    await check(lambda: SQLiteRunStore(":memory:"))


@pytest.mark.anyio
async def test_the_journal_is_written_ahead_and_one_row_an_event(path: Path) -> None:
    store = SQLiteRunStore(path)
    await store.append("r", 0, [_start(), _row(output={"n": 1})])
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        found = connection.execute("SELECT run_id, seq, type, data FROM journal ORDER BY number").fetchall()
    connection.close()
    assert found == [
        ("r", 1, "workflow-start", '{"workflow":"w"}'),
        ("r", 2, "step-result", '{"output":{"n":1}}'),
    ]


def _synchronous(store: SQLiteRunStore) -> int:
    return int(store._file.use(lambda connection: connection.execute("PRAGMA synchronous").fetchone()[0]))


def test_full_durability_waits_for_the_disk_and_normal_does_not(fresh: Callable[[], SQLiteRunStore]) -> None:
    normal = fresh()
    assert _synchronous(normal) == 1
    assert _synchronous(SQLiteRunStore(normal.path, durability="full")) == 2


@pytest.mark.anyio
async def test_a_large_value_is_stored_once_however_often_it_occurs(path: Path) -> None:
    store = SQLiteRunStore(path)
    document = "".join(hashlib.sha256(str(n).encode()).hexdigest() for n in range(20_000))
    await store.append("r", 0, [_start(input=document)])
    for number in range(1, 21):
        await store.append("r", number, [_row(input={"doc": document}, output=[document, number])])
    assert (await store.read("r"))[20].data == {"input": {"doc": document}, "output": [document, 20]}
    size = store._file.use(lambda c: c.execute("SELECT sum(length(text)) FROM large_values").fetchone()[0])
    assert size < 1.2 * len(document)


@pytest.mark.anyio
async def test_deleting_runs_takes_their_large_values_along_unless_another_run_has_them(path: Path) -> None:
    store = SQLiteRunStore(path)
    await store.append("a", 0, [_start(x="a" * 9_000, both="c" * 9_000)])
    await store.append("b", 0, [_start(x="b" * 9_000, both="c" * 9_000)])

    def kept(connection: sqlite3.Connection) -> list[str]:
        return [text[1] for (text,) in connection.execute("SELECT text FROM large_values ORDER BY text")]

    assert store._file.use(kept) == ["a", "b", "c"]
    await store.delete("a")
    assert store._file.use(kept) == ["b", "c"]
    await store.delete("b")
    for table in ("runs", "journal", "large_values", "large_values_of_runs"):
        assert store._file.use(lambda c, t=table: c.execute(f"SELECT count(*) FROM {t}").fetchone()) == (0,)  # type: ignore[misc]


def test_no_query_reads_a_whole_table(fresh: Callable[[], SQLiteRunStore]) -> None:
    store = fresh()
    anyio.run(store.append, "r", 0, [_start(x="a" * 9_000)])
    statements: list[str] = []
    store._file.use(lambda connection: connection.set_trace_callback(statements.append))
    anyio.run(store.append, "r", 1, [_row(x="a" * 9_000)])
    anyio.run(store.read, "r")
    anyio.run(store.runs)
    anyio.run(store.cancel_asked, "r")
    anyio.run(store.ask_to_cancel, "r")
    anyio.run(store.delete, "r")
    store._file.use(lambda connection: connection.set_trace_callback(None))
    asked = [s for s in statements if s.split()[0] in ("SELECT", "INSERT", "UPDATE", "DELETE")]
    assert len(asked) > 12

    def plans(connection: sqlite3.Connection) -> list[tuple[str, str]]:
        return [(s, step[3]) for s in asked for step in connection.execute(f"EXPLAIN QUERY PLAN {s}")]

    for statement, step in store._file.use(plans):
        assert not step.startswith("SCAN ") or " USING INDEX " in step, f"{step}: {statement}"
        assert "TEMP B-TREE" not in step, f"{step}: {statement}"


@pytest.mark.anyio
@pytest.mark.parametrize("damage", ["UPDATE journal SET data = '{'", "DELETE FROM large_values"])
async def test_a_damaged_row_is_named(path: Path, damage: str) -> None:
    store = SQLiteRunStore(path)
    await store.append("r", 0, [_start(x="a" * 9_000)])
    store._file.use(lambda connection: connection.execute(damage), writes=True)
    with pytest.raises(StorageError, match="row 1 of run 'r' is damaged"):
        await store.read("r")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("DELETE FROM journal WHERE seq = 1", "row 1 is missing"),
        ("DELETE FROM journal WHERE seq = 2", "row 2 is missing"),
        ("DELETE FROM journal WHERE seq = 3", "row 3 is missing"),
        ("DELETE FROM journal", "row 1 is missing"),
        ("UPDATE journal SET seq = 7 WHERE seq = 3", "row 3 is missing"),
        ("UPDATE runs SET row_count = 2", "has a row 3, and the list of runs says that row 2 is the last"),
        ("UPDATE runs SET row_count = 'many'", "has a row 3"),
        ("DELETE FROM runs", "has a row 3"),
        ("UPDATE journal SET data = '[1]' WHERE seq = 3", "row 3 of run 'r' is damaged: its data is no JSON object"),
    ],
)
async def test_a_journal_of_which_rows_are_missing_is_not_read_as_if_it_were_whole(
    path: Path, damage: str, told: str
) -> None:
    store = SQLiteRunStore(path)
    await store.append("r", 0, [_start(), _row(), _row()])
    await store.append("other", 0, [_start(), _row()])
    store._file.use(lambda connection: connection.execute(f"{damage} {_of_run(damage)} run_id = 'r'"), writes=True)
    with pytest.raises(StorageError, match=told):
        await store.read("r")
    assert [row.seq for row in await store.read("other")] == [1, 2]


def _of_run(statement: str) -> str:
    return "AND" if "WHERE" in statement else "WHERE"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "damage",
    [
        "status = x'00'",
        "workflow_id = x'ff'",
        "started_at = 'noon'",
        "updated_at = 9e999",
        "row_count = 1.5",
        "parent = x'00'",
    ],
)
async def test_a_run_of_which_nothing_sound_is_noted_is_listed_as_damaged_beside_the_others(
    path: Path, damage: str
) -> None:
    store = SQLiteRunStore(path)
    await store.append("r", 0, [_start(), _row()])
    await store.append("other", 0, [_start(), _row()])
    whole = await store.runs()
    store._file.use(lambda connection: connection.execute(f"UPDATE runs SET {damage} WHERE run_id = 'r'"), writes=True)
    other, damaged = await store.runs()
    assert other == whole[0]
    assert (damaged.run_id, damaged.status) == ("r", "damaged")
    types = {type(damaged.workflow_id), type(damaged.started_at), type(damaged.updated_at), type(damaged.rows)}
    assert types == {str, float, int}
    with pytest.raises(StorageError, match="noted of run 'r' is damaged"):
        await store.append("r", 2, [_row()])


@pytest.mark.anyio
async def test_a_failure_in_the_middle_of_an_append_leaves_nothing_of_it(path: Path) -> None:
    store = SQLiteRunStore(path)
    await store.append("r", 0, [_start()])
    store._file.use(
        lambda c: c.execute(
            "CREATE TRIGGER refused BEFORE INSERT ON journal WHEN new.seq = 3 BEGIN SELECT RAISE(ABORT, 'refused'); END"
        ),
        writes=True,
    )
    with pytest.raises(StorageError, match="refused"):
        await store.append("r", 1, [_row(x="a" * 9_000), _row()])
    assert [row.seq for row in await store.read("r")] == [1]
    assert store._file.use(lambda c: c.execute("SELECT count(*) FROM large_values").fetchone()) == (0,)
    store._file.use(lambda c: c.execute("DROP TRIGGER refused"), writes=True)
    await store.append("r", 1, [_row(), _row()])


@pytest.mark.parametrize("wrong", [{"path": ""}, {"path": "x.db", "durability": "none"}])
def test_a_wrong_argument_is_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must not be empty|durability is"):
        SQLiteRunStore(**wrong)


# Tasks, threads, processes


def _turn_taken(store: SQLiteRunStore) -> tuple[sqlite3.Connection, str]:
    """Another connection that holds the write lock."""
    other = sqlite3.connect(store.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    return other, "ROLLBACK"


def test_an_append_whose_task_is_cancelled_by_asyncio_is_made_whole(path: Path) -> None:
    store = SQLiteRunStore(path)

    async def main() -> None:
        await store.append("r", 0, [_start()])
        other, undo = _turn_taken(store)
        writing = threading.Event()
        store._file.use(lambda c: c.set_trace_callback(lambda s: writing.set() if s.startswith("BEGIN IMM") else None))
        task = asyncio.create_task(store.append("r", 1, [_row(x=1), _row(x=2)]))
        while not writing.is_set():
            await anyio.lowlevel.checkpoint()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        other.execute(undo)
        other.close()
        assert len(await store.read("r")) == 3  # waits for the one under way
        await store.append("r", 3, [_row()])

    asyncio.run(main())
    assert len(anyio.run(store.read, "r")) == 4


@pytest.mark.anyio
async def test_an_append_whose_scope_is_cancelled_waits_until_it_is_made(path: Path) -> None:
    store = SQLiteRunStore(path)
    await store.append("r", 0, [_start()])
    other, undo = _turn_taken(store)
    writing, left = threading.Event(), threading.Event()
    store._file.use(lambda c: c.set_trace_callback(lambda s: writing.set() if s.startswith("BEGIN IMM") else None))

    async def append() -> None:
        try:
            await store.append("r", 1, [_row(), _row()])
        finally:
            left.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(append)
        while not writing.is_set():
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            for _ in range(10):
                await anyio.lowlevel.checkpoint()
        assert not left.is_set()
        other.execute(undo)
        other.close()
    assert left.is_set()
    assert len(await store.read("r")) == 3


@pytest.mark.anyio
async def test_a_store_waits_for_no_thread_that_steps_keep_busy(path: Path) -> None:
    store = SQLiteRunStore(path)
    release = threading.Event()
    threads = anyio.to_thread.current_default_thread_limiter()
    busy = int(threads.total_tokens)

    async def step() -> None:
        await anyio.to_thread.run_sync(release.wait)

    async with anyio.create_task_group() as tasks:
        for _ in range(busy):
            tasks.start_soon(step)
        while threads.borrowed_tokens < busy:
            await anyio.lowlevel.checkpoint()
        await store.append("r", 0, [_start()])
        release.set()
    assert len(await store.read("r")) == 1


def test_one_store_serves_event_loops_in_several_threads(path: Path) -> None:
    store = SQLiteRunStore(path)
    won: list[str] = []

    async def append(name: str) -> None:
        for last in range(25):
            while True:
                try:
                    await store.append("r", last, [_row(name=name)])
                    won.append(name)
                except JournalConflict:
                    pass
                if len(await store.read("r")) > last:
                    break

    threads = [
        threading.Thread(target=anyio.run, args=(append, f"{backend} {n}"), kwargs={"backend": backend})
        for backend in ("asyncio", "trio")
        for n in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = anyio.run(store.read, "r")
    assert [row.seq for row in rows] == list(range(1, 26))
    assert len(won) == 25

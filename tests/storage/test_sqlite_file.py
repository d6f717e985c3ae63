"""A store's SQLite file: how it is opened, what may be wrong with it, and how processes share it."""

from __future__ import annotations

import gc
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from interlock.errors import StorageError
from interlock.storage import JournalRow, SQLiteRunStore


def _row(kind: str = "step-result", **data: object) -> JournalRow:
    return JournalRow(0, kind, 1.0, data=data)


def _start() -> JournalRow:
    return _row("workflow-start", workflow="w")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def test_the_file_is_made_at_the_first_use_and_not_before(path: Path) -> None:
    store = SQLiteRunStore(path)
    assert not path.exists()
    assert anyio.run(store.runs) == []
    assert path.exists()


def test_a_relative_path_is_that_of_the_folder_the_store_was_made_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = SQLiteRunStore("runs.db")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    anyio.run(store.append, "r", 0, [_start()])
    assert (tmp_path / "runs.db").exists()
    assert store.path == str(tmp_path / "runs.db")
    assert repr(store) == f"SQLiteRunStore({store.path!r})"


# What goes wrong


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    store = SQLiteRunStore(tmp_path / "data" / "runs.db")
    with pytest.raises(StorageError, match=r"there is no folder .*data; make it first"):
        anyio.run(store.runs)
    (tmp_path / "data").mkdir()
    assert anyio.run(store.runs) == []


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"is a folder, not a database: name a file in it, such as .*runs\.db"):
        anyio.run(SQLiteRunStore(tmp_path).runs)


def test_a_file_that_is_no_database_is_left_alone(path: Path) -> None:
    text = "Dear diary, " * 200
    path.write_text(text)
    with pytest.raises(StorageError, match=r"runs\.db: this is no SQLite database") as caught:
        anyio.run(SQLiteRunStore(path).append, "r", 0, [_start()])
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)
    assert path.read_text() == text


def _other_database(path: Path, *statements: str) -> bytes:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE runs (id)", "PRAGMA application_id = 77", "PRAGMA user_version = 1"]
)
def test_another_programs_database_is_left_alone(path: Path, statement: str) -> None:
    before = _other_database(path, statement)
    with pytest.raises(StorageError, match="is another program's database; name a file of its own"):
        anyio.run(SQLiteRunStore(path).append, "r", 0, [_start()])
    assert path.read_bytes() == before


def test_a_newer_interlocks_file_is_left_alone(path: Path) -> None:
    store = SQLiteRunStore(path)
    anyio.run(store.append, "r", 0, [_start()])
    store.close()
    before = _other_database(path, "PRAGMA user_version = 9")
    with pytest.raises(
        StorageError, match=r"newer Interlock \(its tables are of version 9, this one knows version 1\)"
    ):
        anyio.run(store.read, "r")
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    store = SQLiteRunStore(path)
    anyio.run(store.append, "r", 0, [_start()])
    assert len(anyio.run(store.runs)) == 1


def test_a_full_disk_writes_nothing_and_says_so(path: Path) -> None:
    store = SQLiteRunStore(path)
    anyio.run(store.append, "r", 0, [_start()])
    (pages,) = store._file.use(lambda connection: connection.execute("PRAGMA page_count").fetchone())
    store._file.use(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").fetchone())
    with pytest.raises(StorageError, match=r"runs\.db: the disk is full; nothing was written") as caught:
        anyio.run(store.append, "r", 1, [_row(x=os.urandom(100_000).hex())])
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    assert len(anyio.run(store.read, "r")) == 1
    store._file.use(lambda connection: connection.execute("PRAGMA max_page_count = 1000000").fetchone())
    anyio.run(store.append, "r", 1, [_row()])
    assert len(anyio.run(store.read, "r")) == 2


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write to anything")
def test_a_file_that_may_only_be_read_says_so(path: Path) -> None:
    store = SQLiteRunStore(path)
    anyio.run(store.append, "r", 0, [_start()])
    store.close()
    path.chmod(0o400)
    with pytest.raises(StorageError, match="cannot be written to"):
        anyio.run(store.append, "r", 1, [_row()])


def test_a_database_that_only_takes_reading_says_so(path: Path) -> None:
    store = SQLiteRunStore(path)
    anyio.run(store.append, "r", 0, [_start()])
    store._file.use(lambda connection: connection.execute("PRAGMA query_only = 1"))
    with pytest.raises(StorageError, match="cannot be written to"):
        anyio.run(store.append, "r", 1, [_row()])
    assert len(anyio.run(store.read, "r")) == 1


def test_a_file_that_another_process_keeps_locked_says_for_how_long(path: Path) -> None:
    store = SQLiteRunStore(path, timeout=0.01)
    anyio.run(store.append, "r", 0, [_start()])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match=r"another process has kept the database locked for 0\.01 s"):
        anyio.run(store.append, "r", 1, [_row()])
    assert len(anyio.run(store.read, "r")) == 1
    other.execute("ROLLBACK")
    other.close()
    anyio.run(store.append, "r", 1, [_row()])


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a file that is open")
def test_a_file_that_was_removed_while_open_is_missed(path: Path) -> None:
    store = SQLiteRunStore(path)
    anyio.run(store.append, "r", 0, [_start()])
    path.unlink()
    with pytest.raises(StorageError, match="was removed, moved or replaced while it was in use"):
        anyio.run(store.append, "r", 1, [_row()])


# Processes


def _python(code: str, *args: object, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", code, *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


RACE = """
import sys, anyio
from interlock.errors import JournalConflict
from interlock.storage import JournalRow, SQLiteRunStore

async def main(path, name):
    store = SQLiteRunStore(path)
    won = []
    last = 0
    while last < 100:
        try:
            await store.append("r", last, [JournalRow(0, "x", 0.0, data={"name": name})])
            won.append(last + 1)
            last += 1
        except JournalConflict as conflict:
            last = conflict.last
    print(*won)

anyio.run(main, sys.argv[1], sys.argv[2], backend=sys.argv[3])
"""


def test_of_two_processes_that_race_for_each_row_exactly_one_wins(path: Path) -> None:
    racing = [_python(RACE, path, f"p{n}", backend) for n, backend in enumerate(("asyncio", "trio", "asyncio"))]
    told: dict[int, str] = {}
    for number, process in enumerate(racing):
        out, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, "")
        for seq in map(int, out.split()):
            assert seq not in told, f"row {seq} was won twice"
            told[seq] = f"p{number}"
    rows = anyio.run(SQLiteRunStore(path).read, "r")
    assert {row.seq: row.data["name"] for row in rows} == told
    assert sorted(told) == list(range(1, max(told) + 1))


KILLED = """
import os, signal, sys, anyio
from interlock.storage import JournalRow, SQLiteRunStore

async def main(path):
    store = SQLiteRunStore(path)
    for last in range(5):
        await store.append("r", last, [JournalRow(0, "x", 0.0, data={"n": last, "x": "y" * 9000})])
    os.kill(os.getpid(), signal.SIGKILL)

anyio.run(main, sys.argv[1])
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_what_was_appended_is_there_after_the_process_was_killed(path: Path) -> None:
    process = _python(KILLED, path)
    process.communicate(timeout=60)
    assert process.returncode == -9
    rows = anyio.run(SQLiteRunStore(path).read, "r")
    assert [row.data for row in rows] == [{"n": n, "x": "y" * 9_000} for n in range(5)]


FORGETFUL = """
import sys, anyio
from interlock.storage import JournalRow, SQLiteRunStore

async def main(path):
    global store
    store = SQLiteRunStore(path)
    await store.append("r", 0, [JournalRow(0, "x", 0.0)])
    await SQLiteRunStore(path).append("r", 1, [JournalRow(0, "x", 0.0)])

anyio.run(main, sys.argv[1], backend=sys.argv[2])
print("end")
"""


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_program_that_closes_nothing_exits_and_nothing_warns(path: Path, backend: str) -> None:
    out, errors = _python(FORGETFUL, path, backend).communicate(timeout=60)
    assert (out, errors) == ("end\n", "")
    assert len(anyio.run(SQLiteRunStore(path).read, "r")) == 2
    assert sorted(file.name for file in path.parent.iterdir() if file.name != "runs.db") in (
        [],
        ["runs.db-shm", "runs.db-wal"],
    )


def test_a_store_that_nobody_holds_any_more_closes_its_file(path: Path) -> None:
    store = SQLiteRunStore(path)
    store._append("r", 0, [_start()])  # in this thread: a worker's may hold the store a moment longer
    assert path.with_name("runs.db-wal").exists()
    closing = store._file._closing
    assert closing is not None
    assert closing.peek() is not None
    del store
    gc.collect()
    assert closing.peek() is None
    assert not path.with_name("runs.db-wal").exists()


def test_a_closed_store_opens_its_file_again(path: Path) -> None:
    store = SQLiteRunStore(path)
    store.close()
    anyio.run(store.append, "r", 0, [_start()])
    store.close()
    store.close()
    assert not path.with_name("runs.db-wal").exists()
    assert len(anyio.run(store.read, "r")) == 1


@pytest.fixture
def forked() -> Callable[[Callable[[], object]], int]:
    """Run something in a fork of this process; gives its exit status."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")

    def run(work: Callable[[], object]) -> int:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                work()
                status = 0
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    return run


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_fork_shares_no_connection_with_its_parent(path: Path, forked: Callable[[Callable[[], object]], int]) -> None:
    store = SQLiteRunStore(path)
    anyio.run(store.append, "r", 0, [_start()])
    connection = store._file._connection
    assert connection is not None

    def child() -> None:
        assert store._file._connection is None
        anyio.run(store.append, "r", 1, [_row(child=True)])

    assert forked(child) == 0
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
    anyio.run(store.append, "r", 2, [_row(parent=True)])
    assert [row.seq for row in anyio.run(store.read, "r")] == [1, 2, 3]


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_fork_waits_for_the_write_under_way(path: Path, forked: Callable[[Callable[[], object]], int]) -> None:
    store = SQLiteRunStore(path)
    anyio.run(store.append, "r", 0, [_start()])
    started, release = threading.Event(), threading.Event()

    def write(connection: sqlite3.Connection) -> None:
        started.set()
        release.wait()
        connection.execute("UPDATE runs SET status = 'written'")

    writer = threading.Thread(target=lambda: store._file.use(write, writes=True))
    writer.start()
    started.wait()
    threading.Timer(0.05, release.set).start()
    assert forked(lambda: anyio.run(_expect_status, store, "written")) == 0
    writer.join()


async def _expect_status(store: SQLiteRunStore, status: str) -> None:
    assert [summary.status for summary in await store.runs()] == [status]


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_fork_of_a_store_in_memory_goes_on_with_a_copy_of_its_own(
    forked: Callable[[Callable[[], object]], int],
) -> None:
    store = SQLiteRunStore(":memory:")
    anyio.run(store.append, "r", 0, [_start()])
    assert forked(lambda: anyio.run(store.append, "r", 1, [_row()])) == 0
    assert len(anyio.run(store.read, "r")) == 1

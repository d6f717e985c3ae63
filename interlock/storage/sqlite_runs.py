"""Runs kept in one SQLite file: nothing to install, nothing to start, several processes at once."""

from __future__ import annotations

import math
import operator
import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, TypeVar, cast

import anyio.to_thread
from anyio import CapacityLimiter
from anyio.lowlevel import RunVar

from interlock.errors import JournalConflict, StorageError
from interlock.storage.large_values import pack, unpack
from interlock.storage.row_text import from_text, to_text
from interlock.storage.run_store import DAMAGED, JournalRow, RunSummary
from interlock.storage.sqlite_file import SQLiteFile
from interlock.storage.summing_up import has_ended, summed_up

__all__ = ["SQLiteRunStore"]

T = TypeVar("T")

_APPLICATION: Final = 0x49_4C_6B_31  # "ILk1"

_SCHEMA: Final = (
    """
    CREATE TABLE runs (
        run_id TEXT PRIMARY KEY,
        workflow_id TEXT NOT NULL,
        status TEXT NOT NULL,
        started_at REAL NOT NULL,
        updated_at REAL NOT NULL,
        row_count INTEGER NOT NULL,
        parent TEXT,
        cancel_asked INTEGER NOT NULL,
        last_number INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX runs_by_last_number ON runs (last_number);
    CREATE TABLE journal (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        type TEXT NOT NULL,
        time REAL NOT NULL,
        path TEXT NOT NULL,
        at TEXT NOT NULL,
        data TEXT NOT NULL,
        UNIQUE (run_id, seq)
    );
    CREATE TABLE large_values (
        sha256 TEXT PRIMARY KEY,
        text TEXT NOT NULL
    );
    CREATE TABLE large_values_of_runs (
        run_id TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        PRIMARY KEY (run_id, sha256)
    ) WITHOUT ROWID;
    CREATE INDEX runs_of_large_values ON large_values_of_runs (sha256)
    """,
)

_SUMMARY: Final = "run_id, workflow_id, status, started_at, updated_at, row_count, parent, cancel_asked"


class SQLiteRunStore:
    """Keeps runs in an SQLite file.

    One row an event, in a table that only grows; a large value is kept once, however often it occurs. Tasks, threads
    and processes may use the file at once. It is opened at the first use, and need not be closed.

    What has been appended survives the death of the process at any moment. If the machine loses power, the last
    appends may be lost, never half an append and never the file; ``durability="full"`` waits for the disk each time,
    so that these are kept as well.

    Args:
        path: The file, made where there is none; its folder must be there. ``":memory:"`` keeps the runs in memory.
        durability: ``"normal"`` or ``"full"``.
        timeout: Seconds to wait for another process that writes.

    Raises:
        StorageError: From every method: the file cannot be opened, read or written, is no SQLite database, another
            program's, or a newer Interlock's. ``__cause__`` is SQLite's own error.

    Example:
        >>> import anyio
        >>> from interlock.storage import JournalRow, SQLiteRunStore
        >>> async def main() -> None:
        ...     store = SQLiteRunStore(":memory:")
        ...     await store.append("r1", 0, [JournalRow(1, "workflow-start", 0.0, data={"workflow": "greet"})])
        ...     print([(run.run_id, run.workflow_id, run.status) for run in await store.runs()])
        >>> anyio.run(main)
        [('r1', 'greet', 'running')]
    """

    def __init__(
        self, path: str | os.PathLike[str], *, durability: Literal["normal", "full"] = "normal", timeout: float = 60.0
    ) -> None:
        named = os.fspath(path)
        if not named:
            raise ValueError("the path of a store's file must not be empty")
        if durability not in ("normal", "full"):
            raise ValueError(f"durability is 'normal' or 'full', not {durability!r}")
        self._file = SQLiteFile(
            named,
            application_id=_APPLICATION,
            schema=_SCHEMA,
            synchronous="FULL" if durability == "full" else "NORMAL",
            timeout=timeout,
        )
        # One task of an event loop at a time: more would only wait for the connection, each in a thread, and they must
        # not wait for the threads that steps of the user's keep busy.
        self._turn: RunVar[CapacityLimiter] = RunVar("the turn to use a store's file")

    @property
    def path(self) -> str:
        """The file's absolute path, or ``":memory:"``."""
        return self._file.path

    async def append(self, run_id: str, after: int, rows: Sequence[JournalRow]) -> bool:
        """Append rows to a run's journal: all of them, or none; see :meth:`RunStore.append`."""
        if not rows:
            raise ValueError(f"run {run_id!r}: there are no rows to append")
        return await self._in_thread(lambda: self._append(run_id, after, rows))

    async def read(self, run_id: str, *, after: int = 0) -> Sequence[JournalRow]:
        """The rows behind number ``after``, in order; none where there is no such run."""
        return await self._in_thread(lambda: self._file.use(lambda connection: _read(connection, run_id, after)))

    async def runs(self, *, limit: int = 100) -> Sequence[RunSummary]:
        """The runs there are, the one whose journal grew last first."""
        return await self._in_thread(lambda: self._file.use(lambda connection: _runs(connection, max(limit, 0))))

    async def ask_to_cancel(self, run_id: str) -> bool:
        """Ask for a run's end; whether there is such a run."""
        return await self._in_thread(lambda: self._file.use(lambda c: _ask_to_cancel(c, run_id), writes=True))

    async def cancel_asked(self, run_id: str) -> bool:
        """Whether somebody has asked for the run's end, and it has not ended since."""

        def asked(connection: sqlite3.Connection) -> bool:
            found = _summary(connection, run_id)
            return found is not None and found.cancel_asked

        return await self._in_thread(lambda: self._file.use(asked))

    async def delete(self, run_id: str) -> bool:
        """Forget a run; whether there was one. The file does not shrink, but what was freed is used again."""
        return await self._in_thread(lambda: self._file.use(lambda c: _delete(c, run_id), writes=True))

    def close(self) -> None:
        """Close the file. Nobody has to; the next use opens it again. (What ``":memory:"`` kept is gone.)"""
        self._file.close()

    def __repr__(self) -> str:
        return f"SQLiteRunStore({self.path!r})"

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Run in a worker thread. Where the caller is cancelled meanwhile the work is done to its end all the same."""
        turn = self._turn.get(None)
        if turn is None:
            turn = CapacityLimiter(1)
            self._turn.set(turn)
        return await anyio.to_thread.run_sync(work, limiter=turn)

    def _append(self, run_id: str, after: int, rows: Sequence[JournalRow]) -> bool:
        large: dict[str, str] = {}
        written: list[tuple[Any, ...]] = []
        for seq, row in enumerate(rows, after + 1):
            try:
                text, apart = pack(row.data)
            except (TypeError, ValueError, RecursionError) as error:
                raise ValueError(f"run {run_id!r}: the data of a {row.type!r} row is no JSON: {error}") from error
            large.update(apart)
            written.append((run_id, seq, row.type, row.time, row.path, to_text(list(row.at)), text))

        def append(connection: sqlite3.Connection) -> bool:
            before = _summary(connection, run_id)
            if before is not None and before.status == DAMAGED:
                raise StorageError(
                    f"what the store has noted of run {run_id!r} is damaged: nothing can be written to it"
                )
            last = before.rows if before is not None else 0
            if last != after:
                raise JournalConflict(run_id, after, last)
            _write_large(connection, run_id, large)
            connection.executemany(
                "INSERT INTO journal (run_id, seq, type, time, path, at, data) VALUES (?, ?, ?, ?, ?, ?, ?)", written
            )
            summary = summed_up(run_id, rows, before=before)
            _write_summary(connection, summary)
            return summary.cancel_asked

        return self._file.use(append, writes=True)


def _read(connection: sqlite3.Connection, run_id: str, after: int) -> list[JournalRow]:
    fetched: dict[str, str] = {}

    def fetch(sha256: str) -> str:
        if sha256 not in fetched:
            found = connection.execute("SELECT text FROM large_values WHERE sha256 = ?", (sha256,)).fetchone()
            if found is None:
                raise ValueError(f"the large value {sha256} is missing")
            fetched[sha256] = found[0]
        return fetched[sha256]

    found = connection.execute(
        "SELECT seq, type, time, path, at, data FROM journal WHERE run_id = ? AND seq > ? ORDER BY seq",
        (run_id, after),
    )
    rows: list[JournalRow] = []
    for seq, kind, time, path, at, data in found.fetchall():
        try:
            rows.append(JournalRow(seq, kind, time, path, tuple(from_text(at)), _object(unpack(data, fetch))))
        except (TypeError, ValueError, RecursionError) as error:
            raise StorageError(f"row {seq} of run {run_id!r} is damaged: {error}") from error
    _check_whole(run_id, [row.seq for row in rows], after, _last_row(connection, run_id))
    return rows


def _object(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise TypeError("its data is no JSON object")
    return cast("dict[str, Any]", data)


def _last_row(connection: sqlite3.Connection, run_id: str) -> int:
    """The number of a run's last row, as it was noted when that was written; 0 where there is no such run."""
    found = connection.execute("SELECT row_count FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    return 0 if found is None else _if(found[0], int, 0)


def _check_whole(run_id: str, seqs: Sequence[int], after: int, last: int) -> None:
    """Refuse a journal in which rows are missing, or are too many: nobody could write behind its end.

    Raises:
        StorageError: It is one.
    """
    wanted = range(max(after, 0) + 1, last + 1)
    if len(seqs) == len(wanted) and all(map(operator.eq, seqs, wanted)):
        return
    there = set(seqs)
    fault = next((f"row {seq} is missing" for seq in wanted if seq not in there), None)
    raise StorageError(
        f"the journal of run {run_id!r} is damaged: "
        f"{fault or f'it has a row {seqs[-1]}, and the list of runs says that row {last} is the last'}"
    )


def _runs(connection: sqlite3.Connection, limit: int) -> list[RunSummary]:
    found = connection.execute(f"SELECT {_SUMMARY} FROM runs ORDER BY last_number DESC LIMIT ?", (limit,))
    return [_made_summary(row) for row in found.fetchall()]


def _summary(connection: sqlite3.Connection, run_id: str) -> RunSummary | None:
    found = connection.execute(f"SELECT {_SUMMARY} FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    return None if found is None else _made_summary(found)


def _made_summary(row: tuple[Any, ...]) -> RunSummary:
    run_id, workflow_id, status, started_at, updated_at, rows, parent, cancel_asked = row
    kept = RunSummary(
        str(run_id),
        _if(workflow_id, str, ""),
        _if(status, str, DAMAGED),
        _if(started_at, float, 0.0),
        _if(updated_at, float, 0.0),
        _if(rows, int, 0),
        parent if isinstance(parent, str) else None,
        bool(cancel_asked),
    )
    told = (kept.run_id, kept.workflow_id, kept.status, kept.started_at, kept.updated_at, kept.rows, kept.parent)
    return kept if told == row[:-1] else replace(kept, status=DAMAGED)


def _if(value: object, kind: type[T], otherwise: T) -> T:
    """A value, where it is of the kind that was written: SQLite keeps a text in a column of numbers, too."""
    return value if isinstance(value, kind) and (not isinstance(value, float) or math.isfinite(value)) else otherwise


def _write_summary(connection: sqlite3.Connection, summary: RunSummary) -> None:
    connection.execute(
        f"INSERT OR REPLACE INTO runs ({_SUMMARY}, last_number) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT max(number) FROM journal))",
        (
            summary.run_id,
            summary.workflow_id,
            summary.status,
            summary.started_at,
            summary.updated_at,
            summary.rows,
            summary.parent,
            summary.cancel_asked,
        ),
    )


def _write_large(connection: sqlite3.Connection, run_id: str, large: dict[str, str]) -> None:
    connection.executemany("INSERT OR IGNORE INTO large_values (sha256, text) VALUES (?, ?)", large.items())
    connection.executemany(
        "INSERT OR IGNORE INTO large_values_of_runs (run_id, sha256) VALUES (?, ?)",
        [(run_id, sha256) for sha256 in large],
    )


def _ask_to_cancel(connection: sqlite3.Connection, run_id: str) -> bool:
    found = _summary(connection, run_id)
    if found is not None and not has_ended(found.status):
        connection.execute("UPDATE runs SET cancel_asked = 1 WHERE run_id = ?", (run_id,))
    return found is not None


def _delete(connection: sqlite3.Connection, run_id: str) -> bool:
    there = connection.execute("DELETE FROM runs WHERE run_id = ?", (run_id,)).rowcount > 0
    connection.execute("DELETE FROM journal WHERE run_id = ?", (run_id,))
    connection.execute(
        "DELETE FROM large_values WHERE sha256 IN (SELECT sha256 FROM large_values_of_runs WHERE run_id = :run) "
        "AND NOT EXISTS (SELECT 1 FROM large_values_of_runs AS other "
        "WHERE other.sha256 = large_values.sha256 AND other.run_id <> :run)",
        {"run": run_id},
    )
    connection.execute("DELETE FROM large_values_of_runs WHERE run_id = ?", (run_id,))
    return there

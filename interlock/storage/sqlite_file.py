"""A connection to one SQLite file that any thread may use, that survives a fork, and that nobody needs to close."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal, TypeVar

from interlock.errors import StorageError

__all__ = ["MEMORY", "SQLiteFile"]

T = TypeVar("T")

MEMORY: Final = ":memory:"


class SQLiteFile:
    """An SQLite database with tables of our own, opened when it is first used.

    One connection serves all threads, one after the other. Before this process forks it is closed, so that no two
    processes ever share one; the next use opens it again, in either process.

    Args:
        path: The file, or ``":memory:"``.
        application_id: Says whose file it is, a 32-bit number in its header.
        schema: The statements that make the tables, by the version that began to have them: the first is version 1.
        synchronous: ``"NORMAL"`` or ``"FULL"``.
        timeout: Seconds to wait for other processes that write.
    """

    def __init__(
        self,
        path: str,
        *,
        application_id: int,
        schema: Sequence[str],
        synchronous: Literal["NORMAL", "FULL"],
        timeout: float,
    ) -> None:
        self.path = path if path == MEMORY else os.path.abspath(path)
        self._application_id = application_id
        self._schema = schema
        self._synchronous = synchronous
        self._timeout = timeout
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._closing: weakref.finalize[..., SQLiteFile] | None = None
        self._node: tuple[int, int] | None = None
        _files.add(self)

    def use(self, work: Callable[[sqlite3.Connection], T], *, writes: bool = False) -> T:
        """Do some work in one transaction: all of it happens, or nothing.

        Args:
            work: Is given the connection; what it raises undoes all.
            writes: Whether it writes: then nobody else does until it has ended.

        Raises:
            StorageError: SQLite could not do it.
        """
        with self._lock:
            try:
                connection = self._opened()
                return self._within(connection, work, "BEGIN IMMEDIATE" if writes else "BEGIN")
            except (sqlite3.Error, OSError) as error:
                raise StorageError(f"{self.path}: {self._told(error)}") from error

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._close()

    def _within(self, connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T], begin: str) -> T:
        connection.execute(begin)
        try:
            made = work(connection)
            connection.execute("COMMIT")
            return made
        except BaseException:
            try:
                if connection.in_transaction:  # SQLite itself undoes some failures, such as a full disk
                    connection.execute("ROLLBACK")
            except sqlite3.Error:
                self._close()  # which undoes it as well; the work's own error is the one to tell
            raise

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and self.path != MEMORY and self._node != _node(self.path):
            self._close()
            raise StorageError(
                f"{self.path}: the file was removed, moved or replaced while it was in use; what had been written to "
                "it is no longer under this name"
            )
        if self._connection is None:
            if self.path != MEMORY:
                self._look()
            connection = sqlite3.connect(
                self.path, timeout=self._timeout, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
                self._node = None if self.path == MEMORY else _node(self.path)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self._closing = weakref.finalize(self, connection.close)
        return self._connection

    def _close(self) -> None:
        closing, self._closing, self._connection = self._closing, None, None
        if closing is not None:
            closing()

    # Opening

    def _look(self) -> None:
        """Say plainly what SQLite would call "unable to open database file"."""
        path = Path(self.path)
        if path.is_dir():
            raise StorageError(f"{path} is a folder, not a database: name a file in it, such as {path / 'runs.db'}")
        if not path.parent.is_dir():
            raise StorageError(f"{path}: there is no folder {path.parent}; make it first")

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = self._within(connection, self._version, "BEGIN")
        if self.path != MEMORY:
            self._write_ahead(connection)
        connection.execute(f"PRAGMA synchronous={self._synchronous}")
        if version < len(self._schema):
            self._within(connection, self._make_tables, "BEGIN IMMEDIATE")

    def _version(self, connection: sqlite3.Connection) -> int:
        """The version of its tables; 0 where it is empty.

        Raises:
            StorageError: The file is not ours, or newer than we are.
        """
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not owner and not version and not tables:
            return 0
        if owner != self._application_id:
            raise StorageError(f"{self.path} is another program's database; name a file of its own")
        if version > len(self._schema):
            raise StorageError(
                f"{self.path} was written by a newer Interlock (its tables are of version {version}, this one knows "
                f"version {len(self._schema)}): update Interlock"
            )
        return int(version)

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Turn on the write-ahead log. SQLite does not wait here for others that do the same, so this does."""
        until = time.monotonic() + self._timeout
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL").fetchone()
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.005)

    def _make_tables(self, connection: sqlite3.Connection) -> None:
        version = self._version(connection)  # another process may have been quicker
        for statements in self._schema[version:]:
            for statement in statements.split(";"):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id={self._application_id}")
        connection.execute(f"PRAGMA user_version={len(self._schema)}")

    def _told(self, error: Exception) -> str:
        match getattr(error, "sqlite_errorcode", 0) & 0xFF:
            case sqlite3.SQLITE_BUSY:
                return f"another process has kept the database locked for {self._timeout:g} s"
            case sqlite3.SQLITE_FULL:
                return "the disk is full; nothing was written"
            case sqlite3.SQLITE_READONLY:
                return f"the file, or its folder, cannot be written to ({error})"
            case sqlite3.SQLITE_NOTADB:
                return "this is no SQLite database; name a file of its own"
            case _:
                return str(error)

    # Forks

    def hold(self) -> None:
        """Wait for whoever uses the connection, and close it: this process is about to fork."""
        self._lock.acquire()
        if self.path != MEMORY:  # a fork's copy of a database in memory is its own
            self._close()

    def let_go(self) -> None:
        """The process has forked."""
        self._lock.release()


def _node(path: str) -> tuple[int, int] | None:
    """What tells a file from another of the same name; None where there is none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


_files: Final[weakref.WeakSet[SQLiteFile]] = weakref.WeakSet()
_forking: Final = threading.Lock()
_held: Final[list[SQLiteFile]] = []


def _before_fork() -> None:
    _forking.acquire()
    _held.extend(_files)
    for file in _held:
        file.hold()


def _after_fork() -> None:
    for file in _held:
        file.let_go()
    _held.clear()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)

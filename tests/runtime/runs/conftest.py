"""A store of each kind, for tests of runs that are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.runtime import MemoryRunStore, RunStore, SQLiteRunStore


@pytest.fixture(params=["memory", "sqlite"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunStore]:
    """A store, in memory and in a file."""
    if request.param == "memory":
        yield MemoryRunStore()
        return
    opened = SQLiteRunStore(tmp_path / "runs.db")
    yield opened
    opened.close()


@pytest.fixture(params=["none", "memory"])
def maybe(request: pytest.FixtureRequest) -> RunStore | None:
    """A store, or none."""
    return None if request.param == "none" else MemoryRunStore()


@pytest.fixture(params=["none", "memory", "sqlite"])
def each(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunStore | None]:
    """A store of each kind, or none."""
    if request.param != "sqlite":
        yield None if request.param == "none" else MemoryRunStore()
        return
    opened = SQLiteRunStore(tmp_path / "runs.db")
    yield opened
    opened.close()

"""Runs kept in memory."""

from __future__ import annotations

import threading

import anyio
import pytest

from interlock.errors import JournalConflict
from interlock.storage import JournalRow, MemoryRunStore, RunStore
from interlock.testing import run_store_checks
from interlock.testing.run_stores import RunStoreCheck


@pytest.mark.anyio
@pytest.mark.parametrize("check", run_store_checks)
async def test_a_store_in_memory_keeps_the_rule(check: RunStoreCheck) -> None:
    await check(MemoryRunStore)


def test_a_store_in_memory_is_a_run_store() -> None:
    assert isinstance(MemoryRunStore(), RunStore)


def test_of_many_threads_with_event_loops_of_their_own_one_wins_each_row() -> None:
    store = MemoryRunStore()
    won: list[int] = []
    ready = threading.Barrier(4)

    async def append(name: int) -> None:
        for last in range(50):
            try:
                await store.append("r", last, [JournalRow(0, "x", 0.0, data={"name": name})])
                won.append(name)
            except JournalConflict:
                pass
            while len(await store.read("r")) <= last:
                pass

    def work(name: int) -> None:
        ready.wait()
        anyio.run(append, name)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = anyio.run(store.read, "r")
    assert [row.seq for row in rows] == list(range(1, 51))
    assert len(won) == 50


@pytest.mark.anyio
async def test_iterations_come_back_as_a_tuple_whatever_they_were_given_as() -> None:
    store = MemoryRunStore()
    await store.append("r", 0, [JournalRow(0, "x", 0.0, at=[1, 2])])  # type: ignore[arg-type]
    assert (await store.read("r"))[0].at == (1, 2)
    assert repr(store) == "<MemoryRunStore of 1 runs>"

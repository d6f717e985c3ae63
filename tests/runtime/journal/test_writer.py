"""Writing a journal: in batches, in order, by one task."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import StorageError
from interlock.runtime import Event, MemoryRunStore
from interlock.runtime.journal.rows import RowForm
from interlock.runtime.journal.values import ValueCodec
from interlock.runtime.journal.writer import JournalWriter
from interlock.storage import JournalRow

pytestmark = pytest.mark.anyio

FORM = RowForm(ValueCodec())


class Slow(MemoryRunStore):
    """Writes when it is let, and notes how many rows came at once."""

    def __init__(self, *, fails_at: int = 0) -> None:
        super().__init__()
        self.batches: list[int] = []
        self.let = anyio.Event()
        self.began = anyio.Event()
        self._fails_at = fails_at

    async def append(self, run_id: str, after: int, rows: Sequence[JournalRow]) -> bool:
        self.began.set()
        await self.let.wait()
        if len(self.batches) + 1 == self._fails_at:
            raise OSError("full")
        self.batches.append(len(rows))
        return await super().append(run_id, after, rows)


def event(seq: int) -> Event:
    """Any event."""
    return Event(seq, "workflow-start" if seq == 1 else "step-output", "r", 0.0, data={"name": "n", "value": seq})


def writer(store: MemoryRunStore, told: list[str] | None = None) -> JournalWriter:
    """A writer of a run's journal from its first row."""
    said = told if told is not None else []
    return JournalWriter(
        store,
        "r",
        after=0,
        form=FORM,
        on_cancel=lambda: said.append("cancel"),
        on_error=lambda: said.append("error"),
    )


async def test_what_comes_while_a_batch_is_written_makes_the_next() -> None:
    store = Slow()
    one = writer(store)
    async with anyio.create_task_group() as group:
        group.start_soon(one.run)
        one.add(one.row(event(1)))
        await store.began.wait()
        for seq in range(2, 6):
            one.add(one.row(event(seq)))
        store.let.set()
        await one.flushed()
        group.cancel_scope.cancel()
    assert store.batches == [1, 4]
    assert [row.seq for row in await store.read("r")] == [1, 2, 3, 4, 5]


async def test_whoever_waits_is_let_go_when_their_row_is_kept() -> None:
    store = Slow()
    one = writer(store)
    done: list[str] = []

    async def wait() -> None:
        await one.flushed()
        done.append("kept")

    async with anyio.create_task_group() as group:
        group.start_soon(one.run)
        await one.flushed()  # nothing was noted
        one.add(one.row(event(1)))
        group.start_soon(wait)
        await store.began.wait()
        assert not done
        store.let.set()
        await one.flushed()
        group.cancel_scope.cancel()
    assert done == ["kept"]


async def test_a_failure_is_told_to_all_who_wait_and_nothing_is_written_behind_it() -> None:
    store, told = Slow(fails_at=2), list[str]()
    store.let.set()
    one = writer(store, told)
    async with anyio.create_task_group() as group:
        group.start_soon(one.run)
        one.add(one.row(event(1)))
        await one.flushed()
        one.add(one.row(event(2)))
        with pytest.raises(StorageError, match="run 'r': full"):
            await one.flushed()
        one.add(one.row(event(3)))
        with pytest.raises(StorageError):
            await one.flushed()
        group.cancel_scope.cancel()
    assert told == ["error"]
    assert [row.seq for row in await store.read("r")] == [1]


async def test_a_cancel_that_was_asked_for_is_told() -> None:
    store, told = MemoryRunStore(), list[str]()
    one = writer(store, told)
    async with anyio.create_task_group() as group:
        group.start_soon(one.run)
        one.add(one.row(event(1)))
        await one.flushed()
        assert told == []
        await store.ask_to_cancel("r")
        one.add(one.row(event(2)))
        await one.flushed()
        assert told == ["cancel"]
        group.cancel_scope.cancel()


@given(sizes=st.lists(st.integers(0, 5), max_size=8))
def test_rows_are_kept_in_order_however_they_come(sizes: list[int]) -> None:
    async def main() -> None:
        store = MemoryRunStore()
        one = writer(store)
        seq = 0
        async with anyio.create_task_group() as group:
            group.start_soon(one.run)
            for size in sizes:
                for _ in range(size):
                    seq += 1
                    one.add(one.row(event(seq)))
                await anyio.lowlevel.checkpoint()
            await one.flushed()
            group.cancel_scope.cancel()
        assert [row.data.get("value") for row in await store.read("r")] == list(range(1, seq + 1))

    anyio.run(main)

"""What is written for the client: checked at once, kept in order, and waited for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import anyio
import pytest
from anyio import to_thread

from interlock.messages import DataChunk
from interlock.messages.outbox import Outbox, written_chunk

pytestmark = pytest.mark.anyio


def test_what_is_written_shares_nothing_with_what_was_given() -> None:
    data = {"seen": [1]}
    chunk = written_chunk("seen", data, id="s", message_id="m", transient=True)
    data["seen"].append(2)
    assert chunk == DataChunk("seen", {"seen": [1]}, "s", "m", True)


@dataclass
class _Share:
    part: float


def _endless() -> list[object]:
    value: list[object] = []
    value.append(value)
    return value


@pytest.mark.parametrize("data", [math.nan, object(), {"a": [object()]}, {None: 1}, _endless(), _Share(math.inf)])
def test_what_has_no_json_form_is_refused_when_it_is_written(data: object) -> None:
    with pytest.raises(ValueError, match="the data written as 'n'"):
        written_chunk("n", data)


@pytest.mark.parametrize("name", ["", "a b", "-x", "a/b", "é", 3])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="needs a name of letters"):
        written_chunk(name, None)


def test_chunks_are_taken_once_in_the_order_they_were_put() -> None:
    outbox = Outbox()
    chunks = [DataChunk("n", n) for n in range(3)]
    for chunk in chunks:
        outbox.put(chunk)
    assert (list(outbox.take()), list(outbox.take()), bool(outbox)) == (chunks, [], False)


async def test_whoever_waits_wakes_when_something_is_put_from_any_thread() -> None:
    outbox = Outbox()
    got: list[object] = []

    async def read() -> None:
        for _ in range(2):
            await outbox.stirred()
            got.extend(outbox.take())

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(read)
            await anyio.wait_all_tasks_blocked()
            outbox.put(DataChunk("n", 1))
            await anyio.wait_all_tasks_blocked()
            await to_thread.run_sync(outbox.put, DataChunk("n", 2))
    assert got == [DataChunk("n", 1), DataChunk("n", 2)]


async def test_whoever_stirs_wakes_the_reader_without_a_chunk() -> None:
    outbox = Outbox()
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(outbox.stirred)
            await anyio.wait_all_tasks_blocked()
            outbox.stir()
    assert not outbox


async def test_a_writer_can_wait_until_all_was_taken() -> None:
    outbox = Outbox()
    outbox.put(DataChunk("n", 1))
    order: list[str] = []

    async def write() -> None:
        await outbox.taken()
        order.append("written on")

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(write)
            await anyio.wait_all_tasks_blocked()
            order.append("taken")
            outbox.take()
    assert order == ["taken", "written on"]

"""Where events wait for their reader."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from interlock.runtime import Event
from interlock.runtime.journal.reader import MOST, ROOM, EventBuffer
from interlock.workflows.events import EventType

pytestmark = pytest.mark.anyio


def event(seq: int, kind: EventType = "step-start") -> Event:
    """Any event."""
    return Event(seq, kind, "r", 0.0)


async def test_events_are_given_in_order_and_then_none() -> None:
    buffer = EventBuffer()
    for seq in (1, 2):
        buffer.add(event(seq))
    buffer.end()
    taken = [await buffer.next() for _ in range(4)]
    assert [one and one.seq for one in taken] == [1, 2, None, None]


async def test_a_reader_waits_for_the_next_event_and_for_the_end() -> None:
    buffer = EventBuffer()
    seen: list[int | None] = []

    async def read() -> None:
        while True:
            one = await buffer.next()
            seen.append(None if one is None else one.seq)
            if one is None:
                return

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        for seq in (1, 2):
            await anyio.lowlevel.checkpoint()
            buffer.add(event(seq))
        buffer.end()
    assert seen == [1, 2, None]


async def test_room_is_made_when_half_has_been_read() -> None:
    buffer = EventBuffer()
    for seq in range(ROOM):
        assert not buffer.full
        buffer.add(event(seq))
    assert buffer.full
    went_on = False

    async def wait() -> None:
        nonlocal went_on
        await buffer.room()
        went_on = True

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        for _ in range(ROOM // 2 - 1):
            await buffer.next()
        await anyio.wait_all_tasks_blocked()
        assert not went_on
        await buffer.next()
    assert went_on


async def test_nobody_waits_for_a_reader_that_has_left() -> None:
    buffer = EventBuffer()
    for seq in range(ROOM):
        buffer.add(event(seq))

    async with anyio.create_task_group() as group:
        group.start_soon(buffer.room)
        await anyio.wait_all_tasks_blocked()
        buffer.drop()
    buffer.add(event(ROOM))
    buffer.add(event(ROOM + 1, "workflow-finish"))
    last = await buffer.next()
    assert last is not None
    assert last.type == "workflow-finish"


async def test_what_a_step_writes_beyond_measure_is_dropped_and_counted_at_the_next_event() -> None:
    buffer = EventBuffer()
    for seq in range(MOST + 5):
        buffer.add(event(seq, "step-output"))
    buffer.add(event(MOST + 5, "step-result"))
    taken = [await buffer.next() for _ in range(MOST + 1)]
    last = taken[-1]
    assert last is not None
    assert (last.type, last.data) == ("step-result", {"dropped": 5})
    buffer.add(event(MOST + 6))
    following = await buffer.next()
    assert following is not None
    assert "dropped" not in following.data

"""Where a run's events wait for their reader: a buffer that makes the run wait when it is full."""

from __future__ import annotations

from collections import deque
from typing import Final

import anyio

from interlock.workflows.events import Event

__all__ = ["EventBuffer"]

ROOM: Final = 1024
"""So many events may wait before no further step begins."""

MOST: Final = 16 * ROOM
"""So many may wait in all: a step that writes more than this while nobody reads loses what it writes."""


class EventBuffer:
    """Events that nobody has read yet.

    A step begins only while there is room, so a slow reader slows the run. What a step writes while it runs cannot
    wait for the reader; where it writes without measure, what nobody reads is dropped, and the next event says how many
    were: ``dropped`` in its data.

    Attributes:
        dropping: Whether nobody will read any more.
    """

    def __init__(self) -> None:
        self.dropping = False
        self._events: deque[Event] = deque()
        self._dropped = 0
        self._arrived: anyio.Event | None = None
        self._taken: anyio.Event | None = None
        self._ended = False

    @property
    def full(self) -> bool:
        """Whether the run is to wait for the reader."""
        return len(self._events) >= ROOM

    def add(self, event: Event) -> None:
        """Take an event."""
        if self.dropping:
            if event.type != "workflow-finish":
                return
        elif event.type == "step-output" and len(self._events) >= MOST:
            self._dropped += 1
            return
        elif self._dropped:
            data = {**event.data, "dropped": self._dropped}
            event = Event(event.seq, event.type, event.run_id, event.time, event.path, event.at, data)
            self._dropped = 0
        self._events.append(event)
        if self._arrived is not None:
            self._arrived.set()
            self._arrived = None

    def end(self) -> None:
        """Take no more."""
        self._ended = True
        if self._arrived is not None:
            self._arrived.set()
            self._arrived = None

    def drop(self) -> None:
        """Nobody will read any more: what waits, and what comes, is dropped."""
        self.dropping = True
        last = self._events[-1] if self._events and self._events[-1].type == "workflow-finish" else None
        self._events.clear()
        if last is not None:
            self._events.append(last)
        self._made_room()

    def waiting(self) -> Event | None:
        """The next event, where one waits to be read."""
        if not self._events:
            return None
        event = self._events.popleft()
        if self._taken is not None and len(self._events) <= ROOM // 2:
            self._made_room()
        return event

    async def next(self) -> Event | None:
        """The next event; None when there are no more."""
        while not self._events:
            if self._ended:
                return None
            if self._arrived is None:
                self._arrived = anyio.Event()
            await self._arrived.wait()
        return self.waiting()

    async def room(self) -> None:
        """Wait until there is room."""
        while self.full and not self.dropping:
            if self._taken is None:
                self._taken = anyio.Event()
            await self._taken.wait()

    def _made_room(self) -> None:
        if self._taken is not None:
            self._taken.set()
            self._taken = None

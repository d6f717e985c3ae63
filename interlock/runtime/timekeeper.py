"""Time-outs of what is waited for chunk by chunk: a place is noted and taken back, and one timer serves them all.

A cancel scope for each wait would cost some ten times as much. What never waits costs nothing here; what waits, an
entry in a table. The timer is armed for the entry that comes first, and looks around when it fires.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

__all__ = ["Timekeeper"]

_Task = asyncio.Task[Any]


class Timekeeper:
    """The waits of one event loop that have a time-out, one a task at a time. For asyncio."""

    __slots__ = ("_handle", "_loop", "_struck", "_time", "_until", "_when")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._time = time.monotonic
        self._until: dict[_Task, float] = {}
        self._struck: dict[_Task, int] = {}  # with how often the task had been cancelled before
        self._handle: asyncio.TimerHandle | None = None
        self._when = 0.0

    def begin(self, seconds: float) -> _Task:
        """The running task is about to wait, and may so long; gives the task."""
        task = asyncio.current_task(self._loop)  # to look for the loop takes longer than all the rest
        assert task is not None  # an event loop runs coroutines in tasks
        until = self._until[task] = self._time() + seconds
        if self._handle is None or until < self._when:
            self._arm(until)
        return task

    def end(self, task: _Task) -> bool:
        """It waits no more; gives whether its time was up, and nobody else has cancelled it meanwhile."""
        until = self._until.pop(task, None)
        if until is not None:  # nobody could interrupt it where it kept the loop busy
            return self._time() > until
        before = self._struck.pop(task, None)
        return before is not None and task.uncancel() <= before

    def _arm(self, when: float) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._when = when
        self._handle = self._loop.call_later(when - self._time(), self._fired)

    def _fired(self) -> None:
        self._handle = None
        now = self._time()
        for task, until in list(self._until.items()):
            if until <= now:
                del self._until[task]
                self._struck[task] = task.cancelling()
                task.cancel()
        if self._until:
            self._arm(min(self._until.values()))

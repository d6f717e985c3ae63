"""Time-outs of what is waited for chunk by chunk: a place is noted and taken back, and one timer serves them all.

A cancel scope for each wait would cost some ten times as much. What never waits costs nothing here; what waits, an
entry in a table. The timer is armed for the entry that comes first, and looks around when it fires.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Generator
from typing import Any

__all__ = ["Timed", "Timekeeper"]


class Timekeeper:
    """The waits of one event loop that have a time-out. For asyncio."""

    __slots__ = ("_handle", "_loop", "_waits", "_when")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waits: dict[_Wait, None] = {}
        self._handle: asyncio.TimerHandle | None = None
        self._when = 0.0

    def begin(self, seconds: float) -> _Wait:
        """The running task is about to wait."""
        task = asyncio.current_task()
        assert task is not None  # an event loop runs coroutines in tasks
        wait = _Wait(task, self._loop.time() + seconds)
        self._waits[wait] = None
        if self._handle is None or wait.until < self._when:
            self._arm(wait.until)
        return wait

    def end(self, wait: _Wait) -> bool:
        """It waits no more; gives whether its time was up, and nobody else has cancelled it."""
        self._waits.pop(wait, None)
        return wait.struck and wait.task.uncancel() <= wait.before

    def _arm(self, when: float) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._when = when
        self._handle = self._loop.call_at(when, self._fired)

    def _fired(self) -> None:
        self._handle = None
        now = self._loop.time()
        for wait in list(self._waits):
            if wait.until <= now:
                del self._waits[wait]
                wait.strike()
        if self._waits:
            self._arm(min(wait.until for wait in self._waits))


class _Wait:
    """One wait of one task."""

    __slots__ = ("before", "struck", "task", "until")

    def __init__(self, task: asyncio.Task[Any], until: float) -> None:
        self.task = task
        self.until = until
        self.before = task.cancelling()
        self.struck = False

    def strike(self) -> None:
        """Its time is up."""
        self.struck = True
        self.task.cancel()


class Timed:
    """Something to await that may take so long, from when it first waits.

    Args:
        awaitable: What is awaited.
        seconds: How long.
        keeper: Who keeps the time.
    """

    __slots__ = ("_awaitable", "_keeper", "_seconds")

    def __init__(self, awaitable: Awaitable[object], seconds: float, keeper: Timekeeper) -> None:
        self._awaitable = awaitable
        self._seconds = seconds
        self._keeper = keeper

    def __await__(self) -> Generator[Any, Any, object]:
        steps = self._awaitable.__await__()
        try:
            first = next(steps)
        except StopIteration as done:
            result: object = done.value
            return result
        keeper = self._keeper
        wait = keeper.begin(self._seconds)
        late = False
        try:
            result = yield from _rest(steps, first)
        except asyncio.CancelledError:
            late = keeper.end(wait)
            if not late:
                raise
        except BaseException:
            keeper.end(wait)
            raise
        else:
            late = keeper.end(wait)
        if late:
            raise TimeoutError(f"it took longer than {self._seconds:g} s")
        return result

    def close(self) -> None:
        """Drop it."""
        from interlock.runtime.strand import close

        close(self._awaitable)


def _rest(steps: Generator[Any, Any, object], yielded: object) -> Generator[Any, Any, object]:
    """What is left of something whose first step was taken by hand."""
    while True:
        try:
            sent = yield yielded
        except GeneratorExit:
            steps.close()
            raise
        except BaseException as error:
            try:
                yielded = steps.throw(error)
            except StopIteration as done:
                return done.value
        else:
            try:
                yielded = steps.send(sent)
            except StopIteration as done:
                return done.value

"""The watchdog on asyncio: it cancels the task it stands in, and takes that back on the way out.

A cancel scope would do, at some ten times the cost per chunk. The task is only ever cancelled from the loop, never from
its own code: so the cancellation always arrives at the wait it was meant for, and none is left over behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

from interlock.verdict import Latch

__all__ = ["TaskWatchdog"]


class TaskWatchdog:
    """See :class:`interlock.runtime.watchdog.Watchdog`."""

    __slots__ = ("_before", "_inside", "_is_waiting", "_latch", "_loop", "_struck", "_task")

    def __init__(self, latch: Latch, is_waiting: Callable[[], bool]) -> None:
        task = asyncio.current_task()
        assert task is not None  # an event loop runs coroutines in tasks
        self._task = task
        self._loop = task.get_loop()
        self._latch = latch
        self._is_waiting = is_waiting
        self._before = 0
        self._inside = False
        self._struck = False

    def __enter__(self) -> Self:
        self._before = self._task.cancelling()
        self._inside = True
        self._latch.watch(self._wake)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool:
        self._inside = False
        self._latch.unwatch(self._wake)
        if not self._struck:
            return False
        others = self._task.uncancel() > self._before
        return kind is not None and issubclass(kind, asyncio.CancelledError) and not others

    def cancel(self) -> None:
        """Cancel what runs inside; from any task or thread."""
        self._loop.call_soon_threadsafe(self._strike)

    def _wake(self) -> None:
        self._loop.call_soon_threadsafe(self._look)

    def _look(self) -> None:
        if self._inside and self._latch.stopped and self._is_waiting():  # a verdict may have been taken back since
            self._strike()

    def _strike(self) -> None:
        if self._inside and not self._struck:
            self._struck = True
            self._task.cancel()

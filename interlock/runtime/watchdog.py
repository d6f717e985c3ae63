"""What interrupts a run from within: ``cancel()``, and a tripwire whose hook swallowed the signal and waits on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

import anyio

from interlock.runtime.join import on_asyncio, soon_on_trio
from interlock.verdict import Latch

__all__ = ["Watchdog", "watchdog"]


class Watchdog(Protocol):
    """A context manager around whatever may wait for hooks.

    When the latch trips and a hook is still being waited for one turn of the loop later, what runs inside is
    cancelled. (A hook that let the signal unwind it has ended by then, and the clean-up after it is left in peace.)
    Leaving the context swallows that cancellation, and no other.
    """

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool: ...

    def cancel(self) -> None:
        """Cancel what runs inside; from any task or thread."""
        ...


def watchdog(latch: Latch, is_waiting: Callable[[], bool]) -> Watchdog:
    """A watchdog for the running event loop.

    Args:
        latch: The run's.
        is_waiting: Whether a hook is being waited for in this task right now.
    """
    if on_asyncio():
        return _task_watchdog()(latch, is_waiting)
    return ScopeWatchdog(latch, is_waiting)


@functools.cache
def _task_watchdog() -> Callable[[Latch, Callable[[], bool]], Watchdog]:
    """The watchdog on asyncio, which is slow to import."""
    from interlock.runtime.watchdog_task import TaskWatchdog

    return TaskWatchdog


class ScopeWatchdog:
    """The watchdog on trio: a cancel scope."""

    __slots__ = ("_is_waiting", "_latch", "_scope", "_soon")

    def __init__(self, latch: Latch, is_waiting: Callable[[], bool]) -> None:
        self._latch = latch
        self._is_waiting = is_waiting
        self._soon = soon_on_trio()
        self._scope = anyio.CancelScope()

    def __enter__(self) -> Self:
        self._scope.__enter__()
        self._latch.watch(self._wake)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool:
        self._latch.unwatch(self._wake)
        return bool(self._scope.__exit__(kind, error, traceback))

    def cancel(self) -> None:
        """Cancel what runs inside; from any task or thread."""
        self._soon(self._scope.cancel)

    def _wake(self) -> None:
        self._soon(self._look)

    def _look(self) -> None:
        if self._latch.stopped and self._is_waiting():  # a verdict may have been taken back since
            self._scope.cancel()

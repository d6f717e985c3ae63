"""A scope that a tripwire can interrupt: for a hook that records a verdict, swallows the signal and waits on."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

import anyio

from interlock.runtime.join import call_soon
from interlock.verdict import Latch

__all__ = ["Watchdog"]


class Watchdog:
    """A cancel scope around whatever may wait for hooks.

    When the latch trips and a hook is still being waited for one turn of the loop later, the scope is cancelled. (A
    hook that let the signal unwind it has ended by then, and the clean-up after it is left in peace.)

    Args:
        latch: The run's.
        is_waiting: Whether a hook is being waited for in this task right now.

    Attributes:
        scope: The cancel scope; ``scope.cancel()`` stops the run from outside.
    """

    __slots__ = ("_is_waiting", "_latch", "_soon", "scope")

    def __init__(self, latch: Latch, is_waiting: Callable[[], bool]) -> None:
        self._latch = latch
        self._is_waiting = is_waiting
        self._soon = call_soon()
        self.scope = anyio.CancelScope()

    def __enter__(self) -> Self:
        self.scope.__enter__()
        self._latch.watch(self._wake)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self._latch.unwatch(self._wake)
        return bool(self.scope.__exit__(kind, error, traceback))

    def _wake(self) -> None:
        self._soon(self._look)

    def _look(self) -> None:
        if self._is_waiting():
            self.scope.cancel()

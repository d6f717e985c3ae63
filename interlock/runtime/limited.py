"""Waiting for a hook no longer than it may take, by a clock that starts when it first waits."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Coroutine, Generator
from typing import Any, cast

import anyio

from interlock.runtime.policy import late
from interlock.runtime.primed import Primed
from interlock.runtime.strand import close
from interlock.runtime.watchdog import watchdog
from interlock.verdict import Latch

__all__ = ["Limited", "UntilDecided", "limited"]


def limited(awaitable: Awaitable[object], seconds: float) -> Generator[Any, Any, object]:
    """Await something within a cancel scope, whose clock starts when that first waits.

    The scope is entered before: scopes that the hook itself enters on its way to its first wait must be inside.

    Args:
        awaitable: The hook; one that never waits may take as long as it likes.
        seconds: How long it may wait.

    Raises:
        TimeoutError: It took longer, even if it was not to be interrupted, or swallowed that.
    """
    out: object = None
    until = math.inf
    with anyio.CancelScope() as scope:  # noqa: ASYNC100  (it yields what is awaited)
        steps = awaitable.__await__()
        try:
            yielded: object = next(steps)
        except StopIteration as done:
            out = done.value
        else:
            until = scope.deadline = anyio.current_time() + seconds
            out = yield from Primed(cast("Coroutine[Any, Any, object]", steps), yielded).__await__()
    if scope.cancelled_caught or (until < math.inf and anyio.current_time() > until):
        raise late(seconds)
    return out


class Limited:
    """Something to await that may take so long; see :func:`limited`."""

    __slots__ = ("_awaitable", "_seconds")

    def __init__(self, awaitable: Awaitable[object], seconds: float) -> None:
        self._awaitable = awaitable
        self._seconds = seconds

    def __await__(self) -> Generator[Any, Any, object]:
        return limited(self._awaitable, self._seconds)

    def close(self) -> None:
        """Drop it."""
        close(self._awaitable)


class UntilDecided:
    """A hook that only shadows and waits: no longer than until it has recorded a verdict.

    The run's own watchdog does that for all others.
    """

    __slots__ = ("_awaitable", "_latch")

    def __init__(self, awaitable: Awaitable[object], latch: Latch) -> None:
        self._awaitable = awaitable
        self._latch = latch

    def __await__(self) -> Generator[Any, Any, object]:
        return self._waited().__await__()

    async def _waited(self) -> object:
        with watchdog(self._latch, lambda: True):
            return await self._awaitable
        return None  # it was stopped: its verdict counts

    def close(self) -> None:
        """Drop it."""
        close(self._awaitable)

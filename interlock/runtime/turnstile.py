"""One leg of a run at a time, in one process."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Self

import anyio

from interlock.errors import RunError
from interlock.runtime.join import on_asyncio, soon_on_trio

__all__ = ["Turnstile"]

_inside: ContextVar[tuple[Turnstile, ...]] = ContextVar("interlock_turnstiles", default=())
"""Those that what is running right now is in."""

_lock = threading.Lock()


class Turnstile:
    """Lets one in at a time; the others wait, also those of other threads and loops.

    Args:
        run_id: The run it is for.
        owner: What is kept alive with it.

    Attributes:
        busy: Whether somebody is in.
    """

    __slots__ = ("__weakref__", "_owner", "_waiting", "busy", "run_id")

    def __init__(self, run_id: str, owner: object = None) -> None:
        self.run_id = run_id
        self.busy = False
        self._owner = owner
        self._waiting: list[Callable[[], object]] | None = None

    async def __aenter__(self) -> Self:
        await self.enter()
        return self

    async def enter(self) -> None:
        """Wait until nobody is in, then be it.

        Raises:
            RunError: Whoever waits is itself part of what is in, and would wait for ever.
        """
        while True:
            with _lock:
                if not self.busy:
                    self.busy = True
                    return
                if self in _inside.get():
                    raise RunError(
                        f"run {self.run_id!r} cannot be started, resumed or continued by one of its own steps"
                    )
                freed = anyio.Event()
                self._waiting = [*(self._waiting or ()), _waker(freed)]
            await freed.wait()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.leave()

    def leave(self) -> None:
        """Let the next one in."""
        with _lock:
            self.busy = False
            waiting, self._waiting = self._waiting, None
        for wake in waiting or ():
            wake()

    def begin_inside(self) -> Token[Any]:
        """Note that what runs from here on in this context is in."""
        return _inside.set((*_inside.get(), self))

    def end_inside(self, token: Token[Any]) -> None:
        """Take that back."""
        with contextlib.suppress(ValueError):  # it is collected in another context, because nobody awaited it further
            _inside.reset(token)


def _waker(event: anyio.Event) -> Callable[[], object]:
    """What sets an event in the loop that waits for it, from any thread."""
    if on_asyncio():
        import asyncio

        loop = asyncio.get_running_loop()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has been closed meanwhile
                loop.call_soon_threadsafe(event.set)

        return wake
    soon = soon_on_trio()
    return lambda: soon(event.set)

"""One leg of a run at a time, in one process."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Self, TypeAlias

import anyio

from interlock.errors import RunError
from interlock.runtime.join import on_asyncio, soon_on_trio

__all__ = ["Inside", "Turnstile", "inside_now", "turnstile_lock"]

Inside: TypeAlias = "tuple[object, Inside] | None"
"""The legs that what is running right now is part of, from the innermost out, each named by its key."""

inside_now: ContextVar[Inside] = ContextVar("interlock_inside", default=None)
"""Set by a leg while it runs."""

turnstile_lock = threading.Lock()
"""Held for a few instructions, by whoever looks whether a leg is running and acts on that."""


_waits: dict[object, tuple[tuple[object, ...], object]] = {}
"""Who waits right now: the legs that it is part of, and the leg that it waits for, by their keys."""


def _around() -> tuple[object, ...]:
    """The keys of the legs that what is running right now is part of."""
    keys: list[object] = []
    inside = inside_now.get()
    while inside is not None:
        keys.append(inside[0])
        inside = inside[1]
    return tuple(keys)


def _would_wait_for_ever(around: tuple[object, ...], key: object) -> bool:
    """Whether a leg can end only after one that is around whoever would wait for it."""
    seen: set[int] = set()
    wanted = [key]
    while wanted:
        key = wanted.pop()
        if any(one is key for one in around):
            return True
        if id(key) not in seen:
            seen.add(id(key))
            wanted += [target for inside, target in _waits.values() if any(one is key for one in inside)]
    return False


class Turnstile:
    """Lets one in at a time; the others wait, also those of other threads and loops.

    Args:
        run_id: The run it is for.
        owner: What is kept alive with it.
        key: What names the leg that is in, in :data:`inside_now`; default: the turnstile.
        busy: Whether somebody is in from the start.

    Attributes:
        busy: Whether somebody is in.
        key: What names the leg that is in.
        stop: What cancels it; None where nobody is in, or nobody knows how.
    """

    __slots__ = ("__weakref__", "_owner", "_waiting", "busy", "key", "run_id", "stop")

    def __init__(self, run_id: str, owner: object = None, *, key: object = None, busy: bool = False) -> None:
        self.run_id = run_id
        self.busy = busy
        self.key = key if key is not None else self
        self.stop: Callable[[], object] | None = None
        self._owner = owner
        self._waiting: list[Callable[[], object]] | None = None

    async def __aenter__(self) -> Self:
        await self.enter()
        return self

    async def enter(self) -> None:
        """Wait until nobody is in, then be it.

        Raises:
            RunError: Whoever waits is itself part of what is in, or what is in waits for that: it would be for ever.
        """
        around = _around()
        while True:
            with turnstile_lock:
                if not self.busy:
                    self.busy = True
                    return
                if _would_wait_for_ever(around, self.key):
                    raise RunError(
                        f"run {self.run_id!r} cannot be started, resumed or continued by one of its own steps, nor by "
                        "one of a run that its own steps wait for"
                    )
                freed = anyio.Event()
                self._waiting = [*(self._waiting or ()), _waker(freed)]
                if around:
                    _waits[freed] = around, self.key
            try:
                await freed.wait()
            finally:
                with turnstile_lock:
                    _waits.pop(freed, None)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.leave()

    def leave(self) -> None:
        """Let the next one in."""
        with turnstile_lock:
            self.busy = False
            waiting, self._waiting = self._waiting, None
        for wake in waiting or ():
            wake()


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

"""One leg of a run at a time, in one process."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import anyio

__all__ = ["Turnstile"]


class Turnstile:
    """Lets one in at a time; the others wait.

    Args:
        owner: What it is for, kept alive with it.

    Attributes:
        busy: Whether somebody is in.
    """

    __slots__ = ("__weakref__", "_freed", "_owner", "busy")

    def __init__(self, owner: object = None) -> None:
        self.busy = False
        self._owner = owner
        self._freed: anyio.Event | None = None

    async def __aenter__(self) -> Self:
        await self.enter()
        return self

    async def enter(self) -> None:
        """Wait until nobody is in, then be it."""
        while self.busy:
            if self._freed is None:
                self._freed = anyio.Event()
            await self._freed.wait()
        self.busy = True

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.leave()

    def leave(self) -> None:
        """Let the next one in."""
        self.busy = False
        if self._freed is not None:
            self._freed.set()
            self._freed = None

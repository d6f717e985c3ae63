"""What is done to its end although whoever asked for it is cancelled meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

__all__ = ["LONGEST_SHIELD", "shielded"]

LONGEST_SHIELD: Final = 10.0
"""Seconds that something may still take when nobody waits for it any more."""


async def shielded(work: Callable[[], Awaitable[None]]) -> None:
    """Do something in a task of its own, which neither a cancel scope nor ``task.cancel()`` reaches.

    A cancellation that comes meanwhile goes on when the work has ended, or has taken too long.

    Args:
        work: What is done. What it raises after its caller was cancelled is lost.

    Raises:
        BaseException: What the work raised.
    """
    raised: list[BaseException] = []
    ended = anyio.Event()
    shield = anyio.CancelScope(shield=True)

    async def run() -> None:
        with shield:
            try:
                await work()
            except Exception as error:  # would be wrapped by the group
                raised.append(error)
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        try:
            await ended.wait()
        except anyio.get_cancelled_exc_class():
            shield.deadline = anyio.current_time() + LONGEST_SHIELD
            raise
    if raised:
        raise raised[0]

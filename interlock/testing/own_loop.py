"""Running a coroutine to its end from wherever one is."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable

import anyio
import sniffio

__all__ = ["in_a_loop_of_its_own"]


def in_a_loop_of_its_own(function: Callable[[], Awaitable[None]]) -> None:
    """Run a coroutine function in an event loop of its own, in a thread of its own where one is running here.

    Raises:
        BaseException: What it raises.
    """

    async def run() -> None:
        await function()

    try:
        sniffio.current_async_library()
    except sniffio.AsyncLibraryNotFoundError:
        anyio.run(run)
        return
    raised: list[BaseException] = []

    def work() -> None:
        try:
            anyio.run(run)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]

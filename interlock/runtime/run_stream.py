"""A run whose events are read along."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import anyio
import anyio.lowlevel

from interlock.errors import RunError
from interlock.runtime.journal.reader import EventBuffer
from interlock.workflows.events import Event
from interlock.workflows.outcome import Outcome

__all__ = ["RunStream"]

O_co = TypeVar("O_co", covariant=True)


class RunStream(Generic[O_co]):
    """The events of a run as they come: ``async with run.stream(x) as events: async for event in events: …``.

    Args:
        open_run: Checks the call and gives what runs it, for a buffer of events.
        cancel: Stops the run.
    """

    def __init__(
        self,
        open_run: Callable[[EventBuffer], Awaitable[Callable[[], Awaitable[Outcome[Any]]]]],
        cancel: Callable[[], object],
    ) -> None:
        self._open = open_run
        self._cancel = cancel
        self._buffer = EventBuffer()
        self._outcome: Outcome[Any] | None = None
        self._error: BaseException | None = None
        self._group = anyio.create_task_group()
        self._entered = False
        self._ended = anyio.Event()

    async def __aenter__(self) -> Self:
        if self._entered:
            raise RunError("a run's stream is entered once")
        self._entered = True
        go = await self._open(self._buffer)
        await self._group.__aenter__()
        self._group.start_soon(self._run, go)
        return self

    async def _run(self, go: Callable[[], Awaitable[Outcome[Any]]]) -> None:
        try:
            self._outcome = await go()
        except Exception as error:
            self._error = error
        finally:
            self._buffer.end()
            self._ended.set()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        self._buffer.drop()
        if not self._ended.is_set():
            self._cancel()
        if error is None or isinstance(error, anyio.get_cancelled_exc_class()):
            return await self._group.__aexit__(kind, error, traceback)
        await self._group.__aexit__(None, None, None)  # which would wrap the error of the reader
        return None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if not self._entered:
            raise RunError("a run's events are read inside of: async with run.stream(…) as events")
        event = self._buffer.waiting() or await self._buffer.next()
        if event is not None:
            return event
        if self._error is not None:
            raise self._error
        if self._outcome is None:  # it was interrupted, and so is whoever reads
            await anyio.lowlevel.checkpoint()
        raise StopAsyncIteration

    async def outcome(self) -> Outcome[O_co]:
        """Wait for the run's end, and say how it ended; events that nobody has read are dropped.

        Raises:
            RunError: It was not entered.
        """
        if not self._entered:
            raise RunError("a run's outcome is there inside of, or after: async with run.stream(…) as events")
        self._buffer.drop()
        await self._ended.wait()
        if self._outcome is None:
            raise self._error if self._error is not None else RunError("the run was interrupted")
        return self._outcome

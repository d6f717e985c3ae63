"""What ``agent.stream(…)`` gives: chunks as they may be shown, and the result at the end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio

from interlock.errors import InterlockError
from interlock.messages import Chunk
from interlock.runtime.result import AgentResult, RunStatus
from interlock.runtime.watchdog import Watchdog, watchdog

if TYPE_CHECKING:
    from interlock.runtime.agent_run import AgentRun
    from interlock.runtime.tool_tasks import ToolTasks

__all__ = ["AgentStream"]


class AgentStream:
    """A run that is pulled: the model is asked for the next chunk when the reader wants one.

    Use it as ``async with agent.stream(…) as stream: async for chunk in stream: …``. Leaving the block early closes the
    model call and cancels the tools before it returns.
    """

    def __init__(self, open_run: Callable[[ToolTasks], Awaitable[AgentRun]]) -> None:
        self._open_run = open_run
        self._tool_tasks: ToolTasks | None = None
        self._run: AgentRun | None = None
        self._chunks: AsyncGenerator[Chunk, None] | None = None
        self._watchdog: Watchdog | None = None
        self._canceled = False
        self._ended = False
        self._left: list[Chunk] = []
        self._reader_left: anyio.Event | None = None

    async def __aenter__(self) -> Self:
        from interlock.runtime.loop import run_loop
        from interlock.runtime.tool_tasks import open_tool_tasks

        if self._run is not None:
            raise InterlockError("this stream has been entered already: call agent.stream(…) again")
        self._tool_tasks = await open_tool_tasks()
        try:
            self._run = await self._open_run(self._tool_tasks)
        except BaseException:
            await self._tool_tasks.aclose()
            raise
        self._chunks = run_loop(self._run)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await self._close()
        finally:
            if self._tool_tasks is not None:
                await self._tool_tasks.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        chunk = await self._next()
        self._opened().delivered(chunk)
        return chunk

    async def result(self) -> AgentResult:
        """Read what is left and give the result. Never raises for what happened in the run: see ``status``."""
        run = self._opened()
        while not self._ended:
            try:
                await self._next()
            except StopAsyncIteration:
                break
        return run.result()

    def cancel(self) -> None:
        """Stop the run, from any task of the same loop; the result's status is ``"canceled"``."""
        self._canceled = True
        if self._watchdog is not None:
            self._watchdog.cancel()

    async def _next(self) -> Chunk:
        run = self._opened()
        chunks = self._chunks
        if self._left:
            return self._left.pop(0)
        if self._ended or chunks is None:
            raise StopAsyncIteration
        if self._canceled:
            await self._close()
            raise StopAsyncIteration
        if self._watchdog is not None:
            raise InterlockError("two tasks read this stream at once; one stream has one reader")
        chunk: Chunk | None = None
        try:
            with watchdog(run.facts.latch, run.is_waiting) as self._watchdog:
                try:
                    chunk = await anext(chunks)
                except StopAsyncIteration:
                    self._ended = True
        finally:
            self._watchdog = None
            if self._reader_left is not None:
                self._reader_left.set()
        if chunk is not None:
            return chunk
        if not self._ended:  # the scope was cancelled: by a tripwire whose hook went on, or by cancel()
            from interlock.runtime.loop import run_loop
            from interlock.runtime.repeating import reject, repeats

            if repeats(run) and not self._is_canceled():
                reject(run)
                self._chunks = run_loop(run, again=True)
                return await self._next()
            self._ended = True
            tripwire = run.facts.latch.tripwire
            if tripwire is not None:
                from interlock.runtime.loop import tripwire_chunk
                from interlock.runtime.written import unread

                await self._stopped(run, "tripwire")
                written = [chunk for chunk in unread(run) if not run.holds(chunk)]
                first, *self._left = [*written, tripwire_chunk(tripwire, run.facts.run_id)]
                return first
        await self._stopped(run, "canceled")
        raise StopAsyncIteration

    async def _close(self) -> None:
        """Stop whatever still runs and wait for it."""
        if self._chunks is not None:
            with anyio.CancelScope(shield=True):
                await self._stop_reader()
                await self._chunks.aclose()
        self._ended = True
        if self._run is not None:
            await self._stopped(self._run, "canceled")

    async def _stopped(self, run: AgentRun, status: RunStatus) -> None:
        """The run has not come to its end by itself; no word where it has."""
        if run.status is None:
            from interlock.runtime.ending import keep_what_was_accepted

            run.end(status)
            await keep_what_was_accepted(run)

    async def _stop_reader(self) -> None:
        """Where another task is reading: the run is canceled, and that task reads no more."""
        while self._watchdog is not None:
            self._reader_left = anyio.Event()
            self.cancel()
            await self._reader_left.wait()

    def _is_canceled(self) -> bool:
        return self._canceled

    def _opened(self) -> AgentRun:
        if self._run is None:
            raise InterlockError("enter the stream first: async with agent.stream(…) as stream: …")
        return self._run

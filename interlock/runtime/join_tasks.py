"""The join on asyncio: plain tasks and one future.

Failures are data in it, so it leaves no cancellation count on the host (a task group does, on 3.11), and it costs less
per branch. Two rules keep it sound. Success counts down; everything else (a failure, the latch, an outside cancel) only
*wakes* the host, which cancels the rest and waits for them. And a task that is cancelled before its first step never
enters its coroutine, so that nobody would count it: each wrapper is taken to its first stop before it gets its task.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine, Generator, Sequence
from typing import Any

from interlock.errors import RunError
from interlock.verdict import Latch

__all__ = ["join_tasks"]

Job = Coroutine[Any, Any, Any]


class _Tally:
    """How a join stands."""

    __slots__ = ("done", "failure", "left", "results")

    def __init__(self, left: int, done: asyncio.Future[None]) -> None:
        self.left = left
        self.results: list[Any] = [None] * left
        self.done = done
        self.failure: BaseException | None = None

    def wake(self) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def wrapped(self, index: int, job: Job) -> Coroutine[Any, Any, None]:
        """The job, counted; begun already, up to where a task takes it over."""
        made = self._counted(index, job)
        made.send(None)
        return made

    async def _counted(self, index: int, job: Job) -> None:
        try:
            await _taken_over()
            self.results[index] = await job
        except BaseException as error:
            if self.failure is None:
                self.failure = error
            self.wake()
        else:
            self.left -= 1
            if not self.left:
                self.wake()


@types.coroutine
def _taken_over() -> Generator[None, None, None]:
    yield


async def join_tasks(jobs: Sequence[Job], latch: Latch) -> list[Any]:
    """:func:`interlock.runtime.join.join` on asyncio."""
    loop = asyncio.get_running_loop()
    tally = _Tally(len(jobs), loop.create_future())
    tasks: list[asyncio.Task[None]]
    if loop.get_task_factory() is None:  # what the loop itself would do, less its checks
        tasks = [asyncio.Task(tally.wrapped(index, job), loop=loop) for index, job in enumerate(jobs)]
    else:
        tasks = [loop.create_task(tally.wrapped(index, job)) for index, job in enumerate(jobs)]

    def wake() -> None:
        loop.call_soon_threadsafe(tally.wake)

    latch.watch(wake)
    canceled: asyncio.CancelledError | None = None
    try:
        await tally.done
    except asyncio.CancelledError as error:
        canceled = error
    latch.unwatch(wake)
    if tally.left:
        canceled = await _stop(tasks, jobs) or canceled
    if canceled is not None:
        raise canceled
    if tally.failure is not None and latch.tripwire is None:
        raise _told(tally.failure)
    return tally.results


async def _stop(tasks: Sequence[asyncio.Task[None]], jobs: Sequence[Job]) -> asyncio.CancelledError | None:
    """Cancel what still runs and wait for it, whatever happens meanwhile; give back an outside cancel that came."""
    canceled: asyncio.CancelledError | None = None
    rest = {task for task in tasks if not task.done()}
    for task in rest:
        task.cancel()
    while rest:
        try:
            await asyncio.wait(rest)
        except asyncio.CancelledError as error:
            canceled = error
        rest = {task for task in tasks if not task.done()}
    for job in jobs:
        job.close()  # one whose task was cancelled before its first step was not begun
    return canceled


def _told(failure: BaseException) -> BaseException:
    """A branch that cancelled itself is a failure like any other; it must not look like an outside cancel."""
    if isinstance(failure, asyncio.CancelledError):
        return RunError("a branch cancelled itself (it raised CancelledError without having been cancelled)")
    return failure

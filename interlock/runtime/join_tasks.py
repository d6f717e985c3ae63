"""The join on asyncio: plain tasks and one future.

Failures are data in it, so it leaves no cancellation count on the host (a task group does, on 3.11), and it costs less
per branch. Two rules keep it sound. Success counts down; everything else (a failure, the latch, an outside cancel) only
*wakes* the host, which cancels the rest and waits for them. And a task that is cancelled before its first step never
enters its coroutine, so that nobody would count it: when all tasks have had their first turn, those that began are
counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from interlock.errors import RunError
from interlock.verdict import Latch

__all__ = ["join_tasks"]

Job = Coroutine[Any, Any, Any]


class _Tally:
    """How a join stands."""

    __slots__ = ("begun", "done", "failure", "left", "results")

    def __init__(self, count: int, done: asyncio.Future[None]) -> None:
        self.begun = 0
        self.left = count
        self.results: list[Any] = [None] * count
        self.done = done
        self.failure: BaseException | None = None

    def wake(self) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def look(self) -> None:
        """Called when every task has had its first turn: one that did not begin was cancelled before it."""
        if self.begun < len(self.results):
            if self.failure is None:
                self.failure = asyncio.CancelledError()
            self.wake()

    async def counted(self, index: int, job: Job) -> None:
        """The job, counted."""
        self.begun += 1
        try:
            self.results[index] = await job
        except BaseException as error:
            if self.failure is None:
                self.failure = error
            self.wake()
        else:
            self.left -= 1
            if not self.left:
                self.wake()


async def join_tasks(jobs: Sequence[Job], latch: Latch) -> list[Any]:
    """:func:`interlock.runtime.join.join` on asyncio."""
    loop = asyncio.get_running_loop()
    tally = _Tally(len(jobs), loop.create_future())
    tasks: list[asyncio.Task[None]]
    if loop.get_task_factory() is None:  # what the loop itself would do, less its checks
        tasks = [asyncio.Task(tally.counted(index, job), loop=loop) for index, job in enumerate(jobs)]
    else:
        tasks = [loop.create_task(tally.counted(index, job)) for index, job in enumerate(jobs)]

    loop.call_soon(tally.look)  # behind the first turns of all tasks

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

"""The join on asyncio: plain tasks and one future.

Failures are data in it, so it leaves no cancellation count on the host (a task group does, on 3.11), and it costs less
per branch. Two rules keep it sound. Success counts down; everything else (a failure, the latch, an outside cancel) only
*wakes* the host, which cancels the rest and waits for them. And a task that is cancelled before its first step never
enters its coroutine, so that nobody would count it: when all tasks have had their first turn, those that began are
counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from interlock.errors import RunError
from interlock.runtime.join import Growing, Job, Stop
from interlock.verdict import HaltSignal

__all__ = ["join_tasks"]


class _Tally:
    """How a join stands."""

    __slots__ = (
        "_loop",
        "_plain",
        "begun",
        "count",
        "done",
        "failure",
        "jobs",
        "left",
        "looking",
        "results",
        "stop",
        "tasks",
    )

    def __init__(self, jobs: Sequence[Job], loop: asyncio.AbstractEventLoop, stop: Stop) -> None:
        self.stop = stop
        self._loop = loop
        self._plain = loop.get_task_factory() is None
        self.begun = 0
        self.looking = True
        self.results: list[Any] = [None] * len(jobs)
        self.done: asyncio.Future[None] = loop.create_future()
        self.failure: BaseException | None = None
        self.jobs = list(jobs)
        self.count = self.left = len(jobs)
        if self._plain:  # what the loop itself would do, less its checks
            self.tasks = [asyncio.Task(self.counted(index, job), loop=loop) for index, job in enumerate(jobs)]
        else:
            self.tasks = [loop.create_task(self.counted(index, job)) for index, job in enumerate(jobs)]

    def add(self, job: Job) -> None:
        """One more job."""
        self.count += 1
        self.left += 1
        self.jobs.append(job)
        counted = self.counted(None, job)
        task = asyncio.Task(counted, loop=self._loop) if self._plain else self._loop.create_task(counted)
        self.tasks.append(task)
        if self.done.done():  # the others are being stopped
            task.cancel()
        elif not self.looking:
            self.looking = True
            self._loop.call_soon(self.look, self.count)

    def wake(self) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def look(self, count: int) -> None:
        """Called when so many tasks have had their first turn: one that did not begin was cancelled before it."""
        self.looking = False
        if self.done.done():
            return
        if self.begun < count:
            if self.failure is None:
                self.failure = asyncio.CancelledError()
            self.wake()
        elif count < self.count:  # more have been added meanwhile
            self.looking = True
            self._loop.call_soon(self.look, self.count)

    async def counted(self, index: int | None, job: Job) -> None:
        """The job, counted."""
        self.begun += 1
        try:
            result = await job
        except HaltSignal:
            pass
        except BaseException as error:
            if self.failure is None and not self.stop.stopped:  # what siblings record while they stop comes too late
                self.failure = error
            self.wake()
            return
        else:
            if index is not None:
                self.results[index] = result
        self.left -= 1
        if not self.left:
            self.wake()


async def join_tasks(jobs: Sequence[Job], stop: Stop, growing: Growing | None) -> list[Any]:
    """:func:`interlock.runtime.join.join` on asyncio."""
    loop = asyncio.get_running_loop()
    tally = _Tally(jobs, loop, stop)
    if growing is not None:
        growing(tally.add)
    loop.call_soon(tally.look, tally.count)  # behind the first turns of all tasks

    def wake() -> None:
        loop.call_soon_threadsafe(tally.wake)

    stop.watch(wake)
    canceled: asyncio.CancelledError | None = None
    try:
        await tally.done
    except asyncio.CancelledError as error:
        canceled = error
    stop.unwatch(wake)
    if tally.left:
        canceled = await _stop(tally) or canceled
    if canceled is not None:
        raise canceled
    if tally.failure is not None:
        raise _told(tally.failure)
    return tally.results


async def _stop(tally: _Tally) -> asyncio.CancelledError | None:
    """Cancel what still runs and wait for it, whatever happens meanwhile; give back an outside cancel that came."""
    canceled: asyncio.CancelledError | None = None
    tally.wake()
    rest = {task for task in tally.tasks if not task.done()}
    for task in rest:
        task.cancel()
    while rest:
        try:
            await asyncio.wait(rest)
        except asyncio.CancelledError as error:
            canceled = error
        rest = {task for task in tally.tasks if not task.done()}
    for job in tally.jobs:
        job.close()  # one whose task was cancelled before its first step was not begun
    return canceled


def _told(failure: BaseException) -> BaseException:
    """A branch that cancelled itself is a failure like any other; it must not look like an outside cancel."""
    if isinstance(failure, asyncio.CancelledError):
        return RunError("a branch cancelled itself (it raised CancelledError without having been cancelled)")
    return failure

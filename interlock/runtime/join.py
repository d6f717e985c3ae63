"""Waiting for several branches at once: the first failure or tripwire stops the rest, and nothing is left running.

On asyncio this is a join of our own over plain tasks (:mod:`interlock.runtime.join_tasks`). On trio the branches run
in one of anyio's task groups.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

import anyio
import sniffio

from interlock.verdict import HaltSignal

__all__ = ["Growing", "Job", "Stop", "join", "on_asyncio", "soon_on_trio"]

Job = Coroutine[Any, Any, Any]

Growing = Callable[[Callable[[Job], object]], object]
"""What is given a function that adds a job to a join while it runs."""


class Stop(Protocol):
    """What stops a join from outside its jobs: a latch, or the run of a workflow that a step may end."""

    @property
    def stopped(self) -> bool:
        """Whether it has."""
        ...

    def watch(self, wake: Callable[[], object], /) -> None:
        """Call ``wake`` when it does; at once if it has."""
        ...

    def unwatch(self, wake: Callable[[], object], /) -> None:
        """Stop calling ``wake``."""
        ...


class _Join(Protocol):
    async def __call__(self, jobs: Sequence[Job], stop: Stop, growing: Growing | None, /) -> list[Any]: ...


async def join(jobs: Sequence[Job], stop: Stop, *, growing: Growing | None = None) -> list[Any]:
    """Run all jobs at once until all have ended, one has failed, or they are stopped.

    When this returns or raises, every job has ended. A job that halts has ended as far as its siblings go.

    Args:
        jobs: Coroutines that have not started.
        stop: Where a tripwire or a bail is written; a job that records one and goes on running is cancelled like its
            siblings.
        growing: Called with a function that adds a job, as long as one runs; what such a job gives is dropped.

    Returns:
        What the jobs gave, in their order; None for one that halted or was kept from ending.

    Raises:
        BaseException: What the first job to fail raised. Nothing, where they were stopped: the caller looks at that.
    """
    if on_asyncio():
        return await _task_join()(jobs, stop, growing)
    return await _join_group(jobs, stop, growing)


def on_asyncio() -> bool:
    """Whether it is asyncio that runs this. To be asked from a coroutine that some event loop runs.

    Any other loop says so itself, so most of what :func:`sniffio.current_async_library` does need not be done.
    """
    return (sniffio.thread_local.name or sniffio.current_async_library_cvar.get() or "asyncio") == "asyncio"


@functools.cache
def _task_join() -> _Join:
    """The join on asyncio, which is slow to import."""
    from interlock.runtime.join_tasks import join_tasks

    return join_tasks


def soon_on_trio() -> Callable[[Callable[[], object]], object]:
    """What calls a function in the running trio loop soon, from any thread."""
    import trio

    return trio.lowlevel.current_trio_token().run_sync_soon


async def _join_group(jobs: Sequence[Job], stop: Stop, growing: Growing | None) -> list[Any]:
    results: list[Any] = [None] * len(jobs)
    failure: list[BaseException] = []
    canceled = anyio.get_cancelled_exc_class()
    soon = soon_on_trio()

    async def branch(index: int | None, job: Job) -> None:
        try:
            result = await job
        except canceled:
            raise
        except HaltSignal:
            return
        except BaseException as error:
            if not failure and not stop.stopped:  # what siblings record while they are being stopped comes too late
                failure.append(error)
            group.cancel_scope.cancel()
        else:
            if index is not None:
                results[index] = result

    group = anyio.create_task_group()

    def wake() -> None:
        soon(lambda: group.cancel_scope.cancel())

    stop.watch(wake)
    try:
        async with group:
            if growing is not None:
                growing(lambda job: group.start_soon(branch, None, job))
            for index, job in enumerate(jobs):
                group.start_soon(branch, index, job)
    finally:
        stop.unwatch(wake)
    if failure:
        raise failure[0]
    return results

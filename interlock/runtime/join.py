"""Waiting for several branches at once: the first failure or tripwire stops the rest, and nothing is left running.

On asyncio this is a join of our own over plain tasks (:mod:`interlock.runtime.join_tasks`). On trio the branches run
in one of anyio's task groups.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

import anyio
import sniffio

from interlock.verdict import Latch

__all__ = ["join", "soon_on_trio"]

Job = Coroutine[Any, Any, Any]


async def join(jobs: Sequence[Job], latch: Latch) -> list[Any]:
    """Run all jobs at once until all have ended, one has failed, or the latch has tripped.

    When this returns or raises, every job has ended.

    Args:
        jobs: Coroutines that have not started.
        latch: Where a tripwire is written; a job that records one and goes on running is cancelled like its siblings.

    Returns:
        What the jobs gave, in their order; None for one that a tripwire kept from ending.

    Raises:
        BaseException: What the first job to fail raised. Nothing, where the latch tripped: the caller looks at it.
    """
    if sniffio.current_async_library() == "asyncio":
        return await _task_join()(jobs, latch)
    return await _join_group(jobs, latch)


@functools.cache
def _task_join() -> Callable[[Sequence[Job], Latch], Awaitable[list[Any]]]:
    """The join on asyncio, which is slow to import."""
    from interlock.runtime.join_tasks import join_tasks

    return join_tasks


def soon_on_trio() -> Callable[[Callable[[], object]], object]:
    """What calls a function in the running trio loop soon, from any thread."""
    import trio

    return trio.lowlevel.current_trio_token().run_sync_soon


async def _join_group(jobs: Sequence[Job], latch: Latch) -> list[Any]:
    results: list[Any] = [None] * len(jobs)
    failure: list[BaseException] = []
    canceled = anyio.get_cancelled_exc_class()
    soon = soon_on_trio()

    async def branch(index: int, job: Job) -> None:
        try:
            results[index] = await job
        except canceled:
            raise
        except BaseException as error:
            failure.append(error)
            group.cancel_scope.cancel()

    group = anyio.create_task_group()

    def wake() -> None:
        soon(lambda: group.cancel_scope.cancel())

    latch.watch(wake)
    try:
        async with group:
            for index, job in enumerate(jobs):
                group.start_soon(branch, index, job)
    finally:
        latch.unwatch(wake)
    if failure and latch.tripwire is None:
        raise failure[0]
    return results

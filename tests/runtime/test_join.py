"""The join: the first failure or tripwire stops the rest, nothing is left running, and the host is as it was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from interlock.errors import RunError
from interlock.runtime.join import join
from interlock.verdict import AbortSignal, Latch, Tripwire

pytestmark = pytest.mark.anyio

TRIPWIRE = Tripwire("stop", "guard")
Log = list[str]
Job = Coroutine[Any, Any, None]


async def turns(count: int) -> None:
    """Let others run so many times."""
    for _ in range(count):
        await anyio.lowlevel.checkpoint()


async def goes(log: Log, name: str, count: int = 0) -> None:
    """Ends well after some turns."""
    await turns(count)
    log.append(name)


async def stays(log: Log, name: str) -> None:
    """Waits for ever; notes that it was cancelled."""
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        log.append(name)
        raise


async def fails(error: BaseException, count: int = 0) -> None:
    """Raises after some turns."""
    await turns(count)
    raise error


async def aborts(latch: Latch, tripwire: Tripwire = TRIPWIRE, count: int = 0) -> None:
    """Trips the latch after some turns."""
    await turns(count)
    latch.abort(tripwire)


async def test_all_jobs_have_ended_when_it_returns() -> None:
    log: Log = []
    await join([goes(log, name, count) for name, count in (("a", 3), ("b", 0), ("c", 1))], Latch())
    assert sorted(log) == ["a", "b", "c"]


async def test_all_jobs_wait_at_the_same_moment() -> None:
    """Each waits for all others to have arrived: that can only end if they run at once."""
    arrived: list[int] = []
    everybody = anyio.Event()

    async def meets(number: int) -> None:
        arrived.append(number)
        if len(arrived) == 20:
            everybody.set()
        await everybody.wait()

    with anyio.fail_after(5):
        await join([meets(n) for n in range(20)], Latch())
    assert len(arrived) == 20


async def test_a_failure_cancels_the_others_and_is_raised() -> None:
    log: Log = []
    error = ValueError("broken")
    with pytest.raises(ValueError, match="broken") as raised:
        await join([stays(log, "a"), fails(error, 2), stays(log, "b")], Latch())
    assert raised.value is error
    assert sorted(log) == ["a", "b"]


async def test_the_first_of_two_failures_is_raised() -> None:
    first, second = ValueError("first"), OSError("second")

    async def fails_on_cancel() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise second

    with pytest.raises(ValueError, match="first"):
        await join([fails_on_cancel(), fails(first, 2)], Latch())


async def test_an_abort_cancels_the_others_and_nothing_is_raised() -> None:
    log: Log = []
    latch = Latch()
    await join([stays(log, "a"), aborts(latch, count=2), stays(log, "b")], latch)
    assert latch.tripwire is TRIPWIRE
    assert sorted(log) == ["a", "b"]


async def test_a_failure_behind_an_abort_is_not_raised() -> None:
    latch = Latch()

    async def fails_on_cancel() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise OSError("in clean-up")

    await join([fails_on_cancel(), aborts(latch, count=1)], latch)
    assert latch.tripwire is TRIPWIRE


async def test_an_abort_in_the_clean_up_of_a_cancelled_sibling_does_not_replace_the_first() -> None:
    latch = Latch()
    late = Tripwire("late", "sibling")

    async def aborts_on_cancel() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            latch.abort(late)

    await join([aborts_on_cancel(), aborts(latch, count=1)], latch)
    assert latch.tripwire is TRIPWIRE


async def test_an_abort_that_was_swallowed_wakes_the_join_and_ends_the_one_who_swallowed_it() -> None:
    log: Log = []
    latch = Latch()

    async def swallows() -> None:
        try:
            latch.abort(TRIPWIRE)
        except BaseException:
            log.append("swallowed")
        await stays(log, "swallower")

    with anyio.fail_after(5):
        await join([stays(log, "a"), swallows()], latch)
    assert sorted(log) == ["a", "swallowed", "swallower"]


async def test_an_abort_in_a_thread_wakes_the_join() -> None:
    log: Log = []
    latch = Latch()

    def in_thread() -> None:
        with pytest.raises(AbortSignal):
            latch.abort(TRIPWIRE)

    async def goes_to_a_thread_and_waits_on() -> None:
        await anyio.to_thread.run_sync(in_thread)
        await stays(log, "a")

    with anyio.fail_after(5):
        await join([goes_to_a_thread_and_waits_on(), stays(log, "b")], latch)
    assert "b" in log


async def test_a_latch_that_has_tripped_already_ends_it_at_once() -> None:
    log: Log = []
    latch = Latch()
    latch.trip(TRIPWIRE)
    with anyio.fail_after(5):
        await join([stays(log, "a"), stays(log, "b")], latch)
    assert sorted(log) == ["a", "b"]


async def test_nobody_watches_the_latch_afterwards() -> None:
    latch = Latch()
    await join([turns(1), turns(2)], latch)
    with pytest.raises(ValueError, match="broken"):
        await join([fails(ValueError("broken")), turns(2)], latch)
    assert latch._wakers == []


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_branch_that_raises_a_cancellation_of_its_own_is_a_failure() -> None:
    """Seen in practice: it awaited a task that somebody else had cancelled."""
    with pytest.raises(RunError, match="cancelled itself"):
        await join([fails(asyncio.CancelledError()), turns(5)], Latch())


@pytest.mark.parametrize("moment", range(6))
async def test_an_outside_cancel_ends_every_job_and_goes_on_to_the_caller(moment: int) -> None:
    log: Log = []
    with anyio.CancelScope() as scope:

        async def cancels() -> None:
            await turns(moment)
            scope.cancel()
            await stays(log, "canceller")

        await join([stays(log, "a"), cancels(), stays(log, "b")], Latch())
        log.append("went on")
    assert scope.cancelled_caught
    assert sorted(log) == ["a", "b", "canceller"]


async def test_an_outside_cancel_during_the_clean_up_waits_for_the_clean_up_to_end() -> None:
    log: Log = []
    with anyio.CancelScope() as scope:

        async def cleans_up() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                scope.cancel()
                with anyio.CancelScope(shield=True):
                    await turns(5)
                log.append("clean")

        await join([cleans_up(), fails(ValueError("first"), 1)], Latch())
    assert scope.cancelled_caught
    assert log == ["clean"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("ending", ["success", "failure", "abort"])
async def test_the_hosts_count_of_cancellations_is_as_it_was(ending: str) -> None:
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    latch = Latch()
    job: dict[str, Callable[[], Job]] = {
        "success": lambda: turns(2),
        "failure": lambda: fails(ValueError("broken"), 1),
        "abort": lambda: aborts(latch, count=1),
    }
    for _ in range(3):
        try:
            await join([turns(3), job[ending]()], latch)
        except ValueError:
            assert ending == "failure"
    assert task.cancelling() == before


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_task_that_somebody_cancels_before_its_first_step_does_not_hang_the_join() -> None:
    """Such a task never enters its coroutine, so that nothing in there can count it."""
    known = asyncio.all_tasks()
    log: Log = []

    def cancels_one() -> None:
        (asyncio.all_tasks() - known).pop().cancel()

    asyncio.get_running_loop().call_soon(cancels_one)  # so it comes before the first step of any branch
    with anyio.fail_after(5), pytest.raises(RunError, match="cancelled itself"):
        await join([goes(log, "a"), goes(log, "b")], Latch())
    assert len(log) <= 1

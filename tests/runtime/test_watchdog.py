"""The watchdog interrupts what runs inside it, and nothing else."""

from __future__ import annotations

import anyio
import pytest

from interlock.runtime.watchdog import watchdog
from interlock.verdict import Latch, Tripwire

pytestmark = pytest.mark.anyio

TRIPWIRE = Tripwire("no", "guard")


async def test_cancel_ends_the_inside_and_is_swallowed_on_the_way_out() -> None:
    reached = False
    with watchdog(Latch(), lambda: False) as dog:
        dog.cancel()
        await anyio.sleep_forever()
        reached = True
    assert not reached
    await anyio.lowlevel.checkpoint()  # no cancellation is left over


async def test_a_tripwire_interrupts_while_a_hook_is_waited_for() -> None:
    latch = Latch()
    with watchdog(latch, lambda: True):
        latch.trip(TRIPWIRE)
        await anyio.sleep_forever()
    assert latch.tripwire is TRIPWIRE


async def test_a_tripwire_leaves_in_peace_what_waits_for_no_hook() -> None:
    latch = Latch()
    turns = 0
    with watchdog(latch, lambda: False):
        latch.trip(TRIPWIRE)
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
            turns += 1
    assert turns == 5


async def test_an_outside_cancel_comes_out() -> None:
    with anyio.CancelScope() as scope, watchdog(Latch(), lambda: False):
        scope.cancel()
        await anyio.sleep_forever()
    assert scope.cancelled_caught


async def test_an_outside_cancel_is_not_lost_when_both_come_at_once() -> None:
    with anyio.CancelScope() as scope:
        with watchdog(Latch(), lambda: False) as dog:
            dog.cancel()
            scope.cancel()
            await anyio.sleep_forever()
        await anyio.lowlevel.checkpoint()
    assert scope.cancelled_caught


async def test_an_error_of_the_inside_passes() -> None:
    with pytest.raises(ValueError, match="mine"), watchdog(Latch(), lambda: False):
        raise ValueError("mine")


async def test_a_watchdog_that_was_left_cancels_nothing() -> None:
    with watchdog(Latch(), lambda: False) as dog:
        pass
    dog.cancel()
    for _ in range(3):
        await anyio.lowlevel.checkpoint()


async def test_it_can_be_cancelled_from_a_thread() -> None:
    with watchdog(Latch(), lambda: False) as dog:
        await anyio.to_thread.run_sync(dog.cancel)
        await anyio.sleep_forever()


async def test_a_latch_that_was_left_is_not_watched_any_more() -> None:
    latch = Latch()
    with watchdog(latch, lambda: True):
        pass
    latch.trip(TRIPWIRE)
    for _ in range(3):
        await anyio.lowlevel.checkpoint()

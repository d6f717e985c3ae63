"""One leg of a run at a time."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from interlock.runtime.turnstile import Turnstile

pytestmark = pytest.mark.anyio


async def test_one_is_in_at_a_time() -> None:
    turnstile, inside, most = Turnstile("r"), 0, 0

    async def pass_through() -> None:
        nonlocal inside, most
        async with turnstile:
            inside += 1
            most = max(most, inside)
            await anyio.lowlevel.checkpoint()
            inside -= 1

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(pass_through)
    assert most == 1
    assert not turnstile.busy


async def test_one_who_is_cancelled_while_waiting_or_inside_lets_the_next_in() -> None:
    turnstile = Turnstile("r")
    seen: list[bool] = []
    async with turnstile:
        with anyio.move_on_after(0):
            await turnstile.enter()
            pytest.fail("somebody is in")
        seen.append(turnstile.busy)
    with anyio.CancelScope() as scope:
        async with turnstile:
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    seen.append(turnstile.busy)
    assert seen == [True, False]
    async with turnstile:
        pass

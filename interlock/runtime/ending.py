"""What is done when a run has ended, besides saying so: whoever keeps something of it is told."""

from __future__ import annotations

from typing import Final

import anyio

from interlock.errors import StorageError
from interlock.runtime.agent_run import AgentRun
from interlock.runtime.keeping import keep_turn
from interlock.runtime.result import RunStatus
from interlock.tracing import warn

__all__ = ["keep", "keep_what_was_accepted"]

LONGEST_KEEPING: Final = 10.0
"""Seconds that keeping may take when nobody waits for the run any more."""


async def keep(run: AgentRun, status: RunStatus) -> None:
    """Keep a run that is about to end in such a way.

    Raises:
        StorageError: A store failed.
    """
    try:
        await keep_turn(run.points.processors, run.facts, run.messages, whole=status == "success")
    except StorageError:
        if status != "success":  # the journal is told how it has ended all the same
            await run.shelf.ended(run, status)
        raise
    await run.shelf.ended(run, status)


async def keep_what_was_accepted(run: AgentRun) -> None:
    """The same for a run that has been stopped: it takes only so long, nothing interrupts it, a failure is logged."""
    with anyio.move_on_after(LONGEST_KEEPING, shield=True) as scope:
        try:
            await keep(run, run.status or "canceled")
        except Exception as error:
            warn("a run's end could not be stored", run_id=run.facts.run_id, error=f"{type(error).__name__}: {error}")
    if scope.cancelled_caught:
        warn("a run's end could not be stored", run_id=run.facts.run_id, error=f"took more than {LONGEST_KEEPING:g} s")

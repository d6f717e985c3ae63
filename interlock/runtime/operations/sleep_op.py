"""A wait."""

from __future__ import annotations

import sys
from collections.abc import Awaitable
from datetime import datetime
from time import time
from typing import Any, ClassVar, cast

import anyio

from interlock.errors import RunError
from interlock.runtime.operations.arms import abandon_noted, heard
from interlock.runtime.run_state import Site
from interlock.runtime.strand import Operation, Strand, is_awaitable
from interlock.steps import StepContext
from interlock.workflows import SleepNode

__all__ = ["SleepOp"]


class SleepOp(Operation):
    """A wait until a point in time, which is noted: a run that is continued waits only the rest."""

    __slots__ = ("_time", "_until")
    waits_in_hook: ClassVar[bool] = True  # a verdict that comes late cuts it short, as it does a step

    def __init__(self, node: SleepNode, path: str, site: Site = ()) -> None:
        super().__init__(node.id, path, site)
        self._time = node.time
        self._until = node.until

    @property
    def kind(self) -> str:  # type: ignore[override]
        """``"sleep-until"`` or ``"sleep"``."""
        return "sleep-until" if self._until else "sleep"

    def begin(self, strand: Strand) -> object:
        entry = strand.enter(self)
        if entry.notes is not None and entry.notes.until is not None:
            return self._wait(strand, entry.notes.until)
        strand.note = None
        asked: object = self._time
        if callable(asked):
            asked = asked(StepContext[Any](strand.value, strand.run, entry))
            if is_awaitable(asked):
                strand.note = asked
                return self._asked(strand, cast("Awaitable[object]", asked))
            heard(strand)
        return self._wait(strand, self._end_of(asked))

    async def _asked(self, strand: Strand, awaitable: Awaitable[object]) -> object:
        asked = await strand.execution.in_hook(awaitable)
        heard(strand)
        result = self._wait(strand, self._end_of(asked))
        return await cast("Awaitable[object]", result) if is_awaitable(result) else result

    def _wait(self, strand: Strand, until: float) -> object:
        entry = strand.entry
        entry.noted().until = until
        tape = strand.execution.tape
        if tape is not None:
            tape.sleeps(entry, until)
        left = until - time()
        return _slept(left, strand.value) if left > 0 else strand.value

    def _end_of(self, asked: object) -> float:
        """The point in time that a wait ends at.

        Raises:
            RunError: What was asked for is no time.
        """
        if self._until:
            if isinstance(asked, datetime):
                return asked.timestamp()
            if _is_number(asked):
                return cast("float", asked)
            wanted = "a datetime, or seconds since the epoch"
        else:
            if _is_number(asked) and cast("float", asked) >= 0:
                return time() + cast("float", asked)
            wanted = "seconds, 0 or more"
        raise RunError(f"{self.path!r} waits for {wanted}, not for {asked!r}")

    def abandon(self, strand: Strand) -> None:
        abandon_noted(strand.note)


def _is_number(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max  # what no float can hold is no time either


async def _slept(seconds: float, value: object) -> object:
    await anyio.sleep(seconds)
    return value

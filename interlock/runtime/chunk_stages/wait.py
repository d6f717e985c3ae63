"""A wait; and a list that is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from time import time
from typing import TypeGuard

import anyio

from interlock.errors import RunError
from interlock.runtime.chunk_chain import ChunkChain
from interlock.runtime.chunk_stages.call import Call
from interlock.runtime.chunk_stages.scope import Scope
from interlock.runtime.chunk_stages.values import Keyed, Value
from interlock.runtime.chunk_stages.woven import Hooked, Work, WovenStage
from interlock.workflows import SleepNode

__all__ = ["ForeachStage", "SleepStage"]


class SleepStage(WovenStage):
    """Waits with each chunk, then lets it go on.

    Args:
        path: Where it stands.
        scope: The workflow it stands in.
        node: How long, or until when.
        asked: The function that says so; None where the node does.
    """

    def __init__(self, path: str, scope: Scope, node: SleepNode, asked: Call | None) -> None:
        super().__init__(path, scope.execution)
        self._time: object = node.time
        self._until = node.until
        self._asked = asked

    def chains(self) -> Sequence[ChunkChain]:
        """It has none."""
        return ()

    def work(self, value: Value) -> Work:
        """Wait."""
        wanted = self._time
        if self._asked is not None:
            wanted = self._asked.answer(value)
            if isinstance(wanted, Hooked):
                wanted = yield from self._asked.waited(wanted)
        seconds = self._seconds(wanted)
        if seconds > 0:
            yield Hooked(anyio.sleep(seconds), self.execution)  # a tripwire meanwhile ends it
        return value

    def _seconds(self, wanted: object) -> float:
        """How long to wait.

        Raises:
            RunError: What was asked for is no time.
        """
        if self._until:
            if isinstance(wanted, datetime):
                return wanted.timestamp() - time()
            if _is_number(wanted):
                return wanted - time()
            told = "a datetime, or seconds since the epoch"
        else:
            if _is_number(wanted) and wanted >= 0:
                return wanted
            told = "seconds, 0 or more"
        raise RunError(f"{self.path!r} waits for {told}, not for {wanted!r}")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


class ForeachStage(WovenStage):
    """A body for each item of a list, where what flows is a chunk: that is a failure.

    Args:
        path: Where it stands.
        scope: The workflow it stands in.
        body: The body, for records.
    """

    def __init__(self, path: str, scope: Scope, body: ChunkChain) -> None:
        super().__init__(path, scope.execution)
        self._body = body

    def chains(self) -> Sequence[ChunkChain]:
        """The body."""
        return (self._body,)

    def work(self, value: Value) -> Work:
        """Refuse.

        Raises:
            RunError: Always.
        """
        found = "the keyed output of a block" if isinstance(value, Keyed) else "a chunk"
        error = RunError(f"{self.path!r} goes over a list, but {found} flows there")
        self._body.missed(error)
        raise error

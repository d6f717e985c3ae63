"""Branches that run at once: begun in list order as far as nothing waits; those that wait are joined."""

from __future__ import annotations

from abc import ABC
from collections import deque
from collections.abc import Awaitable, Generator, Sequence
from typing import Any, TypeAlias, cast

from interlock.runtime.chunk_chain import ChunkChain, Halt
from interlock.runtime.chunk_stages.arm import Arm
from interlock.runtime.chunk_stages.scope import Scope
from interlock.runtime.chunk_stages.values import Value, Values
from interlock.runtime.chunk_stages.woven import WovenStage
from interlock.runtime.join import join
from interlock.runtime.operations.arms import Gathering
from interlock.runtime.strand import close, is_awaitable
from interlock.verdict import AbortSignal, BailSignal, Signal

__all__ = ["GatheringStage", "stop_if_stopped"]

Gathered: TypeAlias = "Generator[Awaitable[Any], Any, None]"


ENOUGH = "enough other branches had ended"
FAILED = "the run failed first"


class _Enough(Signal):
    """As many branches have ended as are wanted: the rest is stopped."""


class GatheringStage(WovenStage, ABC):
    """A stage that runs branches at once.

    Args:
        path: Where it stands.
        scope: The workflow it stands in.
        arms: The branches.
        halt: Why they are stopped.
        concurrency: How many run at once; None: all.
    """

    def __init__(
        self, path: str, scope: Scope, arms: Sequence[Arm], halt: Halt, *, concurrency: int | None = None
    ) -> None:
        super().__init__(path, scope.execution)
        self.scope = scope
        self.arms = tuple(arms)
        self._halt = halt
        self._limit = concurrency if concurrency is not None else len(self.arms)

    def chains(self) -> Sequence[ChunkChain]:
        """Those of the branches."""
        return [arm.chain for arm in self.arms]

    def gathered(self, value: Value, arms: Sequence[Arm], gathering: Gathering) -> Gathered:
        """Run branches until all have ended, or enough have.

        Args:
            value: What the block was given.
            arms: Those that are to run.
            gathering: What a failure means, and how many are enough; says which have ended, and how.
            share: Whether what the block was given needs no copy.
        """
        self._halt.why = None
        group = _Group(self, value, arms, gathering)
        running, queue = group.running, group.queue
        try:
            while True:
                while queue and len(running) < self._limit and not gathering.enough:
                    group.begin()
                if gathering.enough or not running:
                    break
                if len(running) == 1 and (not queue or self._limit == 1):
                    ((number, awaitable),) = running.items()
                    try:
                        flow = yield awaitable
                    except Exception as error:
                        group.failed(number, error)
                    else:
                        group.ended(number, flow)
                    continue
                yield group.joined()
                break
        except BaseException as error:
            group.drop(self.cause(error))
            raise
        if gathering.enough:
            self.halted(ENOUGH)
            group.drop(_Enough())

    def halted(self, why: str) -> None:
        """Note why those are stopped that have not ended."""
        if self._halt.why is None:
            self._halt.why = why


class _Group:
    """Some branches, and how far they are.

    Attributes:
        queue: The places of those that have not begun.
        running: What those wait for that have begun.
    """

    __slots__ = ("_arms", "_gathering", "_stage", "_value", "queue", "running")

    def __init__(self, stage: GatheringStage, value: Value, arms: Sequence[Arm], gathering: Gathering) -> None:
        self._stage = stage
        self._value = value
        self._arms = arms
        self._gathering = gathering
        self.queue = deque(range(len(arms)))
        self.running: dict[int, Awaitable[Values]] = {}

    def begin(self) -> int | None:
        """Begin the next; gives its place where it waits."""
        number = self.queue.popleft()
        try:
            flow = self._arms[number].push(self._value)
        except Exception as error:
            self.failed(number, error)
            return None
        if flow is not self._value and is_awaitable(flow):
            self.running[number] = cast("Awaitable[Values]", flow)
            return number
        self.ended(number, cast("Values", flow))
        return None

    def ended(self, number: int, flow: Values) -> None:
        """Take in what a branch gave; nobody goes on with one that ends when enough have."""
        self.running.pop(number, None)
        if self._gathering.enough:
            self._arms[number].leave_behind()
        try:
            self._arms[number].end(self._value, flow)
        except Exception as error:
            self._take(number, error)
        else:
            self._take(number)

    def failed(self, number: int, error: Exception) -> None:
        """Take in a branch's failure."""
        self.running.pop(number, None)
        self._arms[number].leave_behind()
        self._take(number, error)

    def _take(self, number: int, error: Exception | None = None) -> None:
        try:
            self._gathering.take(number, error)
        except Exception:
            self._stage.halted(FAILED)
            raise

    async def joined(self) -> None:
        """Take those that wait to their ends, and those behind them."""
        execution, run = self._stage.execution, self._stage.scope.run
        execution.joins += 1
        try:
            await join([self._job(number) for number in self.running], run)
        except _Enough:
            pass
        finally:
            execution.joins -= 1
        stop_if_stopped(self._stage.scope)

    async def _job(self, number: int | None) -> None:
        """One branch from where it waits, then others as long as there are some."""
        while number is not None:
            try:
                flow = await self.running[number]
            except Exception as error:
                self.failed(number, error)
            else:
                self.ended(number, flow)
            number = None
            while number is None and self.queue and not self._gathering.enough:
                number = self.begin()
            if self._gathering.enough:
                self._stage.halted(ENOUGH)
                raise _Enough

    def drop(self, error: BaseException) -> None:
        """Let go of all that have not ended."""
        for number, awaitable in self.running.items():
            close(awaitable)
            self._arms[number].chain.abandon(error)
            self._arms[number].leave_behind()
        for number in self.queue:
            self._arms[number].chain.missed(error)
        self.running.clear()
        self.queue.clear()


def stop_if_stopped(scope: Scope) -> None:
    """Unwind where somebody has said so, whatever became of the signal.

    Raises:
        Signal: The run was blocked, or the workflow ended.
    """
    tripwire = scope.execution.latch.tripwire
    if tripwire is not None:
        raise AbortSignal(tripwire)
    if scope.run.bailed is not None:
        raise BailSignal(scope.run)

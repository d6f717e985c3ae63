"""Stages whose work may wait at several places: told once, as a generator, and run without waiting where nothing waits.

The generator gives each thing that is to be awaited and is sent what came of it. As long as it gives nothing, no
coroutine is made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, TypeAlias

from interlock.runtime.chunk_chain import ChunkChain
from interlock.runtime.chunk_stages.failures import failure_of
from interlock.runtime.chunk_stages.values import Value, Values
from interlock.runtime.execution import Execution
from interlock.runtime.strand import close

__all__ = ["Hooked", "Work", "WovenStage"]

Work: TypeAlias = "Generator[Awaitable[Any], Any, Values]"
"""What a stage does with one chunk."""


class Hooked:
    """The user's own code, to be awaited; where that is done in the run's own task, it is noted meanwhile."""

    __slots__ = ("_awaitable", "_execution")

    def __init__(self, awaitable: Awaitable[object], execution: Execution) -> None:
        self._awaitable = awaitable
        self._execution = execution

    def __await__(self) -> Generator[Any, Any, object]:
        execution = self._execution
        if execution.joins:
            return self._awaitable.__await__()
        return execution.in_hook(self._awaitable).__await__()

    def close(self) -> None:
        """Drop it."""
        close(self._awaitable)


class WovenStage(ABC):
    """A stage with chains of its own.

    Args:
        path: Where it stands.
        execution: The run's.
    """

    waits_in_hook = False

    def __init__(self, path: str, execution: Execution) -> None:
        self.path = path
        self.execution = execution
        self.chunk: Any = None
        self._pending: tuple[Work, Awaitable[Any]] | None = None
        self._dropped: BaseException | None = None

    @abstractmethod
    def work(self, value: Value) -> Work:
        """What is to be done with what came; gives what goes on.

        Where it is closed, it notes for what it has not begun that that was not asked.
        """
        ...

    @abstractmethod
    def chains(self) -> Sequence[ChunkChain]:
        """Its chains."""
        ...

    def row(self) -> tuple[Callable[[Any], object], Any]:
        """The work, and this stage."""
        return self._begun, self

    def _begun(self, _: object) -> object:
        work = self.work(self.chunk)
        try:
            awaitable = next(work)
        except StopIteration as done:
            return done.value
        self._pending = (work, awaitable)
        return self._continued(work, awaitable)

    async def _continued(self, work: Work, awaitable: Awaitable[Any]) -> Values:
        self._pending = None
        try:
            while True:
                try:
                    result = await awaitable
                except BaseException as error:
                    awaitable = work.throw(error)
                else:
                    awaitable = work.send(result)
        except StopIteration as done:
            out: Values = done.value
            return out

    def settle(self, chunk: Value, out: Values) -> Values:
        """What the work gave."""
        return out

    def failed(self, error: BaseException) -> BaseException:
        """What is raised for an error in it."""
        return failure_of(self.execution.latch, self.path, error)

    def also(self, runs: int) -> None:
        """Count them for all its chains."""
        for chain in self.chains():
            chain.also(runs)

    def missed(self, error: BaseException) -> None:
        """Note for all its chains that they were not asked."""
        for chain in self.chains():
            chain.missed(error)

    def abandon(self, error: BaseException) -> None:
        """Drop what was begun."""
        pending, self._pending = self._pending, None
        if pending is not None:
            work, awaitable = pending
            close(awaitable)
            self._dropped = error
            work.close()
            self._dropped = None
            for chain in self.chains():  # what the work itself has not dropped
                chain.abandon(error)

    def cause(self, error: BaseException) -> BaseException:
        """Why the work ends early: what it is closed for, where it is closed."""
        return self._dropped if self._dropped is not None and isinstance(error, GeneratorExit) else error

"""One line of execution through a chain of operations: as far as it gets without waiting, then awaited, and on.

A strand does not know what its operations do. ``advance`` calls them one after the other and stops at the first that
gives back something to await. So a chain of plain functions runs without a single await, and the branches of a
parallel block run up to their first wait inline, in list order, before any of them gets a task.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import CoroutineType
from typing import Any, Protocol, cast

from interlock.errors import RunError, StepFailed
from interlock.processors.base import Processor
from interlock.processors.seat import RunFacts, Seat
from interlock.runtime.cancellation import cancelled_itself, interrupts, lonely_cancellation
from interlock.runtime.checks import PointChecks
from interlock.steps import StepRun
from interlock.verdict import AbortSignal, Latch, Phase

__all__ = ["Execution", "Operation", "Strand", "abandon", "advance", "as_failure", "close", "drive", "is_awaitable"]


class Execution:
    """What all strands of one execution of one plan share.

    Args:
        facts: The run.
        phase: The lifecycle phase; None for a typed workflow.
        states: Processor states of the run, by ``id()`` of the processor.
        checks: Where processors' verdicts are noted.

    Attributes:
        entries: What each step did, in the order in which steps started.
        joins: How many joins are running. While there is one, steps and hooks wait in tasks of their own.
        waiting: Whether the task that runs the execution is itself waiting for a step or hook right now.
    """

    __slots__ = ("checks", "entries", "facts", "joins", "latch", "phase", "states", "waiting")

    def __init__(
        self,
        facts: RunFacts,
        phase: Phase | None = None,
        *,
        states: dict[int, dict[str, object]] | None = None,
        checks: PointChecks | None = None,
    ) -> None:
        self.facts = facts
        self.latch: Latch = facts.latch
        self.phase = phase
        self.states = states if states is not None else {}
        self.checks = checks if checks is not None else PointChecks()
        self.entries: list[Any] = []
        self.joins = 0
        self.waiting = False

    async def in_hook(self, awaitable: Awaitable[object]) -> object:
        """Wait for the user's own code, in the task that runs the execution."""
        self.waiting = True
        try:
            return await awaitable
        finally:
            self.waiting = False

    def seat(self, processor: Processor) -> Seat:
        """A processor's place in this run."""
        state = self.states.setdefault(id(processor), {})
        return Seat(processor.id, self.facts, state, processor.on_violation)

    def scope(self, value: object) -> StepRun:
        """What the steps of one workflow share; a nested workflow has one of its own."""
        return StepRun(self.facts.run_id, value, self.facts.request_context, self.latch, self.phase)


class Operation(Protocol):
    """What a plan's node has become: something that takes a strand one node further."""

    waits_in_hook: bool
    """Whether waiting for it means waiting for the user's own code."""

    def begin(self, strand: Strand) -> object:
        """Start; give back the result, or something to await that gives it."""
        ...

    def end(self, strand: Strand, result: object) -> None:
        """Take the result in: set ``strand.value``."""
        ...

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        """Note the failure; give back what is to be raised (``error`` itself to let it pass)."""
        ...

    def abandon(self, strand: Strand) -> None:
        """Drop what it waits for inside the awaitable that ``begin`` gave, because nobody will await that."""
        return  # most wait for nothing but that


class Strand:
    """Where one line of execution stands.

    Attributes:
        value: What flows.
        index: The operation it stands at.
        note: The current operation's own notes.
    """

    __slots__ = ("execution", "index", "note", "ops", "run", "value")

    def __init__(self, ops: Sequence[Operation], value: Any, execution: Execution, run: StepRun) -> None:
        self.ops = ops
        self.value = value
        self.execution = execution
        self.run = run
        self.index = 0
        self.note: Any = None


def is_awaitable(value: object) -> bool:
    """Whether something must be awaited."""
    kind = type(value)
    return kind is CoroutineType or hasattr(kind, "__await__")


def close(awaitable: Awaitable[object]) -> None:
    """Drop something awaitable that nobody will await."""
    for name in ("close", "cancel"):
        stop = cast("Callable[[], object] | None", getattr(awaitable, name, None))
        if stop is not None:
            stop()
            return


def abandon(strand: Strand, awaitable: Awaitable[object]) -> None:
    """Drop a strand that waits, because it will not go on; ``awaitable`` is what ``advance`` gave for it."""
    close(awaitable)
    if strand.index < len(strand.ops):
        strand.ops[strand.index].abandon(strand)


def advance(strand: Strand) -> Awaitable[object] | None:
    """Go on until the strand is through (None) or must wait (what to await)."""
    ops = strand.ops
    latch = strand.execution.latch
    count = len(ops)
    if latch.tripwire is not None:  # by something that was left running
        raise AbortSignal(latch.tripwire)
    while strand.index < count:
        op = ops[strand.index]
        try:
            result: Any = op.begin(strand)
            kind: Any = result.__class__
            if kind is CoroutineType or hasattr(kind, "__await__"):
                waits: Awaitable[object] = result
                return waits
            if latch.tripwire is not None:
                raise AbortSignal(latch.tripwire)
            op.end(strand, result)
        except BaseException as error:
            told = op.failed(strand, error)
            if told is error:
                raise
            raise told from error
        strand.index += 1
    return None


async def drive(strand: Strand, awaitable: Awaitable[object] | None = None) -> None:
    """Take a strand to its end.

    Args:
        strand: The strand.
        awaitable: What ``advance`` gave for it, where it was called already.
    """
    execution = strand.execution
    latch = execution.latch
    if awaitable is None:
        awaitable = advance(strand)
    elif latch.tripwire is not None:  # a sibling was quicker: what has not begun does not begin
        abandon(strand, awaitable)
        raise AbortSignal(latch.tripwire)
    while awaitable is not None:
        op = strand.ops[strand.index]
        try:
            if op.waits_in_hook and not execution.joins:
                execution.waiting = True
                try:
                    result = await awaitable
                finally:
                    execution.waiting = False
            else:
                result = await awaitable
            if latch.tripwire is not None:
                raise AbortSignal(latch.tripwire)
            op.end(strand, result)
        except BaseException as error:
            told = op.failed(strand, error)
            if told is error:
                raise
            raise told from error
        strand.index += 1
        awaitable = advance(strand)


def as_failure(latch: Latch, path: str, error: BaseException, phase: Phase | None) -> BaseException:
    """What an error raised inside a step or hook becomes.

    A recorded tripwire makes every error its consequence. Cancellation passes as it is: whoever cancelled must see it.
    """
    if not isinstance(error, Exception) and cancelled_itself(error):
        error = lonely_cancellation(error)
    if isinstance(error, AbortSignal) and latch.tripwire is not None:
        return error
    if latch.tripwire is not None and (isinstance(error, BaseExceptionGroup) or not interrupts(error)):
        return AbortSignal(latch.tripwire)
    if isinstance(error, RunError) or interrupts(error):
        return cast("BaseException", error)
    return StepFailed(path, error, phase=phase)

"""One line of execution through a chain of operations: as far as it gets without waiting, then awaited, and on.

A strand does not know what its operations do. ``advance`` calls them one after the other and stops at the first that
gives back something to await. So a chain of plain functions runs without a single await, and the branches of a
parallel block run up to their first wait inline, in list order, before any of them gets a task.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from types import CoroutineType
from typing import Any, ClassVar, Final, NoReturn, cast

from interlock.errors import RunError, StepFailed, StorageError
from interlock.nearest import did_you_mean
from interlock.runtime.cancellation import cancelled_itself, interrupts, lonely_cancellation
from interlock.runtime.entry import REPLAYED, Entry
from interlock.runtime.execution import Execution
from interlock.runtime.run_state import Site
from interlock.steps import Step, StepContext, StepRun, Turn
from interlock.verdict import AbortSignal, BailSignal, CutSignal, HaltSignal, Latch, Phase, Signal

__all__ = [
    "Operation",
    "Strand",
    "abandon",
    "advance",
    "as_failure",
    "close",
    "drive",
    "drop_if_blocked",
    "fail",
    "is_awaitable",
    "part_failed",
    "proceed",
    "stop_if_cut",
]


_NOT_BEGUN: Final = object()


class Operation:
    """What a plan's node has become: something that takes a strand one node further.

    Attributes:
        step_id, path: Its id, alone and behind those of the workflows around it.
        kind: ``"function"``, ``"map"``, ``"parallel"``, ….
        waits_in_hook: Whether waiting for it means waiting for the user's own code.
        contains: Whether it runs others.
        is_step: Whether a run that goes step by step stops before it, and a journal must know of it before it begins.
        site: The blocks it stands in.
    """

    __slots__ = ("path", "site", "step_id")
    kind: str = ""
    waits_in_hook: ClassVar[bool] = False
    contains: ClassVar[bool] = False
    is_step: ClassVar[bool] = False

    def __init__(self, step_id: str, path: str, site: Site = ()) -> None:
        self.step_id = step_id
        self.path = path
        self.site = site

    @property
    def step(self) -> Step[Any, Any] | None:
        """The step it is made of; None of a map or a block."""
        return None

    def begin(self, strand: Strand) -> object:
        """Start; give back the result, or something to await that gives it."""
        raise NotImplementedError

    def end(self, strand: Strand, result: Any) -> None:
        """Take the result in: set ``strand.value``."""
        strand.entry.succeeded(result)
        strand.value = result
        if self.contains:
            strand.note = None  # what it ran holds the strand, and the two need not hold one another
            if strand.execution.waiting_turns:
                strand.execution.stop_waiting(self, strand.at)

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        """Note the failure; give back what is to be raised (``error`` itself to let it pass)."""
        entry = strand.entry
        told = as_failure(strand.execution.latch, self.path, error, strand.execution.phase, entry)
        entry.ended_early(told, strand.execution)
        if isinstance(told, BailSignal) and entry.notes is not None and entry.notes.signal is told:
            entry.output = cast("tuple[object]", strand.run.bailed)[0]
        if self.contains:
            strand.note = None
            if strand.execution.waiting_turns and not isinstance(told, HaltSignal):
                strand.execution.stop_waiting(self, strand.at)
        return told

    def arm_failed(self, strand: Strand) -> None:
        """Note that an error has ended one of the chains that it runs at once; by itself that stops nothing."""

    def cut_off(self, strand: Strand) -> None:
        """Note that the chains that it still runs are being stopped."""
        strand.execution.cut_off(self, strand.at, strand.entry)

    def replay(self, strand: Strand, output: Any) -> None:
        """Take in what it gave before."""
        strand.value = output

    def abandon(self, strand: Strand) -> None:
        """Drop what it waits for inside the awaitable that ``begin`` gave, because nobody will await that.

        Most wait for nothing but that, and have not begun what they do.
        """
        strand.entry.noted().attempts -= 1

    def chains(self) -> Sequence[Sequence[Operation]]:
        """The chains it runs, in list order."""
        return ()


class Strand:
    """Where one line of execution stands.

    Attributes:
        value: What flows.
        index: The operation it stands at.
        at: The iterations around it.
        entry: What is noted of the operation it stands at.
        begun: Whether that operation has begun.
        note: The current operation's own notes.
        pending: What the current operation awaits inside of what it gave to be awaited, where that is not in ``note``.
        within: The strand whose operation runs it; None of a whole run.
    """

    __slots__ = (
        "at",
        "begun",
        "entry",
        "execution",
        "index",
        "note",
        "ops",
        "pending",
        "run",
        "value",
        "within",
    )

    def __init__(
        self,
        ops: Sequence[Operation],
        value: Any,
        execution: Execution,
        run: StepRun,
        at: tuple[int, ...] = (),
        within: Strand | None = None,
    ) -> None:
        self.ops = ops
        self.value = value
        self.execution = execution
        self.run = run
        self.at = at
        self.index = 0
        self.begun = True
        self.entry: Entry = _NO_ENTRY
        self.note: Any = None
        self.pending: Awaitable[object] | None = None
        self.within = within

    @property
    def ended(self) -> bool:
        """Whether it is through."""
        return self.index == len(self.ops)

    @property
    def ended_at(self) -> float:
        """When what it stands at came to its end, by the clock of entries; of an earlier leg too."""
        entry = cast("Entry | None", self.entry)
        return math.inf if entry is None else entry.began + entry.duration

    def enter(self, op: Operation) -> Entry:
        """Note that an operation begins."""
        entry = Entry(op, self.value, self.at, self.run)
        self.entry = entry
        execution = self.execution
        execution.entries.append(entry)
        if execution.tape is not None:
            execution.tape.entered(self, entry)
        return entry

    def inner(self, ops: Sequence[Operation], value: Any, *, run: StepRun | None = None) -> Strand:
        """A strand for a chain that the current operation runs."""
        return Strand(ops, value, self.execution, run or self.run, self.at, self)

    def again(self, value: Any, at: tuple[int, ...]) -> None:
        """Go back to the start of the chain, for another iteration."""
        self.value = value
        self.at = at
        self.index = 0


_NO_ENTRY = cast("Entry", None)
"""Before an operation has begun. Whoever could meet it asks ``begun`` first."""


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
        op = strand.ops[strand.index]
        tape = strand.execution.tape
        if strand.begun:
            op.abandon(strand)
        if tape is not None:
            tape.dropped(op, strand)


def advance(strand: Strand, result: object = _NOT_BEGUN) -> Awaitable[object] | None:
    """Go on until the strand is through (None) or must wait (what to await).

    Args:
        strand: The strand.
        result: What the operation it stands at gave, where that has been begun already.
    """
    ops = strand.ops
    execution = strand.execution
    latch = execution.latch
    tape = execution.tape
    count = len(ops)
    if latch.tripwire is not None and result is _NOT_BEGUN:  # by something that was left running
        raise AbortSignal(latch.tripwire)
    while strand.index < count:
        op = ops[strand.index]
        try:
            if result is _NOT_BEGUN:
                result = op.begin(strand) if tape is None else tape.begin(op, strand)
            kind: Any = result.__class__
            if kind is CoroutineType or hasattr(kind, "__await__"):
                return result  # type: ignore[return-value]  # pyright: ignore[reportReturnType]
            if latch.tripwire is not None:
                raise AbortSignal(latch.tripwire)
            if tape is None:
                op.end(strand, result)
            elif result is not REPLAYED:
                op.end(strand, result)
                tape.ended(op, strand)
        except BaseException as error:
            fail(strand, op, error)
        strand.index += 1
        result = _NOT_BEGUN
    return None


async def drive(strand: Strand, awaitable: Awaitable[object] | None = None) -> None:
    """Take a strand to its end.

    Args:
        strand: The strand.
        awaitable: What ``advance`` gave for it, where it was called already.
    """
    ops = strand.ops
    execution = strand.execution
    latch = execution.latch
    tape = execution.tape
    count = len(ops)
    if awaitable is None:
        awaitable = advance(strand)
    else:
        drop_if_blocked(strand, awaitable)
    while awaitable is not None:
        op = ops[strand.index]
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
            if execution.cuts:
                stop_if_cut(strand)
            op.end(strand, result)
            if tape is not None:
                tape.ended(op, strand)
        except BaseException as error:
            fail(strand, op, error)
        strand.index += 1
        if strand.index == count:
            return
        if tape is not None:
            awaitable = advance(strand)
            continue
        op = ops[strand.index]
        try:
            begun = op.begin(strand)
        except BaseException as error:
            fail(strand, op, error)
        # The next is a coroutine again in most chains that wait at all.
        kind: object = type(begun)
        awaitable = begun if kind is CoroutineType else advance(strand, begun)  # type: ignore[assignment]


def proceed(strand: Strand, result: object) -> Awaitable[object] | None:
    """Go on with what the awaited operation gave, until the strand is through (None) or must wait again."""
    execution = strand.execution
    op = strand.ops[strand.index]
    try:
        tripwire = execution.latch.tripwire
        if tripwire is not None:
            raise AbortSignal(tripwire)
        if execution.cuts:
            stop_if_cut(strand)
        op.end(strand, result)
        if execution.tape is not None:
            execution.tape.ended(op, strand)
    except BaseException as error:
        fail(strand, op, error)
    strand.index += 1
    return None if strand.index == len(strand.ops) else advance(strand)


def drop_if_blocked(strand: Strand, awaitable: Awaitable[object]) -> None:
    """Drop a strand that waits where the run has been blocked since it began: what has not begun does not begin.

    Raises:
        AbortSignal: It has been blocked.
    """
    tripwire = strand.execution.latch.tripwire
    if tripwire is not None:
        abandon(strand, awaitable)
        raise AbortSignal(tripwire)


def stop_if_cut(strand: Strand) -> None:
    """Unwind where a block that has ended without it runs this strand.

    Raises:
        CutSignal: One does.
    """
    notes = strand.entry.notes
    if notes is not None and notes.cut:
        raise CutSignal


def fail(strand: Strand, op: Operation, error: BaseException) -> NoReturn:
    """Raise what an operation's error becomes."""
    told = error
    if strand.begun:
        told = op.failed(strand, error)
        tape = strand.execution.tape
        if tape is not None:
            tape.failed(op, strand, told)
    outer = strand.within
    if outer is not None and isinstance(told, Exception):
        outer.ops[outer.index].arm_failed(outer)
    if told is error:
        raise error
    raise told from error


def as_failure(
    latch: Latch, path: str, error: BaseException, phase: Phase | None, entry: Turn | None = None
) -> BaseException:
    """What an error raised inside a step or hook becomes.

    What was recorded before it was raised counts, not the exception: a tripwire, and then a suspension or a bail, make
    every error their consequence. Cancellation passes as it is: whoever cancelled must see it.
    """
    if not isinstance(error, Exception) and cancelled_itself(error):
        error = lonely_cancellation(error)
    if latch.tripwire is not None:
        if isinstance(error, AbortSignal):
            return error
        if isinstance(error, BaseExceptionGroup) or not interrupts(error):
            return AbortSignal(latch.tripwire)
    notes = entry.notes if entry is not None else None
    if notes is not None and notes.cut and (isinstance(error, BaseExceptionGroup) or not interrupts(error)):
        return CutSignal()
    signal = notes.signal if notes is not None and not notes.replayed else None
    if signal is not None and (isinstance(error, BaseExceptionGroup) or not interrupts(error)):
        return signal
    if isinstance(error, RunError | StorageError) or interrupts(error):
        return error
    if isinstance(error, Signal) and not _made_by_hand(error, entry):
        return error
    attempt = notes.attempts if notes is not None else 1
    iteration = entry.at[-1] if entry is not None and entry.at else None
    part = _missing_in_context(error) if isinstance(error, AttributeError) else None
    return StepFailed(path, error, attempt=attempt, phase=phase, iteration=iteration, part=part)


def part_failed(strand: Strand, error: Exception, part: str) -> StepFailed:
    """The failure of something in the operation that a strand stands at.

    Args:
        strand: The strand.
        error: What was raised.
        part: What failed: ``"its input does not fit its input_schema"``.
    """
    entry = strand.entry
    iteration = strand.at[-1] if strand.at else None
    phase = strand.execution.phase
    return StepFailed(entry.op.path, error, attempt=max(entry.attempt, 1), phase=phase, iteration=iteration, part=part)


def _missing_in_context(error: AttributeError) -> str | None:
    """What a function asked of its context that this has not, and may have meant."""
    if error.name is None or not isinstance(error.obj, StepContext):
        return None
    return f"a step's context has no {error.name!r}{did_you_mean(error.name, dir(StepContext))}"


def _made_by_hand(signal: Signal, entry: Turn | None) -> bool:
    """Whether a step raised a signal of which nothing was recorded."""
    if isinstance(signal, AbortSignal):  # with a tripwire standing it would not come here
        return True
    if not isinstance(entry, Entry) or entry.op.contains or entry.replayed:
        return False
    return not (isinstance(signal, BailSignal) and getattr(signal.scope, "bailed", None) is not None)

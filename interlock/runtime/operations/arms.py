"""Several chains at once: started inline, in list order; those that wait are joined."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, NoReturn, cast

from interlock.errors import RunError, StateConflict
from interlock.runtime.join import join
from interlock.runtime.strand import Strand, abandon, advance, close, drive
from interlock.verdict import AbortSignal, BailSignal, HaltSignal, PauseSignal, Signal, SuspendSignal
from interlock.workflows.nodes import ErrorMode

__all__ = [
    "Gathering",
    "Waiting",
    "abandon_all",
    "abandon_noted",
    "halt",
    "halt_with",
    "heard",
    "joined",
    "run_all",
    "start_all",
    "stop_if_stopped",
]

Waiting = tuple[Strand, Awaitable[object]]
"""A strand that waits, and for what."""


class _Enough(Signal):
    """As many arms have ended as are wanted: the rest is stopped."""


class Gathering:
    """How arms that may fail one by one, or of which some are enough, stand.

    Args:
        count: How many there are.
        enough: How many successes are wanted; None: all.
        on_error: What a failure means.
        cut_off: Called before the others are stopped.

    Attributes:
        succeeded: The arms that ended well, in the order in which they did.
        failures: Those that failed, in the order in which they did.
    """

    __slots__ = ("_count", "_cut_off", "_ended", "_on_error", "_wanted", "failures", "succeeded")

    def __init__(
        self, count: int, enough: int | None, on_error: ErrorMode, cut_off: Callable[[], object] | None = None
    ) -> None:
        self._cut_off = cut_off
        self._count = count
        self._wanted = count if enough is None else enough
        self._on_error = on_error
        self.succeeded: list[int] = []
        self.failures: dict[int, Exception] = {}
        self._ended: dict[int, float] = {}

    @property
    def enough(self) -> bool:
        """Whether as many ended well as are wanted, so that the others need not."""
        return len(self.succeeded) >= self._wanted < self._count

    def take(self, index: int, error: Exception | None = None, *, ended_at: float = 0.0) -> None:
        """Note how an arm ended.

        Args:
            index: Which.
            error: Its failure.
            ended_at: When that was, where it was before this process; of equal ones the first to be told was.

        Raises:
            Exception: The arm's error, where that is to stop the others, as a conflict always is.
        """
        if self.enough:  # it was being stopped, or ended in the same moment as the last that was wanted: too late
            return
        if error is None:
            self.succeeded.append(index)
            self._stop(self.enough)
            return
        self.failures[index] = error
        self._ended[index] = ended_at
        if isinstance(error, StateConflict) or (self._on_error == "fail_fast" and self._lost):
            self._stop(True)
            raise error

    def _stop(self, stops: bool) -> None:
        if stops and self._cut_off is not None:
            self._cut_off()

    def settle(self) -> None:
        """Say how the whole ended, once every arm has.

        Raises:
            Exception: The first failure in time, where it is one of the whole.
        """
        if self._on_error != "collect" and self._lost:
            raise self.failures[min(self.failures, key=self._ended.__getitem__)]

    @property
    def _lost(self) -> bool:
        return self._count - len(self.failures) < self._wanted

    async def arm(self, index: int, strand: Strand, awaitable: Awaitable[object] | None) -> None:
        """One arm, from where it waits."""
        try:
            await drive(strand, awaitable)
        except HaltSignal:
            return
        except Exception as error:
            self.take(index, error, ended_at=strand.ended_at)
        else:
            self.take(index)
            if self.enough:
                raise _Enough


def start_all(strands: Sequence[Strand]) -> list[Waiting]:
    """Start strands inline, in order, and give those that wait. One that halts stays where it is."""
    waiting: list[Waiting] = []
    try:
        for one in strands:
            try:
                awaitable = advance(one)
            except HaltSignal:
                continue
            if awaitable is not None:
                waiting.append((one, awaitable))
    except BaseException:
        abandon_all(waiting)
        raise
    return waiting


def abandon_all(waiting: Sequence[Waiting]) -> None:
    """Drop what strands wait for, because nobody will await it."""
    for one, awaitable in waiting:
        abandon(one, awaitable)


def abandon_noted(note: object) -> None:
    """Drop what an operation has noted that it waits for: strands, or something of the user's to be awaited."""
    if isinstance(note, list):
        abandon_all(cast("list[Waiting]", note))
    elif note is not None:
        close(cast("Awaitable[object]", note))


async def joined(strand: Strand, waiting: Sequence[Waiting]) -> None:
    """Take strands that wait to their ends; the first to fail stops the others.

    Args:
        strand: What contains them.
        waiting: At least one.
    """
    if len(waiting) == 1:
        with suppress(HaltSignal):
            await drive(*waiting[0])
        return
    await run_all(strand, [drive(one, awaitable) for one, awaitable in waiting])


async def run_all(
    strand: Strand,
    jobs: Sequence[Coroutine[Any, Any, Any]],
    *,
    growing: Callable[[Callable[[Coroutine[Any, Any, Any]], object]], object] | None = None,
) -> None:
    """Run jobs at once.

    Args:
        strand: What contains them.
        jobs: Coroutines that have not started.
        growing: Called with a function that adds a job to those that run.

    Raises:
        BaseException: What the first to fail raised; the signal of what stopped them otherwise.
    """
    execution = strand.execution
    execution.joins += 1
    try:
        await join(jobs, strand.run, growing=growing)
    except _Enough:
        strand.run.bailed = None  # by one that was being stopped, and so too late
    finally:
        execution.joins -= 1
    stop_if_stopped(strand)


def stop_if_stopped(strand: Strand) -> None:
    """Unwind where a step has said so, whatever became of its signal.

    Raises:
        Signal: The run was blocked, or the workflow ended.
    """
    tripwire = strand.execution.latch.tripwire
    if tripwire is not None:
        raise AbortSignal(tripwire)
    if strand.run.bailed is not None:
        raise BailSignal(strand.run)


def heard(strand: Strand) -> None:
    """Look at what a function that decides something has recorded besides its answer.

    Raises:
        Signal: It has ended the workflow or blocked the run, whatever became of its signal.
        RunError: It would change the run's state.
    """
    stop_if_stopped(strand)
    notes = strand.entry.notes
    if notes is not None and notes.deltas:
        raise RunError(
            f"a function of {strand.ops[strand.index].path!r} that only decides something called set_state(): do that "
            "in a step, or in a map before it"
        )


def halt_with(strand: Strand, strands: Sequence[Strand]) -> None:
    """Halt what contains strands where one of them has halted.

    Raises:
        HaltSignal: One has.
    """
    for one in strands:
        if one.index < len(one.ops):
            halt(strand)


def halt(strand: Strand) -> NoReturn:
    """Halt what contains a strand that has.

    Raises:
        HaltSignal: Always.
    """
    raise SuspendSignal if strand.execution.suspensions else PauseSignal

"""A strand goes as far as it gets without waiting, stops at the first wait, and looks at the latch as it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from interlock import Phase, Tripwire
from interlock.errors import RunError, StepFailed
from interlock.processors.seat import RunFacts
from interlock.runtime.execution import Execution
from interlock.runtime.strand import (
    Operation,
    Strand,
    abandon,
    advance,
    as_failure,
    close,
    drive,
    is_awaitable,
)
from interlock.verdict import AbortSignal, Latch

TRIPWIRE = Tripwire("stop", "guard")


class Op(Operation):
    """Adds a letter; with ``waits``, only after others had their turn.

    Args:
        letter: What it adds.
        waits: How often it lets others run; 0: not at all.
        error: What it raises instead.
        trips: Whether it trips the latch without raising.
    """

    waits_in_hook = True

    def __init__(self, letter: str, waits: int = 0, *, error: BaseException | None = None, trips: bool = False) -> None:
        super().__init__(letter, letter)
        self.letter = letter
        self.waits = waits
        self.error = error
        self.trips = trips
        self.log: list[str] = []
        self.made: Any = None

    def begin(self, strand: Strand) -> object:
        self.log.append("begin")
        strand.enter(self)
        if self.waits:
            self.made = self._later(strand)
            return self.made
        return self._now(strand)

    def _now(self, strand: Strand) -> str:
        if self.trips:
            strand.execution.latch.trip(TRIPWIRE)
        if self.error is not None:
            raise self.error
        return strand.value + self.letter  # type: ignore[no-any-return]

    async def _later(self, strand: Strand) -> str:
        self.log.append(f"waiting: {strand.execution.waiting}")
        for _ in range(self.waits):
            await anyio.lowlevel.checkpoint()
        return self._now(strand)

    def end(self, strand: Strand, result: object) -> None:
        self.log.append("end")
        strand.value = result

    def failed(self, strand: Strand, error: BaseException) -> BaseException:
        self.log.append(f"failed: {type(error).__name__}")
        return RunError("told") if isinstance(error, ValueError) else error

    def abandon(self, strand: Strand) -> None:
        self.log.append("abandoned")


def strand(*ops: Op) -> Strand:
    """A strand through these operations."""
    execution = Execution(RunFacts())
    return Strand(ops, "", execution, execution.scope(""))


def test_a_chain_of_plain_operations_runs_without_a_wait() -> None:
    line = strand(Op("a"), Op("b"), Op("c"))
    assert advance(line) is None
    assert (line.value, line.index) == ("abc", 3)


def test_an_empty_chain_is_through_at_once() -> None:
    assert advance(strand()) is None


async def drive_from(line: Strand) -> None:
    """Advance, then drive where it must wait."""
    awaitable = advance(line)
    assert awaitable is not None
    await drive(line, awaitable)


@pytest.mark.anyio
async def test_it_stops_at_the_first_wait_and_goes_on_from_there() -> None:
    ops = [Op("a"), Op("b", 2), Op("c"), Op("d", 1), Op("e")]
    line = strand(*ops)
    awaitable = advance(line)
    assert awaitable is not None
    assert (line.value, line.index) == ("a", 1)
    assert ops[2].log == []
    await drive(line, awaitable)
    assert (line.value, line.index) == ("abcde", 5)


@pytest.mark.anyio
async def test_while_a_hook_is_waited_for_in_the_runs_own_task_that_is_noted_and_else_not() -> None:
    op = Op("a", 1)
    line = strand(op)
    await drive(line)
    assert "waiting: True" in op.log
    assert not line.execution.waiting
    other = Op("a", 1)
    line = strand(other)
    line.execution.joins = 1
    await drive(line)
    assert "waiting: False" in other.log


@pytest.mark.anyio
@pytest.mark.parametrize("waits", [0, 1])
async def test_an_error_is_told_the_operation_which_says_what_is_raised(waits: int) -> None:
    behind = Op("b")
    with pytest.raises(RunError, match="told") as raised:
        await drive(strand(Op("a", waits, error=ValueError("broken")), behind))
    assert isinstance(raised.value.__cause__, ValueError)
    assert behind.log == []
    error = KeyError("as it is")
    with pytest.raises(KeyError) as passed:
        await drive(strand(Op("a", waits, error=error)))
    assert passed.value is error


@pytest.mark.anyio
@pytest.mark.parametrize("waits", [0, 1])
async def test_a_latch_that_tripped_without_a_raise_ends_it_before_the_result_is_taken_in(waits: int) -> None:
    op, behind = Op("a", waits, trips=True), Op("b")
    line = strand(op, behind)
    with pytest.raises(AbortSignal) as raised:
        await drive(line)
    assert raised.value.tripwire is TRIPWIRE
    assert "end" not in op.log
    assert op.log[-1] == "failed: AbortSignal"
    assert behind.log == []


def test_with_a_latch_that_has_tripped_already_nothing_begins() -> None:
    op = Op("a")
    line = strand(op)
    line.execution.latch.trip(TRIPWIRE)
    with pytest.raises(AbortSignal):
        advance(line)
    assert op.log == []


@pytest.mark.anyio
async def test_what_was_to_wait_does_not_begin_when_the_latch_tripped_meanwhile() -> None:
    op = Op("a", 1)
    line = strand(op)
    awaitable = advance(line)
    line.execution.latch.trip(TRIPWIRE)
    with pytest.raises(AbortSignal):
        await drive(line, awaitable)
    assert op.log == ["begin", "abandoned"]


def test_abandoning_closes_what_would_have_been_awaited_and_tells_the_operation() -> None:
    op = Op("a", 1)
    line = strand(op)
    awaitable = advance(line)
    assert awaitable is not None
    abandon(line, awaitable)
    assert op.made.cr_frame is None
    assert op.log == ["begin", "abandoned"]


class OwnAwaitable:
    """Awaitable, and no coroutine."""

    def __await__(self) -> Any:
        yield from ()


def test_coroutines_futures_and_objects_with_await_are_awaitable_and_values_are_not() -> None:
    async def waits() -> None: ...

    coroutine: Any = waits()
    assert is_awaitable(coroutine)
    assert is_awaitable(OwnAwaitable())
    assert not is_awaitable("text")
    assert not is_awaitable(OwnAwaitable)
    close(coroutine)
    close(OwnAwaitable())
    assert coroutine.cr_frame is None


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_closing_a_future_cancels_it() -> None:
    future: Awaitable[None] = asyncio.get_running_loop().create_future()
    close(future)
    assert isinstance(future, asyncio.Future)
    assert future.cancelled()


def tripped() -> Latch:
    """A latch that has tripped."""
    latch = Latch()
    latch.trip(TRIPWIRE)
    return latch


def test_an_error_becomes_the_failure_of_its_step() -> None:
    error = KeyError("x")
    told = as_failure(Latch(), "flow/step", error, Phase.INPUT)
    assert isinstance(told, StepFailed)
    assert (told.step_id, told.cause, told.phase) == ("flow/step", error, Phase.INPUT)


def test_an_error_of_a_run_passes_as_it_is() -> None:
    error = RunError("says all")
    assert as_failure(Latch(), "step", error, None) is error


@pytest.mark.parametrize(
    "error", [KeyError("x"), BaseExceptionGroup("several", [AbortSignal(TRIPWIRE)]), RunError("x")]
)
def test_behind_a_verdict_every_error_is_its_consequence(error: BaseException) -> None:
    told = as_failure(tripped(), "step", error, None)
    assert isinstance(told, AbortSignal)
    assert told.tripwire is TRIPWIRE


def test_a_signal_without_a_record_is_a_failure() -> None:
    """Somebody raised it by hand."""
    told = as_failure(Latch(), "step", AbortSignal(TRIPWIRE), None)
    assert isinstance(told, StepFailed)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(), GeneratorExit(), asyncio.CancelledError()])
def test_what_stops_programs_and_tasks_passes_behind_a_verdict_too(error: BaseException) -> None:
    assert as_failure(Latch(), "step", error, None) is error
    assert as_failure(tripped(), "step", error, None) is error

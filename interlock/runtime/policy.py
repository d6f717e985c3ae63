"""What a processor's own failure means, and what a processor that only shadows would have done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from interlock.errors import StepFailed
from interlock.processors.base import FailurePolicy, Processor, ProcessorStep
from interlock.processors.seat import Seat
from interlock.verdict import AbortSignal, Latch, Phase, Tripwire, Violation

if TYPE_CHECKING:
    from interlock.runtime.execution import Execution

__all__ = ["Policy", "cause_of", "could_not_decide", "detail_of", "late", "shadow_seat", "why_failed", "would_have"]


class Policy:
    """How a processor's step is run.

    Args:
        step: The step.

    Attributes:
        on_failure: What a failure means: ``"fail"``, ``"block"`` or ``"skip"``.
        shadow: Whether what it does is only noted.
        timeout: Seconds that one attempt may take; None: any number.
        blocking: Whether its hooks run in a worker thread.
        plain: Whether there is nothing to it: a failure fails the run.
    """

    __slots__ = ("blocking", "on_failure", "plain", "shadow", "timeout")

    def __init__(self, step: ProcessorStep) -> None:
        self.on_failure: FailurePolicy = step.on_failure
        self.shadow = step.shadow
        self.timeout = step.timeout
        self.blocking = step.blocking
        self.plain = self.on_failure == "fail" and not self.shadow


def shadow_seat(execution: Execution, processor: Processor) -> Seat:
    """A place in the run from which nothing can be stopped: an abort is recorded in a latch of its own."""
    return execution.seat(processor, own_latch=Latch())


def would_have(tripwire: Tripwire) -> str:
    """What a processor that only shadows would have done, for its record."""
    return f"would have blocked: {tripwire.reason}"


def detail_of(warnings: Sequence[Violation]) -> Mapping[str, object] | None:
    """What the first warning that has keys and values says besides its words, for its processor's record."""
    details = (warning.detail for warning in warnings)
    return next((cast("Mapping[str, object]", detail) for detail in details if isinstance(detail, Mapping)), None)


def cause_of(error: BaseException) -> BaseException:
    """What a hook has raised, of what its failure became."""
    return error.cause if isinstance(error, StepFailed) else error


def why_failed(error: BaseException) -> str:
    """A failure for a record, without what an exception may quote of a text."""
    return f"failed: {type(cause_of(error)).__name__}"


def could_not_decide(seat: Seat, phase: Phase, error: BaseException, timeout: float | None) -> AbortSignal:
    """Stop the run because a guard could not decide; gives the signal to be raised."""
    cause = cause_of(error)
    reason = f"{seat.processor_id!r} could not decide: {_words(cause, timeout)}"
    metadata = {"failure": type(cause).__name__}
    seat.undecided = True
    try:
        seat.abort(Tripwire(reason, seat.processor_id, phase, False, metadata), phase)
    except AbortSignal as signal:
        return signal


def late(seconds: float) -> TimeoutError:
    """The failure of something that took longer than it may."""
    return TimeoutError(f"it took longer than {seconds:g} s")


def _words(error: BaseException, timeout: float | None) -> str:
    """What happened, without what an exception may quote of a text."""
    if timeout is not None and isinstance(error, TimeoutError) and error.args == late(timeout).args:
        return str(error)
    return f"it failed with {type(error).__name__}"

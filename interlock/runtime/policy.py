"""What a processor's own failure means, and what a processor that only shadows would have done."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from interlock.processors.base import FailurePolicy, Processor, ProcessorStep
from interlock.processors.seat import RunFacts, Seat
from interlock.verdict import AbortSignal, Latch, Phase, Tripwire

if TYPE_CHECKING:
    from interlock.runtime.execution import Execution

__all__ = ["Policy", "could_not_decide", "shadow_seat"]


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
    facts: RunFacts = copy.copy(execution.facts)
    facts.latch = Latch()
    states = execution.states if execution.states is not None else {}
    execution.states = states
    return Seat(processor.id, facts, states.setdefault(id(processor), {}), processor.on_violation)


def could_not_decide(seat: Seat, phase: Phase, error: BaseException) -> AbortSignal:
    """Stop the run because a guard could not decide; gives the signal to be raised."""
    cause = error.__cause__ if error.__cause__ is not None else error
    reason = f"{seat.processor_id!r} could not decide: {_words(cause)}"
    metadata = {"failure": type(cause).__name__}
    try:
        seat.abort(Tripwire(reason, seat.processor_id, phase, False, metadata), phase)
    except AbortSignal as signal:
        return signal


def _words(error: BaseException) -> str:
    """What happened, without what an exception may quote of a text."""
    return str(error) if isinstance(error, TimeoutError) else f"it failed with {type(error).__name__}"

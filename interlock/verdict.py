"""What a guard may decide, and how a decision to stop travels.

A hook stops what runs with ``ctx.abort()``. That *records* a :class:`Tripwire` in the run's :class:`Latch` and then
raises :class:`AbortSignal`. The raise only unwinds the hook; the runtime believes the latch. So a hook that catches
everything, returns from ``finally`` or gathers with ``return_exceptions=True`` cannot disarm a guard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, NoReturn

__all__ = [
    "CANCELED",
    "GRAVITY",
    "NOTHING_TO_READ",
    "AbortSignal",
    "BailSignal",
    "CheckRecord",
    "HaltSignal",
    "Latch",
    "PauseSignal",
    "Phase",
    "Signal",
    "SuspendSignal",
    "Tripwire",
    "Verdict",
    "Violation",
]


class Phase(StrEnum):
    """The ten points of an agent's run, in running order."""

    INPUT = "input"
    INPUT_STEP = "input_step"
    LLM_REQUEST = "llm_request"
    API_ERROR = "api_error"
    OUTPUT_STREAM = "output_stream"
    LLM_RESPONSE = "llm_response"
    OUTPUT_STEP = "output_step"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    OUTPUT_RESULT = "output_result"


@dataclass(frozen=True, slots=True)
class Tripwire:
    """Why a run was stopped, and by whom.

    Args:
        reason: In words, for people.
        processor_id: The processor (or, in a typed workflow, the step) that stopped it.
        phase: The lifecycle phase; None in a typed workflow.
        retry: Whether it asked for another try.
        metadata: What the guard adds: kinds, scores, never the text that tripped it.
    """

    reason: str
    processor_id: str
    phase: Phase | None = None
    retry: bool = False
    metadata: Mapping[str, object] | None = None


CANCELED: Final = Tripwire("the run was canceled", "")
"""Stands in a run's latch where somebody has cancelled the run: what stops for a tripwire stops for that as well."""


class Signal(BaseException):
    """Control flow that never leaves the library. Not an ``Exception``, so that ``except Exception`` lets it pass."""


class AbortSignal(Signal):
    """Raised by ``ctx.abort()`` after the tripwire was recorded."""

    def __init__(self, tripwire: Tripwire) -> None:
        self.tripwire = tripwire
        super().__init__(tripwire.reason)


class BailSignal(Signal):
    """Raised by ``ctx.bail()`` after the result was recorded.

    Args:
        scope: The run of the one workflow that ends; those around it go on.
    """

    def __init__(self, scope: object) -> None:
        self.scope = scope
        super().__init__("a step ended its workflow")


class CutSignal(Signal):
    """What a step did that was cut off, because its block ended without it, counts for nothing."""


class HaltSignal(Signal):
    """One line of execution cannot go on for now; its siblings can."""


class SuspendSignal(HaltSignal):
    """Raised by ``ctx.suspend()`` after it was recorded; and by what contains a step that waits.

    Args:
        payload: What the step shows to whoever is to answer.
        label: A name to answer by.
    """

    def __init__(self, payload: object = None, label: str | None = None) -> None:
        self.payload = payload
        self.label = label
        super().__init__("a step waits to be resumed")


class PauseSignal(HaltSignal):
    """A run that goes step by step has come to its next step."""


class Latch:
    """The one place where a run's first tripwire is written, from any task or thread.

    Only the first write counts. Whoever waits registers a waker, called in the thread that trips.

    Attributes:
        tripwire: The one that stands.
        slot: Where it is written. After :meth:`renew` it is another one, and what is written into the old one comes
            too late.
    """

    __slots__ = ("_wakers", "slot", "tripwire")

    def __init__(self) -> None:
        self.slot: dict[str, Tripwire] = {}
        self._wakers: list[Callable[[], object]] = []
        self.tripwire: Tripwire | None = None

    @property
    def stopped(self) -> bool:
        """Whether a tripwire stands."""
        return self.tripwire is not None

    def trip(self, tripwire: Tripwire, slot: dict[str, Tripwire] | None = None) -> Tripwire:
        """Record the tripwire unless one stands already; return the one that stands.

        Args:
            tripwire: The verdict.
            slot: The :attr:`slot` that whoever trips was given; default: the present one.
        """
        slot = self.slot if slot is None else slot
        first = slot.setdefault("first", tripwire)
        if slot is self.slot:
            self.tripwire = first
            for wake in tuple(self._wakers):
                wake()
        return first

    def abort(self, tripwire: Tripwire) -> NoReturn:
        """Record the tripwire, then unwind the caller, for the one that stands."""
        raise AbortSignal(self.trip(tripwire))

    def renew(self) -> None:
        """Take the verdict back, because what it was about is done again: what still speaks of that counts no more."""
        self.slot = {}
        self.tripwire = None

    def watch(self, wake: Callable[[], object]) -> None:
        """Call ``wake`` when the latch trips; at once if it has tripped."""
        self._wakers.append(wake)
        if self.tripwire is not None:
            wake()

    def unwatch(self, wake: Callable[[], object]) -> None:
        """Stop calling ``wake``."""
        self._wakers.remove(wake)


Verdict = Literal["passed", "changed", "warned", "blocked", "not-checked", "shadow-blocked", "shadow-changed"]
"""What one processor decided at one point; "not-checked" where it did not come to an end or had nothing to read.

"shadow-blocked" and "shadow-changed": what a processor that only shadows would have done.
"""

GRAVITY: Final[tuple[Verdict, ...]] = (
    "blocked",
    "not-checked",
    "shadow-blocked",
    "warned",
    "changed",
    "shadow-changed",
    "passed",
)
"""The gravest first: what counts where one record stands for several."""


@dataclass(slots=True)
class CheckRecord:
    """What one processor did at one point of a run.

    Args:
        processor_id: Who; a nested one is told apart by ``path``.
        phase: At which point.
        list: The agent's list it stands in: ``"input"``, ``"output"``, ``"error"``.
        verdict: What it decided.
        kept: False where it changed something that the graph then left behind (a ``map`` that took another branch).
        duration: Seconds in the hook. For the per-chunk phase: the sum, shared evenly by the chain's processors.
        reason: Why it blocked, warned, refused a tool call or did not come to an end.
        path: Ids of the workflows it stands in, and its own, joined by ``/``.
        step_number: The step of the loop, from 0; None outside the loop.
        runs: How many times it ran for this record (chunks, in the per-chunk phase).
        metadata: A tripwire's or warning's detail.
        looked_at: Which roles and part kinds it says it has read: ``("user", "text")``, ``("assistant", "reasoning")``,
            …; empty where it has not said so.
        failed: Whether it could not decide, because it failed or took too long, whatever its policy made of that.
        attempt: The attempt at its step, from 1.
        denied: The id of the tool call that it refused; None where it refused none.
    """

    processor_id: str
    phase: Phase
    list: str
    verdict: Verdict
    kept: bool = True
    duration: float = 0.0
    reason: str | None = None
    path: str = ""
    step_number: int | None = None
    runs: int = 1
    metadata: Mapping[str, object] | None = field(default=None)
    looked_at: frozenset[tuple[str, str]] = frozenset()
    failed: bool = False
    attempt: int = 1
    denied: str | None = None


NOTHING_TO_READ: Final = "there is no text here that this guard reads"
"""The reason of a record of a guard on text to which no text came."""


@dataclass(frozen=True, slots=True)
class Violation:
    """What ``on_violation`` is called with: an abort or a warning, in any phase."""

    processor_id: str
    phase: Phase
    message: str
    detail: object = None

"""How a run ended: a value, whatever happened inside.

Example:
    >>> from interlock import create_workflow, Completed
    >>> double = create_workflow(id="double", input_schema=int).map(lambda ctx: ctx.input * 2).commit()
    >>> import anyio
    >>> match anyio.run(double.run, 21):
    ...     case Completed(output=value): print(value)
    42
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar

from interlock.verdict import CheckRecord, Tripwire, Verdict

__all__ = [
    "Blocked",
    "Canceled",
    "Completed",
    "Failed",
    "Outcome",
    "Paused",
    "StepError",
    "StepRecord",
    "StepStatus",
    "Suspended",
    "Suspension",
]

T_co = TypeVar("T_co", covariant=True)

StepStatus = Literal["success", "failed", "tripwire", "suspended", "bailed", "canceled", "unfinished"]
"""How one step ended. ``"bailed"``: it ended its workflow, or its workflow was ended around it; ``"unfinished"``: it
has not ended, or the process that ran it died."""


@dataclass(frozen=True, slots=True)
class Suspension:
    """One step that waits to be resumed.

    Args:
        step_id: The step.
        path: Its id behind those of the workflows it stands in, joined by ``/``.
        label: The name it gave to its question.
        payload: What it shows to whoever is to answer.
        token: Names this one suspension; each is resumed once.
        index: The item, from 0, where the step stands in a ``foreach``; the iteration, from 0, where in a loop.
    """

    step_id: str
    path: str
    label: str | None
    payload: object
    token: str
    index: int | None = None


@dataclass(slots=True)
class StepRecord:
    """What one step did, or a map, a merge, a wait, or a block of several.

    Args:
        step_id: The step, or the block (``parallel``, ``branch``, …).
        path: Its id behind those of the workflows it stands in, joined by ``/``.
        status: How it ended.
        input: What it was given.
        output: What it gave (status "success").
        error: What it raised (status "failed").
        started_at: Seconds since the epoch.
        duration: Seconds, of all attempts together.
        kind: ``"function"``, ``"processor"``, ``"workflow"``, ``"map"``, ``"parallel"``, ….
        attempts: How often it was tried; 0 where it did not begin.
        iteration: Which time round of the loop, or which item of the list, from 1.
        verdict: What a processor decided.
        suspension: What it waits for (status "suspended").
        chosen: Of a ``branch``: the arms taken. Of a ``parallel``: those whose outputs went on.
    """

    step_id: str
    path: str
    status: StepStatus
    input: object
    output: object = None
    error: BaseException | None = None
    started_at: float = 0.0
    duration: float = 0.0
    kind: str = "function"
    attempts: int = 1
    iteration: int = 1
    verdict: Verdict | None = None
    suspension: Suspension | None = None
    chosen: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class StepError:
    """Stands for the output of a branch or item that failed, where failures are collected.

    Args:
        step_id: The branch; of a ``foreach``, the step.
        error: What failed in it.
    """

    step_id: str
    error: Exception

    def __deepcopy__(self, memo: object) -> StepError:
        """The value itself: what was raised is nobody's to change, and most errors cannot be copied."""
        return self


@dataclass(slots=True)
class _Told:
    """What all of them tell. Not frozen: a run of a few steps would take a tenth longer."""

    run_id: str = field(default="", kw_only=True)
    steps: Sequence[StepRecord] = field(default=(), kw_only=True, repr=False)
    checks: Sequence[CheckRecord] = field(default=(), kw_only=True, repr=False)
    state: Any = field(default=None, kw_only=True, repr=False)
    duration: float = field(default=0.0, kw_only=True)
    callback_errors: Sequence[Exception] = field(default=(), kw_only=True, repr=False)


@dataclass(slots=True)
class Completed(_Told, Generic[T_co]):
    """It ran to its end.

    Attributes:
        output: What the last step gave.
        run_id: The run.
        steps: Records in the order in which the steps started.
        checks: In a workflow of processors, what each decided, in list order.
        state: The run's state, as its ``state_schema`` has it; a dict without one.
        duration: Seconds; of a resumed run, since it was resumed.
        callback_errors: What ``on_finish`` or ``on_error`` raised.
    """

    status: ClassVar[Literal["success"]] = "success"
    output: T_co


@dataclass(slots=True)
class Blocked(_Told):
    """A step or guard stopped it; ``tripwire`` says who and why."""

    status: ClassVar[Literal["tripwire"]] = "tripwire"
    tripwire: Tripwire


@dataclass(slots=True)
class Suspended(_Told):
    """It waits for answers: ``run.resume(…)`` gives one."""

    status: ClassVar[Literal["suspended"]] = "suspended"
    suspensions: Sequence[Suspension]


@dataclass(slots=True)
class Failed(_Told):
    """Something raised; ``error`` is what, naming the step."""

    status: ClassVar[Literal["failed"]] = "failed"
    error: Exception


@dataclass(slots=True)
class Canceled(_Told):
    """``run.cancel()`` was called."""

    status: ClassVar[Literal["canceled"]] = "canceled"


@dataclass(slots=True)
class Paused(_Told):
    """A run that goes step by step stands before its next steps; ``run.next()`` takes one. No outcome yet.

    Attributes:
        next: The paths of the steps that stand ready.
    """

    status: ClassVar[Literal["paused"]] = "paused"
    next: Sequence[str]


Outcome = Completed[T_co] | Blocked | Suspended | Failed | Canceled
"""The closed union of all ways to end; ``match`` over it."""

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
from typing import ClassVar, Generic, Literal, TypeVar

from interlock.verdict import CheckRecord, Tripwire

__all__ = ["Blocked", "Canceled", "Completed", "Failed", "Outcome", "StepRecord", "StepStatus"]

T_co = TypeVar("T_co", covariant=True)

StepStatus = Literal["success", "failed", "tripwire", "canceled"]


@dataclass(slots=True)
class StepRecord:
    """What one step did.

    Args:
        step_id: The step.
        path: Its id behind those of the workflows it stands in, joined by ``/``.
        status: How it ended.
        input: What it was given.
        output: What it gave (status "success").
        error: What it raised (status "failed").
        started_at: Seconds since the epoch.
        duration: Seconds.
    """

    step_id: str
    path: str
    status: StepStatus
    input: object
    output: object = None
    error: BaseException | None = None
    started_at: float = 0.0
    duration: float = 0.0


@dataclass(frozen=True, slots=True)
class _Ended:
    run_id: str = field(default="", kw_only=True)
    steps: Sequence[StepRecord] = field(default=(), kw_only=True, repr=False)
    checks: Sequence[CheckRecord] = field(default=(), kw_only=True, repr=False)
    duration: float = field(default=0.0, kw_only=True)


@dataclass(frozen=True, slots=True)
class Completed(_Ended, Generic[T_co]):
    """It ran to its end.

    Attributes:
        output: What the last step gave.
        run_id: The run.
        steps: Records in the order in which the steps started.
        checks: In a workflow of processors, what each decided, in list order.
        duration: Seconds.
    """

    status: ClassVar[Literal["success"]] = "success"
    output: T_co


@dataclass(frozen=True, slots=True)
class Blocked(_Ended):
    """A step or guard stopped it; ``tripwire`` says who and why."""

    status: ClassVar[Literal["tripwire"]] = "tripwire"
    tripwire: Tripwire


@dataclass(frozen=True, slots=True)
class Failed(_Ended):
    """Something raised; ``error`` is what, naming the step."""

    status: ClassVar[Literal["failed"]] = "failed"
    error: Exception


@dataclass(frozen=True, slots=True)
class Canceled(_Ended):
    """``run.cancel()`` was called."""

    status: ClassVar[Literal["canceled"]] = "canceled"


Outcome = Completed[T_co] | Blocked | Failed | Canceled
"""The closed union of all ways to end; ``match`` over it."""

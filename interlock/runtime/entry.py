"""What one step is doing or did, as it is noted while a run is under way."""

from __future__ import annotations

from time import perf_counter, time
from typing import TYPE_CHECKING, Any, Final, cast

from interlock.steps import StepContext, StepRun, Turn
from interlock.verdict import CANCELED, AbortSignal, BailSignal, PauseSignal, SuspendSignal, Verdict
from interlock.workflows.outcome import StepRecord, StepStatus

if TYPE_CHECKING:
    from interlock.runtime.execution import Execution
    from interlock.runtime.strand import Operation

__all__ = ["REPLAYED", "Entry", "Key", "key_of"]

Key = tuple[str, tuple[int, ...]]
"""What tells one turn of a run from all others: its path, and the iterations around it."""

REPLAYED: Final[object] = object()
"""What an operation gives that was not run, because it ran before."""


_NO_RUN = cast("StepRun", None)
"""Of what is only told of."""


class Entry(StepContext[Any]):
    """What one step is doing or did; becomes a :class:`StepRecord` when somebody asks.

    It is the context that the step's function is given, too: of the two objects a turn would need, one is made.
    """

    __slots__ = ("began", "duration", "error", "output", "status", "verdict")

    def __init__(self, op: Operation, value: object, at: tuple[int, ...] = (), run: StepRun = _NO_RUN) -> None:
        self.op: Any = op
        self.at = at
        self.notes = None
        self._input = value
        self._run = run
        self.began = perf_counter()
        self.status: StepStatus = "canceled"  # until it has ended in another way
        self.output: object = None
        self.error: BaseException | None = None
        self.verdict: Verdict | None = None
        self.duration = 0.0

    @property
    def over(self) -> bool:
        """Whether it has ended, so that what a task or thread it left behind says comes too late."""
        notes = self.notes
        return self.status != "canceled" or self.duration > 0 or (notes is not None and (notes.over or notes.cut))

    @property
    def replayed(self) -> bool:
        """Whether it tells of what happened in an earlier process, or before the run was resumed."""
        return self.notes is not None and self.notes.replayed

    def succeeded(self, output: object) -> None:
        """Note that it ended well."""
        if self.notes is None or not self.notes.replayed:
            self.duration = perf_counter() - self.began
        self.output = output
        self.status = "success"

    def ended_early(self, told: BaseException, execution: Execution) -> None:
        """Note how it ended otherwise."""
        if self.replayed:
            return
        self.duration = perf_counter() - self.began
        match told:
            case Exception():
                self.status = "failed"
                self.error = told
            case AbortSignal(tripwire=tripwire):
                self.status = "canceled" if tripwire is CANCELED else "tripwire"
            case SuspendSignal():
                self.status = "suspended"
                if self.notes is not None and self.notes.signal is told:
                    execution.suspend(self, told)
            case BailSignal():
                self.status = "bailed"
            case PauseSignal():
                self.status = "unfinished"
            case _:
                self.status = "canceled"

    def record(self) -> StepRecord:
        """The record of it."""
        notes = self.notes
        return StepRecord(
            self.op.step_id,
            self.op.path,
            self.status,
            self.input,
            self.output,
            self.error if self.status == "failed" else None,
            time() - (perf_counter() - self.began),
            self.duration,
            self.op.kind,
            1 if notes is None else notes.attempts,
            self.at[-1] if self.at else 1,
            self.verdict,
            None if notes is None or self.status != "suspended" else notes.suspension,
            None if notes is None else notes.chosen,
        )


def key_of(turn: Turn) -> Key:
    """The key of a turn."""
    return turn.op.path, turn.at

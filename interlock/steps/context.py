"""What a step function is given."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Protocol, TypeVar, cast

from interlock.context import RequestContext
from interlock.errors import RunError
from interlock.schema import UNSET, Unset, validate
from interlock.verdict import BailSignal, CheckRecord, Latch, Phase, Signal, SuspendSignal, Tripwire

if TYPE_CHECKING:
    from interlock.steps.step import Step, SupportsStep

__all__ = ["Placed", "RunHost", "StepContext", "StepRun", "Turn", "TurnNotes"]

I_co = TypeVar("I_co", covariant=True)
T = TypeVar("T")


class RunHost(Protocol):
    """What runs a run, as far as its steps have to do with it."""

    def state_view(self, turn: Turn, run: StepRun) -> Any:
        """The state of a step's run, as the step's schema has it, or its workflow's."""
        ...

    def written(self, turn: Turn, name: str, value: object) -> None:
        """A step wrote something for whoever reads along."""
        ...

    def checked(self, turn: Turn, checks: Sequence[CheckRecord]) -> None:
        """A step had guards of its own, which decided this."""
        ...


class Placed(Protocol):
    """What has a place in a graph: a step, a map, a block."""

    @property
    def step_id(self) -> str:
        """Its id."""
        ...

    @property
    def path(self) -> str:
        """Its id behind those of the workflows it stands in."""
        ...

    @property
    def step(self) -> Step[Any, Any] | None:
        """The step; None of what is none (a map, a block)."""
        ...


class TurnNotes:
    """What only few turns of steps have something to say of."""

    __slots__ = (
        "answers",
        "attempts",
        "checks",
        "chosen",
        "cut",
        "deltas",
        "over",
        "replayed",
        "resume_data",
        "signal",
        "stale",
        "suspension",
        "until",
    )

    def __init__(self) -> None:
        self.attempts = 1
        self.checks: list[CheckRecord] = []  # what guards of its own decided
        self.deltas: list[tuple[str, object]] = []
        self.signal: Signal | None = None
        self.suspension: Any = None
        self.resume_data: object = None
        self.chosen: tuple[str, ...] | None = None  # of a block: the arms
        self.answers: list[bool] = []  # of a loop: whether it went on, by iteration
        self.until: float | None = None  # of a wait: seconds since the epoch
        self.replayed = False  # it tells of what happened before the run was continued
        self.stale = False  # it belongs to an attempt that failed
        self.over = False  # nothing that comes now counts
        self.cut = False  # nor does anything of later attempts: the block around it ends without it

    def again(self) -> TurnNotes:
        """The notes of a further attempt; nothing counts any more that goes into these."""
        self.over = True
        made = TurnNotes()
        made.attempts = self.attempts
        made.checks = self.checks
        made.cut = self.cut
        made.resume_data = self.resume_data
        made.chosen, made.answers, made.until = self.chosen, self.answers, self.until
        return made


class Turn:
    """One time that a step runs.

    Attributes:
        op: What runs.
        at: The iterations of the loops and lists around it, from the outermost in, each from 1.
        notes: What few have; None where there is nothing.
    """

    __slots__ = ("at", "notes", "op")

    def __init__(self, op: Placed, at: tuple[int, ...] = ()) -> None:
        self.op = op
        self.at = at
        self.notes: TurnNotes | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended, so that what a task or thread it left behind says comes too late."""
        return self.notes is not None and (self.notes.over or self.notes.cut)

    def noted(self) -> TurnNotes:
        """Its notes, to write in."""
        if self.notes is None:
            self.notes = TurnNotes()
        return self.notes


class StepRun:
    """What all step contexts of one run of one workflow share.

    Args:
        run_id: The run.
        run_input: What it was started with.
        request_context: The caller's.
        latch: Where the first tripwire is written.
        phase: The lifecycle phase, in a workflow of processors.
        host: What runs it; None where nobody keeps state or reads along.

    Attributes:
        bailed: What a step ended the workflow with, in a tuple; None as long as none did.
        state_schema: How the state shows itself to steps that do not say it; ``UNSET``: as the run has it.
        state_of: Whose state it is: the workflow in an agent's list; None: the run's own.
    """

    __slots__ = (
        "_wakers",
        "bailed",
        "host",
        "latch",
        "outputs",
        "phase",
        "request_context",
        "run_id",
        "run_input",
        "state_of",
        "state_schema",
    )

    def __init__(
        self,
        run_id: str,
        run_input: object,
        request_context: RequestContext,
        latch: Latch,
        phase: Phase | None = None,
        host: RunHost | None = None,
    ) -> None:
        self.run_id = run_id
        self.run_input = run_input
        self.request_context = request_context
        self.latch = latch
        self.phase = phase
        self.host = host
        self.outputs: dict[Step[Any, Any], object] = {}
        self.bailed: tuple[object] | None = None
        self.state_schema: object = UNSET
        self.state_of: object = None
        self._wakers: list[Callable[[], object]] | None = None

    @property
    def stopped(self) -> bool:
        """Whether nothing more is to begin: the run was blocked, or a step ended this workflow."""
        return self.bailed is not None or self.latch.tripwire is not None

    def bail(self, result: object) -> BailSignal:
        """Record a result that ends the workflow, unless one stands already; gives the signal that unwinds."""
        if self.bailed is None:
            self.bailed = (result,)
        for wake in tuple(self._wakers or ()):
            wake()
        return BailSignal(self)

    def watch(self, wake: Callable[[], object]) -> None:
        """Call ``wake`` when :attr:`stopped` becomes true; at once if it is."""
        self._wakers = [*(self._wakers or ()), wake]
        self.latch.watch(wake)
        if self.bailed is not None:
            wake()

    def unwatch(self, wake: Callable[[], object]) -> None:
        """Stop calling ``wake``."""
        self._wakers = [one for one in self._wakers or () if one is not wake] or None
        self.latch.unwatch(wake)


class StepContext(Turn, Generic[I_co]):
    """The one argument of a step function, a map function or a condition.

    Attributes:
        input: What the step before gave (or the run's input).
        step_id: The step's id.
    """

    __slots__ = ("_input", "_run")

    def __init__(self, value: I_co, run: StepRun, turn: Turn) -> None:
        super().__init__(turn.op, turn.at)
        self.notes = turn.noted()
        self._input = value
        self._run = run

    if TYPE_CHECKING:

        @property
        def input(self) -> I_co:
            """What the step before gave; after ``parallel`` a dict keyed by step id."""
            ...

    else:  # the same, read without a call into Python: every step does it
        input = property(
            operator.attrgetter("_input"), doc="What the step before gave; after ``parallel`` a dict keyed by step id."
        )

    @property
    def step_id(self) -> str:
        """The step's id."""
        return self.op.step_id

    @property
    def run_id(self) -> str:
        """The run."""
        return self._run.run_id

    @property
    def run_input(self) -> object:
        """What the run was started with; in a nested workflow, what that was given."""
        return self._run.run_input

    @property
    def request_context(self) -> RequestContext:
        """What the caller handed over."""
        return self._run.request_context

    @property
    def attempt(self) -> int:
        """Which attempt this is, from 1."""
        return self.notes.attempts if self.notes is not None else 1

    @property
    def iteration(self) -> int:
        """Which time round of the loop, or which item of the list, from 1; 1 outside of both."""
        return self.at[-1] if self.at else 1

    @property
    def resume_data(self) -> Any:
        """What the run was resumed with for this step; None the first time."""
        return self.notes.resume_data if self.notes is not None else None

    @property
    def state(self) -> Any:
        """The run's state: as the step's ``state_schema`` has it, else as the workflow's; without either a dict.

        A copy: editing it changes nothing, :meth:`set_state` does.
        """
        return {} if self._run.host is None else self._run.host.state_view(self, self._run)

    def set_state(self, **changes: object) -> None:
        """Change the run's state. The changes are applied when the step has succeeded, by the keys' reducers.

        Args:
            **changes: By key. Where the state's schema gives a key a reducer, what is to be added; else the new value.
        """
        self.noted().deltas.extend(changes.items())

    def write(self, name: str, data: object) -> None:
        """Tell something to whoever reads the run's events; a plain call that never waits.

        Args:
            name: What it is about.
            data: Anything; in a stored run, something that can be recorded.
        """
        if self._run.host is not None:
            self._run.host.written(self, name, data)

    def output_of(self, step: SupportsStep[Any, T], *, default: T | Unset = UNSET) -> T:
        """What a step of this workflow gave earlier in this run.

        Args:
            step: The step, processor or workflow, as the object that stands in this workflow.
            default: Returned where it has not run.

        Raises:
            LookupError: It has not run, and there is no default.
            TypeError: It is no step (an id, for example).
        """
        if not hasattr(cast("object", step), "as_step"):
            raise TypeError(f"output_of takes the step object that stands in the workflow, not {step!r}")
        return self._output(step.as_step(), default)

    def _output(self, step: Step[Any, T], default: T | Unset) -> T:
        outputs: Mapping[Step[Any, Any], object] = self._run.outputs
        if step in outputs:
            return cast("T", outputs[step])
        if default is UNSET:
            raise LookupError(
                f"step {step.id!r} has not run before {self.step_id!r} in run {self.run_id!r}; "
                "pass default= where that may be"
            )
        return default

    def abort(
        self, reason: str | None = None, *, retry: bool = False, metadata: Mapping[str, object] | None = None
    ) -> NoReturn:
        """Stop the whole run: it ends as ``Blocked``, siblings are cancelled. The record stands however the step ends.

        Args:
            reason: Why, for people; default: names the step.
            retry: Whether another try is asked for.
            metadata: Details.
        """
        said = str(reason) if reason is not None else f"stopped by {self.step_id!r}"
        self._run.latch.abort(Tripwire(said, self.step_id, self._run.phase, retry, metadata))

    def bail(self, result: object) -> NoReturn:
        """End the workflow now with a result, as if its last step had given that; siblings are cancelled.

        In a nested workflow that one ends, and what follows it goes on.

        Args:
            result: What the workflow gives.
        """
        if self.over:
            raise RunError(f"{self.step_id!r} has ended its turn: what it left running cannot end the workflow")
        notes = self.noted()
        if notes.signal is None:
            notes.signal = self._run.bail(result)
        raise notes.signal

    def suspend(self, payload: object = None, *, label: str | None = None) -> NoReturn:
        """Wait for an answer from outside. The step runs again from its start once the run is resumed.

        Siblings in a parallel block go on to their ends; then the run's outcome is ``Suspended``. The next time,
        :attr:`resume_data` holds the answer.

        Args:
            payload: What whoever is to answer needs to see.
            label: A name to answer by, where several steps wait.

        Raises:
            pydantic.ValidationError: The payload does not fit the step's ``suspend_schema``.
            RunError: It is no step that asks (a map, a condition), the workflow runs at a point of an agent's run, or
                the step has ended its turn.
        """
        if self.over:
            raise RunError(f"{self.step_id!r} has ended its turn: what it left running cannot wait for an answer")
        step = self.op.step
        if step is None or self._run.phase is not None:
            where = "a step of a workflow of processors" if step is not None else "a map, a condition or a block"
            raise RunError(f"{self.op.path!r} cannot suspend: {where} has nobody to wait for")
        notes = self.noted()
        if notes.signal is None:  # the first that was recorded counts
            notes.signal = SuspendSignal(validate(step.suspend_schema, payload), label)
        raise notes.signal

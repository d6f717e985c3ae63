"""What a step function is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast

from interlock.context import RequestContext
from interlock.schema import UNSET, Unset
from interlock.verdict import Latch, Phase, Tripwire

if TYPE_CHECKING:
    from interlock.steps.step import Step, SupportsStep

__all__ = ["StepContext", "StepRun"]

I_co = TypeVar("I_co", covariant=True)
T = TypeVar("T")


class StepRun:
    """What all step contexts of one run of one workflow share.

    Args:
        run_id: The run.
        run_input: What it was started with.
        request_context: The caller's.
        latch: Where the first tripwire is written.
        phase: The lifecycle phase, in a workflow of processors.
    """

    __slots__ = ("latch", "outputs", "phase", "request_context", "run_id", "run_input")

    def __init__(
        self,
        run_id: str,
        run_input: object,
        request_context: RequestContext,
        latch: Latch,
        phase: Phase | None = None,
    ) -> None:
        self.run_id = run_id
        self.run_input = run_input
        self.request_context = request_context
        self.latch = latch
        self.phase = phase
        self.outputs: dict[Step[Any, Any], object] = {}


class StepContext(Generic[I_co]):
    """The one argument of a step function, a map function or a condition.

    Attributes:
        input: What the step before gave (or the run's input).
        step_id: The step's id.
    """

    __slots__ = ("_input", "_run", "step_id")

    def __init__(self, value: I_co, run: StepRun, step_id: str) -> None:
        self._input = value
        self._run = run
        self.step_id = step_id

    @property
    def input(self) -> I_co:
        """What the step before gave; after ``parallel`` a dict keyed by step id."""
        return self._input

    @property
    def run_id(self) -> str:
        """The run."""
        return self._run.run_id

    @property
    def run_input(self) -> object:
        """What the run was started with."""
        return self._run.run_input

    @property
    def request_context(self) -> RequestContext:
        """What the caller handed over."""
        return self._run.request_context

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

"""Beginning to define a workflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

from interlock.schema import UNSET
from interlock.steps import RetryPolicy, StepContext
from interlock.workflows.builder import WorkflowBuilder, WorkflowOptions
from interlock.workflows.outcome import Failed, Outcome

if TYPE_CHECKING:
    from typing_extensions import TypeForm

__all__ = ["create_workflow"]

I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741


# Classes first: a type checker that does not know TypeForm yet still tells their edges.
@overload
def create_workflow(
    *,
    id: str,
    input_schema: type[I],
    output_schema: type[O],
    state_schema: object = UNSET,
    retry: RetryPolicy | None = None,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
    on_start: Callable[[StepContext[I]], object] | None = None,
    on_finish: Callable[[Outcome[O]], object] | None = None,
    on_error: Callable[[Failed], object] | None = None,
) -> WorkflowBuilder[I, I, O]: ...
@overload
def create_workflow(
    *,
    id: str,
    input_schema: type[I],
    state_schema: object = UNSET,
    retry: RetryPolicy | None = None,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
    on_start: Callable[[StepContext[I]], object] | None = None,
    on_finish: Callable[[Outcome[Any]], object] | None = None,
    on_error: Callable[[Failed], object] | None = None,
) -> WorkflowBuilder[I, I, Any]: ...
@overload
def create_workflow(
    *,
    id: str,
    input_schema: TypeForm[I],
    output_schema: TypeForm[O],
    state_schema: object = UNSET,
    retry: RetryPolicy | None = None,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
    on_start: Callable[[StepContext[I]], object] | None = None,
    on_finish: Callable[[Outcome[O]], object] | None = None,
    on_error: Callable[[Failed], object] | None = None,
) -> WorkflowBuilder[I, I, O]: ...
@overload
def create_workflow(
    *,
    id: str,
    input_schema: TypeForm[I],
    state_schema: object = UNSET,
    retry: RetryPolicy | None = None,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
    on_start: Callable[[StepContext[I]], object] | None = None,
    on_finish: Callable[[Outcome[Any]], object] | None = None,
    on_error: Callable[[Failed], object] | None = None,
) -> WorkflowBuilder[I, I, Any]: ...
@overload
def create_workflow(
    *,
    id: str,
    input_schema: object = UNSET,
    output_schema: object = UNSET,
    state_schema: object = UNSET,
    retry: RetryPolicy | None = None,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
    on_start: Callable[[StepContext[Any]], object] | None = None,
    on_finish: Callable[[Outcome[Any]], object] | None = None,
    on_error: Callable[[Failed], object] | None = None,
) -> WorkflowBuilder[Any, Any, Any]: ...
def create_workflow(
    *,
    id: str,  # noqa: A002
    input_schema: object = UNSET,
    output_schema: object = UNSET,
    state_schema: object = UNSET,
    retry: RetryPolicy | None = None,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
    on_start: Callable[[StepContext[Any]], object] | None = None,
    on_finish: Callable[[Outcome[Any]], object] | None = None,
    on_error: Callable[[Failed], object] | None = None,
) -> WorkflowBuilder[Any, Any, Any]:
    """Begin to define a workflow.

    Args:
        id: Unique where the workflow is nested; no white space, ``.`` or ``/``.
        input_schema: The type of its input; without one it takes anything. ``ProcessorStepSchema`` makes it a workflow
            of processors.
        output_schema: The type of its output.
        state_schema: The keys of its runs' state and their types: a model, dataclass or TypedDict. A key whose type is
            ``Annotated[T, reducer]`` takes changes by the reducer, a function of the old value and the change.
        retry: How often its steps are tried again after a failure; a step's own policy comes first.
        description: For people.
        metadata: For whoever draws or lists workflows.
        on_start: Called with a :class:`StepContext` before the first step; what it raises fails the run.
        on_finish: Called with the outcome when the run has ended; one that waits has not.
        on_error: Called with the outcome of a run that failed. What these two raise is logged and changes nothing.

    Example:
        >>> from interlock.steps import create_step
        >>> wordy = (
        ...     create_workflow(id="wordy", input_schema=str, output_schema=int)
        ...     .then(create_step(lambda ctx: ctx.input.split(), id="split"))
        ...     .map(lambda ctx: len(ctx.input))
        ...     .commit()
        ... )
        >>> wordy
        <Workflow 'wordy': 2 nodes, str -> int>
    """
    options = WorkflowOptions(
        input_schema=input_schema,
        output_schema=output_schema,
        state_schema=state_schema,
        retry=retry,
        on_start=on_start,
        on_finish=on_finish,
        on_error=on_error,
        description=description,
        metadata=metadata,
    )
    return WorkflowBuilder(id, options)

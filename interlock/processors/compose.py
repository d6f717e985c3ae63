"""An agent's list of processors as one workflow: each processor a step, each workflow nested, in a chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from interlock.errors import DefinitionError
from interlock.processors.base import Processor, ProcessorStep
from interlock.processors.contexts import ProcessorStepSchema
from interlock.schema import fits, schema_name
from interlock.steps import Step
from interlock.steps.step import supports_step
from interlock.workflows import (
    NestedNode,
    ParallelNode,
    Plan,
    Workflow,
    WorkflowBuilder,
    WorkflowStep,
    acting_steps,
    create_workflow,
)

__all__ = ["ProcessorLike", "compose"]

ProcessorLike = Processor | Workflow[Any, Any] | Step[Any, Any]
"""What a list of processors holds."""


def compose(name: str, entries: Sequence[ProcessorLike]) -> Workflow[Any, Any] | None:
    """One workflow of a list; None for an empty one.

    Args:
        name: ``"input"``, ``"output"`` or ``"error"``.
        entries: Processors, workflows of processors, steps made of either.

    Raises:
        DefinitionError: Something is neither, an id is no id, or two objects share one id. All faults at once.
    """
    if entries in ((), []):
        return None
    faults: list[str] = []
    builder = create_workflow(
        id=f"{name}-processors", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema
    )
    for index, entry in enumerate(_entries(name, entries)):
        made = _step_of(entry, f"{name}_processors[{index}]")
        if isinstance(made, str):
            faults.append(made)
            continue
        if isinstance(made, ProcessorStep):
            made.processor.processor_index = index
        builder = builder.then(made)
    if len(faults) < len(entries):
        try:
            workflow = builder.commit()
        except DefinitionError as error:
            faults += error.faults
        else:
            faults += _shared_ids(workflow)
            if not faults:
                return workflow
    raise DefinitionError(faults, subject=f"{name}_processors")


def _entries(name: str, entries: object) -> Sequence[object]:
    if isinstance(entries, Sequence) and not isinstance(entries, str):
        return cast("Sequence[object]", entries)
    raise DefinitionError(
        f"it is a {type(entries).__name__}: pass a list of processors, [processor, …]", subject=f"{name}_processors"
    )


def _step_of(entry: object, place: str) -> Step[Any, Any] | str:
    if isinstance(entry, type):
        return f"{place} is the class {entry.__name__}: pass an instance, {entry.__name__}(…)"
    if isinstance(entry, WorkflowBuilder):
        return f"{place} is a workflow that is not committed: call .commit() on it first"
    if not supports_step(entry):
        return f"{place} is a {type(entry).__name__}: a processor, a workflow of processors, or a step made of one"
    try:
        made: Step[Any, Any] = entry.as_step()
    except DefinitionError as error:
        return f"{place}: {error}"
    if not fits(made.input_schema, ProcessorStepSchema):
        wanted = schema_name(made.input_schema)
        return f"{place}: {made.id!r} takes {wanted}, not ProcessorStepSchema: it is no processor"
    if isinstance(made, WorkflowStep) and _ends_keyed(made.workflow.plan):
        return f"{place}: the workflow {made.id!r} ends with a parallel block: put .map(…) or .merge() behind it"
    return made


def _ends_keyed(plan: Plan) -> bool:
    """Whether what comes out is the keyed output of a parallel block, and no context."""
    last = plan.nodes[-1]
    return isinstance(last, ParallelNode) or (isinstance(last, NestedNode) and _ends_keyed(last.plan))


def _shared_ids(workflow: Workflow[Any, Any]) -> list[str]:
    """Two objects under one id: state and verdicts could not be told apart."""
    owner: dict[str, Processor] = {}
    faults: list[str] = []
    for step in acting_steps(workflow.plan):
        if not isinstance(step, ProcessorStep):
            continue
        first = owner.setdefault(step.processor.id, step.processor)
        if first is not step.processor:
            faults.append(f"two processors have the id {step.processor.id!r}: {first!r} and {step.processor!r}")
    return faults

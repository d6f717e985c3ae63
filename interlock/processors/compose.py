"""An agent's list of processors as one workflow: each processor a step, each workflow nested, in a chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interlock.errors import DefinitionError
from interlock.processors.base import Processor, ProcessorStep
from interlock.processors.contexts import ProcessorStepSchema
from interlock.schema import fits
from interlock.steps import Step
from interlock.steps.step import supports_step
from interlock.workflows import Workflow, WorkflowStep, acting_steps, create_workflow

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
    if not entries:
        return None
    faults: list[str] = []
    builder = create_workflow(
        id=f"{name}-processors", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema
    )
    for index, entry in enumerate(entries):
        made = _step_of(entry, f"{name}_processors[{index}]")
        if isinstance(made, str):
            faults.append(made)
            continue
        if isinstance(made, ProcessorStep):
            made.processor.processor_index = index
        builder = builder.then(made)
    try:
        workflow = builder.commit()
    except DefinitionError as error:
        raise DefinitionError([*faults, *error.faults], subject=f"{name}_processors") from None
    faults += _shared_ids(workflow)
    if faults:
        raise DefinitionError(faults, subject=f"{name}_processors")
    return workflow


def _step_of(entry: object, place: str) -> Step[Any, Any] | str:
    if not supports_step(entry):
        return f"{place} is a {type(entry).__name__}: a processor, a workflow of processors, or a step made of one"
    try:
        made = entry.as_step()
    except DefinitionError as error:
        return f"{place}: {error}"
    if isinstance(made, WorkflowStep) and not fits(made.input_schema, ProcessorStepSchema):
        return f"{place}: the workflow {made.id!r} takes no ProcessorStepSchema, so it is no processor"
    return made


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

"""What is made once of a workflow, for all its runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from interlock.errors import DefinitionError
from interlock.processors.contexts import ProcessorStepSchema
from interlock.processors.hook_context import HookContext
from interlock.runtime.journal.rows import RowForm
from interlock.runtime.lower import Place, lower
from interlock.runtime.run_state import RunState, StateRules
from interlock.runtime.strand import Operation
from interlock.schema import is_set, validate
from interlock.steps import Step
from interlock.verdict import Phase
from interlock.workflows import Workflow
from interlock.workflows.nodes import steps_by_path

__all__ = ["Prepared", "given_input", "given_values"]


class Prepared:
    """What is made once of a workflow, as far as it is asked for. Does not keep the workflow alive.

    Args:
        workflow: The workflow.

    Attributes:
        ready: Its operations, at the phases that somebody has asked for.
        stateless: Whether no schema says anything of a state; False as long as nobody has looked.
    """

    __slots__ = ("_form", "_rules", "_schema", "_steps", "ready", "stateless")

    def __init__(self, workflow: Workflow[Any, Any]) -> None:
        self.ready: dict[Phase | None, tuple[Operation, ...]] = {}
        self._steps: dict[str, Step[Any, Any]] | None = None
        self._schema = workflow.state_schema
        self.stateless = False
        self._rules: StateRules | None = None
        self._form: RowForm | None = None

    def operations(self, workflow: Workflow[Any, Any], phase: Phase | None) -> tuple[Operation, ...]:
        """Its operations at a phase."""
        if phase not in self.ready:
            self.ready[phase] = _lowered(workflow, phase)
        return self.ready[phase]

    def steps(self, workflow: Workflow[Any, Any]) -> dict[str, Step[Any, Any]]:
        """Its steps, by path."""
        if self._steps is None:
            self._steps = dict(steps_by_path(workflow.plan))
        return self._steps

    def state(self, workflow: Workflow[Any, Any], given: object) -> RunState | None:
        """Where the state of a run begins; None where no schema says anything of it and none was given.

        Raises:
            pydantic.ValidationError: What was given does not fit a schema.
            DefinitionError: It is no mapping.
        """
        if self.stateless and given is None:
            return None
        schemas = {path: step.state_schema for path, step in self.steps(workflow).items() if is_set(step.state_schema)}
        if is_set(self._schema):
            schemas[workflow.id] = self._schema
        if not schemas and given is None:
            self.stateless = True
            return None
        values = given_values(given)
        if not schemas:
            return RunState(values=values)
        if self._rules is None:
            from interlock.workflows.state_schema import StateFields

            self._rules = StateFields.of(*schemas.values())
        return RunState(self._rules, self._schema, self._rules.initial(values))

    def form(self, workflow: Workflow[Any, Any]) -> RowForm:
        """How its runs' values become JSON."""
        if self._form is None:
            from interlock.runtime.journal.record_classes import classes_in
            from interlock.runtime.journal.values import ValueCodec

            schemas: list[object] = [workflow.input_schema, workflow.output_schema, workflow.state_schema]
            for step in self.steps(workflow).values():
                schemas += (step.input_schema, step.output_schema, step.state_schema)
                schemas += (step.resume_schema, step.suspend_schema)
            self._form = RowForm(ValueCodec(classes_in([schema for schema in schemas if is_set(schema)])))
        return self._form


def given_input(workflow: Workflow[Any, Any], value: object) -> Any:
    """A run's input, validated.

    Raises:
        pydantic.ValidationError: It does not fit the workflow's schema.
        DefinitionError: A workflow of processors was given something else than a context.
    """
    schema = workflow.input_schema
    if schema is ProcessorStepSchema and not isinstance(value, HookContext):
        raise DefinitionError(
            f"it takes the context of a phase, not a {type(value).__name__}: "
            'make one with InputContext("text"), from interlock.processors',
            subject=f"workflow {workflow.id!r}",
        )
    try:
        return validate(schema, value)
    except ValueError as error:
        error.add_note(f"This was the input of workflow {workflow.id!r}.")
        raise


def given_values(state: object) -> dict[str, object]:
    """What a caller gave of a run's state, by key.

    Args:
        state: A mapping, a pydantic model, a dataclass instance, or None for nothing.

    Raises:
        DefinitionError: It is none of these.
    """
    if state is None:
        return {}
    if isinstance(state, Mapping):
        return dict(cast("Mapping[str, object]", state))
    names = getattr(type(state), "model_fields", None) or getattr(state, "__dataclass_fields__", None)
    if names is None or isinstance(state, type):
        raise DefinitionError(
            f"state= is a mapping, or an instance of the workflow's state_schema, not a {type(state).__name__}"
        )
    return {name: getattr(state, name) for name in names}


def _lowered(workflow: Workflow[Any, Any], phase: Phase | None) -> tuple[Operation, ...]:
    plan = workflow.plan if phase is None else workflow.plan_for(phase)
    if plan is None:
        return ()
    if phase is Phase.OUTPUT_STREAM:
        from interlock.runtime.chunk_op import ChunkOp

        return (ChunkOp(plan, retry=workflow.retry),)
    try:
        return lower(plan, Place(phase, retry=workflow.retry), given=workflow.input_schema)
    except RecursionError:
        raise DefinitionError(
            f"workflow {workflow.id!r} is nested deeper than Python's recursion limit allows"
        ) from None

"""The states of the workflows in an agent's lists: one for each, for the whole of an agent's run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

from interlock.runtime.prepared import Prepared
from interlock.runtime.run_state import RunState
from interlock.schema import is_set
from interlock.workflows import Workflow
from interlock.workflows.nodes import steps_by_path

__all__ = ["WorkflowStates"]

_prepared: Final[WeakKeyDictionary[Workflow[Any, Any], Prepared]] = WeakKeyDictionary()


class WorkflowStates:
    """What the workflows of an agent's lists keep for one run; each is made when its workflow first asks.

    What stands in a list by itself, and in no workflow, shares one.

    Args:
        schemas: The state schemas of what shares it.
    """

    def __init__(self, schemas: Sequence[object] = ()) -> None:
        self._schemas = schemas
        self._states: dict[Workflow[Any, Any] | None, RunState] = {}

    def of(self, workflow: Workflow[Any, Any] | None) -> RunState:
        """A workflow's.

        Args:
            workflow: As it stands in the list; None: of what stands in no workflow.
        """
        state = self._states.get(workflow)
        if state is None:
            state = self._states[workflow] = self._begun(workflow, None)
        return state

    def next_point(self) -> None:
        """Another point begins: nothing that was written before happens at the same time as what is written there."""
        for state in self._states.values():
            state.settle()

    def values(self) -> Mapping[Workflow[Any, Any] | None, dict[str, object]]:
        """What each keeps, as JSON.

        Raises:
            UnrecordableValue: Something has no such form; says which key.
        """
        kept = [(workflow, state.values) for workflow, state in self._states.items() if state.values]
        return {workflow: self._codec(workflow).encoded(values) for workflow, values in kept}

    def restore(self, workflow: Workflow[Any, Any] | None, values: Mapping[str, object]) -> None:
        """Have one keep what it kept before.

        Args:
            workflow: As it stands in the list.
            values: As :meth:`values` gave them.
        """
        self._states[workflow] = self._begun(workflow, self._codec(workflow).decoded(values))

    def _codec(self, workflow: Workflow[Any, Any] | None) -> _StateCodec:
        schemas = self._schemas
        if workflow is not None:
            steps = (step for _, step in steps_by_path(workflow.plan))
            schemas = [workflow.state_schema, *(step.state_schema for step in steps)]
        return _StateCodec("the list" if workflow is None else repr(workflow.id), filter(is_set, schemas))

    def _begun(self, workflow: Workflow[Any, Any] | None, values: Mapping[str, object] | None) -> RunState:
        if workflow is not None:
            known = _prepared.get(workflow)
            if known is None:
                known = _prepared[workflow] = Prepared(workflow)
            return known.state(workflow, values) or RunState()
        if not self._schemas:
            return RunState(values=values)
        from interlock.workflows.state_schema import StateFields

        rules = StateFields.of(*self._schemas)
        return RunState(rules, values=rules.initial(values))


class _StateCodec:
    """How a state is written and read.

    Args:
        whose: Whose it is, for errors.
        schemas: Its state schemas.
    """

    def __init__(self, whose: str, schemas: Iterable[object]) -> None:
        from interlock.runtime.journal.values import ValueCodec, classes_in

        self._whose = whose
        self._codec = ValueCodec(classes_in(schemas))

    def encoded(self, values: Mapping[str, object]) -> dict[str, object]:
        return {
            name: self._codec.encode(value, place=f"{name!r} in the state of {self._whose}")
            for name, value in values.items()
        }

    def decoded(self, values: Mapping[str, Any]) -> dict[str, object]:
        return {name: self._codec.decode(value) for name, value in values.items()}

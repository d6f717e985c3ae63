"""The states of the workflows in an agent's lists: one for each, for the whole of an agent's run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

from interlock.runtime.prepared import Prepared
from interlock.runtime.run_state import RunState
from interlock.workflows import Workflow

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
        """What each keeps, as data where a schema says what it is."""
        return {workflow: state.as_data() for workflow, state in self._states.items() if state.values}

    def restore(self, workflow: Workflow[Any, Any] | None, values: Mapping[str, object]) -> None:
        """Have one keep what it kept before.

        Args:
            workflow: As it stands in the list.
            values: As :meth:`values` gave them.
        """
        self._states[workflow] = self._begun(workflow, values)

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

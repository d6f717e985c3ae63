"""An agent's three lists of processors, composed: which graph runs at which of the ten points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from interlock.processors.base import Processor, ProcessorStep
from interlock.processors.compose import ProcessorLike, compose
from interlock.schema import is_set
from interlock.steps import Step
from interlock.tracing import warn
from interlock.verdict import Phase
from interlock.workflows import NestedNode, Plan, StepNode, Workflow, acting_steps, specialise
from interlock.workflows.nodes import steps_by_path

if TYPE_CHECKING:
    from interlock.runtime.strand import Operation

__all__ = ["LISTS", "ProcessorLists"]

PREFILL_HANDLER: Final = "prefill-error-handler"
"""The id of the handler that every agent has; a user's own of that id takes its place."""

LISTS: Final[Mapping[Phase, tuple[str, ...]]] = {
    Phase.INPUT: ("input",),
    Phase.INPUT_STEP: ("input",),
    Phase.LLM_REQUEST: ("input",),
    Phase.API_ERROR: ("error", "input", "output"),
    Phase.OUTPUT_STREAM: ("output",),
    Phase.LLM_RESPONSE: ("input",),
    Phase.OUTPUT_STEP: ("output",),
    Phase.TOOL_CALL: ("input", "output"),
    Phase.TOOL_RESULT: ("input", "output"),
    Phase.OUTPUT_RESULT: ("output",),
}
"""The lists that each point reads, in order; an object that stands in more than one of them runs once."""


@dataclass(frozen=True)
class _Composed:
    plans: tuple[tuple[str, Plan], ...]
    ops: tuple[Operation, ...]


def _keeps(step: Step[Any, Any]) -> bool:
    """Whether it is a processor that needs no hook: it is told when a run has ended."""
    if not isinstance(step, ProcessorStep):
        return False
    from interlock.processors.recall.keeps_turn import KeepsTurn

    return isinstance(step.processor, KeepsTurn)


def _warn_of_idle(name: str, workflow: Workflow[Any, Any]) -> None:
    """Warn of what never acts in the list it stands in: it would be taken for a guard that passed."""
    points = [phase for phase in Phase if name in LISTS[phase]]
    for node in workflow.plan.nodes:
        step = node.step if isinstance(node, StepNode | NestedNode) else None
        if step is not None and not any(step.acts_in(phase) for phase in points) and not _keeps(step):
            acts = [str(phase) for phase in Phase if step.acts_in(phase)]
            warn("a processor never acts in this list", list=f"{name}_processors", step=step.id, acts_at=acts)


def _has_prefill_handler(workflow: Workflow[Any, Any] | None) -> bool:
    steps = () if workflow is None else acting_steps(workflow.plan)
    return any(step.id == f"processor:{PREFILL_HANDLER}" for step in steps)


def _prefill_handler() -> Processor:
    """The handler that every agent has behind its own ones."""
    from interlock.processors.recovery.prefill_error_handler import PrefillErrorHandler

    return PrefillErrorHandler()


class ProcessorLists:
    """Three lists, composed and specialised; each point's graph is made when it is first asked for.

    Args:
        lists: By name: ``"input"``, ``"output"``, ``"error"``.

    Raises:
        DefinitionError: A list holds what is no processor, or two objects with one id.
    """

    def __init__(self, lists: Mapping[str, Sequence[ProcessorLike]]) -> None:
        self._workflows: dict[str, Workflow[Any, Any] | None] = {
            name: compose(name, entries) for name, entries in lists.items()
        }
        if "error" in lists and not _has_prefill_handler(self._workflows["error"]):
            self._workflows["error"] = compose("error", [*lists["error"], _prefill_handler()])
        self._composed: dict[Phase, _Composed] = {}
        for name, workflow in self._workflows.items():
            if workflow is not None:
                _warn_of_idle(name, workflow)

    def acts(self, phase: Phase) -> bool:
        """Whether anything acts at a point. Where nothing does, the point is not run at all."""
        return bool(self._at(phase).plans)

    def plans(self, phase: Phase) -> Sequence[tuple[str, Plan]]:
        """What runs at a point: the list's name and its specialised plan."""
        return self._at(phase).plans

    def operations(self, phase: Phase) -> Sequence[Operation]:
        """The same as one chain of operations."""
        return self._at(phase).ops

    def processors(self) -> Mapping[str, Processor]:
        """All processors, by list and id; one that stands in several lists by the first of them."""
        found: dict[int, tuple[str, Processor]] = {}
        for name, workflow in self._workflows.items():
            for step in () if workflow is None else acting_steps(workflow.plan):
                if isinstance(step, ProcessorStep):
                    found.setdefault(id(step.processor), (f"{name}/{step.processor.id}", step.processor))
        return dict(found.values())

    def workflows(self) -> Mapping[str, Workflow[Any, Any] | None]:
        """The workflows that stand in the lists, by list and id; under ``""`` what stands in none."""
        found: dict[Workflow[Any, Any], str] = {}
        for name, workflow in self._workflows.items():
            for node in () if workflow is None else workflow.plan.nodes:
                if isinstance(node, NestedNode):
                    found.setdefault(cast("Workflow[Any, Any]", node.step.subject), f"workflow:{name}/{node.id}")
        return {"": None, **{name: workflow for workflow, name in found.items()}}

    def place_of(self, id: str, phase: Phase) -> tuple[str, str, bool] | None:  # noqa: A002
        """Where something acts at a point, by its id: the list's name, its path there, and whether it is a processor.

        Args:
            id: Its id.
            phase: The point.
        """
        for name, plan in self.plans(phase):
            for path, step in steps_by_path(plan):
                processor = step.processor if isinstance(step, ProcessorStep) else None
                if id == (step.id if processor is None else processor.id):
                    return name, path.removeprefix(f"{plan.id}/"), processor is not None
        return None

    @cached_property
    def state_schemas(self) -> Sequence[object]:
        """The state schemas of the steps that stand in no workflow."""
        found: list[object] = []
        for workflow in self._workflows.values():
            for node in () if workflow is None else workflow.plan.nodes:
                if isinstance(node, StepNode) and is_set(node.step.state_schema):
                    found.append(node.step.state_schema)
        return found

    def drawn(self, phase: Phase) -> Plan | None:
        """What runs at a point, as one plan to look at; where several lists act, each is a frame of its own."""
        plans = self.plans(phase)
        if len(plans) < 2:
            return plans[0][1] if plans else None
        frames = [(self._workflows[name], plan) for name, plan in plans]
        return Plan(str(phase), tuple(NestedNode(w.as_step(), plan) for w, plan in frames if w is not None))

    def _at(self, phase: Phase) -> _Composed:
        if phase not in self._composed:
            self._composed[phase] = self._compose(phase)
        return self._composed[phase]

    def _compose(self, phase: Phase) -> _Composed:
        from interlock.runtime.lower import Place, lower

        plans: list[tuple[str, Plan]] = []
        ops: list[Operation] = []
        seen: set[int] = set()
        for number, name in enumerate(LISTS[phase]):
            workflow = self._workflows.get(name)
            plan = None if workflow is None else specialise(workflow.plan, phase, without=seen)
            if plan is None:
                continue
            seen.update(id(step.subject) for step in acting_steps(plan))
            plans.append((name, plan))
            ops += lower(plan, Place(phase, name, order=(number,)))
        return _Composed(tuple(plans), tuple(ops))

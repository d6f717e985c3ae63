"""What a plan is made of: an immutable tree of nodes. A chain is a :class:`Plan`; containers hold plans of their own.

A new combinator is a new node class here, an operation for it in the runtime, and a shape in the drawings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from interlock.steps import Step, StepContext

__all__ = ["MapNode", "MergeNode", "NestedNode", "Node", "ParallelNode", "Plan", "StepNode", "acting_steps"]


@dataclass(frozen=True, slots=True)
class StepNode:
    """One step."""

    step: Step[Any, Any]

    @property
    def id(self) -> str:
        """The step's id."""
        return self.step.id


@dataclass(frozen=True, slots=True)
class NestedNode:
    """A workflow inside a workflow, drawn and run in place.

    Attributes:
        step: The step that stands for it.
        plan: Its plan.
    """

    step: Step[Any, Any]
    plan: Plan

    @property
    def id(self) -> str:
        """The nested workflow's step id."""
        return self.step.id


@dataclass(frozen=True, slots=True)
class ParallelNode:
    """All arms at once, each on a fork of the input; gives ``{arm id: output}`` in list order.

    Attributes:
        id: ``parallel``, ``parallel-2``, …
        arms: One plan each; an arm's plan carries the id it is keyed by, and is empty where the arm does not act.
    """

    id: str
    arms: tuple[Plan, ...]


@dataclass(frozen=True, slots=True)
class MapNode:
    """A function that reshapes what flows."""

    id: str
    function: Callable[[StepContext[Any]], Any]


@dataclass(frozen=True, slots=True)
class MergeNode:
    """One value from the keyed output of a parallel block: the forks joined three-way.

    Attributes:
        prefer: The arm that wins a conflict; None: a conflict fails the run.
    """

    id: str
    prefer: str | None = None


Node = StepNode | NestedNode | ParallelNode | MapNode | MergeNode


@dataclass(frozen=True, slots=True)
class Plan:
    """A chain: each node takes what the one before gave.

    Attributes:
        id: The workflow's or the arm's.
        nodes: In running order.
    """

    id: str
    nodes: tuple[Node, ...]


def acting_steps(plan: Plan) -> Iterator[Step[Any, Any]]:
    """Every step of a plan that is not itself a workflow, in list order, nested ones included."""
    for node in plan.nodes:
        if isinstance(node, StepNode):
            yield node.step
        elif isinstance(node, NestedNode):
            yield from acting_steps(node.plan)
        elif isinstance(node, ParallelNode):
            for arm in node.arms:
                yield from acting_steps(arm)

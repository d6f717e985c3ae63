"""A plan for one point of an agent's run: what does nothing there is gone before anything runs."""

from __future__ import annotations

from collections.abc import Collection

from interlock.verdict import Phase
from interlock.workflows.nodes import NestedNode, Node, ParallelNode, Plan, StepNode, acting_steps

__all__ = ["specialise"]


def specialise(plan: Plan, phase: Phase, *, without: Collection[int] = ()) -> Plan | None:
    """The plan for one phase, or None where nothing acts.

    A step that does not act vanishes, and so does a nested workflow in which nothing acts. An arm of a parallel block
    that does not act stays as a key whose value is the block's input. Maps and merges alone keep nothing alive.

    Args:
        plan: The whole plan.
        phase: The point.
        without: ``id()`` of subjects that have acted at this point already (one object in two lists runs once).
    """
    nodes = tuple(kept for node in plan.nodes if (kept := _specialised(node, phase, without)) is not None)
    special = Plan(plan.id, nodes)
    return special if any(True for _ in acting_steps(special)) else None


def _specialised(node: Node, phase: Phase, without: Collection[int]) -> Node | None:
    if isinstance(node, StepNode):
        acts = node.step.acts_in(phase) and id(node.step.subject) not in without
        return node if acts else None
    if isinstance(node, NestedNode):
        inner = specialise(node.plan, phase, without=without)
        return None if inner is None else NestedNode(node.step, inner)
    if isinstance(node, ParallelNode):
        return ParallelNode(
            node.id, tuple(specialise(arm, phase, without=without) or Plan(arm.id, ()) for arm in node.arms)
        )
    return node

"""A plan for one point of an agent's run: what does nothing there is gone before anything runs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import assert_never

from interlock.verdict import Phase
from interlock.workflows.nodes import (
    BranchNode,
    DagNode,
    ForeachNode,
    LoopNode,
    MapNode,
    MergeNode,
    NestedNode,
    Node,
    ParallelNode,
    Plan,
    SleepNode,
    StepNode,
    acting_steps,
)

__all__ = ["specialise"]


def specialise(plan: Plan, phase: Phase, *, without: Collection[int] = ()) -> Plan | None:
    """The plan for one phase, or None where nothing acts.

    A step that does not act vanishes, and so does a nested workflow or a loop in which nothing acts. An arm of a
    parallel or branch block, or a node of a graph, that does not act stays as a key whose value is what it was given.
    Maps, merges, waits and conditions alone keep nothing alive.

    Args:
        plan: The whole plan.
        phase: The point.
        without: ``id()`` of subjects that have acted at this point already (one object in two lists runs once).
    """
    nodes = tuple(kept for node in plan.nodes if (kept := _specialised(node, phase, without)) is not None)
    special = Plan(plan.id, nodes)
    return special if any(True for _ in acting_steps(special)) else None


def _specialised(node: Node, phase: Phase, without: Collection[int]) -> Node | None:
    def kept(plan: Plan) -> Plan:
        return specialise(plan, phase, without=without) or Plan(plan.id, ())

    match node:
        case StepNode(step=step):
            return node if step.acts_in(phase) and id(step.subject) not in without else None
        case NestedNode(plan=plan):
            inner = specialise(plan, phase, without=without)
            return None if inner is None else replace(node, plan=inner)
        case ForeachNode(body=body) | LoopNode(body=body):
            inner = specialise(body, phase, without=without)
            return None if inner is None else replace(node, body=inner)
        case ParallelNode(arms=arms):
            return replace(node, arms=tuple(kept(arm) for arm in arms))
        case BranchNode(arms=arms, otherwise=otherwise):
            last = None if otherwise is None else kept(otherwise)
            return replace(node, arms=tuple(kept(arm) for arm in arms), otherwise=last)
        case DagNode(items=items):
            return replace(node, items=tuple(replace(item, plan=kept(item.plan)) for item in items))
        case MapNode() | MergeNode() | SleepNode():
            return node
        case _:
            assert_never(node)

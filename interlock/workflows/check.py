"""What ``commit()`` finds: every fault of a workflow at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from interlock.ids import fault_in_id
from interlock.schema import fault_in_schema, is_set
from interlock.shown import shown
from interlock.steps import RetryPolicy, Step
from interlock.steps.annotations import kind_of_generator
from interlock.workflows.check_edges import edge_faults
from interlock.workflows.naming import steps_in_scope
from interlock.workflows.nodes import (
    BranchNode,
    DagNode,
    ForeachNode,
    LoopNode,
    NestedNode,
    Node,
    ParallelNode,
    Plan,
    StepNode,
    plans_in,
)

__all__ = ["faults_in"]


def faults_in(plan: Plan, options: Mapping[str, Any], *, states_apart: bool = False) -> list[str]:
    """One sentence a fault; empty where the workflow is sound.

    Args:
        plan: The workflow's own plan.
        options: What was said of the workflow as a whole, by the names of ``create_workflow``'s arguments.
        states_apart: Whether the workflows that stand in it have a state each, and no state is shared.
    """
    faults: list[str] = []
    if (fault := fault_in_id(plan.id)) is not None:
        faults.append(fault)
    faults += _option_faults(options)
    if not plan.nodes:
        faults.append("the workflow has no steps: add one with .then(…), .parallel(…) or .map(…)")
    faults += _id_faults(plan)
    faults += edge_faults(plan, options["input_schema"], options["output_schema"])
    return faults + _state_faults(plan, options["state_schema"], states_apart=states_apart)


def _option_faults(options: Mapping[str, Any]) -> list[str]:
    faults: list[str] = []
    for name in ("input_schema", "output_schema"):
        if (fault := fault_in_schema(options[name])) is not None:
            faults.append(f"{name}: {fault}")
    retry = options["retry"]
    if retry is not None and not isinstance(retry, RetryPolicy):
        faults.append(f"retry: a RetryPolicy is wanted, RetryPolicy(attempts=…), not {shown(retry)}")
    description, metadata = options["description"], options["metadata"]
    if description is not None and not isinstance(description, str):
        faults.append(f"description: a text is wanted, not {shown(description)}")
    if metadata is not None and not isinstance(metadata, Mapping):
        faults.append(f"metadata: a dict is wanted, not {shown(metadata)}")
    for name in ("on_start", "on_finish", "on_error"):
        given = options[name]
        if given is not None and (isinstance(given, type) or not callable(given)):
            faults.append(f"{name}: a function is wanted, def or async def, not {shown(given)}")
        elif given is not None and (generator := kind_of_generator(given)) is not None:
            faults.append(f"{name} is {generator}: a function that returns once is wanted")
    return faults


def _id_faults(plan: Plan) -> list[str]:
    faults: list[str] = []
    seen: dict[str, tuple[str, Step[Any, Any]]] = {}
    for place, node in _placed_steps(plan):
        if (fault := fault_in_id(node.id)) is not None:
            faults.append(f"{place}: {fault}")
        if node.id not in seen:
            seen[node.id] = (place, node.step)
            continue
        other_place, other = seen[node.id]
        how = 'create_step(x, id="…")' if other.subject is node.step.subject else node.step.renaming
        faults.append(
            f"the id {node.id!r} stands twice: at {other_place} and at {place}; give one another id with {how}"
        )
    return faults


def _placed_steps(plan: Plan) -> Iterator[tuple[str, StepNode | NestedNode]]:
    """Steps of one scope with where they stand. A nested workflow has a scope of its own.

    What is no step is named by commit(), so that it stands in nobody's way.
    """
    for number, node in enumerate(plan.nodes, 1):
        if isinstance(node, StepNode | NestedNode):
            yield f"node {number}", node
            continue
        for place, arm in _arms(node):
            several = len(arm.nodes) > 1
            for at, inner in enumerate(arm.nodes, 1):
                where = f"node {number}{place}" + (f", step {at}" if several else "")
                yield from ((where, one) for one in steps_in_scope(inner))


def _arms(node: Node) -> list[tuple[str, Plan]]:
    """The plans in a node, each with what its place is called."""
    match node:
        case ParallelNode(arms=arms):
            return [(f" (parallel), branch {i}", arm) for i, arm in enumerate(arms, 1)]
        case BranchNode(arms=arms, otherwise=otherwise):
            placed = [(f" (branch), arm {i}", arm) for i, arm in enumerate(arms, 1)]
            return placed if otherwise is None else [*placed, (" (branch), otherwise", otherwise)]
        case ForeachNode(body=body):
            return [(" (foreach)", body)]
        case LoopNode(body=body, until=until):
            return [(" (do-until)" if until else " (do-while)", body)]
        case DagNode(items=items):
            return [(f" (dag), key {i}", item.plan) for i, item in enumerate(items, 1)]
        case _:
            return []


def _state_faults(plan: Plan, state_schema: object, *, states_apart: bool) -> list[str]:
    """What of the state schemas of the workflow, its steps and those of nested workflows cannot stand in one state."""
    schemas: list[tuple[str, object]] = [("the workflow", state_schema)] if is_set(state_schema) else []
    alone = Plan(plan.id, tuple(node for node in plan.nodes if not isinstance(node, NestedNode)))
    schemas += _state_schemas(alone if states_apart else plan, "")
    if not schemas:
        return []
    from interlock.workflows.state_schema import joined

    return joined(schemas)[1]


def _state_schemas(plan: Plan, scope: str) -> Iterator[tuple[str, object]]:
    """The state schemas of a plan's steps, by who has them."""
    for node in plan.nodes:
        inside = scope
        if isinstance(node, StepNode | NestedNode):
            if is_set(node.step.state_schema):
                yield repr(scope + node.id), node.step.state_schema
            if isinstance(node, StepNode):
                continue
            inside = f"{scope}{node.id}/"
        for inner in plans_in(node):
            yield from _state_schemas(inner, inside)

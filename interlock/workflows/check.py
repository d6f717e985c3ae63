"""What ``commit()`` finds: every fault of a workflow at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from interlock.ids import fault_in_id
from interlock.schema import UNSET, fault_in_schema, fits, is_set, is_union, schema_name
from interlock.workflows.nodes import MapNode, MergeNode, NestedNode, Node, ParallelNode, Plan, StepNode

__all__ = ["Keyed", "faults_in"]


@dataclass(frozen=True, slots=True)
class Keyed:
    """The schema of a parallel block's output: one schema an arm."""

    arms: Mapping[str, Any]


def faults_in(plan: Plan, input_schema: Any, output_schema: Any) -> list[str]:
    """One sentence a fault; empty where the workflow is sound.

    Args:
        plan: The workflow's own plan.
        input_schema, output_schema: The workflow's.
    """
    faults: list[str] = []
    if (fault := fault_in_id(plan.id)) is not None:
        faults.append(fault)
    for name, schema in (("input_schema", input_schema), ("output_schema", output_schema)):
        if (fault := fault_in_schema(schema)) is not None:
            faults.append(f"{name}: {fault}")
    if not plan.nodes:
        faults.append("the workflow has no steps: add one with .then(…), .parallel(…) or .map(…)")
    return faults + _id_faults(plan) + _edge_faults(plan, input_schema, output_schema)


def _id_faults(plan: Plan) -> list[str]:
    faults: list[str] = []
    seen: dict[str, str] = {}
    for place, step_id in _placed_ids(plan):
        if (fault := fault_in_id(step_id)) is not None:
            faults.append(f"{place}: {fault}")
        if step_id in seen:
            faults.append(
                f"the id {step_id!r} stands twice: at {seen[step_id]} and at {place}; "
                'give one another id with create_step(x, id="…")'
            )
        else:
            seen[step_id] = place
    return faults


def _placed_ids(plan: Plan) -> list[tuple[str, str]]:
    """Ids of one scope with where they stand. A nested workflow has a scope of its own."""
    placed: list[tuple[str, str]] = []
    for number, node in enumerate(plan.nodes, 1):
        match node:
            case StepNode() | NestedNode():
                placed.append((f"node {number}", node.id))
            case ParallelNode(arms=arms):
                placed += [(f"node {number} (parallel), branch {i}", arm.id) for i, arm in enumerate(arms, 1)]
            case MapNode() | MergeNode():  # named by commit(), so that they stand in nobody's way
                pass
    return placed


def _edge_faults(plan: Plan, input_schema: Any, output_schema: Any) -> list[str]:
    start = "the workflow's input"
    faults, current = _along(plan.nodes, input_schema, start)
    before = repr(plan.nodes[-1].id) if plan.nodes else start
    if isinstance(current, Keyed):
        if not _takes_keyed(output_schema, current):
            faults.append(
                f"the workflow ends with the output of {before}, which is keyed by step id "
                f"({', '.join(current.arms)}), but its output_schema is {schema_name(output_schema)}: "
                "add .map(…) or .merge()"
            )
    elif plan.nodes and not fits(current, output_schema):
        faults.append(f"{before} gives {schema_name(current)} but the output_schema is {schema_name(output_schema)}")
    return faults


def _along(nodes: Sequence[Node], current: Any, before: str) -> tuple[list[str], Any]:
    """The faults of a chain's edges, and the schema of what it gives.

    Args:
        nodes: The chain.
        current: The schema of what goes in.
        before: What gives that, for the sentence.
    """
    faults: list[str] = []
    for node in nodes:
        found, current = _through(node, current, before)
        faults += found
        before = repr(node.id)
    return faults, current


def _through(node: Node, current: Any, before: str) -> tuple[list[str], Any]:
    match node:
        case StepNode(step=step) | NestedNode(step=step):
            return _step_edge(step.id, step.input_schema, current, before), step.output_schema
        case ParallelNode(id=id_, arms=arms):
            if not arms:
                return [f"{id_!r} has no branches"], UNSET
            ways = {arm.id: _along(arm.nodes, current, before) for arm in arms}
            faults = [fault for found, _ in ways.values() for fault in found]
            return faults, Keyed({key: given for key, (_, given) in ways.items()})
        case MergeNode(id=id_, prefer=prefer):
            return _merge_edge(id_, prefer, current, before)
        case MapNode():
            return [], UNSET


def _step_edge(step_id: str, wanted: Any, current: Any, before: str) -> list[str]:
    if isinstance(current, Keyed):
        if _takes_keyed(wanted, current):
            return []
        return [
            f"{step_id!r} takes {schema_name(wanted)} but {before} gives an output keyed by step id "
            f"({', '.join(current.arms)}): put .map(…) or .merge() between them"
        ]
    if fits(current, wanted):
        return []
    return [f"{step_id!r} takes {schema_name(wanted)} but {before} gives {schema_name(current)}"]


def _takes_keyed(wanted: Any, given: Keyed) -> bool:
    """Whether a dict of the arms' outputs can be of this schema."""
    if not is_set(wanted):
        return True
    if _mergeable(wanted):
        return False
    key_and_value = get_args(wanted)
    if get_origin(wanted) in (dict, Mapping) and len(key_and_value) == 2:
        return fits(str, key_and_value[0]) and all(fits(arm, key_and_value[1]) for arm in given.arms.values())
    return fits(dict, wanted)


def _merge_edge(merge_id: str, prefer: str | None, current: Any, before: str) -> tuple[list[str], Any]:
    if not isinstance(current, Keyed):
        return [f"{merge_id!r} must stand right after .parallel(…), but it stands after {before}"], UNSET
    faults: list[str] = []
    if prefer is not None and prefer not in current.arms:
        faults.append(f"{merge_id!r} prefers {prefer!r}, which is none of {', '.join(map(repr, current.arms))}")
    given = list(current.arms.values())
    if len(given) == 1:
        return faults, given[0]
    plain = [key for key, schema in current.arms.items() if is_set(schema) and not _mergeable(schema)]
    if plain:
        faults.append(
            f"{merge_id!r} cannot join plain values ({', '.join(map(repr, plain))}): use .map(…) to say what continues"
        )
    return faults, given[0] if all(g == given[0] for g in given) else UNSET


def _mergeable(schema: Any) -> bool:
    """Whether values of this schema know how to join their forks."""
    members = get_args(schema) if is_union(schema) else (schema,)
    return all(callable(getattr(member, "merge_forks", None)) for member in members)

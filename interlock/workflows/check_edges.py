"""Whether each step takes what the one before gives, through blocks of every kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, assert_never

from interlock.schema import UNSET, fits, is_set, schema_name
from interlock.workflows.flows import Flow, Keyed, either, is_mergeable, item_of, list_of, takes_keyed
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
    plans_in,
)
from interlock.workflows.outcome import StepError
from interlock.workflows.path_schemas import run_input_faults, source_faults

__all__ = ["edge_faults"]

_START = "the workflow's input"

_Sound = dict[int, list[tuple[Any, Any]]]
"""Of loops: what may go in, and what comes out then. One within loops, whose bodies are looked at twice, is asked about
the same few schemas over and over."""


def edge_faults(plan: Plan, input_schema: Any, output_schema: Any) -> list[str]:
    """One sentence for each step that does not take what it would be given, and for blocks without anything in them.

    Args:
        plan: The workflow's own plan.
        input_schema, output_schema: The workflow's.
    """
    faults, last = _along(plan.nodes, Flow(input_schema, f"{_START} gives"), {})
    faults += [
        f"{node.id!r}: {fault}" for node in _maps_in(plan) for fault in run_input_faults(node.sources, input_schema)
    ]
    if not plan.nodes:
        return faults
    given = last.schema
    if isinstance(given, Keyed):
        if not takes_keyed(output_schema, given):
            faults.append(
                f"the workflow ends with the output of {plan.nodes[-1].id!r}, which is keyed by step id "
                f"({', '.join(given.arms)}), but its output_schema is {schema_name(output_schema)}: "
                f"add {given.advice}"
            )
    elif not fits(given, output_schema):
        faults.append(f"{last.says} {schema_name(given)} but the output_schema is {schema_name(output_schema)}")
    return faults


def _maps_in(plan: Plan) -> Iterator[MapNode]:
    """The maps of a plan and of its blocks; those of a nested workflow are its own."""
    for node in plan.nodes:
        if isinstance(node, MapNode):
            yield node
        elif not isinstance(node, NestedNode):
            for inner in plans_in(node):
                yield from _maps_in(inner)


def _along(nodes: Sequence[Node], flow: Flow, sound: _Sound) -> tuple[list[str], Flow]:
    """The faults of a chain's edges, and what it gives."""
    faults: list[str] = []
    before: Node | None = None
    for node in nodes:
        found, flow = _merged(node, before, flow) if isinstance(node, MergeNode) else _through(node, flow, sound)
        faults += found
        before = node
    return faults, flow


def _through(node: Node, flow: Flow, sound: _Sound) -> tuple[list[str], Flow]:
    """The faults of what goes into a node, and what that gives."""
    match node:
        case StepNode(step=step):
            return _taken(step.id, step.input_schema, flow), Flow(step.output_schema, f"{step.id!r} gives")
        case NestedNode():
            return _nested(node, flow, sound)
        case ParallelNode(id=id_, arms=arms):
            faults, schemas = _arms(arms, flow, sound)
            if not arms:
                return [f"{id_!r} has no branches"], Flow(UNSET, f"{id_!r} gives")
            keyed = Keyed(schemas, collected=node.on_error == "collect", one=node.join == 1)
            return faults, Flow(keyed, f"{id_!r} gives")
        case BranchNode(id=id_, arms=arms, otherwise=otherwise):
            if not arms:
                return [f"{id_!r} has no arms"], Flow(UNSET, f"{id_!r} gives")
            faults, schemas = _arms(arms if otherwise is None else (*arms, otherwise), flow, sound)
            return faults, Flow(Keyed(schemas, one=node.mode == "first"), f"{id_!r} gives")
        case ForeachNode():
            return _foreach(node, flow, sound)
        case LoopNode():
            return _loop(node, flow, sound)
        case DagNode():
            return _dag(node, flow, sound)
        case SleepNode():
            return [], flow
        case MapNode(id=id_, sources=sources):
            faults = [f"{id_!r}: {fault}" for fault in source_faults(sources, flow)]
            return faults, Flow(UNSET if sources is None else dict, f"{id_!r} gives")
        case MergeNode(id=id_):
            return [], Flow(UNSET, f"{id_!r} gives")
        case _:
            assert_never(node)


def _taken(step_id: str, wanted: Any, flow: Flow) -> list[str]:
    """What is wrong where a step takes what flows."""
    given = flow.schema
    if isinstance(given, Keyed):
        if takes_keyed(wanted, given):
            return []
        return [f"{step_id!r} takes {schema_name(wanted)} but {flow.says} {given}: {given.remedy}"]
    if fits(given, wanted):
        return []
    return [f"{step_id!r} takes {schema_name(wanted)} but {flow.says} {schema_name(given)}"]


def _nested(node: NestedNode, flow: Flow, sound: _Sound) -> tuple[list[str], Flow]:
    """A nested workflow; where it has no schemas of its own, what its steps say holds."""
    step, says = node.step, f"{node.id!r} gives"
    faults: list[str] = []
    inner = flow
    if is_set(step.input_schema):
        faults = _taken(step.id, step.input_schema, flow)
        inner = Flow(step.input_schema, f"{_START} gives")
        if is_set(step.output_schema):
            return faults, Flow(step.output_schema, says)
    found, given = _along(node.plan.nodes, inner, sound)
    if inner is flow and is_set(flow.schema):  # else its own commit() has said it
        faults = [f"inside {node.id!r}: {fault}" for fault in found]
    return faults, Flow(step.output_schema if is_set(step.output_schema) else given.schema, says)


def _arms(arms: Sequence[Plan], flow: Flow, sound: _Sound) -> tuple[list[str], dict[str, Any]]:
    """The faults in the arms of a block, and the schema that each gives."""
    faults: list[str] = []
    schemas: dict[str, Any] = {}
    for arm in arms:
        found, given = _along(arm.nodes, flow, sound)
        faults += found
        schemas[arm.id] = given.plain
    return faults, schemas


def _merged(node: MergeNode, before: Node | None, flow: Flow) -> tuple[list[str], Flow]:
    says = f"{node.id!r} gives"
    if not isinstance(before, ParallelNode | BranchNode):
        after = repr(before.id) if before is not None else _START
        fault = f"{node.id!r} must stand right after .parallel(…) or .branch(…), but it stands after {after}"
        return [fault], Flow(UNSET, says)
    keyed = flow.schema
    if not isinstance(keyed, Keyed):  # the block has no arms, which is said of it
        return [], Flow(UNSET, says)
    faults: list[str] = []
    if node.prefer is not None and node.prefer not in keyed.arms:
        faults.append(f"{node.id!r} prefers {node.prefer!r}, which is none of {', '.join(map(repr, keyed.arms))}")
    if node.with_ is not None:
        return faults, Flow(UNSET, says)
    given = list(keyed.arms.values())
    plain = [key for key, schema in keyed.arms.items() if is_set(schema) and not is_mergeable(schema)]
    if plain and len(given) > 1 and not keyed.one and isinstance(before, ParallelNode):
        faults.append(
            f"{node.id!r} cannot join plain values ({', '.join(map(repr, plain))}): "
            "pass with_=lambda outputs: … to make one of them, or use .map(…)"
        )
    schema = either(*given)
    if not keyed.one and len(given) > 1 and any(one != given[0] for one in given):
        schema = UNSET
    return faults, Flow(schema, says)


def _loop(node: LoopNode, flow: Flow, sound: _Sound) -> tuple[list[str], Flow]:
    """A loop, whose body takes what flows and then what it gave itself."""
    says = f"{node.id!r} gives"
    known = sound.setdefault(id(node), [])
    for taken, made in known:
        if taken == flow.schema:
            return [], Flow(made, says)
    faults, given = _along(node.body.nodes, flow, sound)
    if not faults and is_set(given.schema) and given.schema != flow.schema:
        faults, _ = _along(node.body.nodes, Flow(given.schema, "from its second time on it is given"), sound)
    if not faults:
        known.append((flow.schema, given.schema))
    return faults, Flow(given.schema, says)


def _foreach(node: ForeachNode, flow: Flow, sound: _Sound) -> tuple[list[str], Flow]:
    says = f"{node.id!r} gives"
    can, item = (False, UNSET) if isinstance(flow.schema, Keyed) else item_of(flow.schema)
    faults: list[str] = []
    if not can:
        given = flow.schema if isinstance(flow.schema, Keyed) else schema_name(flow.schema)
        faults.append(f"{node.id!r} takes a list but {flow.says} {given}: put .map(…) between them")
    found, each = _along(node.body.nodes, Flow(item, f"each item that {flow.says} is"), sound)
    made = either(each.plain, StepError) if node.on_error == "collect" else each.plain
    return faults + found, Flow(list_of(made), says)


def _dag(node: DagNode, flow: Flow, sound: _Sound) -> tuple[list[str], Flow]:
    says = f"{node.id!r} gives"
    if not node.items:
        return [f"{node.id!r} has no steps"], Flow(UNSET, says)
    ids = [item.plan.id for item in node.items]
    order, cycle = _order(node)
    if cycle:
        way = " → ".join(repr(ids[number]) for number in cycle)
        return [f"{node.id!r} has a cycle, so that none of its steps could begin: {way}"], Flow(UNSET, says)
    faults: list[str] = []
    given: dict[int, Flow] = {}
    for number in order:
        needs = node.items[number].needs
        entering = flow
        if len(needs) == 1:
            entering = given[needs[0]]
        elif needs:
            needed = Keyed({ids[need]: given[need].plain for need in needs}, advice=None)
            entering = Flow(needed, "it needs several steps, which give")
        found, given[number] = _along(node.items[number].plan.nodes, entering, sound)
        faults += found
    if len(node.sinks) == 1:
        return faults, replace(given[node.sinks[0]], says=says)
    return faults, Flow(Keyed({ids[sink]: given[sink].plain for sink in node.sinks}, advice=".map(…)"), says)


def _order(node: DagNode) -> tuple[list[int], list[int]]:
    """The places of the nodes, each behind those it needs; or a cycle, which begins and ends with the same."""
    from graphlib import CycleError, TopologicalSorter

    sorter = TopologicalSorter({number: item.needs for number, item in enumerate(node.items)})
    try:
        return list(sorter.static_order()), []
    except CycleError as error:
        return [], list(error.args[1])

"""From a plan to operations: once per plan and phase, not per run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, assert_never, cast

from interlock.processors.base import ProcessorStep
from interlock.runtime.operations import HookOp, MapOp, MergeOp, NestedOp, ParallelOp, StepOp
from interlock.runtime.strand import Operation
from interlock.schema import UNSET
from interlock.steps import FunctionStep
from interlock.verdict import Phase
from interlock.workflows import MapNode, MergeNode, NestedNode, Node, ParallelNode, Plan, StepNode

__all__ = ["Place", "hooks_in", "lower"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a graph lowering stands.

    Attributes:
        phase: The lifecycle phase; None for a typed workflow.
        list: The agent's list, for records.
        path: Ids of the workflows around, each with a ``/`` behind it.
        order: Positions from the outermost chain inwards; sorting by it gives list order.
    """

    phase: Phase | None = None
    list: str = ""
    path: str = ""
    order: tuple[int, ...] = ()


def lower(plan: Plan, place: Place = Place(), *, given: Any = UNSET) -> tuple[Operation, ...]:
    """The operations of a chain.

    Args:
        plan: The chain, specialised where a phase is named.
        place: Where it stands.
        given: The schema its input has been checked against already.
    """
    ops: list[Operation] = []
    for number, node in enumerate(plan.nodes):
        here = Place(place.phase, place.list, place.path, (*place.order, number))
        ops.append(_lowered(node, here, given))
        given = node.step.output_schema if isinstance(node, StepNode | NestedNode) else UNSET
    return tuple(ops)


def _lowered(node: Node, place: Place, given: Any) -> Operation:
    path = place.path + node.id
    match node:
        case StepNode(step=step) if isinstance(step, ProcessorStep):
            phase = cast("Phase", place.phase)
            return HookOp(step, phase, path, place.list, place.order)
        case StepNode(step=step):
            return StepOp(cast("FunctionStep[Any, Any]", step), path, check_input=given != step.input_schema)
        case NestedNode(step=step, plan=plan):
            inner = Place(place.phase, place.list, f"{path}/", place.order)
            ops = lower(plan, inner, given=step.input_schema)
            return NestedOp(step, path, ops, check_input=given != step.input_schema)
        case ParallelNode(id=id_, arms=arms):
            lowered = [
                (arm.id, lower(arm, Place(place.phase, place.list, place.path, (*place.order, number)), given=given))
                for number, arm in enumerate(arms)
            ]
            return ParallelOp(id_, path, place.order, lowered)
        case MapNode():
            return MapOp(node, path)
        case MergeNode():
            return MergeOp(node, path)
        case _:
            assert_never(node)


def hooks_in(ops: Sequence[Operation]) -> Iterator[HookOp]:
    """Every processor's hook of a chain, nested ones included, in list order."""
    for op in ops:
        if isinstance(op, HookOp):
            yield op
        elif isinstance(op, NestedOp):
            yield from hooks_in(op.ops)
        elif isinstance(op, ParallelOp):
            for _, arm in op.arms:
                yield from hooks_in(arm)

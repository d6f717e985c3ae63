"""From a plan to operations: once per plan and phase, not per run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never, cast

from interlock.processors.base import ProcessorStep
from interlock.runtime.operations import (
    AttemptsOp,
    BlockingStepOp,
    BranchOp,
    DagOp,
    ForeachOp,
    HookOp,
    LoopOp,
    MapOp,
    MergeOp,
    NestedOp,
    ParallelOp,
    PolicyOp,
    SelectiveParallelOp,
    SleepOp,
    StepOp,
)
from interlock.runtime.policy import Policy
from interlock.runtime.run_state import Block, Site
from interlock.runtime.strand import Operation
from interlock.schema import UNSET
from interlock.steps import FunctionStep, RetryPolicy, Step
from interlock.verdict import Phase
from interlock.workflows import (
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
    WorkflowStep,
)

__all__ = ["Place", "lower"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a graph lowering stands.

    Attributes:
        phase: The lifecycle phase; None for a typed workflow.
        list: The agent's list, for records.
        path: Ids of the workflows around, each with a ``/`` behind it.
        order: Positions from the outermost chain inwards; sorting by it gives list order.
        retry: The policy of steps that have none.
        site: The blocks around.
        depth: How many loops and lists are around.
    """

    phase: Phase | None = None
    list: str = ""
    path: str = ""
    order: tuple[int, ...] = ()
    retry: RetryPolicy | None = None
    site: Site = ()
    depth: int = 0

    def within(self, number: int, block: Block | None = None) -> Place:
        """The place of the chain ``number`` of a block."""
        site = self.site if block is None else (*self.site, (block, number))
        deeper = block is not None and block.depth is not None
        return replace(self, order=(*self.order, number), site=site, depth=self.depth + deeper)


def lower(plan: Plan, place: Place = Place(), *, given: Any = UNSET) -> tuple[Operation, ...]:
    """The operations of a chain.

    Args:
        plan: The chain, specialised where a phase is named.
        place: Where it stands.
        given: The schema its input has been checked against already.
    """
    ops: list[Operation] = []
    for number, node in enumerate(plan.nodes):
        ops.append(_lowered(node, place.within(number), given))
        given = node.step.output_schema if isinstance(node, StepNode | NestedNode) else UNSET
    return tuple(ops)


def _lowered(node: Node, place: Place, given: Any) -> Operation:
    path = place.path + node.id
    match node:
        case StepNode(step=step):
            return _attempted(step, _step(step, path, place, given), place)
        case NestedNode(step=step, plan=plan):
            retry = cast("WorkflowStep[Any, Any]", step).workflow.retry or place.retry
            ops = lower(plan, replace(place, path=f"{path}/", retry=retry), given=step.input_schema)
            nested = NestedOp(step, path, ops, place.site, check_input=given != step.input_schema)
            return _attempted(step, nested, replace(place, retry=None))
        case ParallelNode(arms=arms):
            block = Block()
            lowered = [(arm.id, lower(arm, place.within(n, block), given=given)) for n, arm in enumerate(arms)]
            plain = node.join is None and node.on_error == "fail_fast" and node.concurrency is None
            kind = ParallelOp if plain else SelectiveParallelOp
            return kind(node, path, place.order, lowered, place.site)
        case BranchNode(arms=arms, otherwise=otherwise):
            block = Block()
            lowered = [(arm.id, lower(arm, place.within(n, block), given=given)) for n, arm in enumerate(arms)]
            rest = None
            if otherwise is not None:
                rest = (otherwise.id, lower(otherwise, place.within(len(arms), block), given=given))
            return BranchOp(node, path, place.order, lowered, rest, place.site)
        case ForeachNode(body=body, concurrency=concurrency):
            block = Block(depth=place.depth, at_once=concurrency != 1)
            return ForeachOp(node, path, lower(body, place.within(0, block)), place.site)
        case LoopNode(body=body):
            block = Block(depth=place.depth, at_once=False)
            return LoopOp(node, path, lower(body, place.within(0, block)), place.site)
        case DagNode(items=items):
            block = Block(before=_before([item.needs for item in items]))
            chains = [lower(item.plan, place.within(n, block)) for n, item in enumerate(items)]
            return DagOp(node, path, place.order, chains, place.site)
        case MapNode():
            return MapOp(node, path, place.site)
        case MergeNode():
            return MergeOp(node, path, place.site)
        case SleepNode():
            return SleepOp(node, path, place.site)
        case _:
            assert_never(node)


def _step(step: Step[Any, Any], path: str, place: Place, given: Any) -> Operation:
    if isinstance(step, ProcessorStep):
        return HookOp(step, cast("Phase", place.phase), path, place.list, place.order)
    function = cast("FunctionStep[Any, Any]", step)
    kind = BlockingStepOp if step.blocking else StepOp
    return kind(function, path, place.site, check_input=given != step.input_schema)


def _attempted(step: Step[Any, Any], op: Operation, place: Place) -> Operation:
    """The operation with the step's retry policy and time-out, where it has them."""
    retry = step.retry or place.retry
    if retry is not None and retry.attempts == 1:
        retry = None
    tried = op if retry is None and step.timeout is None else AttemptsOp(op, retry, step.timeout)
    if isinstance(step, ProcessorStep) and isinstance(op, HookOp):
        policy = Policy(step)
        if not policy.plain:
            return PolicyOp(tried, op, policy)
    return tried


def _before(needs: Sequence[Sequence[int]]) -> list[int]:
    """For each node of a graph, all that must have ended before it, as bits."""
    known: dict[int, int] = {}
    for start in range(len(needs)):
        stack = [start]
        while stack:
            number = stack[-1]
            if number in known:
                stack.pop()
                continue
            missing = [need for need in needs[number] if need not in known]
            if missing:
                stack += missing
                continue
            bits = 0
            for need in needs[number]:
                bits |= known[need] | 1 << need
            known[number] = bits
            stack.pop()
    return [known[number] for number in range(len(needs))]

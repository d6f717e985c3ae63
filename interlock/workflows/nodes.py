"""What a plan is made of: an immutable tree of nodes. A chain is a :class:`Plan`; containers hold plans of their own.

A new combinator is a new node class here, an operation for it in the runtime, and a shape in the drawings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from interlock.steps import Step, StepContext
from interlock.workflows.sources import Source

__all__ = [
    "BranchNode",
    "Condition",
    "DagItem",
    "DagNode",
    "ErrorMode",
    "ForeachNode",
    "LoopNode",
    "MapNode",
    "MergeNode",
    "NestedNode",
    "Node",
    "ParallelNode",
    "Plan",
    "SleepNode",
    "StepNode",
    "acting_steps",
    "nodes_by_path",
    "plans_in",
    "steps_by_path",
]

ErrorMode = Literal["fail_fast", "wait_all", "collect"]
"""What a failed branch or item means: the others are cancelled; they end first; it becomes a ``StepError`` value."""

Condition: TypeAlias = Callable[[StepContext[Any]], Any]
"""A function of a :class:`StepContext` that says yes or no, ``def`` or ``async def``."""


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
        join: How many arms are enough; None: all.
        on_error: What a failed arm means.
        concurrency: How many arms run at once; None: all.
        share: Whether arms get a plain input itself, uncopied.
    """

    id: str
    arms: tuple[Plan, ...]
    join: int | None = None
    on_error: ErrorMode = "fail_fast"
    concurrency: int | None = None
    share: bool = False


@dataclass(frozen=True, slots=True)
class BranchNode:
    """The arms whose conditions hold; gives ``{arm id: output}`` of those that ran.

    Attributes:
        id: ``branch``, ``branch-2``, …
        conditions: One an arm, asked in order.
        arms: One plan each, of one step or several, keyed by its last.
        otherwise: What runs where no condition holds; None: nothing does, and the output is ``{}``.
        mode: ``"first"``: the first arm whose condition holds; ``"all"``: every one, at once.
    """

    id: str
    conditions: tuple[Condition, ...]
    arms: tuple[Plan, ...]
    otherwise: Plan | None = None
    mode: Literal["first", "all"] = "first"


@dataclass(frozen=True, slots=True)
class MapNode:
    """A function that reshapes what flows.

    Attributes:
        sources: What it reads, by key, where it was made of sources and not of a function.
    """

    id: str
    function: Callable[[StepContext[Any]], Any]
    sources: Mapping[str, Source] | None = None


@dataclass(frozen=True, slots=True)
class MergeNode:
    """One value from the keyed output of a parallel or branch block: the forks joined three-way.

    Attributes:
        prefer: The arm that wins a conflict; None: a conflict fails the run.
        with_: What makes one value of plain ones: a function of ``{arm id: output}``.
    """

    id: str
    prefer: str | None = None
    with_: Callable[[Mapping[str, Any]], Any] | None = None


@dataclass(frozen=True, slots=True)
class ForeachNode:
    """The body on each item of a list; gives the list of what it gave, in order.

    Attributes:
        id: ``foreach``, ``foreach-2``, …
        body: A plan of one node.
        concurrency: How many items at once, or a function that says so.
        on_error: What a failed item means.
    """

    id: str
    body: Plan
    concurrency: int | Callable[[StepContext[Any]], Any] = 1
    on_error: ErrorMode = "fail_fast"


@dataclass(frozen=True, slots=True)
class LoopNode:
    """The body, again and again, at least once; gives its last output.

    Attributes:
        id: ``do-while`` or ``do-until``, …
        body: A plan of one node.
        condition: Asked after each time, about what the body gave.
        until: Whether a condition that holds ends the loop (``do_until``) or continues it (``do_while``).
        max_iterations: More than this many is a failure.
    """

    id: str
    body: Plan
    condition: Condition
    until: bool
    max_iterations: int = 1000


@dataclass(frozen=True, slots=True)
class DagItem:
    """One node of a :class:`DagNode`.

    Attributes:
        plan: A plan of one node.
        needs: The places, in the block, of the nodes it takes the outputs of.
    """

    plan: Plan
    needs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DagNode:
    """Any acyclic graph; each node starts as soon as those it needs have ended.

    A node without needs takes the block's input, one with one need that output, one with several ``{id: output}``. The
    block gives what its one sink gives, or ``{id: output}`` of several sinks.

    Attributes:
        id: ``dag``, ``dag-2``, …
        items: In the order given.
    """

    id: str
    items: tuple[DagItem, ...]

    @property
    def sinks(self) -> tuple[int, ...]:
        """The places of the nodes that no other node needs."""
        needed = {need for item in self.items for need in item.needs}
        return tuple(number for number in range(len(self.items)) if number not in needed)


@dataclass(frozen=True, slots=True)
class SleepNode:
    """A wait; what flows passes through.

    Attributes:
        id: ``sleep`` or ``sleep-until``, …
        time: Seconds; or, where ``until``, a point in time (seconds since the epoch, or a datetime); or a function
            that gives it.
        until: Whether ``time`` is a point in time.
    """

    id: str
    time: float | datetime | Callable[[StepContext[Any]], Any]
    until: bool = False


Node = (
    StepNode
    | NestedNode
    | ParallelNode
    | BranchNode
    | MapNode
    | MergeNode
    | ForeachNode
    | LoopNode
    | DagNode
    | SleepNode
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A chain: each node takes what the one before gave.

    Attributes:
        id: The workflow's or the arm's.
        nodes: In running order.
    """

    id: str
    nodes: tuple[Node, ...]


def plans_in(node: Node) -> tuple[Plan, ...]:
    """The plans that a node holds, in list order; of a nested workflow, its own."""
    match node:
        case NestedNode(plan=plan):
            return (plan,)
        case ParallelNode(arms=arms):
            return arms
        case BranchNode(arms=arms, otherwise=otherwise):
            return arms if otherwise is None else (*arms, otherwise)
        case ForeachNode(body=body) | LoopNode(body=body):
            return (body,)
        case DagNode(items=items):
            return tuple(item.plan for item in items)
        case _:
            return ()


def acting_steps(plan: Plan) -> Iterator[Step[Any, Any]]:
    """Every step of a plan that is not itself a workflow, in list order, nested ones included."""
    for node in plan.nodes:
        if isinstance(node, StepNode):
            yield node.step
        else:
            for inner in plans_in(node):
                yield from acting_steps(inner)


def nodes_by_path(plan: Plan, scope: str = "") -> Iterator[tuple[str, Node]]:
    """Every node of a plan with its path, the nodes in blocks and nested workflows behind those."""
    for node in plan.nodes:
        yield scope + node.id, node
        inside = f"{scope}{node.id}/" if isinstance(node, StepNode | NestedNode) else scope
        for inner in plans_in(node):
            yield from nodes_by_path(inner, inside)


def steps_by_path(plan: Plan) -> Iterator[tuple[str, Step[Any, Any]]]:
    """Every step of a plan with its path, workflows among them (their own steps behind them)."""
    for path, node in nodes_by_path(plan):
        if isinstance(node, StepNode | NestedNode):
            yield path, node.step

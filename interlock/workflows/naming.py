"""Ids for the nodes that are no steps: ``map``, ``map-2``, ``parallel``, …"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from interlock.workflows.nodes import NestedNode, Node, StepNode, plans_in

__all__ = ["named", "steps_in_scope"]


def named(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The nodes of a workflow, those that are no steps with ids that no step of it has.

    They come from the builder with their kind for an id; the second of a kind is numbered.
    """
    taken = {inner.id for node in nodes for inner in steps_in_scope(node)}
    counts: Counter[str] = Counter()
    result: list[Node] = []
    for node in nodes:
        if isinstance(node, StepNode | NestedNode):
            result.append(node)
            continue
        kind = node.id
        counts[kind] += 1
        while (name := kind if counts[kind] == 1 else f"{kind}-{counts[kind]}") in taken:
            counts[kind] += 1
        result.append(node if name == kind else replace(node, id=name))
    return tuple(result)


def steps_in_scope(node: Node) -> Iterator[StepNode | NestedNode]:
    """The steps of a node that share ids with those around it: itself, or what its arms and bodies hold.

    A nested workflow is one of them; what is inside has ids of its own.
    """
    if isinstance(node, StepNode | NestedNode):
        yield node
        return
    for plan in plans_in(node):
        for inner in plan.nodes:
            yield from steps_in_scope(inner)

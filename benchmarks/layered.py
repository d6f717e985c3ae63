"""A graph like those that people draw: layers of nodes, each of which needs some of the layers right before it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

__all__ = ["MODULUS", "Needs", "layered", "sinks", "value_of"]

Needs = Mapping[int, Sequence[int]]
"""What each node needs, by number; a node stands behind all that it needs."""

MODULUS: Final = (1 << 61) - 1
"""Values are kept below this, so that adding them costs the same everywhere."""


def layered(nodes: int, edges: int, *, layers: int = 20, reach: int = 3, seed: int = 7) -> Needs:
    """A random layered graph, the same for the same arguments.

    Args:
        nodes: How many; a multiple of ``layers``.
        edges: How many in all, spread evenly over the nodes behind the first layer.
        layers: How many layers.
        reach: A node needs nodes of so many layers before its own.
        seed: Where the random numbers begin.

    >>> graph = layered(1_000, 3_000)
    >>> len(graph), sum(map(len, graph.values()))
    (1000, 3000)
    """
    width = nodes // layers
    choose = random.Random(seed)
    each, rest = divmod(edges, nodes - width)
    with_one_more = set(choose.sample(range(width, nodes), rest))
    graph: dict[int, list[int]] = {node: [] for node in range(width)}
    for node in range(width, nodes):
        layer = node // width
        near = range(max(0, layer - reach) * width, layer * width)
        graph[node] = sorted(choose.sample(near, each + (node in with_one_more)))
    return graph


def sinks(graph: Needs) -> list[int]:
    """The nodes that no other needs.

    >>> sinks({0: [], 1: [0], 2: [0]})
    [1, 2]
    """
    needed = {need for needs in graph.values() for need in needs}
    return [node for node in graph if node not in needed]


def value_of(node: int, inputs: Sequence[int]) -> int:
    """What a node makes of what it needs; it depends on every one of them and on the node.

    >>> value_of(3, [10, 20])
    34
    """
    return (sum(inputs) + node + 1) % MODULUS

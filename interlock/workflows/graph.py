"""The graph that every drawing shows: a plan as nodes with paths, clusters around them, and edges between them.

- A node's path is its id behind those of the nested workflows it stands in, joined by ``/``: ``outer/inner/step``.
- A nested workflow is a cluster, not a node: the edges go to what runs first in it and from what runs last.
- So is what holds several nodes: a parallel block, whose fork is the edges to each arm's first node and whose join is
  those from each arm's last; a dag, with edges by need; a ``foreach`` and a loop around their body.
- A branch is a cluster too, but has a node of its own under its own path, of kind ``"branch"``: there the way is
  chosen. The edges to its arms carry the conditions. Where no arm need run an edge leads past them.
- A loop's way back is an edge of kind ``"back"``. Without such edges the graph has no cycle.
- Only where several nodes would lead to several others (a parallel block right behind another), or two ways back would
  be one, a node of kind ``"join"`` stands between them, with the path ``<block>.join``. (No id holds a ``.``.)
- An arm or body that does nothing at a phase is a node of kind ``"idle"``: an arm still gives a key to the output.

:func:`interlock.workflows.graph_of.graph_of` makes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from interlock.schema import UNSET

__all__ = [
    "BodyCluster",
    "BranchCluster",
    "Chain",
    "Cluster",
    "DagCluster",
    "Edge",
    "EdgeKind",
    "Graph",
    "Member",
    "NestedCluster",
    "ParallelCluster",
    "Vertex",
    "chains_of",
]

EdgeKind = Literal["next", "arm", "past", "back"]
"""``"arm"``: from a branch to an arm of it; ``"past"``: from a branch to what follows, where no arm need run;
``"back"``: the way back of a loop; all others ``"next"``."""


class Edge(NamedTuple):
    """From a node to a node.

    Attributes:
        source, target: Their paths.
        label: The condition, of an edge to an arm or back; else empty.
        kind: What it means.
    """

    source: str
    target: str
    label: str = ""
    kind: EdgeKind = "next"


@dataclass(frozen=True, slots=True)
class Vertex:
    """One node.

    Attributes:
        path: Unique in the graph.
        id: The step's id, ``map``, ``merge``, …
        kind: ``step.kind`` (``"function"``, ``"processor"``), or ``"map"``, ``"merge"``, ``"sleep"``, ``"branch"``,
            ``"join"``, ``"idle"``.
        label: What a drawing writes in it.
        description: For people.
        input_schema, output_schema: Types; ``UNSET`` where none was given.
    """

    path: str
    id: str
    kind: str
    label: str
    description: str | None = None
    input_schema: object = UNSET
    output_schema: object = UNSET


@dataclass(frozen=True, slots=True)
class Chain:
    """What runs one after the other: a workflow's nodes, an arm's, a body's.

    Attributes:
        id: The workflow's or the arm's.
        members: In running order.
    """

    id: str
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class NestedCluster:
    """A nested workflow. No edge leads to it: they lead into it.

    Attributes:
        path, id, label: As of a node.
        chain: What is in it.
        description, input_schema, output_schema: Of its step.
    """

    path: str
    id: str
    label: str
    chain: Chain
    description: str | None
    input_schema: object
    output_schema: object


@dataclass(frozen=True, slots=True)
class ParallelCluster:
    """A parallel block. No edge leads to it: they lead to its arms.

    Attributes:
        path, id, label: As of a node.
        arms: In list order, each with the id that its output is keyed by.
    """

    path: str
    id: str
    label: str
    arms: tuple[Chain, ...]


@dataclass(frozen=True, slots=True)
class BranchCluster:
    """A branch: a node where the way is chosen, and the arms.

    Attributes:
        path, id, label: As of a node.
        choice: The node, with the same path.
        arms: In list order, that for ``otherwise`` last.
        conditions: What stands beside the way to each arm.
        passes: Whether a way leads past the arms.
    """

    path: str
    id: str
    label: str
    choice: Vertex
    arms: tuple[Chain, ...]
    conditions: tuple[str, ...]
    passes: bool


@dataclass(frozen=True, slots=True)
class BodyCluster:
    """What runs its body several times: a ``foreach`` or a loop. No edge leads to it: they lead into it.

    Attributes:
        path, id, label: As of a node.
        kind: Which of the two.
        body: What it runs.
        again: Of a loop: what stands beside the way back.
    """

    path: str
    id: str
    label: str
    kind: Literal["foreach", "loop"]
    body: Chain
    again: str | None = None


@dataclass(frozen=True, slots=True)
class DagCluster:
    """A graph of chains. No edge leads to it: they lead to the chains that need no other.

    Attributes:
        path, id, label: As of a node.
        items: In list order.
        needs: For each of them the places of those it needs.
    """

    path: str
    id: str
    label: str
    items: tuple[Chain, ...]
    needs: tuple[tuple[int, ...], ...]


Cluster = NestedCluster | ParallelCluster | BranchCluster | BodyCluster | DagCluster
Member = Vertex | Cluster


@dataclass(frozen=True, slots=True)
class Graph:
    """A whole plan.

    Attributes:
        chain: Its nodes and clusters, in running order.
        edges: In running order; no edge stands twice.
    """

    chain: Chain
    edges: tuple[Edge, ...]

    def vertices(self) -> Iterator[Vertex]:
        """Every node, in running order, those of clusters included."""
        for member in self.members():
            if isinstance(member, Vertex):
                yield member

    def members(self) -> Iterator[Member]:
        """Every cluster and node, in running order, a cluster before what is in it."""
        return _members(self.chain)


def chains_of(cluster: Cluster) -> tuple[Chain, ...]:
    """The chains in a cluster, in list order."""
    match cluster:
        case NestedCluster(chain=chain) | BodyCluster(body=chain):
            return (chain,)
        case ParallelCluster(arms=chains) | BranchCluster(arms=chains) | DagCluster(items=chains):
            return chains


def _members(chain: Chain) -> Iterator[Member]:
    for member in chain.members:
        yield member
        if isinstance(member, BranchCluster):
            yield member.choice
        if not isinstance(member, Vertex):
            for inner in chains_of(member):
                yield from _members(inner)

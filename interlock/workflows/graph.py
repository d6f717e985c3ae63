"""The graph that every drawing shows: a plan as nodes with paths, clusters around them, and edges between them.

- A node's path is its id behind those of the nested workflows it stands in, joined by ``/``: ``outer/inner/step``.
- A nested workflow is a cluster, not a node: the edges go to what runs first in it and from what runs last.
- A parallel block is a cluster too. Its fork is the edges from what stands before to each arm's first node, its join
  the edges from each arm's last node to what follows.
- Only where several nodes would lead to several others (a parallel block right behind another) a node of kind
  ``"join"`` stands between them, with the path ``<block>.join``. (No id holds a ``.``.)
- An arm that does nothing at a phase still gives a key to the block's output: it is a node of kind ``"idle"``.

A new kind of node in a plan needs one case in :func:`_member`; drawings know the shapes of kinds, nothing more.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from interlock.schema import UNSET
from interlock.workflows.nodes import MapNode, MergeNode, NestedNode, Node, ParallelNode, Plan, StepNode

__all__ = ["Chain", "Edge", "Graph", "Member", "NestedCluster", "ParallelCluster", "Vertex", "graph_of"]

Edge = tuple[str, str]
"""From a path to a path."""


@dataclass(frozen=True, slots=True)
class Vertex:
    """One node.

    Attributes:
        path: Unique in the graph.
        id: The step's id, ``map``, ``merge``, …
        kind: ``step.kind`` (``"function"``, ``"processor"``), or ``"map"``, ``"merge"``, ``"join"``, ``"idle"``.
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
    """What runs one after the other: a workflow's nodes, or an arm's.

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


Member = Vertex | NestedCluster | ParallelCluster


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
        return _vertices(self.chain)


def graph_of(plan: Plan) -> Graph:
    """The graph of a plan, whole or specialised for a phase."""
    part = _chain(plan, "")
    return Graph(part.chain, tuple(part.edges))


class _Part(NamedTuple):
    """A chain, what runs first and last in it, and the edges inside."""

    chain: Chain
    firsts: tuple[str, ...]
    lasts: tuple[str, ...]
    edges: list[Edge]


class _Piece(NamedTuple):
    """The same of one member."""

    member: Member
    firsts: tuple[str, ...]
    lasts: tuple[str, ...]
    edges: list[Edge]


def _chain(plan: Plan, scope: str) -> _Part:
    members: list[Member] = []
    edges: list[Edge] = []
    firsts: tuple[str, ...] = ()
    lasts: tuple[str, ...] = ()
    for node in plan.nodes:
        piece = _member(node, scope)
        if len(lasts) > 1 and len(piece.firsts) > 1:
            join = Vertex(f"{members[-1].path}.join", "join", "join", "join")
            members.append(join)
            edges += itertools.product(lasts, (join.path,))
            lasts = (join.path,)
        members.append(piece.member)
        edges += itertools.product(lasts, piece.firsts)
        edges += piece.edges
        firsts = firsts or piece.firsts
        lasts = piece.lasts
    return _Part(Chain(plan.id, tuple(members)), firsts, lasts, edges)


def _member(node: Node, scope: str) -> _Piece:
    match node:
        case StepNode(step=step):
            return _alone(
                Vertex(
                    scope + step.id,
                    step.id,
                    step.kind,
                    step.id,
                    step.description,
                    step.input_schema,
                    step.output_schema,
                )
            )
        case MapNode(id=id_, function=function):
            return _alone(Vertex(scope + id_, id_, "map", _named(id_, function)))
        case MergeNode(id=id_, prefer=prefer):
            label = id_ if prefer is None else f"{id_}, prefers {prefer}"
            return _alone(Vertex(scope + id_, id_, "merge", label))
        case NestedNode(step=step, plan=plan):
            path = scope + step.id
            inner = _chain(plan, f"{path}/") if plan.nodes else _idle(path, step.id)
            nested = NestedCluster(
                path, step.id, step.id, inner.chain, step.description, step.input_schema, step.output_schema
            )
            return _Piece(nested, inner.firsts, inner.lasts, inner.edges)
        case ParallelNode(id=id_, arms=()):  # commit() refuses it; a plan made by hand may have it
            return _alone(Vertex(scope + id_, id_, "idle", id_))
        case ParallelNode(id=id_, arms=arms):
            parts = [_chain(arm, scope) if arm.nodes else _idle(scope + arm.id, arm.id) for arm in arms]
            return _Piece(
                ParallelCluster(scope + id_, id_, id_, tuple(part.chain for part in parts)),
                tuple(first for part in parts for first in part.firsts),
                tuple(last for part in parts for last in part.lasts),
                [edge for part in parts for edge in part.edges],
            )


def _alone(vertex: Vertex) -> _Piece:
    return _Piece(vertex, (vertex.path,), (vertex.path,), [])


def _idle(path: str, id_: str) -> _Part:
    return _Part(Chain(id_, (Vertex(path, id_, "idle", id_),)), (path,), (path,), [])


def _named(id_: str, function: Callable[..., Any]) -> str:
    """A map's id with its function's name, where that says anything."""
    name = getattr(function, "__name__", None)
    return f"{id_}: {name}" if isinstance(name, str) and name != "<lambda>" else id_


def _vertices(chain: Chain) -> Iterator[Vertex]:
    for member in chain.members:
        match member:
            case Vertex():
                yield member
            case NestedCluster(chain=inner):
                yield from _vertices(inner)
            case ParallelCluster(arms=arms):
                for arm in arms:
                    yield from _vertices(arm)

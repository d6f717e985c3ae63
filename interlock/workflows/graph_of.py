"""A plan as a graph. A new kind of node in a plan needs one case in :func:`_member`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from interlock.workflows.graph import (
    BodyCluster,
    BranchCluster,
    Chain,
    DagCluster,
    Edge,
    EdgeKind,
    Graph,
    Member,
    NestedCluster,
    ParallelCluster,
    Vertex,
)
from interlock.workflows.node_labels import NONE_HOLDS, OTHERWISE, again_label, condition_label, node_label
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
)

__all__ = ["graph_of"]


def graph_of(plan: Plan) -> Graph:
    """The graph of a plan, whole or specialised for a phase."""
    part = _chain(plan, "")
    return Graph(part.chain, tuple(part.edges))


class _Exit(NamedTuple):
    """A node from which a way leads on, and what that way is."""

    path: str
    label: str = ""
    kind: EdgeKind = "next"


class _Part(NamedTuple):
    """A chain, what runs first and last in it, and the edges inside."""

    chain: Chain
    firsts: tuple[str, ...]
    lasts: tuple[_Exit, ...]
    edges: list[Edge]


class _Piece(NamedTuple):
    """The same of one member."""

    member: Member
    firsts: tuple[str, ...]
    lasts: tuple[_Exit, ...]
    edges: list[Edge]


def _chain(plan: Plan, scope: str) -> _Part:
    members: list[Member] = []
    edges: list[Edge] = []
    firsts: tuple[str, ...] = ()
    lasts: tuple[_Exit, ...] = ()
    for node in plan.nodes:
        piece = _member(node, scope)
        if len(lasts) > 1 and len(piece.firsts) > 1:
            join = _join_of(members[-1])
            members.append(join)
            edges += _onward(lasts, (join.path,))
            lasts = (_Exit(join.path),)
        members.append(piece.member)
        edges += _onward(lasts, piece.firsts)
        edges += piece.edges
        firsts = firsts or piece.firsts
        lasts = piece.lasts
    return _Part(Chain(plan.id, tuple(members)), firsts, lasts, edges)


def _member(node: Node, scope: str) -> _Piece:
    path, label = scope + node.id, node_label(node)
    match node:
        case StepNode(step=step):
            about = (step.description, step.input_schema, step.output_schema)
            return _alone(Vertex(path, step.id, step.kind, label, *about))
        case NestedNode(step=step, plan=plan):
            inner = _part(plan, f"{path}/", path)
            about = (step.description, step.input_schema, step.output_schema)
            nested = NestedCluster(path, step.id, label, inner.chain, *about)
            return _Piece(nested, inner.firsts, inner.lasts, inner.edges)
        case ParallelNode(arms=()) | DagNode(items=()):  # commit() refuses them; a plan made by hand may have them
            return _alone(Vertex(path, node.id, "idle", label))
        case ParallelNode(arms=arms):
            parts = [_part(arm, scope, scope + arm.id) for arm in arms]
            return _Piece(
                ParallelCluster(path, node.id, label, tuple(part.chain for part in parts)),
                tuple(first for part in parts for first in part.firsts),
                tuple(last for part in parts for last in part.lasts),
                [edge for part in parts for edge in part.edges],
            )
        case BranchNode():
            return _branch(node, scope)
        case DagNode():
            return _dag(node, scope)
        case ForeachNode(body=body):
            part = _part(body, scope, scope + body.id)
            each = BodyCluster(path, node.id, label, "foreach", part.chain)
            return _Piece(each, part.firsts, part.lasts, part.edges)
        case LoopNode(body=body):
            part = _part(body, scope, scope + body.id)
            loops = {edge.source for edge in part.edges if edge.kind == "back"}
            marked = any(last.label or last.path in loops for last in part.lasts)
            if marked or (len(part.lasts) > 1 and len(part.firsts) > 1):
                part = _joined(part)
            again = again_label(node)
            back = [Edge(last.path, first, again, "back") for last in part.lasts for first in part.firsts]
            loop = BodyCluster(path, node.id, label, "loop", part.chain, again)
            return _Piece(loop, part.firsts, part.lasts, part.edges + back)
        case _:
            kind = type(node).__name__.removesuffix("Node").lower()
            return _alone(Vertex(path, node.id, kind, label))


def _branch(node: BranchNode, scope: str) -> _Piece:
    path, label = scope + node.id, node_label(node)
    conditioned = enumerate(zip(node.conditions, node.arms, strict=True), 1)
    named = [(condition_label(condition, number), arm) for number, (condition, arm) in conditioned]
    if node.otherwise is not None:
        named.append((OTHERWISE, node.otherwise))
    parts = [_part(arm, scope, scope + arm.id) for _, arm in named]
    passes = node.otherwise is None
    conditions = tuple(name for name, _ in named)
    choice = Vertex(path, node.id, "branch", label)
    edges: list[Edge] = []
    for condition, part in zip(conditions, parts, strict=True):
        edges += [Edge(path, first, condition, "arm") for first in part.firsts]
        edges += part.edges
    cluster = BranchCluster(path, node.id, label, choice, tuple(part.chain for part in parts), conditions, passes)
    lasts = tuple(last for part in parts for last in part.lasts)
    return _Piece(cluster, (path,), (*lasts, _Exit(path, NONE_HOLDS, "past")) if passes else lasts, edges)


def _dag(node: DagNode, scope: str) -> _Piece:
    parts = [_part(item.plan, scope, scope + item.plan.id) for item in node.items]
    for number, part in enumerate(parts):
        wide = any(number in item.needs and len(parts[n].firsts) > 1 for n, item in enumerate(node.items))
        if wide and len(part.lasts) > 1:
            parts[number] = _joined(part)
    edges: list[Edge] = []
    for item, part in zip(node.items, parts, strict=True):
        for need in item.needs:
            edges += _onward(parts[need].lasts, part.firsts)
        edges += part.edges
    needs = tuple(item.needs for item in node.items)
    return _Piece(
        DagCluster(scope + node.id, node.id, node_label(node), tuple(part.chain for part in parts), needs),
        tuple(first for part, need in zip(parts, needs, strict=True) if not need for first in part.firsts),
        tuple(last for sink in node.sinks for last in parts[sink].lasts),
        edges,
    )


def _part(plan: Plan, scope: str, path: str) -> _Part:
    """A plan inside another; a node that does nothing, under the path, where the plan is empty."""
    if plan.nodes:
        return _chain(plan, scope)
    id_ = path.rpartition("/")[2]
    return _Part(Chain(id_, (Vertex(path, id_, "idle", id_),)), (path,), (_Exit(path),), [])


def _alone(vertex: Vertex) -> _Piece:
    return _Piece(vertex, (vertex.path,), (_Exit(vertex.path),), [])


def _onward(lasts: Sequence[_Exit], firsts: Sequence[str]) -> Iterator[Edge]:
    return (Edge(last.path, first, last.label, last.kind) for last in lasts for first in firsts)


def _joined(part: _Part) -> _Part:
    """The part with a join at its end."""
    members = part.chain.members
    join = _join_of(members[-1])
    edges = [*part.edges, *_onward(part.lasts, (join.path,))]
    return _Part(Chain(part.chain.id, (*members, join)), part.firsts, (_Exit(join.path),), edges)


def _join_of(member: Member) -> Vertex:
    return Vertex(f"{member.path}.join", "join", "join", "join")

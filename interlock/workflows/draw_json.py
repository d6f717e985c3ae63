"""A workflow as a JSON object, for whoever draws it elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from interlock.schema import schema_name
from interlock.workflows.graph import (
    BodyCluster,
    BranchCluster,
    Chain,
    DagCluster,
    Edge,
    Member,
    NestedCluster,
    ParallelCluster,
    Vertex,
)
from interlock.workflows.graph_of import graph_of
from interlock.workflows.nodes import Plan
from interlock.workflows.overlay import Overlay, Run, overlay_of

if TYPE_CHECKING:
    from interlock.workflows.workflow import Workflow

__all__ = ["plan_json", "workflow_json"]


def workflow_json(workflow: Workflow[Any, Any], *, run: Run | None = None) -> dict[str, Any]:
    """The workflow as a JSON object, the same at every call.

    ::

        workflow = {id, kind: "workflow", description, metadata, input, output, nodes: [node, …], edges: [edge, …]}
        node     = {id, path, kind, label, description, input, output}            a step, a map, a sleep, a join, …
                 | {the same, with kind: "workflow", and nodes: [node, …]}                           a nested workflow
                 | {id, path, kind: "parallel", label, arms: [{id, nodes: [node, …]}, …]}             a parallel block
                 | {id, path, kind: "branch", label, arms: [{id, condition, nodes: [node, …]}, …], passes: bool}
                 | {id, path, kind: "foreach", label, nodes: [node, …]}
                 | {id, path, kind: "loop", label, again, nodes: [node, …]}
                 | {id, path, kind: "dag", label, items: [{id, needs: [id, …], nodes: [node, …]}, …]}
        edge     = [path, path]                                                                             from and to
                 | [path, path, {kind: "arm" | "past" | "back", label}]

    ``description`` is null where there is none. ``input`` and ``output`` are names of types; ``"anything"`` where no
    schema was given. Nodes and arms stand in list order. Edges lead from path to path, from step to step: never to a
    nested workflow or a block, whose ``nodes`` and ``arms`` they lead into; only a branch is a node itself. All edges,
    those inside nested workflows too, stand in the one list. :mod:`interlock.workflows.graph` says what is a node,
    where edges lead and what their kinds mean; ``passes`` says whether a way leads past the arms.

    Values of ``metadata`` that JSON does not know appear as the name of their type.

    With a run the workflow has ``run: {status, run_id, duration, heading}``, a node has ``run``: null, or
    ``{status, words, note, times, failed, duration, attempts, verdict, chosen}`` as in
    :class:`interlock.workflows.overlay.Mark`, and each edge has a third part that says whether it was ``taken``.
    Durations are seconds.

    Args:
        workflow: The workflow.
        run: How a run of it ended, or where one stands.

    Example:
        >>> from interlock.workflows import create_workflow
        >>> graph = create_workflow(id="double", input_schema=int).map(lambda ctx: ctx.input * 2).commit().to_json()
        >>> graph["id"], graph["input"], graph["output"], [node["path"] for node in graph["nodes"]]
        ('double', 'int', 'anything', ['map'])
    """
    return {
        "id": workflow.id,
        "kind": "workflow",
        "description": workflow.description,
        "metadata": _jsonable(workflow.metadata),
        "input": schema_name(workflow.input_schema),
        "output": schema_name(workflow.output_schema),
        **plan_json(workflow.plan, run=run),
    }


def plan_json(plan: Plan, overlay: Overlay | None = None, *, run: Run | None = None) -> dict[str, Any]:
    """A plan's ``{"nodes": […], "edges": […]}``, and ``"run"``, as in :func:`workflow_json`."""
    graph = graph_of(plan)
    if run is not None:
        overlay = overlay_of(graph, run)
    told: dict[str, Any] = {
        "nodes": _nodes(graph.chain, overlay),
        "edges": [_edge(edge, overlay) for edge in graph.edges],
    }
    if overlay is not None:
        told["run"] = {
            "status": overlay.status,
            "run_id": overlay.run_id,
            "duration": overlay.duration,
            "heading": overlay.heading,
        }
    return told


def _edge(edge: Edge, overlay: Overlay | None) -> list[Any]:
    more: dict[str, Any] = {} if edge.kind == "next" else {"kind": edge.kind, "label": edge.label}
    if overlay is not None:
        more["taken"] = edge in overlay.taken
    return [edge.source, edge.target, more] if more else [edge.source, edge.target]


def _nodes(chain: Chain, overlay: Overlay | None) -> list[dict[str, Any]]:
    return [_node(member, overlay) for member in chain.members]


def _node(member: Member, overlay: Overlay | None) -> dict[str, Any]:
    match member:
        case Vertex(kind=kind):
            return {**_head(member, kind, overlay), **_about(member)}
        case NestedCluster(chain=chain):
            return {**_head(member, "workflow", overlay), **_about(member), "nodes": _nodes(chain, overlay)}
        case ParallelCluster(arms=arms):
            return {**_head(member, "parallel", overlay), "arms": [_arm(arm, overlay) for arm in arms]}
        case BranchCluster(arms=arms, conditions=conditions, passes=passes):
            named = zip(arms, conditions, strict=True)
            return {
                **_head(member, "branch", overlay),
                "arms": [{**_arm(arm, overlay), "condition": condition} for arm, condition in named],
                "passes": passes,
            }
        case BodyCluster(kind=kind, body=body, again=again):
            more = {} if again is None else {"again": again}
            return {**_head(member, kind, overlay), **more, "nodes": _nodes(body, overlay)}
        case DagCluster(items=items, needs=needs):
            ids = [item.id for item in items]
            needed = zip(items, needs, strict=True)
            return {
                **_head(member, "dag", overlay),
                "items": [{**_arm(item, overlay), "needs": [ids[n] for n in need]} for item, need in needed],
            }


def _head(member: Member, kind: str, overlay: Overlay | None) -> dict[str, Any]:
    head: dict[str, Any] = {"id": member.id, "path": member.path, "kind": kind, "label": member.label}
    if overlay is not None:
        head["run"] = _mark(member.path, overlay)
    return head


def _mark(path: str, overlay: Overlay) -> dict[str, Any] | None:
    mark = overlay.marks.get(path)
    if mark is None:
        return None
    return {
        "status": mark.status,
        "words": mark.line,
        "note": mark.note,
        "times": mark.times,
        "failed": mark.failed,
        "duration": mark.duration,
        "attempts": mark.attempts,
        "verdict": mark.verdict,
        "chosen": None if mark.chosen is None else list(mark.chosen),
    }


def _arm(arm: Chain, overlay: Overlay | None) -> dict[str, Any]:
    return {"id": arm.id, "nodes": _nodes(arm, overlay)}


def _about(member: Vertex | NestedCluster) -> dict[str, Any]:
    return {
        "description": member.description,
        "input": schema_name(member.input_schema),
        "output": schema_name(member.output_schema),
    }


def _jsonable(metadata: Mapping[str, object]) -> Any:
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(dict(metadata), fallback=lambda value: type(value).__name__, inf_nan_mode="strings")

"""A workflow as a JSON object, for whoever draws it elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from interlock.schema import schema_name
from interlock.workflows.graph import Chain, Member, NestedCluster, ParallelCluster, Vertex, graph_of
from interlock.workflows.nodes import Plan

if TYPE_CHECKING:
    from interlock.workflows.workflow import Workflow

__all__ = ["plan_json", "workflow_json"]


def workflow_json(workflow: Workflow[Any, Any]) -> dict[str, Any]:
    """The workflow as a JSON object, the same at every call.

    ::

        workflow = {id, kind: "workflow", description, metadata, input, output, nodes: [node, …], edges: [edge, …]}
        node     = {id, path, kind, label, description, input, output}     a step, a map, a merge, a join, an idle arm
                 | {the same, with kind: "workflow", and nodes: [node, …]}                           a nested workflow
                 | {id, path, kind: "parallel", label, arms: [{id, nodes: [node, …]}, …]}             a parallel block
        edge     = [path, path]                                                                             from and to

    ``description`` is null where there is none. ``input`` and ``output`` are names of types; ``"anything"`` where no
    schema was given. Nodes and arms stand in list order. Edges lead from path to path, from step to step: never to a
    nested workflow or a block, whose ``nodes`` and ``arms`` they lead into. All edges, those inside nested workflows
    too, stand in the one list. :mod:`interlock.workflows.graph` says what is a node and where edges lead.

    Values of ``metadata`` that JSON does not know appear as the name of their type.

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
        **plan_json(workflow.plan),
    }


def plan_json(plan: Plan) -> dict[str, Any]:
    """A plan's ``{"nodes": […], "edges": […]}``, as in :func:`workflow_json`."""
    graph = graph_of(plan)
    return {"nodes": _nodes(graph.chain), "edges": [list(edge) for edge in graph.edges]}


def _nodes(chain: Chain) -> list[dict[str, Any]]:
    return [_node(member) for member in chain.members]


def _node(member: Member) -> dict[str, Any]:
    match member:
        case Vertex(kind=kind):
            return {**_head(member, kind), **_about(member)}
        case NestedCluster(chain=chain):
            return {**_head(member, "workflow"), **_about(member), "nodes": _nodes(chain)}
        case ParallelCluster(arms=arms):
            return {**_head(member, "parallel"), "arms": [{"id": arm.id, "nodes": _nodes(arm)} for arm in arms]}


def _head(member: Member, kind: str) -> dict[str, Any]:
    return {"id": member.id, "path": member.path, "kind": kind, "label": member.label}


def _about(member: Vertex | NestedCluster) -> dict[str, Any]:
    return {
        "description": member.description,
        "input": schema_name(member.input_schema),
        "output": schema_name(member.output_schema),
    }


def _jsonable(metadata: Mapping[str, object]) -> Any:
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(dict(metadata), fallback=lambda value: type(value).__name__, inf_nan_mode="strings")

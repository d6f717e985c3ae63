"""A workflow as a ``networkx`` graph, for analysis and layout. Never on the way of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlock.workflows.graph_of import graph_of

if TYPE_CHECKING:
    import networkx as nx

    from interlock.workflows.workflow import Workflow

__all__ = ["workflow_networkx"]


def workflow_networkx(workflow: Workflow[Any, Any]) -> nx.DiGraph[str]:
    """The workflow as a directed graph without cycles. ``networkx`` is imported here and nowhere else.

    Nodes are step ids, nested ones by path (``outer/step``); :mod:`interlock.workflows.graph` says what is a node and
    where the edges of a parallel block lead. Each node has the attributes ``id``, ``kind``, ``label``, ``description``
    (None where there is none), ``input_schema`` and ``output_schema`` (the types themselves; ``UNSET`` where none was
    given). Each edge has ``kind`` (``"next"``, ``"arm"`` or ``"past"``) and ``label`` (the condition, of an edge out of
    a branch; else empty). The graph has the attributes ``id``, ``description``, ``input_schema`` and ``output_schema``
    of the workflow, and ``back_edges``: the ways back of its loops, as ``(from, to, label)``. They are no edges of the
    graph, so that it can be sorted and walked as what it is; ``graph.add_edge(*back[:2])`` makes one of them.

    Example:
        >>> from interlock.workflows import create_workflow
        >>> from interlock.steps import create_step
        >>> split = create_step(lambda ctx: ctx.input.split(), id="split", input_schema=str, output_schema=list[str])
        >>> graph = create_workflow(id="wordy").then(split).map(lambda ctx: len(ctx.input)).commit().to_networkx()
        >>> list(graph.edges)
        [('split', 'map')]
        >>> graph.nodes["split"]["output_schema"]
        list[str]
    """
    import networkx as nx

    drawn = graph_of(workflow.plan)
    graph: nx.DiGraph[str] = nx.DiGraph(
        id=workflow.id,
        description=workflow.description,
        input_schema=workflow.input_schema,
        output_schema=workflow.output_schema,
        back_edges=tuple((edge.source, edge.target, edge.label) for edge in drawn.edges if edge.kind == "back"),
    )
    for vertex in drawn.vertices():
        graph.add_node(
            vertex.path,
            id=vertex.id,
            kind=vertex.kind,
            label=vertex.label,
            description=vertex.description,
            input_schema=vertex.input_schema,
            output_schema=vertex.output_schema,
        )
    for edge in drawn.edges:
        if edge.kind != "back":
            graph.add_edge(edge.source, edge.target, kind=edge.kind, label=edge.label)
    return graph

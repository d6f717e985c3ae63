"""A workflow as a ``networkx`` graph, for analysis and layout. Never on the way of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interlock.workflows.graph import graph_of

if TYPE_CHECKING:
    import networkx as nx

    from interlock.workflows.workflow import Workflow

__all__ = ["workflow_networkx"]


def workflow_networkx(workflow: Workflow[Any, Any]) -> nx.DiGraph[str]:
    """The workflow as a directed graph without cycles. ``networkx`` is imported here and nowhere else.

    Nodes are step ids, nested ones by path (``outer/step``); :mod:`interlock.workflows.graph` says what is a node and
    where the edges of a parallel block lead. Each node has the attributes ``id``, ``kind``, ``label``, ``description``
    (None where there is none), ``input_schema`` and ``output_schema`` (the types themselves; ``UNSET`` where none was
    given). The graph has the attributes ``id``, ``description``, ``input_schema`` and ``output_schema`` of the
    workflow.

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
    graph.add_edges_from(drawn.edges)
    return graph

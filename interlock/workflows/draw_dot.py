"""A workflow in the DOT language of Graphviz (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from interlock.schema import schema_name
from interlock.workflows.graph import (
    BranchCluster,
    Chain,
    Cluster,
    DagCluster,
    Edge,
    Member,
    ParallelCluster,
    Vertex,
    chains_of,
)
from interlock.workflows.graph_of import graph_of
from interlock.workflows.labels import printable, shortened
from interlock.workflows.overlay import Mark, Overlay, Run, overlay_of
from interlock.workflows.status_colours import STATUS_COLOURS

if TYPE_CHECKING:
    from interlock.workflows.workflow import Workflow

__all__ = ["quoted", "workflow_dot"]

_SHAPES: Final[Mapping[str, Mapping[str, str]]] = {
    "processor": {"shape": "hexagon"},
    "map": {"style": "rounded,filled"},
    "merge": {"shape": "invtrapezium"},
    "sleep": {"shape": "cds"},
    "branch": {"shape": "diamond"},
    "join": {"shape": "point", "label": "", "width": "0.1"},
    "idle": {"style": "dashed"},
}
_DESCRIPTION_LENGTH = 80
_FAINT = "#00000040"


def workflow_dot(workflow: Workflow[Any, Any], *, run: Run | None = None) -> str:
    r"""The workflow as a graph in DOT, for ``dot`` and whatever else reads it.

    Nested workflows, blocks and bodies are clusters; a branch is a diamond, the way back of a loop dashed. Nodes are
    ``n1``, ``n2``, … in running order, so any step id will do. Nodes and edges are those of ``to_json()``: what the
    workflow takes and gives is told by the title.

    Args:
        workflow: The workflow.
        run: How a run of it ended, or where one stands: nodes are coloured by how they ended, ways that were not
            taken are faint.

    Example:
        >>> from interlock.workflows import create_workflow
        >>> from interlock.steps import create_step
        >>> split = create_step(lambda ctx: ctx.input.split(), id="split")
        >>> wordy = create_workflow(id="wordy", input_schema=str).then(split).map(lambda ctx: len(ctx.input)).commit()
        >>> print(wordy.to_dot().replace('fontname="Helvetica,Arial,sans-serif" ', ""))
        digraph "wordy" {
            graph [fontsize="11" label="wordy: str → anything" labelloc="t" rankdir="TB"]
            node [fillcolor="#ffffff" fontsize="11" shape="box" style="filled"]
            edge [fontsize="10"]
            n1 [label="split"]
            n2 [label="map" style="rounded,filled"]
            n1 -> n2
        }
    """
    graph = graph_of(workflow.plan)
    overlay = None if run is None else overlay_of(graph, run)
    title = [f"{workflow.id}: {schema_name(workflow.input_schema)} → {schema_name(workflow.output_schema)}"]
    if overlay is not None:
        title.append(overlay.heading)
    font = {"fontname": "Helvetica,Arial,sans-serif", "fontsize": "11"}
    writer = _Writer(overlay)
    lines = [
        f"digraph {quoted(workflow.id)} {{",
        f"    graph{_list({**font, 'label': title, 'labelloc': 't', 'rankdir': 'TB'})}",
        f"    node{_list({**font, 'shape': 'box', 'style': 'filled', 'fillcolor': '#ffffff'})}",
        f"    edge{_list({**font, 'fontsize': '10'})}",
        *writer.chain(graph.chain, 1),
        *(f"    {writer.edge(edge)}" for edge in graph.edges),
        "}",
    ]
    return "\n".join(lines)


def quoted(*texts: str) -> str:
    r"""The texts as one quoted string of DOT, a line each, that shows as they are.

    In a label a backslash begins an escape (``\N`` is the node's name) and ``&`` a character of HTML; the language
    itself knows only the escaped quotation mark.

    Example:
        >>> print(quoted('say "hi"', "a\\N & b"))
        "say \"hi\"\na\\N &amp; b"
    """
    lines = [printable(text).replace("\\", r"\\").replace('"', r"\"").replace("&", "&amp;") for text in texts]
    return '"' + r"\n".join(lines) + '"'


class _Writer:
    """Numbers nodes and clusters as it writes them."""

    def __init__(self, overlay: Overlay | None) -> None:
        self._overlay = overlay
        self._names: dict[str, str] = {}
        self._counts: Counter[str] = Counter()

    def chain(self, chain: Chain, depth: int) -> Iterator[str]:
        """The lines of what is in a chain."""
        for member in chain.members:
            yield from self._member(member, depth)

    def edge(self, edge: Edge) -> str:
        """The line of an edge between nodes that are written."""
        attributes: dict[str, str | list[str]] = {}
        if edge.label:
            attributes["label"] = [edge.label]
        if edge.kind == "back":
            attributes |= {"style": "dashed", "constraint": "false"}
        if self._overlay is not None and edge not in self._overlay.taken:
            attributes |= {"color": _FAINT, "fontcolor": _FAINT}
        return f"{self._names[edge.source]} -> {self._names[edge.target]}{_list(attributes)}"

    def _member(self, member: Member, depth: int) -> Iterator[str]:
        match member:
            case Vertex():
                yield self._node(member, depth)
            case BranchCluster(choice=choice, arms=arms):
                yield self._node(choice, depth)
                for arm in arms:
                    yield from self.chain(arm, depth)
            case _:
                yield from self._cluster(member, depth)

    def _cluster(self, cluster: Cluster, depth: int) -> Iterator[str]:
        mark = self._mark(cluster.path)
        attributes: dict[str, str | list[str]] = {"label": [cluster.label, *_told(mark)], "labeljust": "l"}
        attributes["style"] = "dashed" if isinstance(cluster, ParallelCluster | DagCluster) else "rounded"
        if mark is not None:
            attributes["color"] = STATUS_COLOURS[mark.status].line
        self._counts["cluster"] += 1
        yield f"{'    ' * depth}subgraph cluster_{self._counts['cluster']} {{"
        yield f"{'    ' * (depth + 1)}graph{_list(attributes)}"
        for chain in chains_of(cluster):
            yield from self.chain(chain, depth + 1)
        yield f"{'    ' * depth}}}"

    def _node(self, vertex: Vertex, depth: int) -> str:
        self._counts["node"] += 1
        name = self._names[vertex.path] = f"n{self._counts['node']}"
        texts = [vertex.label]
        if vertex.description and vertex.description.strip():
            texts.append(shortened(vertex.description, _DESCRIPTION_LENGTH))
        mark = self._mark(vertex.path)
        attributes: dict[str, str | list[str]] = {"label": [*texts, *_told(mark)], **_SHAPES.get(vertex.kind, {})}
        if mark is not None:
            colours = STATUS_COLOURS[mark.status]
            style = str(attributes.get("style", "filled"))
            attributes |= {"fillcolor": colours.fill, "color": colours.line, "fontcolor": "#1f2328"}
            attributes["style"] = f"{style},dashed" if colours.dashed else style
        return f"{'    ' * depth}{name}{_list(attributes)}"

    def _mark(self, path: str) -> Mark | None:
        return None if self._overlay is None else self._overlay.marks.get(path)


def _told(mark: Mark | None) -> list[str]:
    if mark is None:
        return []
    return [text for text in (mark.line, mark.note) if text]


def _list(attributes: Mapping[str, str | list[str]]) -> str:
    """An attribute list; none where it would be empty. A list of texts is a label of several lines."""
    if not attributes:
        return ""
    pairs = ((name, [value] if isinstance(value, str) else value) for name, value in sorted(attributes.items()))
    return f" [{' '.join(f'{name}={quoted(*texts)}' for name, texts in pairs)}]"

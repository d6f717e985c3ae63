"""A workflow as a Mermaid flowchart (https://mermaid.js.org/syntax/flowchart.html)."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from interlock.workflows.graph import (
    BodyCluster,
    BranchCluster,
    Chain,
    Cluster,
    DagCluster,
    Edge,
    Member,
    NestedCluster,
    ParallelCluster,
    Vertex,
    chains_of,
)
from interlock.workflows.graph_of import graph_of
from interlock.workflows.labels import printable, shortened
from interlock.workflows.nodes import Plan
from interlock.workflows.overlay import Mark, MarkStatus, Overlay, Run, overlay_of
from interlock.workflows.status_colours import STATUS_COLOURS

if TYPE_CHECKING:
    from interlock.workflows.workflow import Workflow

__all__ = ["MermaidChart", "escaped", "workflow_mermaid"]

_SHAPES: Final = {
    "function": ("[", "]"),
    "processor": ("{{", "}}"),
    "map": ("([", "])"),
    "merge": ("[\\", "/]"),
    "sleep": (">", "]"),
    "branch": ("{", "}"),
    "join": ("((", "))"),
    "idle": ("[", "]"),
}
"""By kind. A kind that is not here, such as one of a user's own steps, is a plain box."""

_DESCRIPTION_LENGTH = 80
_FRAME = "-frame"
"""Behind a status: the class of frames."""


def workflow_mermaid(workflow: Workflow[Any, Any], *, run: Run | None = None) -> str:
    """The workflow as a Mermaid flowchart, top down.

    Function steps are boxes, processors hexagons, maps rounded, merges funnels, sleeps flags, branches diamonds with
    a labelled arrow to each arm; a nested workflow, a ``foreach``, a loop and a dag are frames with their nodes inside,
    a parallel block a dashed frame with its arms side by side, an arm that does nothing a dashed box. The way back of a
    loop is a dotted arrow. A label is the step's id and the start of its description. Ids in the source are numbers
    (``n1``), so any step id will do. Nodes and edges are those of ``to_json()`` and ``to_networkx()``.

    With a run each node is coloured by how it ended, says in words what else there is to know, and why it failed or
    stopped; a frame has a border of such a colour; ways that were not taken are faint. The title says which workflow
    it is and how the run ended.

    Mermaid itself refuses a chart of more than 500 edges or 50,000 characters unless the page that shows it sets
    ``maxEdges`` and ``maxTextSize``.

    Args:
        workflow: The workflow.
        run: How a run of it ended, or where one stands.

    Example:
        >>> from interlock.workflows import create_workflow
        >>> from interlock.steps import create_step
        >>> split = create_step(lambda ctx: ctx.input.split(), id="split")
        >>> print(create_workflow(id="wordy").then(split).map(lambda ctx: len(ctx.input)).commit().to_mermaid())
        flowchart TD
            n1["split"]
            n2(["map"])
            n1 --> n2
    """
    chart = MermaidChart()
    chart.plan(workflow.plan, run=run)
    return chart.text()


class MermaidChart:
    """The lines of a flowchart as it is written. One chart can hold several plans, each in a frame of its own."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._edges: list[str] = []
        self._faint: list[int] = []
        self._classes: defaultdict[str, list[str]] = defaultdict(list)
        self._heading: str | None = None
        self._depth = 1
        self._counts: Counter[str] = Counter()

    def plan(self, plan: Plan, *, run: Run | None = None, overlay: Overlay | None = None) -> None:
        """Draw a plan, at the top or in the frame that is open; with a run of it, or what one made of it."""
        graph = graph_of(plan)
        if run is not None:
            overlay = overlay_of(graph, run)
            self._heading = f"{plan.id}: {overlay.heading}"
        ids: dict[str, str] = {}
        self._chain(graph.chain, ids, overlay, alone=True)
        for edge in graph.edges:
            self._edge(edge, ids, faint=overlay is not None and edge not in overlay.taken)

    def note(self, text: str, *, idle: bool = False) -> str:
        """Draw a box with a text that is no node of a plan. Gives its id."""
        return self._box([escaped(text)], "idle" if idle else "function")

    @contextmanager
    def frame(self, title: str, *, crossed: bool = False) -> Generator[str]:
        """Draw what is drawn inside the ``with`` in a titled frame. Gives the frame's id.

        Args:
            title: Stands at its top.
            crossed: Whether arrows are to cross its border. They end at the border where this is False, and Mermaid
                lays out a crossed frame that no arrow crosses from left to right.
        """
        frame = self._id("f")
        self._line(f'subgraph {frame} ["{escaped(title)}"]')
        self._depth += 1
        if not crossed:
            self._line("direction TB")
        yield frame
        self._depth -= 1
        self._line("end")

    def arrows(self, edges: Iterable[tuple[str, str]], *, dashed: bool = False) -> None:
        """Draw arrows from id to id."""
        arrow = "-.->" if dashed else "-->"
        self._edges += (f"{source} {arrow} {target}" for source, target in edges)

    def text(self) -> str:
        """The whole chart."""
        lines = ["flowchart TD", *self._lines, *(f"    {line}" for line in (*self._edges, *self._styles()))]
        if self._heading is not None:
            lines = ["---", f"title: {_title_text(self._heading)}", "---", *lines]
        return "\n".join(lines)

    def _styles(self) -> Generator[str]:
        for name, ids in self._classes.items():
            yield f"classDef {name} {_class(name)}"
            yield f"class {','.join(ids)} {name}"
        if self._faint:
            yield f"linkStyle {','.join(map(str, self._faint))} opacity:0.35"

    def _chain(self, chain: Chain, ids: dict[str, str], overlay: Overlay | None, *, alone: bool) -> None:
        for member in chain.members:
            self._member(member, ids, overlay, alone=alone and len(chain.members) == 1)

    def _member(self, member: Member, ids: dict[str, str], overlay: Overlay | None, *, alone: bool) -> None:
        mark = None if overlay is None else overlay.marks.get(member.path)
        match member:
            case Vertex():
                ids[member.path] = self._vertex(member, mark)
            case BranchCluster(choice=choice, arms=arms):
                ids[member.path] = self._vertex(choice, mark)
                for arm in arms:
                    self._chain(arm, ids, overlay, alone=False)
            case NestedCluster(chain=chain) | BodyCluster(body=chain):
                with self.frame(_title(member, mark)) as frame:
                    self._ended(frame, mark)
                    self._chain(chain, ids, overlay, alone=alone)
            case ParallelCluster() | DagCluster():
                with self.frame(_title(member, mark), crossed=not alone) as frame:
                    self._classes["parallel"].append(frame)
                    self._ended(frame, mark)
                    for chain in chains_of(member):
                        self._chain(chain, ids, overlay, alone=False)

    def _ended(self, frame: str, mark: Mark | None) -> None:
        """Give a frame a border of the colour of how what is in it ended."""
        if mark is not None:
            self._classes[f"{mark.status}{_FRAME}"].append(frame)

    def _vertex(self, vertex: Vertex, mark: Mark | None) -> str:
        texts = [vertex.label]
        if vertex.description and vertex.description.strip():
            texts.append(shortened(vertex.description, _DESCRIPTION_LENGTH))
        if mark is not None:
            texts += [mark.line, *((mark.note,) if mark.note else ())]
        box = self._box([escaped(text) for text in texts], vertex.kind)
        if mark is not None:
            self._classes[mark.status].append(box)
        return box

    def _box(self, texts: Sequence[str], kind: str) -> str:
        box = self._id("n")
        left, right = _SHAPES.get(kind, _SHAPES["function"])
        self._line(f'{box}{left}"{"<br/>".join(texts)}"{right}')
        if kind == "idle":
            self._classes["idle"].append(box)
        return box

    def _edge(self, edge: Edge, ids: dict[str, str], *, faint: bool) -> None:
        if faint:
            self._faint.append(len(self._edges))
        label = f'|"{escaped(edge.label)}"|' if edge.label else ""
        arrow = "-.->" if edge.kind == "back" else "-->"
        self._edges.append(f"{ids[edge.source]} {arrow}{label} {ids[edge.target]}")

    def _id(self, prefix: str) -> str:
        self._counts[prefix] += 1
        return f"{prefix}{self._counts[prefix]}"

    def _line(self, line: str) -> None:
        self._lines.append("    " * self._depth + line)


def _title(cluster: Cluster, mark: Mark | None) -> str:
    if mark is None:
        return cluster.label
    return " · ".join((cluster.label, mark.line, *((mark.note,) if mark.note else ())))


def _class(name: str) -> str:
    if name == "parallel":
        return "fill:none,stroke-dasharray:6 4"
    if name == "idle":
        return "stroke-dasharray:2 3,opacity:0.6"
    colours = STATUS_COLOURS[cast("MarkStatus", name.removesuffix(_FRAME))]
    if name.endswith(_FRAME):
        return f"stroke:{colours.line},stroke-width:2px"
    dashed = ",stroke-dasharray:4 3" if colours.dashed else ""
    return f"fill:{colours.fill},stroke:{colours.line},color:#1f2328{dashed}"


def _title_text(text: str) -> str:
    """A text between double quotes in YAML: what JSON escapes, YAML reads.

    Mermaid cleans a title as if it were HTML, but shows it as text; so a ``<`` can only be shown by one like it.
    """
    shown = re.sub(r"ﬂ(?=°)|¶(?=ß)", rf"\g<0>{_JOINER}", text).replace("<", "‹")
    return json.dumps(shown, ensure_ascii=False)


_JOINER = "\N{WORD JOINER}"
_MARKUP = re.compile(
    r"[^0-9A-Za-z\u0080-\U0010ffff :,/._-]"  # all of ASCII that Mermaid, Markdown or HTML may give a meaning
    rf"|{_JOINER}"  # to be seen in the source
    r"|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])"  # emphasis
    r"|^-|^\d+(?=\.)"  # lists
    r"|s(?=tyle)|c(?=lassDef)"  # Mermaid's search for its own statements does not spare quoted text
)
_READ_AFTERWARDS = re.compile(r"\\(?=n)|\$(?=\$)|ﬂ(?=°)|¶(?=ß)|(?<=fa):(?=fa-)|(?<=fa[bklrs]):(?=fa-)")


def escaped(text: str) -> str:
    """The text as a quoted label shows it.

    Whatever Mermaid, its Markdown or HTML could read as more than text is written as ``#`` and a character number.
    Formulas (``$$``), icons (``fa:fa-user``), line breaks (a backslash and an n) and Mermaid's own marks for such
    numbers (``ﬂ°``, ``¶ß``) are looked for once the numbers have become characters again; an invisible word joiner
    breaks them up.
    """
    shown = _READ_AFTERWARDS.sub(rf"\g<0>{_JOINER}", printable(text))
    return _MARKUP.sub(lambda found: "".join(f"#{ord(char)};" for char in found[0]), shown)

"""A workflow as a Mermaid flowchart (https://mermaid.js.org/syntax/flowchart.html)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from interlock.workflows.graph import Chain, Member, NestedCluster, ParallelCluster, Vertex, graph_of
from interlock.workflows.labels import printable, shortened
from interlock.workflows.nodes import Plan

if TYPE_CHECKING:
    from interlock.workflows.workflow import Workflow

__all__ = ["MermaidChart", "escaped", "workflow_mermaid"]

_SHAPES: Final = {
    "function": ("[", "]"),
    "processor": ("{{", "}}"),
    "map": ("([", "])"),
    "merge": ("[\\", "/]"),
    "join": ("((", "))"),
    "idle": ("[", "]"),
}
"""By kind. A kind that is not here, such as one of a user's own steps, is a plain box."""

_DESCRIPTION_LENGTH = 80


def workflow_mermaid(workflow: Workflow[Any, Any]) -> str:
    """The workflow as a Mermaid flowchart, top down.

    Function steps are boxes, processors hexagons, maps rounded, merges funnels; a nested workflow is a frame with its
    nodes inside, a parallel block a dashed frame with its arms side by side, an arm that does nothing a dashed box.
    A label is the step's id and the start of its description. Ids in the source are numbers (``n1``), so any step id
    will do. Nodes and edges are those of ``to_json()`` and ``to_networkx()``.

    Mermaid itself refuses a chart of more than 500 edges or 50,000 characters unless the page that shows it sets
    ``maxEdges`` and ``maxTextSize``.

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
    chart.plan(workflow.plan)
    return chart.text()


class MermaidChart:
    """The lines of a flowchart as it is written. One chart can hold several plans, each in a frame of its own."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._edges: list[str] = []
        self._idle: list[str] = []
        self._blocks: list[str] = []
        self._depth = 1
        self._counts: Counter[str] = Counter()

    def plan(self, plan: Plan) -> None:
        """Draw a plan, at the top or in the frame that is open."""
        graph = graph_of(plan)
        ids: dict[str, str] = {}
        self._chain(graph.chain, ids, alone=True)
        self.arrows((ids[source], ids[target]) for source, target in graph.edges)

    def note(self, text: str, *, idle: bool = False) -> str:
        """Draw a box with a text that is no node of a plan. Gives its id."""
        return self._box(text, "idle" if idle else "function")

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
        classes: list[str] = []
        if self._blocks:
            classes += [
                "classDef parallel fill:none,stroke-dasharray:6 4",
                f"class {','.join(self._blocks)} parallel",
            ]
        if self._idle:
            classes += ["classDef idle stroke-dasharray:2 3,opacity:0.6", f"class {','.join(self._idle)} idle"]
        return "\n".join(["flowchart TD", *self._lines, *(f"    {line}" for line in (*self._edges, *classes))])

    def _chain(self, chain: Chain, ids: dict[str, str], *, alone: bool) -> None:
        for member in chain.members:
            self._member(member, ids, alone=alone and len(chain.members) == 1)

    def _member(self, member: Member, ids: dict[str, str], *, alone: bool) -> None:
        match member:
            case Vertex(path=path, label=label, kind=kind, description=description):
                ids[path] = self._box(label, kind, description)
            case NestedCluster(label=label, chain=chain):
                with self.frame(label):
                    self._chain(chain, ids, alone=alone)
            case ParallelCluster(label=label, arms=arms):
                with self.frame(label, crossed=not alone) as frame:
                    self._blocks.append(frame)
                    for arm in arms:
                        self._chain(arm, ids, alone=False)

    def _box(self, label: str, kind: str, description: str | None = None) -> str:
        box = self._id("n")
        left, right = _SHAPES.get(kind, _SHAPES["function"])
        said = escaped(label)
        if description and description.strip():
            said += f"<br/>{escaped(shortened(description, _DESCRIPTION_LENGTH))}"
        self._line(f'{box}{left}"{said}"{right}')
        if kind == "idle":
            self._idle.append(box)
        return box

    def _id(self, prefix: str) -> str:
        self._counts[prefix] += 1
        return f"{prefix}{self._counts[prefix]}"

    def _line(self, line: str) -> None:
        self._lines.append("    " * self._depth + line)


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

"""Random workflows for the tests of drawings, and what Mermaid itself makes of a flowchart."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import mermaidx
from hypothesis import strategies as st

from interlock.steps import Step, StepContext, create_step
from interlock.workflows import Workflow, create_workflow

WORD_JOINER = "\N{WORD JOINER}"

HOSTILE = (
    *("end", "End", "subgraph", "graph", "flowchart", "style", "classDef", "click", "default", "direction", "TB"),
    *("n1", "f1", "o", "x", "map", "map-2", "merge", "parallel", "parallel-2", "join", "idle", "input", "output"),
    *('"', '"]', "'", "`", "`x`", "[", "]", "[[x]]", "{{", "}}", "((", "))", "(x", "|", "a|b", "<b>", "<br>", ">", "<"),
    *("#", "#35;", "#quot;", "&amp;", "&#35;", "&lt;b&gt;", ";", "a;b", "%%", "%%{init:{}}%%", "-->", "==>", "-", "+"),
    *("1)", "**x**", "_x_", "__x__", "~~x~~", "*", "$$x$$", "$", "fa:fa-user", "fab:fa-x", "ﬂ°°65¶ß", "ﬂ°lt¶ß"),
    *("style:x#35;y;", "classDef:x#y;", ":::idle", "@{shape:circle}", "\\", "\\n", "\\x1b", "---", "===", "```"),
    *(
        "日本語",
        "한국어",
        "e\u0301",
        "👩\u200d🔬",
        "🇩🇪",
        "\u202eabc",
        "\x1b[31m",
        "\x00",
        "\u200b",
        "\ufeff",
        "שלום",
        "ß",
    ),
)
"""Ids that a chart or a terminal could take for more than text."""

ids = st.one_of(
    st.sampled_from(HOSTILE),
    st.from_regex(r"[a-z]{1,8}(-[a-z]{1,8}){0,2}", fullmatch=True),
    st.text(min_size=1, max_size=12).filter(lambda text: not re.search(r"[\s./]", text)),
)
descriptions = st.one_of(st.none(), st.sampled_from(HOSTILE), st.text(max_size=120))


def function_step(id: str, description: str | None = None) -> Step[Any, Any]:  # noqa: A002
    """A step that does nothing, under this id."""

    def given(ctx: StepContext[Any]) -> Any:
        return ctx.input

    return create_step(given, id=id, description=description)


def named(ctx: StepContext[Any]) -> Any:
    """A function with a name, for maps."""
    return ctx.input


@st.composite
def workflows(
    draw: st.DrawFn,
    depth: int = 2,
    ids: st.SearchStrategy[str] = ids,
    descriptions: st.SearchStrategy[str | None] = descriptions,
    nodes: int = 4,
    arms: int = 4,
) -> Workflow[Any, Any]:
    """A workflow of steps, maps, parallel blocks and, down to a depth, nested workflows."""
    count = draw(st.integers(1, nodes))
    fresh = iter(draw(st.lists(ids, min_size=count * arms, max_size=count * arms, unique=True)))

    def one() -> Step[Any, Any]:
        if depth and draw(st.integers(0, 3)) == 0:
            inner = draw(workflows(depth - 1, ids, descriptions, nodes, arms))
            return create_step(inner, id=next(fresh))
        return function_step(next(fresh), draw(descriptions))

    builder: Any = create_workflow(id=draw(ids), description=draw(descriptions))
    for _ in range(count):
        match draw(st.sampled_from(("step", "step", "parallel", "map"))):
            case "step":
                builder = builder.then(one())
            case "map":
                builder = builder.map(draw(st.sampled_from((named, lambda ctx: ctx.input))))
            case _:
                builder = builder.parallel([one() for _ in range(draw(st.integers(1, arms)))])
    made: Workflow[Any, Any] = builder.commit()
    return made


@dataclass(frozen=True)
class Rendered:
    """What Mermaid drew.

    Attributes:
        nodes: The lines of text in each node, by its id in the source.
        frames: The title of each subgraph.
        edges: Pairs of such ids.
    """

    nodes: dict[str, list[str]]
    frames: dict[str, str]
    edges: set[tuple[str, str]]

    def in_order(self) -> list[str]:
        """The ids of the nodes in the order in which the source declares them."""
        return sorted(self.nodes, key=lambda id_: int(id_[1:]))


def rendered(source: str) -> Rendered:
    """Let the real Mermaid parse and draw a flowchart; raises where it cannot."""
    mermaid: Any = mermaidx  # brings no types
    root = ET.fromstring(mermaid.render(source).svg())
    nodes: dict[str, list[str]] = {}
    frames: dict[str, str] = {}
    edges: set[tuple[str, str]] = set()
    for element in root.iter():
        classes = (element.get("class") or "").split()
        if "node" in classes:
            found = re.search(r"flowchart-(n\d+)-\d+$", element.get("id") or "")
            assert found, element.attrib
            nodes[found[1]] = list(_lines(element))
        elif "cluster" in classes:
            frames[(element.get("id") or "").removeprefix("my-svg-")] = " ".join(_lines(element))
        elif (edge := element.get("data-id") or "").startswith("L_"):
            _, source_id, target_id, _ = edge.split("_")
            edges.add((source_id, target_id))
    return Rendered(nodes, frames, edges)


def _lines(element: ET.Element) -> Iterator[str]:
    """The text of a label as it is seen, line by line."""
    line = ""
    for event, text in _walk(element):
        if event == "br":
            yield line.replace(WORD_JOINER, "")
            line = ""
        line += text
    yield line.replace(WORD_JOINER, "")


def _walk(element: ET.Element) -> Iterable[tuple[str, str]]:
    name = element.tag.rpartition("}")[2]
    assert name not in ("i", "b", "em", "strong", "math", "script"), f"<{name}> in a label"
    yield name, element.text or ""
    for child in element:
        yield from _walk(child)
        yield "", child.tail or ""

"""Random workflows for the tests of drawings, and what Mermaid itself makes of a flowchart."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import mermaidx
from hypothesis import Phase, settings
from hypothesis import strategies as st

from interlock.steps import Step, StepContext, create_step
from interlock.verdict import Tripwire
from interlock.workflows import (
    Blocked,
    BranchNode,
    Canceled,
    Completed,
    DagItem,
    DagNode,
    ErrorMode,
    Failed,
    ForeachNode,
    LoopNode,
    MapNode,
    MergeNode,
    NestedNode,
    Node,
    Outcome,
    ParallelNode,
    Paused,
    Plan,
    SleepNode,
    StepNode,
    StepRecord,
    Suspended,
    Suspension,
    Workflow,
)
from interlock.workflows.graph import Vertex, chains_of
from interlock.workflows.graph_of import graph_of
from interlock.workflows.naming import named as numbered
from interlock.workflows.outcome import StepStatus

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


def examples(share: float, *, shrunk: bool = True) -> settings:
    """Settings for fewer examples than the profile has, for tests that take their time.

    Args:
        share: Of those of the profile.
        shrunk: Whether a failure is made small, which takes many more.
    """
    usual = settings()
    phases = usual.phases if shrunk else (Phase.explicit, Phase.reuse, Phase.generate)
    return settings(max_examples=max(1, round(usual.max_examples * share)), phases=phases)


def function_step(id: str, description: str | None = None) -> Step[Any, Any]:  # noqa: A002
    """A step that does nothing, under this id."""

    def given(ctx: StepContext[Any]) -> Any:
        return ctx.input

    return create_step(given, id=id, description=description)


def named(ctx: StepContext[Any]) -> Any:
    """A function with a name, for maps."""
    return ctx.input


def holds(ctx: StepContext[Any]) -> bool:
    """A condition with a name."""
    return bool(ctx.input)


KINDS = ("step", "parallel", "map", "merge", "sleep", "branch", "foreach", "loop", "dag")


@st.composite
def workflows(
    draw: st.DrawFn,
    depth: int = 2,
    ids: st.SearchStrategy[str] = ids,
    descriptions: st.SearchStrategy[str | None] = descriptions,
    nodes: int = 4,
    arms: int = 4,
    kinds: Sequence[str] = KINDS,
) -> Workflow[Any, Any]:
    """A workflow of nodes of every kind and, down to a depth, nested workflows; put together by hand."""
    plan = draw(_plans(depth, ids, descriptions, nodes, arms, kinds))
    return Workflow(plan, description=draw(descriptions))


@st.composite
def _plans(
    draw: st.DrawFn,
    depth: int,
    ids: st.SearchStrategy[str],
    descriptions: st.SearchStrategy[str | None],
    nodes: int,
    arms: int,
    kinds: Sequence[str],
) -> Plan:
    count = draw(st.integers(1, nodes))
    most = count * arms * 2
    fresh = iter(draw(st.lists(ids, min_size=most, max_size=most, unique=True)))

    def step() -> StepNode | NestedNode:
        if depth and draw(st.integers(0, 3)) == 0:
            inner = Workflow[Any, Any](draw(_plans(depth - 1, ids, descriptions, nodes, arms, kinds)))
            return NestedNode(create_step(inner, id=next(fresh)), inner.plan)
        return StepNode(function_step(next(fresh), draw(descriptions)))

    def chain(longest: int = 1) -> Plan:
        held = tuple(step() for _ in range(draw(st.integers(1, longest))))
        return Plan(held[-1].id, held)

    condition = st.sampled_from((holds, lambda ctx: True))
    modes: st.SearchStrategy[ErrorMode] = st.sampled_from(("fail_fast", "collect"))

    def node(kind: str) -> Node:
        match kind:
            case "map":
                return MapNode("map", draw(st.sampled_from((named, lambda ctx: ctx.input))))
            case "merge":
                return MergeNode("merge", draw(st.sampled_from((None, "a"))))
            case "sleep":
                return SleepNode("sleep", draw(st.sampled_from((0, 1.5, 7200, named))))
            case "parallel":
                held = tuple(chain() for _ in range(draw(st.integers(1, arms))))
                return ParallelNode("parallel", held, draw(st.sampled_from((None, 1))), draw(modes))
            case "branch":
                held = tuple(chain(2) for _ in range(draw(st.integers(1, max(1, arms - 1)))))
                conditions = tuple(draw(condition) for _ in held)
                otherwise = chain() if draw(st.booleans()) else None
                return BranchNode("branch", conditions, held, otherwise)
            case "foreach":
                return ForeachNode("foreach", chain(), draw(st.sampled_from((1, 4, named))), draw(modes))
            case "loop":
                return LoopNode("do-while", chain(), draw(condition), draw(st.booleans()))
            case "dag":
                items = [DagItem(chain()) for _ in range(draw(st.integers(1, arms)))]
                needs = [draw(st.sets(st.integers(0, n - 1))) if n else () for n in range(len(items))]
                return DagNode(
                    "dag", tuple(DagItem(i.plan, tuple(sorted(n))) for i, n in zip(items, needs, strict=True))
                )
            case _:
                return step()

    made = [node(draw(st.sampled_from(kinds))) for _ in range(count)]
    return Plan(draw(ids), numbered(made))


def built(*nodes: Node) -> Workflow[Any, Any]:
    """A workflow of these nodes, put together by hand."""
    return Workflow(Plan("w", numbered(nodes)))


STATUSES: Sequence[StepStatus] = ("success", "failed", "tripwire", "suspended", "bailed", "canceled", "unfinished")


@st.composite
def outcomes(draw: st.DrawFn, workflow: Workflow[Any, Any]) -> Outcome[Any] | Paused:
    """An end that a run of the workflow may have come to, with records of some of its nodes, some of them several."""
    members = list(graph_of(workflow.plan).members())
    paths = [(m.path, [chain.id for chain in chains_of(m)] if not isinstance(m, Vertex) else None) for m in members]
    words = st.sampled_from(HOSTILE)
    records: list[StepRecord] = []
    for path, arms in draw(st.lists(st.sampled_from(paths), max_size=12)):
        status = draw(st.sampled_from(STATUSES))
        records.append(
            StepRecord(
                path.rpartition("/")[2],
                path,
                status,
                None,
                error=ValueError(draw(words)) if status == "failed" else None,
                duration=draw(st.floats(0, 1e6)),
                attempts=draw(st.integers(0, 3)),
                verdict=draw(st.sampled_from((None, "passed", "changed", "warned", "blocked", "not-checked"))),
                suspension=Suspension(path, path, draw(words), draw(words), "t") if status == "suspended" else None,
                chosen=None if arms is None else draw(st.lists(st.sampled_from(arms), unique=True)),
            )
        )
    told: dict[str, Any] = {"run_id": draw(words), "steps": records, "duration": draw(st.floats(0, 1e6))}
    ends: Sequence[Outcome[Any] | Paused] = (
        Completed(1, **told),
        Failed(ValueError(draw(words)), **told),
        Blocked(Tripwire(draw(words), draw(words)), **told),
        Suspended([record.suspension for record in records if record.suspension], **told),
        Canceled(**told),
        Paused([record.path for record in records], **told),
    )
    ended: Outcome[Any] | Paused = draw(st.sampled_from(ends))
    return ended


@dataclass(frozen=True)
class Rendered:
    """What Mermaid drew.

    Attributes:
        nodes: The lines of text in each node, by its id in the source.
        frames: The title of each subgraph.
        edges: Pairs of such ids.
        labels: What stands on edges.
        title: What stands above all.
    """

    nodes: dict[str, list[str]]
    frames: dict[str, str]
    edges: set[tuple[str, str]]
    labels: list[str]
    title: str

    def in_order(self) -> list[str]:
        """The ids of the nodes in the order in which the source declares them."""
        return sorted(self.nodes, key=lambda id_: int(id_[1:]))


def svg_of(source: str) -> str:
    """Let the real Mermaid parse and draw a flowchart; raises where it cannot."""
    mermaid: Any = mermaidx  # brings no types
    return str(mermaid.render(source).svg())


def rendered(source: str) -> Rendered:
    """What the real Mermaid draws; raises where it cannot."""
    root = ET.fromstring(svg_of(source))
    nodes: dict[str, list[str]] = {}
    frames: dict[str, str] = {}
    edges: set[tuple[str, str]] = set()
    labels: list[str] = []
    title = ""
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
            label = " ".join(_lines(element)) if element.tag.endswith("}g") else ""
            labels += [label] if label else []
        elif "flowchartTitleText" in classes:
            title = (element.text or "").replace(WORD_JOINER, "")
    return Rendered(nodes, frames, edges, labels, title)


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

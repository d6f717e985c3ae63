"""``workflow.to_dot()``, read by a small reader of the language."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from interlock.workflows import Failed, StepRecord, Workflow, create_workflow
from interlock.workflows.draw_dot import quoted
from interlock.workflows.labels import printable
from tests.workflows.drawn import HOSTILE, examples, function_step, holds, named, outcomes, workflows

FONT = "Helvetica,Arial,sans-serif"
TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|->|[A-Za-z_][A-Za-z0-9_]*|[{}\[\]=])', re.DOTALL)


@dataclass
class Read:
    """What a text in DOT says: attributes of nodes by name, edges, and the nesting of nodes in clusters."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    edges: list[tuple[str, str, dict[str, str]]] = field(default_factory=list[tuple[str, str, dict[str, str]]])
    clusters: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    graph: dict[str, str] = field(default_factory=dict[str, str])


def read(text: str) -> Read:
    """Read all of it; fails where something is left over."""
    tokens: list[str] = []
    at = 0
    while at < len(text.rstrip()):
        found = TOKEN.match(text, at)
        assert found, text[at : at + 60]
        tokens.append(found[1])
        at = found.end()
    assert tokens[0] == "digraph"
    assert tokens[2] == "{"
    result = Read()
    rest = _block(tokens, 3, result, result.graph)
    assert rest == len(tokens)
    return result


def _block(tokens: list[str], at: int, result: Read, own: dict[str, str]) -> int:
    while tokens[at] != "}":
        if tokens[at] == "subgraph":
            assert re.fullmatch(r"cluster_\d+", tokens[at + 1])
            cluster: dict[str, str] = {}
            result.clusters.append(cluster)
            at = _block(tokens, at + 3, result, cluster)
            continue
        name = tokens[at]
        assert re.fullmatch(r"[a-z0-9]+", name)
        target = tokens[at + 2] if tokens[at + 1] == "->" else None
        at, attributes = _attributes(tokens, at + (1 if target is None else 3))
        if target is not None:
            assert {name, target} <= set(result.nodes)
            result.edges.append((name, target, attributes))
        elif name == "graph":
            own.update(attributes)
        elif name not in ("node", "edge"):
            assert name not in result.nodes
            result.nodes[name] = attributes
    return at + 1


def _attributes(tokens: list[str], at: int) -> tuple[int, dict[str, str]]:
    attributes: dict[str, str] = {}
    if tokens[at] != "[":
        return at, attributes
    at += 1
    while tokens[at] != "]":
        assert tokens[at + 1] == "="
        attributes[tokens[at]] = tokens[at + 2]
        at += 3
    return at + 1, attributes


def shown(label: str) -> list[str]:
    """The lines of a label as Graphviz shows them."""
    return [html.unescape(line) for line in _lines(label[1:-1])]


def _lines(inner: str) -> list[str]:
    lines = [""]
    for piece in re.findall(r"\\.|[^\\]", inner, re.DOTALL):
        if piece == r"\n":
            lines.append("")
        else:
            assert len(piece) == 1 or piece in (r"\\", r"\""), piece
            lines[-1] += piece[-1]
    return lines


def test_a_graph_reads_as_its_workflow() -> None:
    a, b = function_step("a", "Does it."), function_step("b")
    workflow = create_workflow(id="w").do_while(a, holds).branch([(holds, b)]).map(named).commit()
    assert workflow.to_dot() == "\n".join(
        (
            'digraph "w" {',
            f'    graph [fontname="{FONT}" fontsize="11" label="w: anything → anything" labelloc="t" rankdir="TB"]',
            f'    node [fillcolor="#ffffff" fontname="{FONT}" fontsize="11" shape="box" style="filled"]',
            f'    edge [fontname="{FONT}" fontsize="10"]',
            "    subgraph cluster_1 {",
            '        graph [label="do-while" labeljust="l" style="rounded"]',
            '        n1 [label="a\\nDoes it."]',
            "    }",
            '    n2 [label="branch" shape="diamond"]',
            '    n3 [label="b"]',
            '    n4 [label="map: named" style="rounded,filled"]',
            '    n1 -> n1 [constraint="false" label="while holds" style="dashed"]',
            "    n1 -> n2",
            '    n2 -> n3 [label="holds"]',
            "    n3 -> n4",
            '    n2 -> n4 [label="none"]',
            "}",
        )
    )


def test_every_hostile_text_is_shown_as_it_is() -> None:
    for text in HOSTILE:
        assert shown(quoted(text)) == [printable(text)]


@given(st.lists(st.text(max_size=30), min_size=1, max_size=3))
def test_every_text_is_shown_as_it_is_a_line_each(texts: list[str]) -> None:
    assert shown(quoted(*texts)) == [printable(text) for text in texts]


@examples(1 / 4)
@given(workflows())
def test_it_has_the_nodes_and_edges_of_the_networkx_graph(workflow: Workflow[Any, Any]) -> None:
    graph = workflow.to_networkx()
    found = read(workflow.to_dot())
    paths = dict(zip(found.nodes, graph.nodes, strict=True))
    for name, path in paths.items():
        if graph.nodes[path]["kind"] != "join":
            assert shown(found.nodes[name]["label"])[0] == printable(graph.nodes[path]["label"])
    back = {edge[:2] for edge in graph.graph["back_edges"]}
    drawn = {(paths[a], paths[b]) for a, b, attributes in found.edges if "constraint" not in attributes}
    assert drawn == set(graph.edges)
    assert {(paths[a], paths[b]) for a, b, attributes in found.edges if "constraint" in attributes} == back


@examples(1 / 4)
@given(workflows(nodes=3, arms=3).flatmap(lambda workflow: st.tuples(st.just(workflow), outcomes(workflow))))
def test_a_run_changes_looks_and_words_but_neither_nodes_nor_edges(drawn: tuple[Workflow[Any, Any], Any]) -> None:
    workflow, run = drawn
    plain, told = read(workflow.to_dot()), read(workflow.to_dot(run=run))
    assert list(plain.nodes) == list(told.nodes)
    assert [edge[:2] for edge in plain.edges] == [edge[:2] for edge in told.edges]
    for name, attributes in plain.nodes.items():
        before, after = shown(attributes["label"]), shown(told.nodes[name]["label"])
        assert after[: len(before)] == before


def test_a_run_colours_nodes_says_why_and_makes_ways_not_taken_faint() -> None:
    a, b = function_step("a"), function_step("b")
    workflow = create_workflow(id="w").then(a).then(b).map(named).commit()
    error = ValueError('no "b"')
    steps = [StepRecord("a", "a", "success", 1, duration=0.5), StepRecord("b", "b", "failed", 1, error=error)]
    found = read(workflow.to_dot(run=Failed(error, run_id="r1", steps=steps)))
    assert shown(found.graph["label"]) == ["w: anything → anything", '✗ failed · run r1 · ValueError: no "b"']
    assert [shown(node["label"]) for node in found.nodes.values()] == [
        ["a", "✓ 500 ms"],
        ["b", "✗ failed", 'ValueError: no "b"'],
        ["map: named", "not run"],
    ]
    colours = [node["fillcolor"] for node in found.nodes.values()]
    assert len(set(colours)) == 3
    assert ["color" in attributes for _, _, attributes in found.edges] == [False, True]

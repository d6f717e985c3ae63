"""``workflow.to_mermaid()``, read and drawn by Mermaid itself."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, ClassVar

from hypothesis import given
from hypothesis import strategies as st

from interlock.steps import Step
from interlock.workflows import Failed, ParallelNode, Plan, StepNode, StepRecord, Workflow, create_workflow
from interlock.workflows.draw_mermaid import MermaidChart, escaped
from interlock.workflows.labels import printable, shortened
from interlock.workflows.status_colours import STATUS_COLOURS
from tests.workflows.drawn import (
    HOSTILE,
    WORD_JOINER,
    examples,
    function_step,
    holds,
    named,
    rendered,
    svg_of,
    workflows,
)


class GuardStep(Step[Any, Any]):
    kind: ClassVar[str] = "processor"


def test_a_chart_reads_as_its_workflow() -> None:
    inner = create_workflow(id="inner").then(function_step("a")).map(named).commit()
    guards = [GuardStep("processor:pii", subject=None, description="Redacts."), inner]
    workflow = create_workflow(id="w").then(function_step("start")).parallel(guards).map(lambda ctx: 1).commit()
    assert workflow.to_mermaid() == "\n".join(
        (
            "flowchart TD",
            '    n1["start"]',
            '    subgraph f1 ["parallel"]',
            '        n2{{"processor:pii<br/>Redacts."}}',
            '        subgraph f2 ["inner"]',
            "            direction TB",
            '            n3["a"]',
            '            n4(["map: named"])',
            "        end",
            "    end",
            '    n5(["map"])',
            "    n1 --> n2",
            "    n1 --> n3",
            "    n3 --> n4",
            "    n2 --> n5",
            "    n4 --> n5",
            "    classDef parallel fill:none,stroke-dasharray:6 4",
            "    class f1 parallel",
        )
    )


def test_step_processor_map_merge_and_join_have_shapes_of_their_own() -> None:
    guards = [GuardStep(f"g{n}", subject=None) for n in range(4)]
    workflow = (
        create_workflow(id="w").parallel(guards[:2]).parallel(guards[2:]).merge().then(function_step("s")).map(named)
    ).commit()
    boxes = re.findall(r"^ +n\d+(\W+)\"", workflow.to_mermaid(), re.MULTILINE)
    assert set(boxes) == {"{{", "((", "[\\", "[", "(["}


def test_a_branch_is_a_diamond_with_a_labelled_arrow_to_each_arm_and_past_them() -> None:
    a, b = function_step("a"), function_step("b")
    workflow = create_workflow(id="w").branch([(holds, a)]).then(b).commit()
    assert workflow.to_mermaid() == "\n".join(
        (
            "flowchart TD",
            '    n1{"branch"}',
            '    n2["a"]',
            '    n3["b"]',
            '    n1 -->|"holds"| n2',
            "    n2 --> n3",
            '    n1 -->|"none"| n3',
        )
    )


def test_a_loop_is_a_frame_with_a_dotted_arrow_back_and_a_foreach_a_frame() -> None:
    inner = create_workflow(id="inner").then(function_step("a")).then(function_step("b")).commit()
    workflow = create_workflow(id="w").do_while(inner, holds).foreach(function_step("c"), concurrency=2).commit()
    source = workflow.to_mermaid()
    assert 'n2 -.->|"while holds"| n1' in source
    drawing = rendered(source)
    assert {"do-while", "inner", "foreach: each item, 2 at once"} == set(drawing.frames.values())
    assert drawing.edges == {("n1", "n2"), ("n2", "n1"), ("n2", "n3")}


def test_a_dag_is_a_frame_with_its_edges() -> None:
    a, b, c = (function_step(id_) for id_ in "abc")
    source = create_workflow(id="w").dag({a: [], b: [a], c: [a, b]}).map(named).commit().to_mermaid()
    drawing = rendered(source)
    assert set(drawing.frames.values()) == {"dag"}
    assert drawing.edges == {("n1", "n2"), ("n1", "n3"), ("n2", "n3"), ("n3", "n4")}


def test_a_run_colours_nodes_says_why_and_makes_ways_not_taken_faint() -> None:
    a, b = function_step("a"), function_step("b")
    workflow = create_workflow(id="w").branch([(holds, a), (holds, b)]).commit()
    error = ValueError('no "b" <here>')
    steps = [
        StepRecord("branch", "branch", "failed", 1, duration=0.5, chosen=["b"]),
        StepRecord("b", "b", "failed", 1, error=error, duration=0.5),
    ]
    source = workflow.to_mermaid(run=Failed(error, run_id="r1", steps=steps))
    assert source.startswith('---\ntitle: "w: ✗ failed · run r1 · ValueError: no \\"b\\" ‹here>"\n---\nflowchart TD\n')
    assert "class n1,n3 failed" in source
    assert "class n2 not-run" in source
    assert "linkStyle 0 opacity:0.35" in source
    drawing = rendered(source)
    assert drawing.nodes["n3"] == ["b", "✗ failed · 500 ms", 'ValueError: no "b" <here>']
    assert drawing.nodes["n2"] == ["a", "not run"]
    assert drawing.title == 'w: ✗ failed · run r1 · ValueError: no "b" ‹here>'


def test_a_run_gives_every_frame_a_border_of_the_colour_of_how_it_ended() -> None:
    a, b, c = (function_step(id_) for id_ in "abc")
    inner = create_workflow(id="inner").then(c).commit()
    workflow = create_workflow(id="w").parallel([a, b]).do_while(inner, holds).map(named).commit()
    done = [StepRecord(path, path, "success", 1) for path in ("parallel", "a", "b")]
    failed = [StepRecord(path, path, "failed", 1, error=ValueError("no")) for path in ("do-while", "inner", "inner/c")]
    source = workflow.to_mermaid(run=Failed(ValueError("no"), steps=[*done, *failed]))
    assert "class f1 success-frame" in source
    assert "class f2,f3 failed-frame" in source
    assert "class f1 parallel" in source
    svg = svg_of(source)
    drawn = Counter(re.findall(r'class="cluster ([^"]*)"', svg))
    assert drawn == {"parallel success-frame": 1, "failed-frame": 2}
    borders = re.findall(r'class="cluster failed-frame"[^>]*><rect style="([^"]*)"', svg)
    assert all(f"stroke:{STATUS_COLOURS['failed'].line}" in border.replace(" ", "") for border in borders)


def test_a_hostile_heading_is_shown_as_it_is_but_for_an_angle_bracket() -> None:
    workflow = create_workflow(id="w").then(function_step("a")).commit()
    text = "\" ' <b> #35; &amp; ﬂ°°65¶ß \\n %%{init:{}}%% --- $$x$$ `x` **x** fa:fa-user \u202eabc \x00 : | - ]"
    heading = rendered(workflow.to_mermaid(run=Failed(ValueError(text)))).title
    assert heading == f"w: ✗ failed · ValueError: {printable(text)}".replace("<", "‹")


def test_hostile_conditions_are_shown_as_they_are() -> None:
    def condition(name: str) -> Any:
        def asked(ctx: object) -> bool:
            return True

        asked.__name__ = name
        return asked

    texts = ("end", '"]', "|", "a|b", "`x`", "<b>", "#35;", "&lt;b&gt;", "-->", "$$x$$", "fa:fa-user", "ﬂ°°65¶ß", "\\n")
    arms = [(condition(text), function_step(f"s{number}")) for number, text in enumerate(texts)]
    workflow = create_workflow(id="w").branch(arms, otherwise=function_step("last")).commit()
    drawing = rendered(workflow.to_mermaid())
    shown = [label for label in drawing.labels if label != "otherwise"]
    assert sorted(shown) == sorted(printable(text) for text in texts)


def test_an_arm_that_does_nothing_is_dimmed() -> None:
    plan = Plan("w", (ParallelNode("parallel", (Plan("x", ()), Plan("b", (StepNode(function_step("b")),)))),))
    chart = MermaidChart()
    chart.plan(plan)
    assert "class n1 idle" in chart.text()
    assert rendered(chart.text()).nodes == {"n1": ["x"], "n2": ["b"]}


def test_a_block_that_no_arrow_crosses_keeps_its_arms_side_by_side() -> None:
    alone = create_workflow(id="w").parallel([function_step("a"), function_step("b")]).commit()
    assert "direction TB" in alone.to_mermaid()
    followed = create_workflow(id="w").parallel([function_step("a"), function_step("b")]).map(named).commit()
    assert "direction TB" not in followed.to_mermaid()


def test_a_long_description_is_cut() -> None:
    text = create_workflow(id="w").then(function_step("a", "word " * 100)).commit().to_mermaid()
    assert "word word" in text
    assert len(text) < 150


def test_every_hostile_label_is_shown_as_it_is_above_a_hostile_description() -> None:
    texts = list(zip(HOSTILE, [*HOSTILE[1:], HOSTILE[0]], strict=True))
    for start in range(0, len(texts), 23):  # Mermaid takes much longer for a wide chart than for several
        some = texts[start : start + 23]
        chart = MermaidChart()
        for text, description in some:
            chart.plan(Plan("w", (StepNode(function_step(text, description)),)))
        drawing = rendered(chart.text())
        assert [drawing.nodes[id_] for id_ in drawing.in_order()] == [[printable(a), printable(b)] for a, b in some]


def test_every_hostile_title_is_shown_as_it_is_and_so_is_a_label_alone() -> None:
    titles = (
        "end",
        '"]',
        "`x`",
        "<b>",
        "#35;",
        "%%{init:{}}%%",
        "$$x$$",
        "fa:fa-user",
        "ﬂ°°65¶ß",
        "\\n",
        "style:x#35;",
    )
    chart = MermaidChart()
    for text in titles:
        with chart.frame(text):
            chart.note(text)
    drawing = rendered(chart.text())
    frames = sorted(drawing.frames, key=lambda id_: int(id_[1:]))
    assert [drawing.frames[id_] for id_ in frames] == [printable(text) for text in titles]
    assert [drawing.nodes[id_] for id_ in drawing.in_order()] == [[printable(text)] for text in titles]


@examples(1 / 60, shrunk=False)  # shrinking would take minutes
@given(st.lists(st.text(min_size=1, max_size=12).filter(str.strip), min_size=20, max_size=20))
def test_every_text_is_shown_as_it_is(texts: list[str]) -> None:
    chart = MermaidChart()
    for text in texts:
        chart.note(text)
    drawing = rendered(chart.text())
    assert [drawing.nodes[id_] for id_ in drawing.in_order()] == [[printable(text)] for text in texts]


@examples(1 / 30, shrunk=False)
@given(workflows(nodes=3, arms=2))
def test_mermaid_draws_the_nodes_and_edges_of_the_networkx_graph(workflow: Workflow[Any, Any]) -> None:
    graph = workflow.to_networkx()
    drawing = rendered(workflow.to_mermaid())
    order = drawing.in_order()
    assert [drawing.nodes[id_][0] for id_ in order] == [printable(node["label"]) for node in graph.nodes.values()]
    described = [" ".join(drawing.nodes[id_][1:]) for id_ in order]
    assert described == [_cut(node["description"]) for node in graph.nodes.values()]
    path = dict(zip(order, graph.nodes, strict=True))
    back = {edge[:2] for edge in graph.graph["back_edges"]}
    assert {(path[source], path[target]) for source, target in drawing.edges} == set(graph.edges) | back


def _cut(description: str | None) -> str:
    return shortened(description, 80) if description else ""


@given(st.text(max_size=40))
def test_escapes_are_undone_by_reading_character_numbers(text: str) -> None:
    undone = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), escaped(text))
    assert undone.replace(WORD_JOINER, "") == printable(text)


def test_plain_ids_stay_readable_in_the_source() -> None:
    assert escaped("processor:pii-detector") == "processor:pii-detector"
    assert escaped("map: pick_redacted") == "map: pick_redacted"


def test_workflows_in_workflows_in_workflows_are_drawn() -> None:
    workflow = create_workflow(id="w").then(function_step("s")).commit()
    for depth in range(2):
        guards = [function_step(f"a{n}") for n in range(2)]
        workflow = create_workflow(id=f"w{depth}").then(workflow).parallel(guards).map(named).commit()
    drawing = rendered(workflow.to_mermaid())
    assert len(drawing.nodes) == workflow.to_networkx().number_of_nodes()
    assert len(drawing.edges) == workflow.to_networkx().number_of_edges()
    assert {"w", "w0", "parallel"} == set(drawing.frames.values())

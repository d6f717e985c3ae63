"""Several plans in one drawing."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import DefinitionError
from interlock.workflows import Plan, create_workflow
from interlock.workflows.blocks import width_of
from interlock.workflows.draw_json import plan_json
from interlock.workflows.graph_of import graph_of
from interlock.workflows.labels import printable
from interlock.workflows.sections import (
    NOTHING_ACTS,
    Section,
    sections_json,
    sections_mermaid,
    sections_svg,
    sections_text,
)
from tests.workflows.drawn import KINDS, examples, function_step, named, rendered, workflows

GUARDS = create_workflow(id="g").parallel([function_step("pii"), function_step("injection")]).map(named).commit()
POINTS = (
    Section("input", "input", "once, before the loop", GUARDS.plan),
    Section("step", "input_step", "every step"),
    Section("model", "model", text="a/model"),
    Section("result", "tool_result", "after each tool", GUARDS.plan),
    Section("end", "output_result", "once"),
)
LOOP = (("input", "step"), ("step", "model"), ("model", "result"), ("result", "step"), ("model", "end"))


def test_text_shows_each_plan_in_its_box_and_the_loop_on_the_side() -> None:
    drawn = """
agent support

┌─ input ── once, before the loop ─┐
│                 │                │
│         ┌───────┴───┐            │
│      ┌──▼──┐  ┌─────▼─────┐      │
│      │ pii │  │ injection │      │
│      └──┬──┘  └─────┬─────┘      │
│         └───────┬───┘            │
│                 │                │
│          ╭──────▼─────╮          │
│          │ map: named │          │
│          ╰──────┬─────╯          │
└─────────────────┼────────────────┘
                  ▼
┌─ input_step ──────── every step ─┐◀─┐
│         nothing acts here        │  │
└─────────────────┬────────────────┘  │
                  ▼                   │
┌─ model ──────────────────────────┐  │
│              a/model             ├──┼─┐
└─────────────────┬────────────────┘  │ │
                  ▼                   │ │
┌─ tool_result ── after each tool ─┐  │ │
│                 │                │  │ │
│         ┌───────┴───┐            │  │ │
│      ┌──▼──┐  ┌─────▼─────┐      │  │ │
│      │ pii │  │ injection │      │  │ │
│      └──┬──┘  └─────┬─────┘      │  │ │
│         └───────┬───┘            │  │ │
│                 │                │  │ │
│          ╭──────▼─────╮          │  │ │
│          │ map: named │          │  │ │
│          ╰──────┬─────╯          ├──┘ │
└─────────────────┴────────────────┘    │
                                        │
┌─ output_result ─────────── once ─┐◀───┘
│         nothing acts here        │
└──────────────────────────────────┘
"""
    assert sections_text("agent support", POINTS, LOOP) == drawn.strip("\n")


def test_an_arrow_leads_down_only_where_an_edge_does() -> None:
    text = sections_text("t", [Section("a", "a"), Section("b", "b"), Section("c", "c")], [("a", "b")])
    assert [line.strip() for line in text.splitlines() if not set(line) & set("│┌└")] == ["t", "", "▼", ""]


def test_without_edges_each_section_leads_to_the_next() -> None:
    sections = [Section("a", "a"), Section("b", "b"), Section("c", "c")]
    assert sections_json("t", sections)["edges"] == [["a", "b"], ["b", "c"]]
    assert sections_text("t", sections).count("▼") == 2


def test_a_section_without_a_plan_says_that_nothing_acts_there() -> None:
    empty = [Section("a", "a"), Section("b", "b", plan=Plan("x", ())), Section("c", "c", text="  ")]
    assert sections_text("t", empty).count(NOTHING_ACTS) == 3
    chart = sections_mermaid("t", empty)
    assert chart.count(NOTHING_ACTS) == 3
    assert "class n1,n2,n3 idle" in chart


def test_a_text_stands_in_place_of_a_plan_and_is_not_dimmed() -> None:
    chart = sections_mermaid("t", [Section("model", "model", text="a/model")])
    assert '["a/model"]' in chart
    assert "idle" not in chart
    assert "│   a/model   │" in sections_text("t", [Section("model", "model", text="a/model")])


def test_mermaid_draws_a_frame_each_and_arrows_between_them() -> None:
    source = sections_mermaid("agent", POINTS, LOOP)
    drawing = rendered(source)
    titles = {title: id_ for id_, title in drawing.frames.items()}
    frames = {
        "input": titles["input: once, before the loop"],
        "step": titles["input_step: every step"],
        "model": titles["model"],
        "result": titles["tool_result: after each tool"],
        "end": titles["output_result: once"],
    }
    assert "agent" in titles
    assert {(frames[a], frames[b]) for a, b in LOOP} == {edge for edge in drawing.edges if edge[0].startswith("f")}
    assert f"{frames['result']} -.-> {frames['step']}" in source
    labels = [drawing.nodes[id_][0] for id_ in drawing.in_order()]
    guards = ["pii", "injection", "map: named"]
    assert labels == [*guards, NOTHING_ACTS, "a/model", *guards, NOTHING_ACTS]


def test_svg_draws_a_frame_each_with_what_acts_there_and_arrows_between_them() -> None:
    root = ET.fromstring(sections_svg("agent", POINTS, LOOP))
    shown = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert shown[0] == "agent"
    for section in POINTS:
        assert section.label in shown
        assert not section.note or section.note in shown
    assert shown.count(NOTHING_ACTS) == 2
    assert shown.count("pii") == shown.count("injection") == 2
    assert "a/model" in shown
    dashed = [path for path in root.iter("{http://www.w3.org/2000/svg}path") if path.get("stroke-dasharray")]
    assert len(dashed) == 1  # the way back


TIP = re.compile(r"M([\d.]+) ([\d.]+)l-4 -8h8z")


def test_the_sections_of_a_picture_share_one_axis_from_its_begin_to_its_end() -> None:
    arms = [function_step("a" * 18), function_step("b"), function_step("d")]
    uneven = create_workflow(id="g").parallel(arms).map(named).commit()
    folded = create_workflow(id="f").then(function_step("c" * 25)).commit()
    sections = [
        Section("one", "one", plan=GUARDS.plan),
        Section("two", "two", plan=uneven.plan),
        Section("three", "three"),
        Section("four", "four", plan=folded.plan),
    ]
    root = ET.fromstring(sections_svg("agent", sections, ends=("the question", "the answer")))
    svg = "{http://www.w3.org/2000/svg}"
    tops = [float(box.get("y", "")) for box in root.iter(f"{svg}rect") if box.get("class") in ("frame", "box")]
    shown = [text.text for text in root.iter(f"{svg}text")]
    assert {"the question", "the answer"} <= set(shown)
    [tips] = [path.get("d", "") for path in root.iter(f"{svg}path") if path.get("class") == "tip"]
    tipped = [(float(x), float(y)) for x, y in TIP.findall(tips)]
    frames = sorted(tops[: len(sections)])
    [end] = [float(text.get("x", "")) for text in root.iter(f"{svg}text") if text.text == "the answer"]
    into = [x for x, y in tipped if any(abs(y - top) < 0.2 for top in frames)]
    assert len(into) == len(sections)
    assert {*into, max(tipped, key=lambda tip: tip[1])[0]} == {end}
    assert max(y for _, y in tipped) > frames[-1]
    middles = {text.text: float(text.get("x", "")) for text in root.iter(f"{svg}text")}
    assert {middles[text] for text in ("b", "c" * 25, NOTHING_ACTS)} == {end}


def test_of_a_plan_that_leads_back_the_way_begins_at_its_last_node_and_not_at_the_frame() -> None:
    sections = [Section("a", "a", text="a"), Section("b", "b", plan=GUARDS.plan), Section("c", "c", text="c")]
    root = ET.fromstring(sections_svg("agent", sections, [("a", "b"), ("b", "a"), ("a", "c")]))
    [back] = [p.get("d", "") for p in root.iter("{http://www.w3.org/2000/svg}path") if p.get("stroke-dasharray")]
    start = re.match(r"M([\d.]+) ([\d.]+)", back)
    assert start is not None
    boxes = [r for r in root.iter("{http://www.w3.org/2000/svg}rect") if r.get("class") == "box"]
    last = max(boxes, key=lambda box: float(box.get("y", "")))
    assert float(start[2]) == pytest.approx(float(last.get("y", "")) + float(last.get("height", "")), abs=0.2)


def test_json_has_each_plan_as_a_workflow_tells_it() -> None:
    told = sections_json("agent", POINTS, LOOP)
    assert json.loads(json.dumps(told)) == told
    assert (told["kind"], told["title"], told["edges"]) == ("sections", "agent", [list(edge) for edge in LOOP])
    assert told["sections"][0] == {
        "id": "input",
        "label": "input",
        "note": "once, before the loop",
        "text": None,
        "plan": plan_json(GUARDS.plan),
    }
    assert told["sections"][1]["plan"] is None
    assert told["sections"][2]["text"] == "a/model"


@pytest.mark.parametrize("draw", [sections_json, sections_mermaid, sections_svg, sections_text])
def test_faults_are_told_all_at_once(draw: Any) -> None:
    with pytest.raises(DefinitionError) as caught:
        draw("t", [Section("a", "a"), Section("a", "b")], [("a", "x"), ("y", "a")])
    assert len(caught.value.faults) == 3
    assert "'a' stands twice" in str(caught.value)
    assert "'x', which is no section" in str(caught.value)


@st.composite
def drawn_sections(draw: st.DrawFn) -> tuple[Sequence[Section], Sequence[tuple[str, str]]]:
    count = draw(st.integers(1, 6))
    kinds = tuple(kind for kind in KINDS if kind != "loop")  # whose way back is an arrow of the same look
    drawn = workflows(depth=1, nodes=3, arms=3, kinds=kinds).map(lambda workflow: workflow.plan)
    plans = st.one_of(st.none(), drawn)
    texts = st.text(max_size=60)
    sections = [Section(f"s{n}", draw(texts), draw(texts), draw(plans)) for n in range(count)]
    places = st.integers(0, count - 1).map(lambda n: f"s{n}")
    return sections, draw(st.lists(st.tuples(places, places), max_size=5))


@examples(1 / 4)
@given(drawn_sections())
def test_boxes_are_straight_and_each_side_arrow_is_drawn(
    drawn: tuple[Sequence[Section], Sequence[tuple[str, str]]],
) -> None:
    sections, edges = drawn
    lines = sections_text("title", sections, edges).splitlines()[2:]
    assert all(line == line.rstrip() for line in lines)
    sides = {
        width_of(re.split(r"(?<=[┐┘])", line)[0]) for line in lines if line.startswith(("┌─", "└─")) and "◀" not in line
    }
    aside = {(a, b) for a, b in edges if int(b[1:]) != int(a[1:]) + 1}
    assert sum("◀" in line for line in lines) == len({b for _, b in aside})
    assert sum(line.startswith("└") for line in lines) == len(sections)
    assert len(sides) <= 2


@examples(1 / 4)
@given(drawn_sections())
def test_a_picture_of_sections_can_be_read_and_holds_every_node(
    drawn: tuple[Sequence[Section], Sequence[tuple[str, str]]],
) -> None:
    sections, edges = drawn
    root = ET.fromstring(sections_svg("title", sections, edges))
    paths = Counter(path for group in root.iter() if (path := group.get("data-path")))
    plans = [section.plan for section in sections if section.plan is not None]
    nodes = [v for plan in plans for v in graph_of(plan).vertices()]
    assert Counter(printable(node.path) for node in nodes) <= paths

"""``workflow.to_svg()``."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.steps import Step, create_step
from interlock.workflows import Failed, Plan, StepNode, StepRecord, Workflow, create_workflow
from interlock.workflows.graph import BranchCluster, ParallelCluster
from interlock.workflows.graph_of import graph_of
from interlock.workflows.labels import printable
from tests.workflows.drawn import HOSTILE, examples, function_step, holds, named, outcomes, workflows

SVG = "{http://www.w3.org/2000/svg}"


def read(svg: str) -> ET.Element:
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    return root


def groups(root: ET.Element) -> Iterator[tuple[str, ET.Element]]:
    """The group of each node and frame, with its path."""
    for element in root.iter(f"{SVG}g"):
        path = element.get("data-path")
        if path is not None:
            yield path, element


def title(element: ET.Element) -> list[str]:
    """What one is told who points at it."""
    [found] = element.findall(f"{SVG}title")
    return (found.text or "").split("\n")


def texts(element: ET.Element) -> list[str]:
    return [text.text or "" for text in element.iter(f"{SVG}text")]


@examples(1 / 4)
@given(workflows())
def test_every_node_and_frame_is_there_once_under_its_path_with_its_label(workflow: Workflow[Any, Any]) -> None:
    root = read(workflow.to_svg())
    drawn = Counter(path for path, _ in groups(root))
    members = [m for m in graph_of(workflow.plan).members() if not isinstance(m, ParallelCluster | BranchCluster)]
    assert drawn == Counter(printable(member.path) for member in members)
    labels = Counter((printable(member.path), printable(member.label)) for member in members)
    assert Counter((path, title(group)[0]) for path, group in groups(root)) == labels


@examples(1 / 4)
@given(workflows(nodes=3, arms=3).flatmap(lambda workflow: st.tuples(st.just(workflow), outcomes(workflow))))
def test_it_holds_no_script_and_nothing_from_outside_whatever_ids_and_reasons_hold(
    drawn: tuple[Workflow[Any, Any], Any],
) -> None:
    workflow, run = drawn
    svg = workflow.to_svg(run=run)
    root = read(svg)
    known = {"svg", "title", "desc", "style", "rect", "text", "g", "path", "circle", "polygon"}
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= known
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on")
            assert "href" not in name
            assert name != "id"
            if name != "data-path" and name != "aria-label":
                assert "url(" not in value
    [style] = root.findall(f"{SVG}style")
    assert not re.search(r"url\(|@import|<", style.text or "")


def test_all_of_its_style_is_for_a_medium_so_that_viewers_of_files_draw_it_by_its_attributes_alone() -> None:
    root = read(create_workflow(id="w").map(named).commit().to_svg())
    assert not any(element.get("style") for element in root.iter())
    [style] = root.findall(f"{SVG}style")
    rest, outside, depth = style.text or "", "", 0
    for char in rest:
        depth -= char == "}"
        outside += char if not depth else ""
        depth += char == "{"
    assert re.fullmatch(r"(@media[^{}]*\{\})+", outside)
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    assert root.get("viewBox") == f"0 0 {width:g} {height:g}"


def test_every_hostile_label_is_shown_as_it_is() -> None:
    workflow = Workflow[Any, Any](Plan("w", tuple(StepNode(function_step(text)) for text in HOSTILE)))
    shown = [text for _, group in groups(read(workflow.to_svg())) for text in texts(group)]
    assert shown == [printable(text) for text in HOSTILE]


def test_who_cannot_see_it_is_told_what_it_is() -> None:
    root = read(create_workflow(id="w", input_schema=str).map(named).commit().to_svg())
    assert root.get("role") == "img"
    assert root.get("aria-label") == "w: str → anything"
    assert title(root) == ["w: str → anything"]


def test_who_points_at_a_node_is_told_kind_description_and_schemas() -> None:
    def length(ctx: Any) -> int:
        return len(ctx.input)

    step: Step[Any, int] = create_step(
        length, id="length", input_schema=str, output_schema=int, description="How long it is. " * 20
    )
    [(_, group)] = groups(read(create_workflow(id="w").then(step).commit().to_svg()))
    told = title(group)
    assert (told[0], told[1], told[3]) == ("length", "function", "str → int")
    assert told[2].startswith("How long it is. How long it is.")


def test_a_long_label_is_broken_and_a_longer_one_cut_but_told_whole() -> None:
    id_ = "-".join(["a-rather-long-part"] * 12)
    [(_, group)] = groups(read(create_workflow(id="w").then(function_step(id_)).commit().to_svg()))
    lines = texts(group)
    assert len(lines) == 3
    assert id_.startswith("".join(lines).removesuffix("…"))
    assert title(group)[0] == id_


def test_conditions_and_ways_back_are_written_beside_the_wires() -> None:
    workflow = (
        create_workflow(id="w").branch([(holds, function_step("a"))]).do_until(function_step("b"), holds).commit()
    )
    shown = texts(read(workflow.to_svg()))
    assert {"holds", "none", "until holds"} <= set(shown)


def test_a_run_colours_nodes_and_says_why_and_how_it_ended() -> None:
    a, b = function_step("a"), function_step("b")
    workflow = create_workflow(id="w").then(a).then(b).map(named).commit()
    error = ValueError("no <b> & no c")
    steps = [StepRecord("a", "a", "success", 1, duration=0.5), StepRecord("b", "b", "failed", 1, error=error)]
    root = read(workflow.to_svg(run=Failed(error, run_id="r1", steps=steps)))
    assert "✗ failed · run r1 · ValueError: no <b> & no c" in texts(root)
    told = {path: (texts(group), group) for path, group in groups(root)}
    assert told["a"][0] == ["a", "✓ 500 ms"]
    assert told["b"][0] == ["b", "✗ failed", "ValueError: no <b> & no c"]
    assert told["map"][0] == ["map: named", "not run"]
    fills = {path: next(group.iter(f"{SVG}rect")).get("fill") for path, (_, group) in told.items()}
    assert len(set(fills.values())) == 3
    assert [told[path][1].get("opacity") for path in ("a", "b", "map")] == [None, None, "0.55"]


def test_it_is_the_same_every_time() -> None:
    workflow = create_workflow(id="w").parallel([function_step("a"), function_step("b")]).map(named).commit()
    assert workflow.to_svg() == workflow.to_svg()


def test_a_notebook_shows_the_picture_and_where_it_cannot_the_lines() -> None:
    workflow = create_workflow(id="w").then(function_step("a")).commit()
    shown = workflow._repr_mimebundle_()
    assert shown == {"image/svg+xml": workflow.to_svg(), "text/plain": workflow.to_text()}


def chain(count: int) -> Workflow[Any, Any]:
    return Workflow(Plan("w", tuple(StepNode(function_step(f"step-{n:04}")) for n in range(count))))


def wide(count: int) -> Workflow[Any, Any]:
    return create_workflow(id="w").parallel([function_step(f"step-{n:04}") for n in range(count)]).commit()


@pytest.mark.parametrize("make", [chain, wide])
def test_its_size_grows_with_the_number_of_nodes(make: Any) -> None:
    small, large = len(make(100).to_svg()), len(make(1000).to_svg())
    assert large < 11 * small

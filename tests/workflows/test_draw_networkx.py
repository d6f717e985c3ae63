"""``workflow.to_networkx()``."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import networkx as nx
from hypothesis import given

from interlock.schema import UNSET
from interlock.steps import StepContext, step
from interlock.workflows import Workflow, create_workflow
from tests.workflows.drawn import examples, function_step, holds, workflows


@step
def length(ctx: StepContext[str]) -> int:
    """How long it is.

    In characters.
    """
    return len(ctx.input)


def test_nodes_carry_kind_label_description_and_the_schemas_themselves() -> None:
    graph = create_workflow(id="w", input_schema=str).then(length).map(lambda ctx: ctx.input).commit().to_networkx()
    assert graph.nodes["length"] == {
        "id": "length",
        "kind": "function",
        "label": "length",
        "description": "How long it is.",
        "input_schema": str,
        "output_schema": int,
    }
    assert graph.nodes["map"]["kind"] == "map"
    assert graph.nodes["map"]["output_schema"] is UNSET


def test_the_graph_carries_what_the_workflow_says_of_itself() -> None:
    workflow = create_workflow(id="w", input_schema=str, output_schema=int, description="Counts.").then(length).commit()
    assert workflow.to_networkx().graph == {
        "id": "w",
        "description": "Counts.",
        "input_schema": str,
        "output_schema": int,
        "back_edges": (),
    }


def test_edges_out_of_a_branch_carry_its_conditions() -> None:
    a, b = function_step("a"), function_step("b")
    graph = create_workflow(id="w").branch([(holds, a)]).then(b).commit().to_networkx()
    assert graph.nodes["branch"]["kind"] == "branch"
    assert dict(graph.edges) == {
        ("branch", "a"): {"kind": "arm", "label": "holds"},
        ("a", "b"): {"kind": "next", "label": ""},
        ("branch", "b"): {"kind": "past", "label": "none"},
    }


def test_the_ways_back_of_loops_are_no_edges_but_told_apart() -> None:
    graph = create_workflow(id="w").do_while(function_step("a"), holds).then(function_step("b")).commit().to_networkx()
    assert list(graph.edges) == [("a", "b")]
    assert graph.graph["back_edges"] == (("a", "a", "while holds"),)


def test_a_nested_step_is_a_node_under_its_path() -> None:
    inner = create_workflow(id="inner").then(function_step("a")).commit()
    outer = create_workflow(id="outer-child").then(inner).commit()
    graph = create_workflow(id="w").then(function_step("a")).then(outer).commit().to_networkx()
    assert list(graph.edges) == [("a", "outer-child/inner/a")]
    assert graph.nodes["outer-child/inner/a"]["id"] == "a"


@examples(1 / 4)
@given(workflows())
def test_there_is_never_a_cycle_and_never_a_loose_end(workflow: Workflow[Any, Any]) -> None:
    graph = workflow.to_networkx()
    assert nx.is_directed_acyclic_graph(graph)
    for source, target, _ in graph.graph["back_edges"]:
        assert source == target or nx.has_path(graph, target, source)
    if len(workflow.plan.nodes) > 1:
        assert nx.is_weakly_connected(graph)


def test_networkx_is_imported_only_when_the_graph_is_asked_for() -> None:
    program = """
import sys
from interlock.workflows import create_workflow
workflow = create_workflow(id="w").map(lambda ctx: ctx.input).commit()
workflow.to_json(), workflow.to_text(), workflow.to_mermaid(), workflow.to_svg(), workflow.to_dot()
assert "networkx" not in sys.modules
workflow.to_networkx()
assert "networkx" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)

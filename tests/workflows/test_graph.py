"""The graph that all drawings share: which nodes there are, and where the edges lead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given

from interlock.steps import create_step
from interlock.workflows import MapNode, MergeNode, NestedNode, ParallelNode, Plan, StepNode, Workflow, create_workflow
from interlock.workflows.graph import graph_of
from tests.workflows.drawn import function_step, named, workflows

A, B, C, D = (function_step(id_) for id_ in "abcd")


def test_steps_one_after_the_other_are_a_chain() -> None:
    graph = graph_of(create_workflow(id="w").then(A).then(B).map(named).commit().plan)
    assert [(v.path, v.kind, v.label) for v in graph.vertices()] == [
        ("a", "function", "a"),
        ("b", "function", "b"),
        ("map", "map", "map: named"),
    ]
    assert graph.edges == (("a", "b"), ("b", "map"))


def test_a_parallel_block_between_two_steps_is_its_edges_alone() -> None:
    graph = graph_of(create_workflow(id="w").then(A).parallel([B, C]).then(D).commit().plan)
    assert [v.path for v in graph.vertices()] == ["a", "b", "c", "d"]
    assert set(graph.edges) == {("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")}


def test_a_parallel_block_first_or_last_needs_no_node_either() -> None:
    first = graph_of(create_workflow(id="w").parallel([A, B]).map(named).commit().plan)
    assert set(first.edges) == {("a", "map"), ("b", "map")}
    last = graph_of(create_workflow(id="w").then(A).parallel([B, C]).commit().plan)
    assert set(last.edges) == {("a", "b"), ("a", "c")}
    alone = graph_of(create_workflow(id="w").parallel([A, B]).commit().plan)
    assert [v.path for v in alone.vertices()] == ["a", "b"]
    assert alone.edges == ()


def test_a_join_stands_between_two_parallel_blocks() -> None:
    graph = graph_of(create_workflow(id="w").parallel([A, B]).parallel([C, D]).commit().plan)
    assert [(v.path, v.kind) for v in graph.vertices()][2] == ("parallel.join", "join")
    assert set(graph.edges) == {
        ("a", "parallel.join"),
        ("b", "parallel.join"),
        ("parallel.join", "c"),
        ("parallel.join", "d"),
    }


def test_edges_lead_into_a_nested_workflow_and_out_of_it() -> None:
    inner = create_workflow(id="inner").then(A).parallel([B, C]).commit()
    middle = create_workflow(id="middle").then(inner).then(A).commit()
    graph = graph_of(create_workflow(id="w").then(A).then(middle).then(D).commit().plan)
    assert [v.path for v in graph.vertices()] == [
        "a",
        "middle/inner/a",
        "middle/inner/b",
        "middle/inner/c",
        "middle/a",
        "d",
    ]
    assert ("a", "middle/inner/a") in graph.edges
    assert {("middle/inner/b", "middle/a"), ("middle/inner/c", "middle/a")} <= set(graph.edges)
    assert ("middle/a", "d") in graph.edges


def test_a_nested_workflow_stands_under_the_id_of_its_step() -> None:
    inner = create_workflow(id="inner").then(A).commit()
    graph = graph_of(create_workflow(id="w").then(create_step(inner, id="other")).commit().plan)
    assert [v.path for v in graph.vertices()] == ["other/a"]


def test_an_arm_that_does_nothing_is_a_node_so_that_its_key_is_seen() -> None:
    plan = Plan("w", (StepNode(A), ParallelNode("parallel", (Plan("x", ()), Plan("b", (StepNode(B),)))), StepNode(C)))
    graph = graph_of(plan)
    assert [(v.path, v.kind) for v in graph.vertices()] == [
        ("a", "function"),
        ("x", "idle"),
        ("b", "function"),
        ("c", "function"),
    ]
    assert set(graph.edges) == {("a", "x"), ("a", "b"), ("x", "c"), ("b", "c")}


def test_a_merge_says_whom_it_prefers() -> None:
    plan = Plan("w", (MergeNode("merge"), MergeNode("merge-2", prefer="a")))
    assert [v.label for v in graph_of(plan).vertices()] == ["merge", "merge-2, prefers a"]


def test_a_map_of_a_lambda_or_a_callable_object_is_just_a_map() -> None:
    class Pick:
        def __call__(self, ctx: object) -> object:
            return ctx

    plan = Plan("w", (MapNode("map", lambda ctx: ctx), MapNode("map-2", Pick())))
    assert [v.label for v in graph_of(plan).vertices()] == ["map", "map-2"]


@given(workflows())
def test_no_path_and_no_edge_stands_twice(workflow: Workflow[Any, Any]) -> None:
    graph = graph_of(workflow.plan)
    paths = [v.path for v in graph.vertices()]
    assert len(set(paths)) == len(paths)
    assert len(set(graph.edges)) == len(graph.edges)
    assert {path for edge in graph.edges for path in edge} <= set(paths)


@given(workflows())
def test_one_node_leads_to_another_exactly_where_it_runs_before_it(workflow: Workflow[Any, Any]) -> None:
    graph = graph_of(workflow.plan)
    joins = {v.path for v in graph.vertices() if v.kind == "join"}
    reached = {pair for v in graph.vertices() for pair in _reached(v.path, graph.edges)}
    assert {(a, b) for a, b in reached if not {a, b} & joins} == set(_precedence(workflow.plan))


def _reached(start: str, edges: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    found: set[str] = set()
    ahead = [start]
    while ahead:
        here = ahead.pop()
        fresh = {target for source, target in edges if source == here} - found
        found |= fresh
        ahead += fresh
    return {(start, target) for target in found}


def _precedence(plan: Plan) -> Iterator[tuple[str, str]]:
    """Which step runs before which, read off the plan alone."""
    pairs: list[tuple[str, str]] = []
    _ordered(plan, "", pairs)
    yield from pairs


def _ordered(plan: Plan, scope: str, pairs: list[tuple[str, str]]) -> list[str]:
    so_far: list[str] = []
    for node in plan.nodes:
        match node:
            case NestedNode(step=step, plan=inner):
                here = _ordered(inner, f"{scope}{step.id}/", pairs)
            case ParallelNode(arms=arms):
                here = [path for arm in arms for path in _ordered(arm, scope, pairs)]
            case StepNode() | MapNode() | MergeNode():
                here = [scope + node.id]
        pairs += [(before, after) for before in so_far for after in here]
        so_far += here
    return so_far

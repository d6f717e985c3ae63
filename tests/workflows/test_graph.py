"""The graph that all drawings share: which nodes there are, and where the edges lead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import given

from interlock.steps import create_step
from interlock.workflows import (
    BranchNode,
    DagItem,
    DagNode,
    ForeachNode,
    LoopNode,
    MapNode,
    MergeNode,
    NestedNode,
    ParallelNode,
    Plan,
    SleepNode,
    StepNode,
    Workflow,
    create_workflow,
    plans_in,
)
from interlock.workflows.graph import BodyCluster, Edge, Graph
from interlock.workflows.graph_of import graph_of
from tests.workflows.drawn import examples, function_step, holds, named, workflows

A, B, C, D = (function_step(id_) for id_ in "abcd")


def test_steps_one_after_the_other_are_a_chain() -> None:
    graph = graph_of(create_workflow(id="w").then(A).then(B).map(named).commit().plan)
    assert [(v.path, v.kind, v.label) for v in graph.vertices()] == [
        ("a", "function", "a"),
        ("b", "function", "b"),
        ("map", "map", "map: named"),
    ]
    assert pairs(graph) == (("a", "b"), ("b", "map"))


def test_a_parallel_block_between_two_steps_is_its_edges_alone() -> None:
    graph = graph_of(create_workflow(id="w").then(A).parallel([B, C]).then(D).commit().plan)
    assert [v.path for v in graph.vertices()] == ["a", "b", "c", "d"]
    assert set(pairs(graph)) == {("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")}


def test_a_parallel_block_first_or_last_needs_no_node_either() -> None:
    first = graph_of(create_workflow(id="w").parallel([A, B]).map(named).commit().plan)
    assert set(pairs(first)) == {("a", "map"), ("b", "map")}
    last = graph_of(create_workflow(id="w").then(A).parallel([B, C]).commit().plan)
    assert set(pairs(last)) == {("a", "b"), ("a", "c")}
    alone = graph_of(create_workflow(id="w").parallel([A, B]).commit().plan)
    assert [v.path for v in alone.vertices()] == ["a", "b"]
    assert pairs(alone) == ()


def test_a_join_stands_between_two_parallel_blocks() -> None:
    graph = graph_of(create_workflow(id="w").parallel([A, B]).parallel([C, D]).commit().plan)
    assert [(v.path, v.kind) for v in graph.vertices()][2] == ("parallel.join", "join")
    assert set(pairs(graph)) == {
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
    assert ("a", "middle/inner/a") in pairs(graph)
    assert {("middle/inner/b", "middle/a"), ("middle/inner/c", "middle/a")} <= set(pairs(graph))
    assert ("middle/a", "d") in pairs(graph)


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
    assert set(pairs(graph)) == {("a", "x"), ("a", "b"), ("x", "c"), ("b", "c")}


def test_a_merge_says_whom_it_prefers() -> None:
    plan = Plan("w", (MergeNode("merge"), MergeNode("merge-2", prefer="a")))
    assert [v.label for v in graph_of(plan).vertices()] == ["merge", "merge-2, prefers a"]


def test_a_map_of_a_lambda_or_a_callable_object_is_just_a_map() -> None:
    class Pick:
        def __call__(self, ctx: object) -> object:
            return ctx

    plan = Plan("w", (MapNode("map", lambda ctx: ctx), MapNode("map-2", Pick())))
    assert [v.label for v in graph_of(plan).vertices()] == ["map", "map-2"]


def test_a_branch_is_a_node_with_a_labelled_edge_to_each_arm_and_one_past_them() -> None:
    graph = graph_of(
        create_workflow(id="w").branch([(holds, [A, B]), (lambda ctx: True, C)], mode="all").map(named).commit().plan
    )
    assert next((v.path, v.kind, v.label) for v in graph.vertices()) == ("branch", "branch", "branch: all that hold")
    assert set(graph.edges) == {
        Edge("branch", "a", "holds", "arm"),
        Edge("a", "b"),
        Edge("branch", "c", "2", "arm"),
        Edge("b", "map"),
        Edge("c", "map"),
        Edge("branch", "map", "none", "past"),
    }


def test_a_branch_with_otherwise_has_no_way_past() -> None:
    graph = graph_of(create_workflow(id="w").branch([(holds, A)], otherwise=B).map(named).commit().plan)
    assert set(graph.edges) == {
        Edge("branch", "a", "holds", "arm"),
        Edge("branch", "b", "otherwise", "arm"),
        Edge("a", "map"),
        Edge("b", "map"),
    }


def test_a_way_past_that_leads_to_several_arms_goes_through_a_join() -> None:
    graph = graph_of(create_workflow(id="w").branch([(holds, A)]).parallel([B, C]).commit().plan)
    assert Edge("branch", "branch.join", "none", "past") in graph.edges
    assert {Edge("branch.join", "b"), Edge("branch.join", "c")} <= set(graph.edges)


def test_a_loop_has_an_edge_back_that_says_when() -> None:
    once = graph_of(create_workflow(id="w").then(A).do_while(B, holds).then(C).commit().plan)
    assert set(once.edges) == {Edge("a", "b"), Edge("b", "b", "while holds", "back"), Edge("b", "c")}
    inner = create_workflow(id="inner").then(A).then(B).commit()
    two = graph_of(create_workflow(id="w").do_until(inner, lambda ctx: True).commit().plan)
    assert Edge("inner/b", "inner/a", "until it holds", "back") in two.edges


def test_a_loop_around_parallel_blocks_goes_back_from_a_join() -> None:
    inner = create_workflow(id="inner").parallel([A, B]).commit()
    graph = graph_of(create_workflow(id="w").do_while(inner, holds).commit().plan)
    back = {edge for edge in graph.edges if edge.kind == "back"}
    assert {(edge.source, edge.target) for edge in back} == {("inner.join", "inner/a"), ("inner.join", "inner/b")}


def test_a_loop_in_a_loop_has_a_way_back_of_its_own() -> None:
    inner = create_workflow(id="inner").do_while(A, holds).commit()
    graph = graph_of(create_workflow(id="w").do_while(inner, holds).commit().plan)
    assert [edge[:2] for edge in graph.edges if edge.kind == "back"] == [
        ("inner/a", "inner/a"),
        ("inner.join", "inner/a"),
    ]


def test_foreach_is_a_cluster_around_its_body_that_says_how() -> None:
    graph = graph_of(create_workflow(id="w").foreach(A, concurrency=4, on_error="collect").commit().plan)
    [cluster] = graph.chain.members
    assert isinstance(cluster, BodyCluster)
    assert (cluster.kind, cluster.label, cluster.again) == ("foreach", "foreach: each item, 4 at once, collect", None)
    assert [v.path for v in graph.vertices()] == ["a"]


def test_a_dag_has_an_edge_for_each_need() -> None:
    graph = graph_of(
        create_workflow(id="w")
        .then(function_step("s"))
        .dag({A: [], B: [A], C: [A], D: [B, C]})
        .map(named)
        .commit()
        .plan
    )
    assert set(pairs(graph)) == {("s", "a"), ("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "map")}


def test_what_leads_out_of_a_dag_into_several_nodes_is_joined() -> None:
    wide = create_workflow(id="wide").parallel([A, B]).commit()
    again = create_step(wide, id="again")
    graph = graph_of(create_workflow(id="w").dag({wide: [], again: [wide]}).commit().plan)
    assert ("wide.join", "again/a") in pairs(graph)


def test_an_arm_of_a_branch_that_does_nothing_at_a_phase_is_a_node() -> None:
    plan = Plan("w", (BranchNode("branch", (holds,), (Plan("x", ()),), Plan("b", (StepNode(B),))),))
    assert [(v.path, v.kind) for v in graph_of(plan).vertices()] == [
        ("branch", "branch"),
        ("x", "idle"),
        ("b", "function"),
    ]


@examples(1 / 4)
@given(workflows())
def test_no_path_and_no_edge_stands_twice(workflow: Workflow[Any, Any]) -> None:
    graph = graph_of(workflow.plan)
    paths = [v.path for v in graph.vertices()]
    assert len(set(paths)) == len(paths)
    assert len({edge[:2] for edge in graph.edges if edge.kind != "back"}) + len(
        {edge[:2] for edge in graph.edges if edge.kind == "back"}
    ) == len(graph.edges)
    assert {path for edge in pairs(graph) for path in edge} <= set(paths)


@examples(1 / 4)
@given(workflows())
def test_one_node_leads_to_another_exactly_where_it_runs_before_it(workflow: Workflow[Any, Any]) -> None:
    graph = graph_of(workflow.plan)
    joins = {v.path for v in graph.vertices() if v.kind == "join"}
    forward = [edge[:2] for edge in graph.edges if edge.kind != "back"]
    reached = {pair for v in graph.vertices() for pair in _reached(v.path, forward)}
    assert {(a, b) for a, b in reached if not {a, b} & joins} == set(_precedence(workflow.plan))


def pairs(graph: Graph) -> Sequence[tuple[str, str]]:
    """The edges without what they say."""
    return tuple((edge.source, edge.target) for edge in graph.edges)


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
            case BranchNode():
                inside = [path for arm in plans_in(node) for path in _ordered(arm, scope, pairs)]
                pairs += [(scope + node.id, path) for path in inside]
                here = [scope + node.id, *inside]
            case ForeachNode(body=body) | LoopNode(body=body):
                here = _ordered(body, scope, pairs)
            case DagNode(items=items):
                held = [_ordered(item.plan, scope, pairs) for item in items]
                pairs += [
                    (a, b) for n in range(len(items)) for m in _needed(items, n) for a in held[m] for b in held[n]
                ]
                here = [path for each in held for path in each]
            case StepNode() | MapNode() | MergeNode() | SleepNode():
                here = [scope + node.id]
        pairs += [(before, after) for before in so_far for after in here]
        so_far += here
    return so_far


def _needed(items: Sequence[DagItem], number: int) -> set[int]:
    """Every node that one needs, also by way of others."""
    needs = set(items[number].needs)
    return needs.union(*(_needed(items, need) for need in needs))

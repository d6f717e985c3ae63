"""``workflow.to_json()``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given

from interlock.steps import StepContext, create_step, step
from interlock.workflows import Failed, StepRecord, Workflow, create_workflow
from tests.workflows.drawn import examples, function_step, holds, workflows


@step
def length(ctx: StepContext[str]) -> int:
    """How long it is."""
    return len(ctx.input)


def test_the_form_is_the_documented_one() -> None:
    inner = create_workflow(id="inner", input_schema=int, output_schema=int).then(function_step("keep")).commit()
    workflow = (
        create_workflow(id="w", input_schema=str, output_schema=list[int], description="d", metadata={"team": "a"})
        .then(length)
        .parallel([inner, create_step(inner, id="again")])
        .map(lambda ctx: [1])
        .commit()
    )
    keep = {"kind": "function", "label": "keep", "description": None, "input": "anything", "output": "anything"}
    assert workflow.to_json() == {
        "id": "w",
        "kind": "workflow",
        "description": "d",
        "metadata": {"team": "a"},
        "input": "str",
        "output": "list[int]",
        "nodes": [
            {
                "id": "length",
                "path": "length",
                "kind": "function",
                "label": "length",
                "description": "How long it is.",
                "input": "str",
                "output": "int",
            },
            {
                "id": "parallel",
                "path": "parallel",
                "kind": "parallel",
                "label": "parallel",
                "arms": [
                    {
                        "id": id_,
                        "nodes": [
                            {
                                "id": id_,
                                "path": id_,
                                "kind": "workflow",
                                "label": id_,
                                "description": None,
                                "input": "int",
                                "output": "int",
                                "nodes": [{"id": "keep", "path": f"{id_}/keep", **keep}],
                            }
                        ],
                    }
                    for id_ in ("inner", "again")
                ],
            },
            {
                "id": "map",
                "path": "map",
                "kind": "map",
                "label": "map",
                "description": None,
                "input": "anything",
                "output": "anything",
            },
        ],
        "edges": [["length", "inner/keep"], ["length", "again/keep"], ["inner/keep", "map"], ["again/keep", "map"]],
    }


def test_metadata_that_json_does_not_know_appears_as_the_name_of_its_type() -> None:
    class Owner:
        pass

    workflow = create_workflow(id="w", metadata={"owner": Owner(), "of": {"a", "b"}}).then(length).commit()
    told = workflow.to_json()["metadata"]
    assert told["owner"] == "Owner"
    assert sorted(told["of"]) == ["a", "b"]


def test_every_block_has_the_documented_form() -> None:
    a, b, c, d = (function_step(id_) for id_ in "abcd")
    e, f, g = (function_step(id_) for id_ in "efg")
    workflow = (
        create_workflow(id="w")
        .branch([(holds, [a, b])])
        .then(c)
        .foreach(d)
        .do_until(e, holds)
        .dag({f: [], g: [f]})
        .commit()
    )
    told = workflow.to_json()
    branch, _, foreach, loop, dag = told["nodes"]
    assert {key: branch[key] for key in ("id", "path", "kind", "label", "passes")} == {
        "id": "branch",
        "path": "branch",
        "kind": "branch",
        "label": "branch",
        "passes": True,
    }
    assert [(arm["id"], arm["condition"], [n["id"] for n in arm["nodes"]]) for arm in branch["arms"]] == [
        ("b", "holds", ["a", "b"])
    ]
    assert [n["id"] for n in foreach["nodes"]] == ["d"]
    assert (foreach["kind"], foreach["label"], set(foreach)) == (
        "foreach",
        "foreach: each item",
        {"id", "path", "kind", "label", "nodes"},
    )
    assert (loop["kind"], loop["again"]) == ("loop", "until holds")
    assert [(item["id"], item["needs"]) for item in dag["items"]] == [("f", []), ("g", ["f"])]
    assert told["edges"] == [
        ["branch", "a", {"kind": "arm", "label": "holds"}],
        ["a", "b"],
        ["b", "c"],
        ["branch", "c", {"kind": "past", "label": "none"}],
        ["c", "d"],
        ["d", "e"],
        ["e", "e", {"kind": "back", "label": "until holds"}],
        ["e", "f"],
        ["f", "g"],
    ]


def test_a_run_is_told_of_nodes_and_edges_and_at_the_top() -> None:
    workflow = create_workflow(id="w").then(length).then(function_step("b")).commit()
    error = ValueError("no")
    steps = [
        StepRecord("length", "length", "success", "x", duration=0.5),
        StepRecord("b", "b", "failed", 1, error=error, duration=0.25, attempts=2),
    ]
    told = workflow.to_json(run=Failed(error, run_id="r1", duration=1.0, steps=steps))
    assert json.loads(json.dumps(told)) == told
    assert told["run"] == {
        "status": "failed",
        "run_id": "r1",
        "duration": 1.0,
        "heading": "✗ failed in 1 s · run r1 · ValueError: no",
    }
    assert told["nodes"][1]["run"] == {
        "status": "failed",
        "words": "✗ failed · 250 ms · 2 attempts",
        "note": "ValueError: no",
        "times": 1,
        "failed": 1,
        "duration": 0.25,
        "attempts": 2,
        "verdict": None,
        "chosen": None,
    }
    assert told["edges"] == [["length", "b", {"taken": True}]]


def test_without_a_run_nothing_is_said_of_one() -> None:
    assert "run" not in json.dumps(create_workflow(id="w").then(length).commit().to_json())


@examples(1 / 4)
@given(workflows())
def test_it_survives_json_and_is_the_same_every_time(workflow: Workflow[Any, Any]) -> None:
    told = workflow.to_json()
    assert json.loads(json.dumps(told)) == told
    assert json.dumps(workflow.to_json()) == json.dumps(told)


@examples(1 / 4)
@given(workflows())
def test_it_has_the_nodes_and_edges_of_the_networkx_graph(workflow: Workflow[Any, Any]) -> None:
    told = workflow.to_json()
    graph = workflow.to_networkx()
    steps = list(_steps(told["nodes"]))
    assert [node["path"] for node in steps] == list(graph.nodes)
    assert [(node["kind"], node["label"]) for node in steps] == [(n["kind"], n["label"]) for n in graph.nodes.values()]
    forward = [edge for edge in told["edges"] if not (edge[2:] and edge[2]["kind"] == "back")]
    assert {tuple(edge[:2]) for edge in forward} == set(graph.edges)
    back = [(*edge[:2], edge[2]["label"]) for edge in told["edges"] if edge not in forward]
    assert tuple(back) == graph.graph["back_edges"]


def _steps(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        if node["kind"] == "workflow":
            assert all(inner["path"].startswith(f"{node['path']}/") for inner in node["nodes"])
        if node["kind"] == "branch" or not {"nodes", "arms", "items"} & set(node):
            yield node
        yield from _steps(node.get("nodes", []))
        for arm in (*node.get("arms", []), *node.get("items", [])):
            yield from _steps(arm["nodes"])

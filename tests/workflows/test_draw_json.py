"""``workflow.to_json()``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given

from interlock.steps import StepContext, create_step, step
from interlock.workflows import Workflow, create_workflow
from tests.workflows.drawn import function_step, workflows


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


@given(workflows())
def test_it_survives_json_and_is_the_same_every_time(workflow: Workflow[Any, Any]) -> None:
    told = workflow.to_json()
    assert json.loads(json.dumps(told)) == told
    assert json.dumps(workflow.to_json()) == json.dumps(told)


@given(workflows())
def test_it_has_the_nodes_and_edges_of_the_networkx_graph(workflow: Workflow[Any, Any]) -> None:
    told = workflow.to_json()
    graph = workflow.to_networkx()
    steps = list(_steps(told["nodes"]))
    assert [node["path"] for node in steps] == list(graph.nodes)
    assert [(node["kind"], node["label"]) for node in steps] == [(n["kind"], n["label"]) for n in graph.nodes.values()]
    assert {tuple(edge) for edge in told["edges"]} == set(graph.edges)


def _steps(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        if node["kind"] == "workflow":
            assert all(inner["path"].startswith(f"{node['path']}/") for inner in node["nodes"])
            yield from _steps(node["nodes"])
        elif node["kind"] == "parallel":
            for arm in node["arms"]:
                yield from _steps(arm["nodes"])
        else:
            yield node

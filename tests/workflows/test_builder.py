"""Defining a workflow."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from interlock.errors import DefinitionError
from interlock.steps import Step, StepContext, SupportsStep, create_step, step
from interlock.workflows import (
    MapNode,
    MergeNode,
    NestedNode,
    ParallelNode,
    StepNode,
    Workflow,
    WorkflowStep,
    acting_steps,
    create_workflow,
)
from tests.workflows.acting import ActingStep
from tests.workflows.drawn import function_step, workflows


@step
def length(ctx: StepContext[str]) -> int:
    return len(ctx.input)


@step
async def double(ctx: StepContext[int]) -> int:
    return ctx.input * 2


def keep(ctx: StepContext[Any]) -> Any:
    return ctx.input


class Guard(SupportsStep):
    def __init__(self) -> None:
        self.made = ActingStep("processor:guard")

    def as_step(self) -> Step[Any, Any]:
        return self.made


def test_each_method_adds_a_node_in_order() -> None:
    inner = create_workflow(id="inner", input_schema=int).then(double).commit()
    workflow = create_workflow(id="w", input_schema=str).then(length).parallel([inner, double]).map(keep).commit()
    first, block, last = workflow.plan.nodes
    assert first == StepNode(length)
    assert isinstance(block, ParallelNode)
    assert [arm.id for arm in block.arms] == ["inner", "double"]
    assert isinstance(block.arms[0].nodes[0], NestedNode)
    assert block.arms[0].nodes[0].plan is inner.plan
    assert last == MapNode("map", keep)
    assert list(acting_steps(workflow.plan)) == [length, double, double]


def test_anything_a_step_can_be_made_of_is_taken() -> None:
    guard = Guard()
    workflow = create_workflow(id="w").then(guard).then(keep).parallel([keep_too, create_step(guard, id="g2")]).commit()
    assert [node.id for node in workflow.plan.nodes] == ["processor:guard", "keep", "parallel"]
    assert isinstance(workflow.plan.nodes[0], StepNode)
    assert workflow.plan.nodes[0].step is guard.made


def keep_too(ctx: StepContext[Any]) -> Any:
    return ctx.input


def test_a_builder_is_never_changed() -> None:
    base = create_workflow(id="w", input_schema=str).then(length)
    one, other = base.map(keep), base.then(double)
    assert len(base.commit().plan.nodes) == 1
    assert isinstance(one.commit().plan.nodes[-1], MapNode)
    assert isinstance(other.commit().plan.nodes[-1], StepNode)
    again = base.then(double).commit()
    assert again is not base.commit()


def test_a_builder_says_what_it_is() -> None:
    assert repr(create_workflow(id="w").then(keep)) == "<WorkflowBuilder 'w': 1 nodes, not committed>"


def test_a_workflow_carries_what_it_was_given_and_cannot_be_changed_by_it() -> None:
    metadata: dict[str, object] = {"team": "a"}
    workflow = (
        create_workflow(id="w", input_schema=str, output_schema=int, description="d", metadata=metadata).then(length)
    ).commit()
    metadata["team"] = "b"
    assert (workflow.id, workflow.input_schema, workflow.output_schema) == ("w", str, int)
    assert (workflow.description, dict(workflow.metadata)) == ("d", {"team": "a"})
    with pytest.raises(TypeError):
        workflow.metadata["team"] = "c"  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
    assert repr(workflow) == "<Workflow 'w': 1 nodes, str -> int>"


def test_a_nested_workflow_is_a_step_with_its_id_and_schemas() -> None:
    inner = create_workflow(id="inner", input_schema=str, output_schema=int, description="d").then(length).commit()
    made = inner.as_step()
    assert isinstance(made, WorkflowStep)
    assert (made.id, made.kind, made.input_schema, made.output_schema) == ("inner", "workflow", str, int)
    assert made.description == "d"
    assert create_step(inner, id="other").id == "other"
    assert inner.as_step() is made


def test_maps_merges_and_blocks_are_numbered_from_the_second() -> None:
    workflow = (
        create_workflow(id="w").map(keep).parallel([keep]).merge().map(keep).parallel([keep_too]).merge().map(keep)
    ).commit()
    ids = [node.id for node in workflow.plan.nodes]
    assert ids == ["map", "parallel", "merge", "map-2", "parallel-2", "merge-2", "map-3"]


def test_a_step_that_is_called_as_a_map_would_be_keeps_its_id() -> None:
    steps = [function_step(id_) for id_ in ("map", "map-2", "parallel", "merge")]
    builder: Any = create_workflow(id="w").map(keep).map(keep)
    for one in steps:
        builder = builder.then(one)
    ids = [node.id for node in builder.parallel([function_step("parallel-2")]).merge().commit().plan.nodes]
    assert ids == ["map-3", "map-4", "map", "map-2", "parallel", "merge", "parallel-3", "merge-2"]


@given(workflows())
def test_the_ids_of_one_scope_are_all_different(workflow: Workflow[Any, Any]) -> None:
    nodes = workflow.plan.nodes
    ids = [node.id for node in nodes] + [arm.id for n in nodes if isinstance(n, ParallelNode) for arm in n.arms]
    assert len(set(ids)) == len(ids)


def test_a_merge_takes_its_favourite_by_id_or_as_the_thing_itself() -> None:
    guard = Guard()
    for prefer in ("processor:guard", guard, guard.made):
        workflow = create_workflow(id="w").parallel([guard, keep]).merge(prefer=prefer).commit()
        assert workflow.plan.nodes[-1] == MergeNode("merge", "processor:guard")


def faults_of(builder: Any) -> list[str]:
    with pytest.raises(DefinitionError) as caught:
        builder.commit()
    assert caught.value.subject == "workflow 'w'"
    return list(caught.value.faults)


def test_what_can_be_no_step_is_told_with_its_place_at_commit() -> None:
    wrong: Any = create_workflow(id="w").then(keep)

    def unnamed(ctx: StepContext[Any]) -> int:
        return 1

    unnamed.__name__ = "<lambda>"
    assert faults_of(wrong.then(3).parallel([keep_too, Guard, unnamed])) == [
        "node 2: 3 can be no step: pass a function, a processor, a tool, an agent, a workflow or a step",
        f"node 3 (parallel), branch 2: {Guard!r} can be no step: pass a function, a processor, a tool, an agent, "
        "a workflow or a step (an instance: Guard(…))",
        "node 3 (parallel), branch 3: a lambda has no name: pass id=…",
    ]


def test_a_workflow_that_is_not_committed_is_told_apart() -> None:
    inner: Any = create_workflow(id="inner").then(keep)
    fault = "the workflow 'inner' is not committed: call .commit() on it first"
    assert faults_of(create_workflow(id="w").then(inner)) == [f"node 1: {fault}"]
    assert faults_of(create_workflow(id="w").parallel([inner])) == [f"node 1 (parallel), branch 1: {fault}"]


@pytest.mark.parametrize("branches", [3, None, length, keep, {"a": keep}, "keep"])
def test_parallel_takes_a_list(branches: Any) -> None:
    (fault,) = faults_of(create_workflow(id="w").parallel(branches))
    assert fault.startswith("node 1 (parallel): .parallel() takes a list of steps, not ")
    assert type(branches).__name__ in fault


def test_map_takes_a_function() -> None:
    wrong: Any = create_workflow(id="w")
    assert faults_of(wrong.map(3)) == ["node 1 (map): .map() takes a function or a dict of sources, not int"]


def test_the_neighbours_of_a_faulty_step_are_not_blamed() -> None:
    wrong: Any = create_workflow(id="w", input_schema=str, output_schema=int)
    assert len(faults_of(wrong.then(3).then(double))) == 1
    assert len(faults_of(wrong.parallel([3]).merge().then(double))) == 1
    assert len(faults_of(wrong.parallel(3).merge().then(double))) == 1
    assert len(faults_of(wrong.map(3))) == 1

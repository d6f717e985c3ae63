"""Defining a workflow."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given

from interlock.steps import RetryPolicy, Step, StepContext, SupportsStep, create_step, step
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
    WorkflowStep,
    acting_steps,
    create_workflow,
)
from tests.workflows.acting import ActingStep
from tests.workflows.drawn import examples, function_step, workflows


@step
def length(ctx: StepContext[str]) -> int:
    return len(ctx.input)


@step
async def double(ctx: StepContext[int]) -> int:
    return ctx.input * 2


def keep(ctx: StepContext[Any]) -> Any:
    return ctx.input


def yes(ctx: StepContext[Any]) -> bool:
    return True


async def no(ctx: StepContext[Any]) -> bool:
    return False


def alone(step: Step[Any, Any]) -> Plan:
    """The plan of one step."""
    return Plan(step.id, (StepNode(step),))


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


def test_a_parallel_block_keeps_what_was_said_of_it() -> None:
    start = create_workflow(id="w", input_schema=int)
    (usual,) = start.parallel([double, keep]).commit().plan.nodes
    assert isinstance(usual, ParallelNode)
    assert usual == ParallelNode("parallel", usual.arms, None, "fail_fast", None, False)
    (block,) = (
        start.parallel([double, keep], join="any", on_error="collect", concurrency=2, share=True).commit().plan.nodes
    )
    assert isinstance(block, ParallelNode)
    assert (block.join, block.on_error, block.concurrency, block.share) == (1, "collect", 2, True)
    (two,) = start.parallel([double, keep, keep_too], join=2, on_error="wait_all").commit().plan.nodes
    assert isinstance(two, ParallelNode)
    assert (two.join, two.on_error) == (2, "wait_all")


def test_an_arm_of_a_branch_is_a_step_or_a_list_keyed_by_its_last() -> None:
    inner = create_workflow(id="inner", input_schema=str).then(length).commit()
    first, second = create_step(length, id="first"), create_step(double, id="second")
    (block,) = (
        create_workflow(id="w", input_schema=str)
        .branch([(yes, inner), (no, [first, second])], otherwise=[length], mode="all")
        .commit()
        .plan.nodes
    )
    assert block == BranchNode(
        "branch",
        (yes, no),
        (
            Plan("inner", (NestedNode(inner.as_step(), inner.plan),)),
            Plan("second", (StepNode(first), StepNode(second))),
        ),
        alone(length),
        "all",
    )
    (plain,) = create_workflow(id="w").branch([(yes, length)]).commit().plan.nodes
    assert plain == BranchNode("branch", (yes,), (alone(length),), None, "first")


def test_a_step_for_each_item_keeps_what_was_said_of_it() -> None:
    start = create_workflow(id="w", input_schema=list[str])
    assert start.foreach(length).commit().plan.nodes == (ForeachNode("foreach", alone(length)),)

    def wide(ctx: StepContext[list[str]]) -> int:
        return len(ctx.input)

    (node,) = start.foreach(length, concurrency=wide, on_error="wait_all").commit().plan.nodes
    assert node == ForeachNode("foreach", alone(length), wide, "wait_all")


def test_loops_end_when_their_condition_says_so() -> None:
    start = create_workflow(id="w", input_schema=int)
    assert start.do_while(double, yes).commit().plan.nodes == (LoopNode("do-while", alone(double), yes, False, 1000),)
    (node,) = start.do_until(double, no, max_iterations=3).commit().plan.nodes
    assert node == LoopNode("do-until", alone(double), no, True, 3)


def test_waits_keep_their_time() -> None:
    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)
    later: Callable[[StepContext[Any]], float] = lambda ctx: 3.0  # noqa: E731
    builder = (
        create_workflow(id="w").sleep(0).sleep(2.5).sleep(later).sleep_until(noon).sleep_until(7).sleep_until(later)
    )
    assert builder.commit().plan.nodes == (
        SleepNode("sleep", 0),
        SleepNode("sleep-2", 2.5),
        SleepNode("sleep-3", later),
        SleepNode("sleep-until", noon, True),
        SleepNode("sleep-until-2", 7, True),
        SleepNode("sleep-until-3", later, True),
    )


def test_a_graph_is_given_as_each_step_with_those_it_needs() -> None:
    guard = Guard()
    other = create_step(keep, id="other")
    graph: dict[Any, Any] = {
        other: [guard, "keep"],  # needs may stand behind
        guard: [],
        keep: [guard.made],  # a thing, or the step of it
        length: [keep],  # a function that is a key
    }
    (node,) = create_workflow(id="w").dag(graph).commit().plan.nodes
    assert isinstance(node, DagNode)
    assert [item.plan.id for item in node.items] == ["other", "processor:guard", "keep", "length"]
    assert [item.needs for item in node.items] == [(1, 2), (), (1,), (2,)]
    assert node.sinks == (0, 3)
    assert node.items[1] == DagItem(alone(guard.made), ())


def test_a_thing_may_be_needed_where_its_step_is_the_node() -> None:
    guard = Guard()
    (node,) = create_workflow(id="w").dag({guard.made: [], keep: [guard]}).commit().plan.nodes
    assert isinstance(node, DagNode)
    assert node.items[1].needs == (0,)


class Scorer:
    def risk(self, ctx: StepContext[Any]) -> str:
        return "low"


def test_a_bound_method_names_itself_in_a_graph() -> None:
    scorer = Scorer()
    (node,) = create_workflow(id="w").dag({scorer.risk: [], length: [scorer.risk]}).commit().plan.nodes
    assert isinstance(node, DagNode)
    assert node.items[1].needs == (0,)


def test_nested_workflows_stand_in_every_block() -> None:
    inner = create_workflow(id="inner", input_schema=int).then(double).commit()
    made = [
        create_workflow(id="w").branch([(yes, inner)]).commit(),
        create_workflow(id="w").foreach(inner).commit(),
        create_workflow(id="w").do_while(inner, yes).commit(),
        create_workflow(id="w").dag({inner: []}).commit(),
    ]
    for workflow in made:
        assert list(acting_steps(workflow.plan)) == [double]


def test_a_merge_may_say_how_one_value_is_made_of_several() -> None:
    def most(outputs: Any) -> int:
        return int(max(outputs.values()))

    workflow = create_workflow(id="w", input_schema=str).parallel([length, keep]).merge(with_=most).commit()
    assert workflow.plan.nodes[-1] == MergeNode("merge", None, most)


def test_what_is_said_of_the_whole_is_the_workflows() -> None:
    seen: list[Any] = []
    retry = RetryPolicy(attempts=2)
    workflow = create_workflow(
        id="w", retry=retry, on_start=seen.append, on_finish=seen.append, on_error=seen.append
    ).map(keep)
    made = workflow.commit()
    assert made.retry is retry
    assert (made.on_start, made.on_finish, made.on_error) == (seen.append,) * 3


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


@examples(1 / 4)
@given(workflows())
def test_the_ids_of_one_scope_are_all_different(workflow: Workflow[Any, Any]) -> None:
    nodes = workflow.plan.nodes
    ids = [node.id for node in nodes] + [arm.id for n in nodes if isinstance(n, ParallelNode) for arm in n.arms]
    assert len(set(ids)) == len(ids)


def test_a_merge_takes_its_favourite_by_id_or_as_the_thing_itself() -> None:
    guard = Guard()
    prefers: list[str | SupportsStep] = ["processor:guard", guard, guard.made]
    for prefer in prefers:
        workflow = create_workflow(id="w").parallel([guard, keep]).merge(prefer=prefer).commit()
        assert workflow.plan.nodes[-1] == MergeNode("merge", "processor:guard")

"""A plan for one point of an agent's run."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from interlock.steps import StepContext, create_step
from interlock.verdict import Phase
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
    acting_steps,
    create_workflow,
    specialise,
)
from tests.workflows.acting import ActingStep

INPUT, STREAM = Phase.INPUT, Phase.OUTPUT_STREAM
ON_INPUT, ON_STREAM, ON_BOTH = ActingStep("i", INPUT), ActingStep("s", STREAM), ActingStep("b", INPUT, STREAM)


def keep(ctx: StepContext[Any]) -> Any:
    return ctx.input


def test_a_step_that_does_not_act_vanishes() -> None:
    plan = create_workflow(id="w").then(ON_INPUT).then(ON_STREAM).then(ON_BOTH).commit().plan
    assert specialise(plan, INPUT) == Plan("w", (StepNode(ON_INPUT), StepNode(ON_BOTH)))
    assert specialise(plan, STREAM) == Plan("w", (StepNode(ON_STREAM), StepNode(ON_BOTH)))
    assert specialise(plan, Phase.TOOL_CALL) is None


def test_a_nested_workflow_in_which_nothing_acts_vanishes_whole() -> None:
    inner = create_workflow(id="inner").then(ON_STREAM).map(keep).commit()
    plan = create_workflow(id="w").then(ON_INPUT).then(inner).commit().plan
    assert specialise(plan, INPUT) == Plan("w", (StepNode(ON_INPUT),))
    special = specialise(plan, STREAM)
    assert special is not None
    assert special.nodes == (NestedNode(inner.as_step(), inner.plan),)


def test_an_arm_that_does_not_act_stays_as_a_key() -> None:
    plan = create_workflow(id="w").parallel([ON_INPUT, ON_STREAM]).merge().commit().plan
    special = specialise(plan, INPUT)
    assert special is not None
    assert special.nodes == (
        ParallelNode("parallel", (Plan("i", (StepNode(ON_INPUT),)), Plan("s", ()))),
        MergeNode("merge"),
    )


def test_maps_and_merges_alone_keep_nothing_alive() -> None:
    plan = create_workflow(id="w").map(keep).parallel([ON_STREAM, ON_STREAM.altered(id="s2")]).merge().commit().plan
    assert specialise(plan, INPUT) is None
    assert specialise(plan, STREAM) is not None


def yes(ctx: StepContext[Any]) -> bool:
    return True


def test_an_arm_of_a_branch_that_does_not_act_stays_as_a_key_with_its_condition() -> None:
    arms: Any = [(yes, [ON_INPUT, ON_STREAM]), (yes, ON_STREAM.altered(id="s2"))]
    plan = create_workflow(id="w").branch(arms, otherwise=ON_BOTH).merge().commit().plan
    special = specialise(plan, INPUT)
    assert special is not None
    assert special.nodes == (
        BranchNode(
            "branch",
            (yes, yes),
            (Plan("s", (StepNode(ON_INPUT),)), Plan("s2", ())),
            Plan("b", (StepNode(ON_BOTH),)),
        ),
        MergeNode("merge"),
    )
    assert specialise(plan, Phase.TOOL_CALL) is None


def test_what_runs_otherwise_and_does_not_act_stays_too() -> None:
    plan = create_workflow(id="w").branch([(yes, ON_INPUT)], otherwise=ON_STREAM, mode="all").commit().plan
    special = specialise(plan, INPUT)
    assert special is not None
    (block,) = special.nodes
    assert isinstance(block, BranchNode)
    assert (block.otherwise, block.mode) == (Plan("s", ()), "all")


def test_a_loop_whose_body_does_not_act_vanishes() -> None:
    builder = create_workflow(id="w").then(ON_BOTH).do_while(ON_STREAM, yes).do_until(ON_INPUT, yes, max_iterations=3)
    special = specialise(builder.commit().plan, INPUT)
    assert special is not None
    assert special.nodes == (
        StepNode(ON_BOTH),
        LoopNode("do-until", Plan("i", (StepNode(ON_INPUT),)), yes, True, 3),
    )
    items = create_workflow(id="w").map(keep).foreach(ActingStep("x", STREAM, schema=int), concurrency=4).commit().plan
    assert specialise(items, INPUT) is None
    special = specialise(items, STREAM)
    assert special is not None
    assert isinstance(special.nodes[1], ForeachNode)
    assert special.nodes[1].concurrency == 4


def test_a_node_of_a_graph_that_does_not_act_passes_on_what_it_is_given() -> None:
    plan = create_workflow(id="w").dag({ON_INPUT: [], ON_STREAM: [ON_INPUT], ON_BOTH: [ON_STREAM]}).commit().plan
    special = specialise(plan, INPUT)
    assert special is not None
    assert special.nodes == (
        DagNode(
            "dag",
            (
                DagItem(Plan("i", (StepNode(ON_INPUT),))),
                DagItem(Plan("s", ()), (0,)),
                DagItem(Plan("b", (StepNode(ON_BOTH),)), (1,)),
            ),
        ),
    )
    assert specialise(plan, Phase.TOOL_CALL) is None


def test_waits_and_conditions_alone_keep_nothing_alive() -> None:
    plan = create_workflow(id="w").sleep(1).branch([(yes, ON_STREAM)]).sleep_until(0).commit().plan
    assert specialise(plan, INPUT) is None
    special = specialise(plan, STREAM)
    assert special is not None
    assert [type(node) for node in special.nodes] == [SleepNode, BranchNode, SleepNode]


def test_what_was_said_of_a_block_is_kept() -> None:
    block = create_workflow(id="w").parallel(
        [ON_INPUT, ON_STREAM], join=1, on_error="collect", concurrency=1, share=True
    )
    special = specialise(block.commit().plan, INPUT)
    assert special is not None
    (node,) = special.nodes
    assert isinstance(node, ParallelNode)
    assert (node.join, node.on_error, node.concurrency, node.share) == (1, "collect", 1, True)


def test_a_function_step_acts_at_every_point() -> None:
    plan = create_workflow(id="w").then(create_step(keep)).map(keep).commit().plan
    for phase in Phase:
        assert specialise(plan, phase) == plan


def test_what_has_acted_already_is_left_out() -> None:
    twin = ON_INPUT.altered(id="twin")
    plan = create_workflow(id="w").then(ON_INPUT).then(twin).then(ON_BOTH).commit().plan
    assert specialise(plan, INPUT, without={id(ON_INPUT.subject)}) == Plan("w", (StepNode(ON_BOTH),))
    assert specialise(plan, INPUT, without={id(ON_INPUT.subject), id(ON_BOTH.subject)}) is None


def test_a_workflow_makes_each_phases_plan_once() -> None:
    workflow = create_workflow(id="w").then(ON_INPUT).then(ON_STREAM).commit()
    assert workflow.plan_for(INPUT) is workflow.plan_for(INPUT)
    assert workflow.plan_for(INPUT) == specialise(workflow.plan, INPUT)
    assert workflow.plan_for(Phase.TOOL_CALL) is None
    assert workflow.as_step().acts_in(INPUT)
    assert not workflow.as_step().acts_in(Phase.TOOL_CALL)


def steps() -> st.SearchStrategy[ActingStep]:
    return st.lists(st.sampled_from([INPUT, STREAM]), unique=True).map(lambda phases: ActingStep("x", *phases))


def plans(depth: int = 3) -> st.SearchStrategy[Plan]:
    nodes: Any = st.one_of(steps().map(StepNode), st.just(MapNode("map", keep)), st.just(SleepNode("sleep", 1)))
    if depth:
        inner = plans(depth - 1)
        nodes = st.one_of(
            nodes,
            inner.map(lambda plan: NestedNode(ActingStep("n", INPUT, STREAM), plan)),
            st.lists(inner, min_size=1, max_size=3).map(lambda arms: ParallelNode("parallel", tuple(arms))),
            st.lists(inner, min_size=1, max_size=3).map(
                lambda arms: BranchNode("branch", (yes,) * (len(arms) - 1), tuple(arms[1:]), arms[0])
            ),
            inner.map(lambda plan: ForeachNode("foreach", plan)),
            inner.map(lambda plan: LoopNode("do-while", plan, yes, until=False)),
            st.lists(inner, min_size=1, max_size=3).map(
                lambda found: DagNode("dag", tuple(DagItem(plan) for plan in found))
            ),
        )
    return st.lists(nodes, max_size=3).map(lambda found: Plan("p", tuple(found)))


@given(plans())
def test_what_is_left_is_what_acts_in_the_order_it_stood(plan: Plan) -> None:
    acting = [step for step in acting_steps(plan) if step.acts_in(INPUT)]
    special = specialise(plan, INPUT)
    assert (special is None) == (acting == [])
    if special is not None:
        assert list(acting_steps(special)) == acting
        assert specialise(special, INPUT) == special

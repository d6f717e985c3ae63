"""Whether each step takes what the one before gives, through blocks of every kind."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence
from typing import Annotated, Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import DefinitionError
from interlock.schema import UNSET
from interlock.steps import Step, StepContext, create_step
from interlock.workflows import StepError, WorkflowBuilder, create_workflow, value
from tests.workflows.acting import ActingStep, Forked, OtherForked


def typed(id: str, given: object = UNSET, made: object = UNSET) -> Step[Any, Any]:  # noqa: A002
    return create_step(lambda ctx: ctx.input, id=id, input_schema=given, output_schema=made)


def start(given: object = UNSET, made: object = UNSET) -> WorkflowBuilder[Any, Any, Any]:
    return create_workflow(id="w", input_schema=given, output_schema=made)


def yes(ctx: StepContext[Any]) -> bool:
    return True


def faults_of(builder: WorkflowBuilder[Any, Any, Any]) -> list[str]:
    """All faults; empty where there is none."""
    try:
        builder.commit()
    except DefinitionError as error:
        return list(error.faults)
    return []


A, B = typed("a", int, int), typed("b", int, str)


class Both(TypedDict):
    a: int
    b: str


# Branches.


def test_every_arm_takes_what_the_branch_is_given() -> None:
    block = start(str).branch([(yes, typed("a", str)), (yes, [typed("b", int)])], otherwise=typed("c", bytes))
    assert faults_of(block) == [
        "'b' takes int but the workflow's input gives str",
        "'c' takes bytes but the workflow's input gives str",
    ]


def test_the_steps_of_an_arm_take_what_the_one_before_gives() -> None:
    arm = [typed("a", int, str), typed("b", int, int), typed("c", int, int)]
    assert faults_of(start(int).branch([(yes, arm)])) == ["'b' takes int but 'a' gives str"]


def test_the_output_of_a_branch_is_keyed_by_the_last_step_of_each_arm() -> None:
    block = start(int).branch([(yes, [A, B])], otherwise=typed("c", int, str))
    assert faults_of(block.then(typed("d", dict[str, str]))) == []
    assert faults_of(block.then(typed("d", Both))) == []
    assert faults_of(block.then(typed("d", int))) == [
        "'d' takes int but 'branch' gives an output keyed by step id (b, c): put .map(…) or .merge() between them"
    ]
    (fault,) = faults_of(start(int, int).branch([(yes, A)]))
    assert fault.endswith("keyed by step id (a), but its output_schema is int: add .map(…) or .merge()")


def test_the_one_arm_of_a_branch_that_ran_may_be_merged_whatever_it_is() -> None:
    block = start(int).branch([(yes, A), (yes, B)])
    assert faults_of(block.merge()) == []
    assert faults_of(block.merge().then(typed("c", int))) == ["'c' takes int but 'merge' gives int | str"]
    assert faults_of(block.merge().then(typed("c", int | str))) == []
    assert faults_of(start(int).branch([(yes, A), (yes, B)], mode="all").merge()) == []
    assert faults_of(block.merge(prefer="c")) == ["'merge' prefers 'c', which is none of 'a', 'b'"]


def test_the_first_of_several_branches_may_be_merged_whatever_it_is() -> None:
    assert faults_of(start(int).parallel([A, B], join="any").merge()) == []
    assert faults_of(start(int).parallel([A, B], join=1).merge()) == []
    (fault,) = faults_of(start(int).parallel([A, B, typed("c", int)], join=2).merge())
    assert fault.startswith("'merge' cannot join plain values ('a', 'b')")


def test_what_forks_of_several_kinds_make_together_is_not_known() -> None:
    guards = [ActingStep("pii"), ActingStep("injection", schema=OtherForked)]
    assert faults_of(start().parallel(guards).merge().then(ActingStep("later", schema=OtherForked))) == []


def test_what_with_makes_is_taken_anywhere() -> None:
    block = start(int).parallel([A, B])
    assert faults_of(block.merge(with_=len).then(typed("c", bytes))) == []


def test_a_merge_stands_after_a_block_of_its_own_workflow() -> None:
    inner = create_workflow(id="inner").parallel([A, B]).commit()
    fault = "'merge' must stand right after .parallel(…) or .branch(…), but it stands after 'inner'"
    assert faults_of(start(int).then(inner).merge()) == [fault]
    graph = start(int).dag({A: [], B: []})
    assert faults_of(graph.merge()) == [fault.replace("'inner'", "'dag'")]


def test_blocks_without_anything_in_them_are_told_once() -> None:
    assert faults_of(start().branch([]).merge().then(A)) == ["'branch' has no arms"]
    assert faults_of(start().parallel([]).merge().then(A)) == ["'parallel' has no branches"]
    assert faults_of(start().dag({}).then(A)) == ["'dag' has no steps"]
    assert faults_of(start().map({})) == [
        "node 1 (map): the dict has no keys; a map to an empty dict is .map(lambda ctx: {})"
    ]


def test_a_failure_that_is_collected_may_stand_among_the_values() -> None:
    block = start(int).parallel([A], on_error="collect")
    assert faults_of(block.then(typed("c", dict[str, int]))) == [
        "'c' takes dict[str, int] but 'parallel' gives an output keyed by step id (a) in which a StepError may stand: "
        "put .map(…) or .merge() between them"
    ]
    assert faults_of(block.then(typed("c", dict[str, int | StepError]))) == []
    items = start(list[int]).foreach(A, on_error="collect")
    assert faults_of(items.then(typed("c", list[int | StepError]))) == []
    assert faults_of(items.then(typed("c", list[int]))) == [
        "'c' takes list[int] but 'foreach' gives list[int | StepError]"
    ]


# Lists.


@pytest.mark.parametrize(
    "schema",
    [
        UNSET,
        Any,
        object,
        list,
        list[int],
        Annotated[list[int], 1],
        Sequence[int],
        Collection[int],
        list[int] | list[bool],
    ],
)
def test_a_list_is_taken_item_by_item(schema: object) -> None:
    assert faults_of(start(schema).foreach(A)) == []


@pytest.mark.parametrize("schema", [int, str, dict[str, int], tuple[int, ...], set[int], None, list[int] | None, Both])
def test_what_is_no_list_has_no_items(schema: object) -> None:
    (fault,) = faults_of(start(schema).foreach(typed("a")))
    assert fault.startswith("'foreach' takes a list but the workflow's input gives ")
    assert fault.endswith(": put .map(…) between them")


def test_a_keyed_output_has_no_items() -> None:
    block: Any = start(int).parallel([A, B])
    assert faults_of(block.foreach(typed("c"))) == [
        "'foreach' takes a list but 'parallel' gives an output keyed by step id (a, b): put .map(…) between them"
    ]


def test_each_item_is_taken_by_the_step() -> None:
    assert faults_of(start(list[str]).foreach(A)) == [
        "'a' takes int but each item that the workflow's input gives is str"
    ]
    assert faults_of(start().then(typed("c", made=list[int | None])).foreach(A)) == [
        "'a' takes int but each item that 'c' gives is int | None"
    ]


def test_what_comes_out_is_a_list_of_what_the_step_gives() -> None:
    items = start(list[int]).foreach(B)
    assert faults_of(items.then(typed("c", list[str]))) == []
    assert faults_of(items.foreach(A)) == ["'a' takes int but each item that 'foreach' gives is str"]
    assert faults_of(start(list[int], list[int]).foreach(B)) == [
        "'foreach' gives list[str] but the output_schema is list[int]"
    ]
    assert faults_of(start().foreach(typed("c")).then(typed("d", str))) == ["'d' takes str but 'foreach' gives list"]
    nested = create_workflow(id="inner").parallel([A, B]).commit()
    assert faults_of(start(list[int]).foreach(nested).then(typed("d", list[dict[str, Any]]))) == []


# Loops.


@pytest.mark.parametrize("until", [False, True])
def test_the_body_of_a_loop_takes_what_flows_and_what_it_gives_itself(until: bool) -> None:
    def looped(begun: WorkflowBuilder[Any, Any, Any], x: Any) -> WorkflowBuilder[Any, Any, Any]:
        return begun.do_until(x, yes) if until else begun.do_while(x, yes)

    kind = "do-until" if until else "do-while"
    assert faults_of(looped(start(int, int), A)) == []
    assert faults_of(looped(start(str), A)) == ["'a' takes int but the workflow's input gives str"]
    assert faults_of(looped(start(int), B)) == ["'b' takes int but from its second time on it is given str"]
    assert faults_of(looped(start(str), B)) == ["'b' takes int but the workflow's input gives str"]
    assert faults_of(looped(start(int), typed("c", int | str, str)).then(A)) == [
        f"'a' takes int but {kind!r} gives str"
    ]


# Graphs.


def test_a_node_of_a_graph_takes_what_it_needs() -> None:
    c, d = typed("c", int, str), typed("d", dict[str, str], bytes)
    assert faults_of(start(int, bytes).dag({d: [B, c], B: [A], c: [], A: []})) == []
    assert faults_of(start(str).dag({A: [], c: [A]})) == ["'a' takes int but the workflow's input gives str"]
    assert faults_of(start(int).dag({A: [B], B: []})) == ["'a' takes int but 'b' gives str"]
    assert faults_of(start(int).dag({A: [B, c], B: [], c: []})) == [
        "'a' takes int but it needs several steps, which give an output keyed by step id (b, c): "
        "a step that needs several others takes a dict of what they give"
    ]


def test_what_nothing_needs_comes_out_of_a_graph() -> None:
    one = start(int).dag({A: [], B: [A]})
    assert faults_of(one.then(typed("c", str))) == []
    assert faults_of(one.then(typed("c", int))) == ["'c' takes int but 'dag' gives str"]
    several = start(int).dag({A: [], B: []})
    assert faults_of(several.then(typed("c", Both))) == []
    assert faults_of(several.then(typed("c", int))) == [
        "'c' takes int but 'dag' gives an output keyed by step id (a, b): put .map(…) between them"
    ]
    (fault,) = faults_of(start(int, int).dag({A: [], B: []}))
    assert fault.endswith("keyed by step id (a, b), but its output_schema is int: add .map(…)")


def test_a_cycle_is_told_step_by_step() -> None:
    c, d = typed("c"), typed("d")
    told = "'dag' has a cycle, so that none of its steps could begin: "
    assert faults_of(start(str).dag({A: [A]})) == [f"{told}'a' → 'a'"]
    (fault,) = faults_of(start().dag({d: [], A: [c, d], B: [A], c: [B]}).then(A.altered(id="e")))
    way = fault.removeprefix(told).replace("'", "").split(" → ")
    assert way[0] == way[-1]
    assert sorted(way[1:]) == ["a", "b", "c"]
    needs = {"a": {"c", "d"}, "b": {"a"}, "c": {"b"}}
    assert all(before in needs[after] for before, after in itertools.pairwise(way))


@given(st.lists(st.sets(st.integers(0, 9), max_size=3), min_size=1, max_size=10))
def test_a_graph_is_taken_unless_it_has_a_cycle_and_that_is_told(needed: list[set[int]]) -> None:
    steps = [typed(f"s{number}") for number in range(len(needed))]
    needs = [{need % len(steps) for need in some} for some in needed]
    found = faults_of(start().dag({one: [steps[n] for n in some] for one, some in zip(steps, needs, strict=True)}))
    left = set(range(len(steps)))
    while ready := {number for number in left if not needs[number] & left}:
        left -= ready
    assert len(found) == bool(left)
    if left:
        way = [int(id_) for id_ in re.findall(r"'s(\d+)'", found[0])]
        assert way[0] == way[-1]
        assert all(before in needs[after] for before, after in itertools.pairwise(way))


# What passes through, and what says nothing.


def test_a_wait_passes_on_what_it_is_given() -> None:
    assert faults_of(start(int).sleep(1).then(A).sleep_until(7).then(B)) == []
    assert faults_of(start(int).then(B).sleep(1).then(A)) == ["'a' takes int but 'b' gives str"]
    assert faults_of(start(int, int).parallel([A]).sleep(1)) != []
    assert faults_of(start(int).parallel([A]).sleep(1).merge()) == [
        "'merge' must stand right after .parallel(…) or .branch(…), but it stands after 'sleep'"
    ]


def test_a_map_of_sources_gives_a_dict() -> None:
    mapped = start(int).map({"a": value(1), "b": value("x")})
    assert faults_of(mapped.then(typed("c", Both))) == []
    assert faults_of(mapped.then(typed("c", list))) == ["'c' takes list but 'map' gives dict"]


def test_a_nested_workflow_without_schemas_is_checked_by_its_steps() -> None:
    inner = create_workflow(id="inner").then(A).then(typed("c", int, str)).commit()
    assert faults_of(start(int, str).then(inner)) == []
    assert faults_of(start(str).then(inner)) == ["inside 'inner': 'a' takes int but the workflow's input gives str"]
    assert faults_of(start(int).then(inner).then(typed("d", int))) == ["'d' takes int but 'inner' gives str"]
    outer = create_workflow(id="outer").then(inner).commit()
    assert faults_of(start(str).then(outer)) == [
        "inside 'outer': inside 'inner': 'a' takes int but the workflow's input gives str"
    ]
    half = create_workflow(id="half", input_schema=int).then(A).commit()
    assert faults_of(start(str).then(half)) == ["'half' takes int but the workflow's input gives str"]
    assert faults_of(start(int).then(half).then(B).then(half.as_step().altered(id="c"))) == [
        "'c' takes int but 'b' gives str"
    ]
    blocks = create_workflow(id="blocks", input_schema=int).parallel([A, B]).commit()
    assert faults_of(start(int).then(blocks).then(typed("d", int))) == [
        "'d' takes int but 'blocks' gives an output keyed by step id (a, b): put .map(…) or .merge() between them"
    ]


def test_a_processor_after_guards_that_one_of_several_arms_runs_needs_a_merge() -> None:
    guards = [ActingStep("pii"), ActingStep("injection", schema=Forked | OtherForked)]
    block = start(Forked).branch([(yes, guards[0])], otherwise=guards[1])
    assert len(faults_of(block.then(ActingStep("later")))) == 1
    assert faults_of(start(Forked).branch([(yes, guards[0])]).merge().then(ActingStep("later"))) == []

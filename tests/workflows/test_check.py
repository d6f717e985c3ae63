"""What ``commit()`` finds."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pydantic
import pytest

from interlock.errors import DefinitionError
from interlock.schema import UNSET
from interlock.steps import Step, StepContext, create_step
from interlock.workflows import WorkflowBuilder, create_workflow, from_step, template, value
from tests.workflows.acting import ActingStep, Forked, OtherForked


def typed(id: str, given: object = UNSET, made: object = UNSET) -> Step[Any, Any]:  # noqa: A002
    return create_step(lambda ctx: ctx.input, id=id, input_schema=given, output_schema=made)


def start(given: object = UNSET, made: object = UNSET) -> WorkflowBuilder[Any, Any, Any]:
    return create_workflow(id="w", input_schema=given, output_schema=made)


def faults_of(builder: WorkflowBuilder[Any, Any, Any]) -> list[str]:
    """All faults; empty where there is none."""
    try:
        builder.commit()
    except DefinitionError as error:
        return list(error.faults)
    return []


def test_all_faults_are_told_at_once_and_numbered() -> None:
    begun: WorkflowBuilder[Any, Any, Any] = create_workflow(id="a b", input_schema=int, output_schema=str)
    builder = begun.then(typed("text", str, int)).then(typed("text", int, int)).merge().parallel([])
    with pytest.raises(DefinitionError) as caught:
        builder.commit()
    assert str(caught.value) == (
        "workflow 'a b': 5 faults\n"
        "  1. the id 'a b' must not contain white space, '.' or '/'\n"
        "  2. the id 'text' stands twice: at node 1 and at node 2; "
        'give one another id with create_step(x, id="…")\n'
        "  3. 'text' takes str but the workflow's input gives int\n"
        "  4. 'merge' must stand right after .parallel(…) or .branch(…), but it stands after 'text'\n"
        "  5. 'parallel' has no branches"
    )


def test_a_workflow_without_steps_says_how_to_add_one() -> None:
    assert faults_of(start()) == ["the workflow has no steps: add one with .then(…), .parallel(…) or .map(…)"]
    assert len(faults_of(start(int, str))) == 1


@pytest.mark.parametrize("id_", ["", "a.b", 7])
def test_the_workflows_id_is_checked(id_: Any) -> None:
    assert len(faults_of(create_workflow(id=id_).map(lambda ctx: 1))) == 1


def test_schemas_that_are_no_types_are_told() -> None:
    found = faults_of(start({"type": "object"}, "str").map(lambda ctx: 1))
    assert [fault.split(":")[0] for fault in found] == ["input_schema", "output_schema"]


def test_an_id_that_stands_twice_is_told_with_both_places() -> None:
    twice = 'give one another id with create_step(x, id="…")'
    assert faults_of(start().then(typed("a")).parallel([typed("b"), typed("a")])) == [
        f"the id 'a' stands twice: at node 1 and at node 2 (parallel), branch 2; {twice}"
    ]
    assert faults_of(start().parallel([typed("a"), typed("a")]).map(lambda ctx: 1)) == [
        f"the id 'a' stands twice: at node 1 (parallel), branch 1 and at node 1 (parallel), branch 2; {twice}"
    ]
    assert len(faults_of(start().then(typed("a")).then(typed("a")).then(typed("a")))) == 2


def test_a_nested_workflow_has_ids_of_its_own() -> None:
    inner = create_workflow(id="inner").then(typed("a")).commit()
    assert faults_of(start().then(typed("a")).then(inner)) == []
    assert len(faults_of(start().then(inner).then(inner))) == 1
    assert faults_of(start().then(inner).then(create_step(inner, id="again"))) == []


def test_adjacent_steps_must_fit() -> None:
    assert faults_of(start(str, int).then(typed("a", str, int)).then(typed("b", int, int))) == []
    assert faults_of(start(str).then(typed("a", str, int)).then(typed("b", str, int))) == [
        "'b' takes str but 'a' gives int"
    ]
    assert faults_of(start(int).then(typed("a", str))) == ["'a' takes str but the workflow's input gives int"]
    assert faults_of(start(None, str).then(typed("a", None, int))) == ["'a' gives int but the output_schema is str"]


def test_what_says_nothing_fits_everywhere() -> None:
    assert faults_of(start().then(typed("a", int)).then(typed("b"))) == []
    assert faults_of(start(int, str).map(lambda ctx: 1)) == []
    assert faults_of(start(int).map(lambda ctx: 1).then(typed("a", str))) == []


def test_nested_workflows_are_checked_by_their_schemas() -> None:
    inner = create_workflow(id="inner", input_schema=str, output_schema=int).then(typed("a", str, int)).commit()
    assert faults_of(start(str, int).then(inner)) == []
    assert faults_of(start(int).then(inner)) == ["'inner' takes str but the workflow's input gives int"]
    assert faults_of(start(str, str).then(inner)) == ["'inner' gives int but the output_schema is str"]


def test_every_branch_takes_what_the_block_is_given() -> None:
    block = start(str).parallel([typed("a", str), typed("b", int), typed("c", bytes)])
    assert faults_of(block) == [
        "'b' takes int but the workflow's input gives str",
        "'c' takes bytes but the workflow's input gives str",
    ]


class Both(TypedDict):
    a: int
    b: int


@dataclass
class ForkedData(Forked):
    a: int = 0


class Joined(pydantic.BaseModel):
    a: int = 0


@pytest.mark.parametrize("wanted", [UNSET, dict, dict[str, int], dict[str, object], Mapping[str, int], Both, Joined])
def test_a_keyed_output_fits_what_takes_a_dict(wanted: object) -> None:
    block = start(int).parallel([typed("a", int, int), typed("b", int, int)])
    assert faults_of(block.then(typed("c", wanted))) == []
    assert faults_of(start(int, wanted).parallel([typed("a", int, int), typed("b", int, int)])) == []


@pytest.mark.parametrize(
    "wanted", [int, str, list[int], dict[str, str], dict[int, int], Forked, ForkedData, Forked | OtherForked]
)
def test_a_keyed_output_needs_a_map_or_merge_before_anything_else(wanted: object) -> None:
    arms = [typed("a", int, int), typed("b", int, int)]
    (fault,) = faults_of(start(int).parallel(arms).then(typed("c", wanted)))
    assert "gives an output keyed by step id (a, b): put .map(…) or .merge() between them" in fault
    (fault,) = faults_of(start(int, wanted).parallel(arms))
    assert "keyed by step id (a, b)" in fault
    assert "add .map(…) or .merge()" in fault


def test_a_keyed_output_may_go_on_into_another_block_of_steps_that_take_it() -> None:
    block = start(int).parallel([typed("a", int, int)])
    assert faults_of(block.parallel([typed("b", dict[str, int])])) == []
    assert len(faults_of(block.parallel([typed("b", dict[str, int]), typed("c", int)]))) == 1


def test_a_processor_after_guards_in_parallel_needs_a_merge() -> None:
    guards = [ActingStep("pii"), ActingStep("injection")]
    assert len(faults_of(start(Forked).parallel(guards).then(ActingStep("later")))) == 1
    assert faults_of(start(Forked, Forked).parallel(guards).merge().then(ActingStep("later"))) == []
    assert faults_of(start(Forked).parallel(guards).map(lambda ctx: ctx.input["pii"]).then(ActingStep("later"))) == []


def test_a_merge_stands_right_after_a_block() -> None:
    fault = "'merge' must stand right after .parallel(…) or .branch(…), but it stands after "
    assert faults_of(start().merge()) == [f"{fault}the workflow's input"]
    assert faults_of(start().parallel([typed("a")]).map(lambda ctx: 1).merge()) == [f"{fault}'map'"]
    assert faults_of(start().parallel([typed("a")]).merge().merge()) == [
        "'merge-2' must stand right after .parallel(…) or .branch(…), but it stands after 'merge'"
    ]


def test_plain_values_of_several_branches_cannot_be_merged() -> None:
    arms = [typed("a", int, int), ActingStep("b", schema=Forked), typed("c", int, list[Forked])]
    (fault,) = faults_of(create_workflow(id="w").parallel(arms).merge())
    assert fault == (
        "'merge' cannot join plain values ('a', 'c'): pass with_=lambda outputs: … to make one of them, or use .map(…)"
    )
    assert faults_of(start(int, int).parallel([typed("a", int, int)]).merge()) == []
    assert faults_of(start(int).parallel([typed("a"), typed("b")]).merge()) == []


def test_what_a_merge_gives_is_checked_further_on() -> None:
    guards = [ActingStep("a", schema=Forked | OtherForked), ActingStep("b", schema=Forked | OtherForked)]
    (fault,) = faults_of(start(Forked).parallel(guards).merge().then(typed("c", int)))
    assert fault == "'c' takes int but 'merge' gives Forked | OtherForked"
    (fault,) = faults_of(start(int).parallel([typed("a", int, str)]).merge().then(typed("c", int)))
    assert fault == "'c' takes int but 'merge' gives str"


def test_a_favourite_must_be_one_of_the_branches() -> None:
    guards = [ActingStep("a"), ActingStep("b")]
    assert faults_of(start().parallel(guards).merge(prefer="c")) == ["'merge' prefers 'c', which is none of 'a', 'b'"]
    assert faults_of(start().parallel(guards).merge(prefer="b")) == []


def yes(ctx: StepContext[Any]) -> bool:
    return True


def keep(ctx: StepContext[Any]) -> Any:
    return ctx.input


def test_the_ids_of_a_workflow_are_those_of_all_its_blocks() -> None:
    twice = 'give one another id with create_step(x, id="…")'
    a = typed("a")
    first = start().then(a)
    places = {
        "node 2 (branch), arm 1": first.branch([(yes, a)]),
        "node 2 (branch), arm 1, step 1": first.branch([(yes, [a, typed("b")])]),
        "node 2 (branch), otherwise": first.branch([(yes, typed("b"))], otherwise=a),
        "node 2 (branch), otherwise, step 2": first.branch([(yes, typed("b"))], otherwise=[typed("c"), a]),
        "node 2 (do-while)": first.do_while(a, yes),
        "node 2 (do-until)": first.do_until(a, yes),
        "node 2 (dag), key 2": first.dag({typed("b"): [], a: []}),
    }
    for place, builder in places.items():
        assert faults_of(builder) == [f"the id 'a' stands twice: at node 1 and at {place}; {twice}"]
    assert faults_of(start().then(typed("a", made=list)).foreach(a)) == [
        f"the id 'a' stands twice: at node 1 and at node 2 (foreach); {twice}"
    ]


def test_what_is_no_step_steps_aside_for_steps_in_every_block() -> None:
    names = ["map", "branch", "foreach", "do-while", "do-until", "dag", "sleep", "sleep-until", "input", "parallel"]
    taken = [typed(name) for name in names]
    builder: Any = start()
    builder = builder.branch([(yes, taken[:4]), (yes, taken[4])], otherwise=taken[5]).map(keep).foreach(taken[6])
    builder = builder.do_while(taken[7], yes).dag({taken[8]: [], taken[9]: []}).sleep(0).sleep_until(0)
    ids = [node.id for node in builder.commit().plan.nodes]
    assert ids == ["branch-2", "map-2", "foreach-2", "do-while-2", "dag-2", "sleep-2", "sleep-until-2"]


class Counts(TypedDict):
    count: Annotated[int, operator.add]
    names: list[str]


class OtherCounts(TypedDict):
    count: Annotated[int, max]
    names: list[int]


class MoreCounts(pydantic.BaseModel):
    count: Annotated[int, operator.add] = 0
    more: str = ""


def with_state(id: str, schema: object) -> Step[Any, Any]:  # noqa: A002
    return create_step(lambda ctx: ctx.input, id=id, state_schema=schema)


def test_one_run_has_one_state_so_that_its_schemas_must_agree() -> None:
    disagree = [
        "one run has one state, but its key 'count' is reduced by add in that of {} and by max in that of {}",
        "one run has one state, but its key 'names' is list[str] in that of {} and list[int] in that of {}",
    ]
    begun = create_workflow(id="w", state_schema=Counts)
    assert faults_of(begun.then(with_state("a", OtherCounts))) == [
        fault.format("the workflow", "'a'") for fault in disagree
    ]
    inner = create_workflow(id="inner", state_schema=Counts).then(with_state("a", MoreCounts)).commit()
    counted = "one run has one state, but its key 'count' is reduced by max in that of 'b' and by add in that of {}"
    named = "one run has one state, but its key 'names' is list[int] in that of 'b' and list[str] in that of 'inner'"
    assert faults_of(start().parallel([with_state("b", OtherCounts), inner])) == [
        counted.format("'inner'"),
        named,
        counted.format("'inner/a'"),
    ]
    assert faults_of(begun.then(inner)) == []


@pytest.mark.parametrize(
    ("schema", "name"), [(int, "int"), ({"a": int}, "{'a': <class 'int'>}"), (dict[str, int], "dict[str, int]")]
)
def test_a_state_schema_has_named_keys(schema: object, name: str) -> None:
    assert faults_of(create_workflow(id="w", state_schema=schema).then(typed("a"))) == [
        f"the state_schema of the workflow must be a pydantic model, a dataclass or a TypedDict, not {name}"
    ]


def test_a_source_reads_a_step_that_stands_before_it_in_its_workflow() -> None:
    a, b, later = typed("a"), typed("b"), typed("later")
    mapped = start().branch([(yes, [a, b])]).map({"x": from_step(a, "y"), "z": from_step([b, a]), "b": b})
    assert faults_of(mapped) == []
    missing = "which is no step before it in this workflow"
    assert faults_of(start().then(a).map({"x": from_step(later), "y": later, "z": a}).then(later)) == [
        f"'map', 'x' reads 'later', {missing}",
        f"'map', 'y' reads 'later', {missing}",
    ]
    inner = create_workflow(id="inner").then(a).commit()
    assert faults_of(start().then(inner).map({"x": inner})) == []
    assert faults_of(start().then(inner).map({"x": a})) == [f"'map', 'x' reads 'a', {missing}"]
    assert faults_of(start().then(a).map({"x": typed("a")})) == [f"'map', 'x' reads 'a', {missing}"]


def test_a_template_names_steps_that_stand_before_it_by_their_ids() -> None:
    text = template("${a.x} ${input} ${state.a} ${run_input} ${request_context.b} ${later}")
    assert faults_of(start().then(typed("a")).map({"x": text}).map({"y": text})) == [
        "'map', 'x' reads 'later', which is no step before it in this workflow",
        "'map-2', 'y' reads 'later', which is no step before it in this workflow",
    ]
    assert faults_of(start().then(typed("a")).then(typed("later")).map({"x": text})) == []


@pytest.mark.parametrize("given", [3, "x", None, False, [], {}])
def test_a_value_in_a_map_is_no_source(given: Any) -> None:
    assert faults_of(start().map({"a": value(1), "b": given})) == [
        f"node 1 (map), 'b': {given!r} is no source: a value that is always the same is value({given!r})"
    ]


def test_a_function_in_a_map_is_no_source_and_a_key_is_text() -> None:
    wrong: Any = {"a": len, 3: value(1)}
    assert faults_of(start().map(wrong)) == [
        "node 1 (map), 'a': a function is no source: map with one alone, .map(lambda ctx: {…}), "
        "or make a step of it that runs before",
        "node 1 (map): the key 3 is no string",
    ]

"""What ``commit()`` finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import pydantic
import pytest

from interlock.errors import DefinitionError
from interlock.schema import UNSET
from interlock.steps import Step, create_step
from interlock.workflows import WorkflowBuilder, create_workflow
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

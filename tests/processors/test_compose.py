"""A list of processors becomes one workflow, and every fault of the list is told at once."""

from __future__ import annotations

from typing import Any

import pytest

from interlock import Agent, Processor, StepContext, create_step, create_workflow, step
from interlock.errors import DefinitionError
from interlock.processors import PIIDetector
from interlock.processors.compose import compose
from interlock.workflows import acting_steps
from tests.lifecycle.acting import Everywhere, flow


def ids(*entries: Any) -> list[str]:
    """The steps of the workflow that a list becomes."""
    workflow = compose("input", entries)
    assert workflow is not None
    return [step.id for step in acting_steps(workflow.plan)]


def faults(*entries: Any) -> tuple[str, ...]:
    """What is wrong with a list."""
    with pytest.raises(DefinitionError) as raised:
        compose("output", entries)
    assert raised.value.subject == "output_processors"
    return raised.value.faults


def test_an_empty_list_is_no_workflow() -> None:
    assert compose("input", []) is None
    assert compose("input", ()) is None


def test_processors_steps_and_workflows_become_one_chain() -> None:
    @step
    def note(ctx: StepContext[Any]) -> Any:
        return ctx.input

    nested = flow("nested").parallel([Everywhere("b"), Everywhere("c")]).merge().commit()
    workflow = compose("input", [Everywhere("a"), nested, create_step(Everywhere("d"), id="named"), note])
    assert workflow is not None
    assert workflow.id == "input-processors"
    assert [node.id for node in workflow.plan.nodes] == ["processor:a", "nested", "named", "note"]
    assert ids(Everywhere("a"), nested) == ["processor:a", "processor:b", "processor:c"]


def test_what_is_no_processor_is_named_by_its_place_and_type() -> None:
    assert len(found := faults(7, Everywhere("a"), "text", None)) == 3
    assert found[0].startswith("item 0 is a int")
    assert found[1].startswith("item 2 is a str")
    assert found[2].startswith("item 3 is a NoneType")


def test_a_class_or_an_uncommitted_workflow_is_told_what_it_lacks() -> None:
    found = faults(Everywhere, flow().then(Everywhere("a")))
    assert "pass an instance" in found[0]
    assert ".commit()" in found[1]


@pytest.mark.parametrize("wrong", [Everywhere("a"), "text", 7, {"a": 1}, None])
def test_what_is_no_list_is_refused(wrong: Any) -> None:
    with pytest.raises(DefinitionError, match="input_processors"):
        Agent(model="embedded/echo", input_processors=wrong)


def test_a_workflow_of_other_things_is_no_processor() -> None:
    typed = create_workflow(id="typed", input_schema=str).map(lambda ctx: ctx.input).commit()
    (fault,) = faults(typed)
    assert "'typed'" in fault
    assert "ProcessorStepSchema" in fault


def test_two_objects_with_one_id_in_one_list_are_refused_also_inside_workflows() -> None:
    nested = flow("nested").then(Everywhere("same")).commit()
    (fault,) = faults(Everywhere("same"), nested)
    assert "'same'" in fault
    assert fault.startswith(
        "two processors have the id 'same': item 0 (processor:same) and item 1 (nested/processor:same)"
    )
    other = flow("other").parallel([flow("x").then(Everywhere("same")).commit(), Everywhere("same")]).merge().commit()
    assert any("'same'" in fault for fault in faults(other))


def test_who_gives_two_of_a_class_one_id_is_told_what_helps() -> None:
    agent = Agent(model="embedded/echo", input_processors=[PIIDetector(), PIIDetector(kinds=["ssn"], id="second")])
    assert agent.generate_sync("hello").status == "success"
    (plain,) = faults(PIIDetector(), PIIDetector(kinds=["ssn"]))
    assert plain.endswith('give one another id with PIIDetector(id="…")')
    named = [create_step(PIIDetector(), id="first"), create_step(PIIDetector(), id="second")]
    (renamed,) = faults(*named)
    assert renamed.startswith("two processors have the id 'pii-detector': item 0 (first) and item 1 (second)")
    assert renamed.endswith("(create_step(…, id=…) gives one to its step alone)")
    with pytest.raises(DefinitionError, match=r'another id with PIIDetector\(id="…"\)'):
        flow("two").parallel([PIIDetector(), PIIDetector()]).merge().commit()


def test_who_cannot_be_given_an_id_when_made_is_told_to_set_it() -> None:
    class Fixed(Everywhere):
        def __init__(self) -> None:
            super().__init__("fixed")

    (fault,) = faults(Fixed(), Fixed())
    assert fault.endswith('give one another id with processor.id = "…"')


def test_one_object_may_stand_in_a_list_twice_if_its_steps_have_two_ids() -> None:
    shared = Everywhere("shared")
    assert ids(shared, create_step(shared, id="again")) == ["processor:shared", "again"]
    assert any("stands twice" in fault for fault in faults(shared, shared))


def test_two_objects_with_one_id_in_two_lists_are_fine() -> None:
    log: list[str] = []
    agent = Agent(
        model="embedded/echo",
        input_processors=[Everywhere("same", log=log)],
        output_processors=[Everywhere("same", log=log)],
    )
    assert agent.generate_sync("hello").status == "success"
    assert log.count("same:input") == 1


def test_faults_of_ids_and_of_entries_are_told_together() -> None:
    class Nameless(Processor):
        def process_input(self, ctx: Any) -> None: ...

    found = faults(Nameless(), 7, Everywhere("twice"), Everywhere("twice"))
    assert len(found) >= 3
    assert any("Nameless" in fault for fault in found)
    assert any("item 1" in fault for fault in found)
    assert any("'twice'" in fault or "'processor:twice'" in fault for fault in found)


def test_a_workflow_that_ends_with_a_parallel_block_is_refused_when_it_is_put_in_a_list() -> None:
    keyed = create_workflow(id="keyed").parallel([Everywhere("a"), Everywhere("b")]).commit()
    (fault,) = faults(keyed)
    assert "'keyed'" in fault
    assert ".merge()" in fault

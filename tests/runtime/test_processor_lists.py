"""Which graph runs at which point."""

from __future__ import annotations

import pytest

from interlock import Phase, Processor, ProcessorStepSchema, StepContext, create_workflow, step
from interlock.errors import DefinitionError
from interlock.messages import Chunk
from interlock.processors import InputContext, OutputStreamContext, PhaseContext, ToolResultContext
from interlock.runtime.operations.hooks_in import hooks_in
from interlock.runtime.processor_lists import LISTS, ProcessorLists


class Tools(Processor):
    """Looks at tool results."""

    id = "tools"

    def process_tool_result(self, ctx: ToolResultContext) -> None:
        return None


class Inputs(Processor):
    """Looks at the input."""

    id = "inputs"

    def process_input(self, ctx: InputContext) -> None:
        return None


class Chunks(Processor):
    """Looks at chunks."""

    id = "chunks"

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        return ctx.chunk


def asked(lists: ProcessorLists, phase: Phase) -> list[tuple[str, str]]:
    return [(hook.list, hook.path) for hook in hooks_in(lists.operations(phase))]


def test_every_point_reads_its_lists() -> None:
    assert set(LISTS) == set(Phase)


def test_a_point_at_which_nothing_acts_has_no_operations() -> None:
    lists = ProcessorLists({"input": [Inputs()], "output": []})
    assert [phase for phase in Phase if lists.acts(phase)] == [Phase.INPUT]
    assert lists.operations(Phase.INPUT_STEP) == ()
    assert lists.drawn(Phase.INPUT_STEP) is None


def test_an_object_in_two_lists_runs_once_at_a_point_that_reads_both() -> None:
    both = Tools()
    lists = ProcessorLists({"input": [both], "output": [both], "error": []})
    assert asked(lists, Phase.TOOL_RESULT) == [("input", "processor:tools")]


def test_an_object_inside_a_workflow_counts_as_the_same_object() -> None:
    both = Tools()
    workflow = (
        create_workflow(id="wf", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
        .parallel([both, Inputs()])
        .merge()
        .commit()
    )
    lists = ProcessorLists({"input": [workflow], "output": [both], "error": []})
    assert asked(lists, Phase.TOOL_RESULT) == [("input", "wf/processor:tools")]


def test_two_objects_with_one_id_in_different_lists_both_run_in_list_order() -> None:
    lists = ProcessorLists({"input": [Tools()], "output": [Tools()], "error": []})
    assert [name for name, _ in asked(lists, Phase.TOOL_RESULT)] == ["input", "output"]


def test_two_objects_with_one_id_in_one_list_are_refused_also_inside_its_workflows() -> None:
    workflow = (
        create_workflow(id="wf", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
        .then(Tools())
        .commit()
    )
    with pytest.raises(DefinitionError, match="two processors have the id 'tools'"):
        ProcessorLists({"input": [Tools(), workflow]})


def test_all_faults_of_a_list_are_told_together() -> None:
    with pytest.raises(DefinitionError) as caught:
        ProcessorLists({"input": [Inputs(), Inputs(), "no processor"]})  # type: ignore[list-item]
    assert len(caught.value.faults) >= 2
    assert "item 2 is a str" in str(caught.value)


def test_a_workflow_with_only_maps_acts_nowhere() -> None:
    workflow = (
        create_workflow(id="wf", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
        .map(lambda ctx: ctx.input)
        .commit()
    )
    lists = ProcessorLists({"input": [workflow], "output": []})
    assert not any(lists.acts(phase) for phase in Phase)


def test_a_function_step_acts_at_every_point_of_its_list() -> None:
    @step
    def look(ctx: StepContext[PhaseContext]) -> PhaseContext:
        return ctx.input

    workflow = (
        create_workflow(id="wf", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
        .then(look)
        .commit()
    )
    lists = ProcessorLists({"input": [], "output": [workflow], "error": []})
    assert {phase for phase in Phase if lists.acts(phase)} == {phase for phase in Phase if "output" in LISTS[phase]}


def test_where_two_lists_act_the_drawing_frames_each() -> None:
    lists = ProcessorLists({"input": [Tools()], "output": [Tools()], "error": []})
    drawn = lists.drawn(Phase.TOOL_RESULT)
    assert drawn is not None
    assert [node.id for node in drawn.nodes] == ["input-processors", "output-processors"]

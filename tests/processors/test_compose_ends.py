"""What a workflow of processors ends with: a list takes one that surely ends with a context, and no other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from interlock import Processor, Workflow, create_step, create_workflow
from interlock.errors import DefinitionError
from interlock.processors import InputContext, ProcessorStepSchema
from interlock.processors.compose import compose, gives
from interlock.steps import Step
from interlock.workflows import WorkflowBuilder


class Look(Processor):
    """Looks at what comes in."""

    def process_input(self, ctx: InputContext) -> None: ...


def flow(name: str = "flow") -> WorkflowBuilder[Any, Any, Any]:
    """The beginning of a workflow that may end with anything."""
    return create_workflow(id=name, input_schema=ProcessorStepSchema)


def a(number: int = 0) -> Processor:
    """A processor."""
    return Look(id=f"look-{number}")


def yes(ctx: Any) -> bool:
    return True


def last(outputs: Mapping[str, Any]) -> Any:
    return list(outputs.values())[-1]


def two() -> Workflow[Any, Any]:
    """A workflow that ends with a block."""
    return flow("two").parallel([a(8), a(9)]).commit()


def last_of(ctx: Any) -> Any:
    return last(ctx.input)


FIRST, OTHER = a(1), a(2)
JOIN: Step[Any, Any] = create_step(last_of, id="join")
KEYED: dict[str, tuple[WorkflowBuilder[Any, Any, Any], str]] = {
    "parallel": (flow().parallel([a(1), a(2)]), "a parallel block"),
    "branch": (flow().branch([(yes, a(1))]), "a branch"),
    "graph of several ends": (flow().dag({FIRST: [], a(2): [FIRST], a(3): [FIRST]}), "a graph of several ends"),
    "graph with such an end": (flow().dag({two(): []}), "a graph"),
    "nested": (flow().then(two()), "a parallel block"),
    "a wait behind a block": (flow().parallel([a(1), a(2)]).sleep(0), "the keyed output of a block"),
    "merge of a branch that may end so": (flow().branch([(yes, two()), (yes, a(1))]).merge(), "the keyed output"),
    "merge with, of the one that is first": (
        flow().parallel([two(), a(1)], join="any").merge(with_=last),
        "the keyed output",
    ),
}


@pytest.mark.parametrize("shape", KEYED)
def test_a_workflow_that_may_end_with_a_keyed_output_is_no_entry_of_a_list(shape: str) -> None:
    builder, words = KEYED[shape]
    with pytest.raises(DefinitionError, match=rf"'flow' ends with {words}.*put \.map\(…\) or \.merge\(\) behind it"):
        compose("input", [builder.commit()])


ONE: dict[str, WorkflowBuilder[Any, Any, Any]] = {
    "processor": flow().then(a()),
    "map": flow().parallel([a(1), a(2)]).map(last_of),
    "merge": flow().parallel([a(1), a(2)]).merge(),
    "merge of a branch": flow().branch([(yes, a(1))], otherwise=a(2)).merge(),
    "merge with, of several": flow().parallel([two(), a(1)]).merge(with_=last),
    "graph of one end": flow().dag({FIRST: [], a(2): [FIRST]}),
    "graph that joins": flow().dag({FIRST: [], OTHER: [], JOIN: [FIRST, OTHER]}),
    "loop": flow().do_while(a(), yes),
    "wait": flow().then(a()).sleep(0),
    "nested, made one outside": flow().then(two()).map(last_of),
}


@pytest.mark.parametrize("shape", ONE)
def test_a_workflow_that_ends_with_a_context_is(shape: str) -> None:
    workflow = ONE[shape].commit()
    assert gives(workflow.plan.nodes).context
    assert compose("input", [workflow]) is not None

"""What ``commit()`` costs where blocks stand in one another: in calls of functions, which never double with a block."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from interlock.errors import DefinitionError
from interlock.steps import Step, create_step
from interlock.workflows import Workflow, WorkflowBuilder, create_workflow
from tests.runtime.operations.acting import completed

pytestmark = pytest.mark.anyio
Wrap = Callable[[Any, Any, int], Any]


def once(id: str, **schemas: Any) -> Step[Any, Any]:  # noqa: A002
    return create_step(lambda ctx: ctx.input, id=id, **schemas)


def yes(ctx: Any) -> bool:
    return True


def no(ctx: Any) -> bool:
    return False


def within(number: int) -> WorkflowBuilder[Any, Any, Any]:
    """The body of a loop, which is to be a block."""
    return create_workflow(id=f"body-{number}")


def beside(number: int) -> Step[Any, Any]:
    return once(f"beside-{number}", output_schema=int)


LINEAR: dict[str, Wrap] = {
    "do_while": lambda builder, inner, number: builder.do_while(inner, no),
    "do_until": lambda builder, inner, number: builder.do_until(inner, yes),
    "then": lambda builder, inner, number: builder.then(inner),
    "branch": lambda builder, inner, number: builder.branch([(yes, inner)]),
    "parallel": lambda builder, inner, number: builder.parallel([inner, beside(number)]),
    "foreach": lambda builder, inner, number: builder.map(yes).foreach(inner),
    "dag": lambda builder, inner, number: builder.dag({inner: []}),
    "loop of a list": lambda builder, inner, number: builder.do_while(within(number).foreach(inner).commit(), no),
    "loop of an arm": lambda builder, inner, number: builder.do_while(
        within(number).branch([(yes, inner), (no, beside(number))]).merge().commit(), no
    ),
}
"""What is put around a block, each time."""

KEYED: dict[str, Wrap] = {
    "parallel": lambda builder, inner, number: builder.do_while(
        within(number).parallel([inner, beside(number)]).commit(), no
    ),
    "branch": lambda builder, inner, number: builder.do_while(within(number).branch([(yes, inner)]).commit(), no),
    "dag": lambda builder, inner, number: builder.do_while(
        within(number).dag({inner: [], beside(number): []}).commit(), no
    ),
}
"""Loops whose output is of another kind than what goes in, each time."""


def nested(depth: int, wrap: Wrap, innermost: Step[Any, Any]) -> WorkflowBuilder[Any, Any, Any]:
    """So many blocks in one another; the outermost is not committed."""
    made: Any = innermost
    for number in range(depth):
        made = wrap(create_workflow(id=f"w{number}"), made, number).commit()
    outer: WorkflowBuilder[Any, Any, Any] = wrap(create_workflow(id="outer"), made, depth)
    return outer


def calls(work: Callable[[], object]) -> int:
    """How many functions something calls."""
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def cost(depth: int, wrap: Wrap, **schemas: Any) -> int:
    """The calls of the outermost commit."""
    builder = nested(depth, wrap, once("step", **schemas))
    builder.commit()  # what is done once for all
    return calls(builder.commit)


@pytest.mark.parametrize("block", LINEAR)
@pytest.mark.parametrize("schemas", [{}, {"output_schema": list}, {"input_schema": object}], ids=str)
def test_twice_as_many_blocks_cost_about_twice_as_much(block: str, schemas: dict[str, Any]) -> None:
    few, many = (cost(depth, LINEAR[block], **schemas) for depth in (8, 16))
    assert few > 50
    assert many < 2.6 * few


@pytest.mark.parametrize("block", KEYED)
def test_where_each_loop_gives_something_else_than_it_takes_every_pair_of_loops_counts_once(block: str) -> None:
    few, many = (cost(depth, KEYED[block]) for depth in (6, 12))
    assert many < 5 * few


def test_a_loop_whose_output_does_not_fit_its_input_is_found_however_often_it_is_looked_at() -> None:
    body = once("body", input_schema=int, output_schema=str)
    inner = create_workflow(id="inner").then(body).commit()
    loops = create_workflow(id="loops").do_until(once("loose", output_schema=int), yes).commit()
    for made in (body, inner):
        builder: Any = create_workflow(id="w", input_schema=int)
        with pytest.raises(DefinitionError) as caught:
            builder.do_while(loops, no).do_while(made, no).commit()
        (fault,) = caught.value.faults
        assert "'body' takes int but from its second time on it is given str" in fault


def test_a_loop_in_a_loop_is_asked_about_what_the_outer_one_gives() -> None:
    """The inner one takes the run's input, but not what the outer one gives it the second time."""
    inner = create_workflow(id="inner").do_while(once("takes", input_schema=int, output_schema=int), no).commit()
    body = create_workflow(id="body").then(inner).then(once("text", output_schema=str)).commit()
    builder: Any = create_workflow(id="w", input_schema=int)
    with pytest.raises(DefinitionError) as caught:
        builder.do_while(body, no).commit()
    assert "'takes' takes int but from its second time on it is given str" in str(caught.value)


def test_what_is_nested_beyond_pythons_limit_is_refused_by_name() -> None:
    with pytest.raises(DefinitionError, match=r"workflow 'w\d+': it is nested deeper than Python's recursion limit"):
        nested(2_000, LINEAR["do_while"], once("step"))


@pytest.mark.parametrize("block", ["do_while", "then", "branch", "dag"])
async def test_what_is_nested_deeply_runs(block: str) -> None:
    def one(builder: Any, inner: Any, number: int) -> Any:
        made = LINEAR[block](builder, inner, number)
        return made.merge() if block == "branch" else made

    workflow: Workflow[Any, Any] = nested(25, one, once("step")).commit()
    assert completed(await workflow.run(1)) == 1

"""What a builder's methods do not take, and where they say so."""

from __future__ import annotations

import functools
import math
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Any

import pytest

from interlock.errors import DefinitionError
from interlock.steps import Step, StepContext, SupportsStep, step
from interlock.workflows import create_workflow
from tests.workflows.acting import ActingStep


@step
def length(ctx: StepContext[str]) -> int:
    return len(ctx.input)


@step
async def double(ctx: StepContext[int]) -> int:
    return ctx.input * 2


def keep(ctx: StepContext[Any]) -> Any:
    return ctx.input


def keep_too(ctx: StepContext[Any]) -> Any:
    return ctx.input


def yes(ctx: StepContext[Any]) -> bool:
    return True


class Guard(SupportsStep):
    def as_step(self) -> Step[Any, Any]:
        return ActingStep("processor:guard")


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
        'node 3 (parallel), branch 3: a lambda has no name: give it one with create_step(lambda ctx: …, id="…")',
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


def test_steps_that_can_be_none_are_told_in_every_block() -> None:
    wrong: Any = create_workflow(id="w")
    fault = "3 can be no step: pass a function, a processor, a tool, an agent, a workflow or a step"
    assert faults_of(wrong.branch([(yes, 3), (yes, [keep, 3])], otherwise=3)) == [
        f"node 1 (branch), arm 1: {fault}",
        f"node 1 (branch), arm 2, step 2: {fault}",
        f"node 1 (branch), otherwise: {fault}",
    ]
    assert faults_of(wrong.foreach(3).do_while(3, yes).do_until(3, yes).dag({3: []})) == [
        f"node 1 (foreach): {fault}",
        f"node 2 (do-while): {fault}",
        f"node 3 (do-until): {fault}",
        f"node 4 (dag), key 1: {fault}",
    ]


@pytest.mark.parametrize("join", [0, -1, True, 1.0, "some", None])
def test_a_join_is_all_any_or_a_number_of_branches(join: Any) -> None:
    wrong: Any = create_workflow(id="w")
    assert faults_of(wrong.parallel([keep, keep_too], join=join)) == [
        f"node 1 (parallel): join is 'all', 'any' or a whole number from 1, not {join!r}"
    ]


def test_a_join_waits_for_no_more_branches_than_there_are() -> None:
    start = create_workflow(id="w")
    assert faults_of(start.parallel([keep, keep_too], join=3)) == [
        "node 1 (parallel): join=3 waits for more branches than there are (2)"
    ]
    assert faults_of(start.parallel([], join=3)) == ["'parallel' has no branches"]
    start.parallel([keep, keep_too], join=2).commit()


@pytest.mark.parametrize("mode", ["fail-fast", "", None, 3, ["collect"]])
def test_there_are_three_ways_to_take_a_failure(mode: Any) -> None:
    told = f"on_error is 'fail_fast' or 'wait_all' or 'collect', not {mode!r}"
    wrong: Any = create_workflow(id="w")
    assert faults_of(wrong.parallel([keep], on_error=mode)) == [f"node 1 (parallel): {told}"]
    assert faults_of(wrong.foreach(keep, on_error=mode)) == [f"node 1 (foreach): {told}"]


@pytest.mark.parametrize("count", [0, -3, True, 1.5, "2"])
def test_figures_are_whole_numbers_from_one(count: Any) -> None:
    wrong: Any = create_workflow(id="w")
    must = "must be a whole number, at least 1"
    assert faults_of(wrong.parallel([keep], concurrency=count)) == [
        f"node 1 (parallel): concurrency {must}, or None for all at once, not {count!r}"
    ]
    assert faults_of(wrong.foreach(keep, concurrency=count)) == [
        f"node 1 (foreach): concurrency {must}, or a function of the context, not {count!r}"
    ]
    assert faults_of(wrong.do_while(keep, yes, max_iterations=count)) == [
        f"node 1 (do-while): max_iterations {must}, not {count!r}"
    ]
    assert faults_of(wrong.foreach(keep, concurrency=None)) != []


@pytest.mark.parametrize("pairs", [3, "ab", {yes: keep}, keep])
def test_a_branch_takes_a_list_of_pairs(pairs: Any) -> None:
    (fault,) = faults_of(create_workflow(id="w").branch(pairs))
    assert fault.startswith("node 1 (branch): .branch() takes a list of pairs, not ")


@pytest.mark.parametrize("pair", [keep, (yes,), (yes, keep, keep), "ab"])
def test_what_is_no_pair_is_told(pair: Any) -> None:
    (fault,) = faults_of(create_workflow(id="w").branch([(yes, keep_too), pair]))
    assert fault.startswith("node 1 (branch), arm 2: a pair is wanted, (condition, step) or (condition, [steps]), not ")


def test_an_arm_without_steps_is_told() -> None:
    start = create_workflow(id="w")
    assert faults_of(start.branch([(yes, keep), (yes, [])])) == ["node 1 (branch), arm 2 has no steps: leave it out"]
    assert faults_of(start.branch([(yes, keep)], otherwise=[])) == [
        "node 1 (branch), otherwise has no steps: leave it out"
    ]


@pytest.mark.parametrize("condition", [True, None, "yes", bool])
def test_a_condition_is_a_function(condition: Any) -> None:
    shown = "the class bool" if condition is bool else repr(condition)
    told = f"the condition must be a function of the context, lambda ctx: …, not {shown}"
    start = create_workflow(id="w")
    assert faults_of(start.branch([(condition, keep)])) == [f"node 1 (branch), arm 1: {told}"]
    assert faults_of(start.do_while(keep, condition)) == [f"node 1 (do-while): {told}"]
    assert faults_of(start.do_until(keep, condition)) == [f"node 1 (do-until): {told}"]


def test_a_branch_runs_the_first_arm_or_all() -> None:
    wrong: Any = create_workflow(id="w")
    assert faults_of(wrong.branch([(yes, keep)], mode="any")) == [
        "node 1 (branch): mode is 'first' or 'all', not 'any'"
    ]


HUGE = [pytest.param(sign * 10**digits, id=f"{sign}e{digits}") for sign in (1, -1) for digits in (400, 5000)]
"""Whole numbers that no float holds, and that Python may not write."""


@pytest.mark.parametrize(
    "seconds",
    [-1, -0.1, *HUGE, math.nan, math.inf, True, "3", None, datetime(2030, 1, 1), int],
)
def test_a_wait_takes_seconds(seconds: Any) -> None:
    (fault,) = faults_of(create_workflow(id="w").sleep(seconds))
    assert fault.startswith("node 1 (sleep): a number of seconds, 0 or more, or a function that gives one, is wanted")


@pytest.mark.parametrize("time", [*HUGE, math.nan, math.inf, True, "noon", None, datetime])
def test_a_wait_until_takes_a_point_in_time(time: Any) -> None:
    (fault,) = faults_of(create_workflow(id="w").sleep_until(time))
    assert fault.startswith(
        "node 1 (sleep-until): a datetime, seconds since the epoch, or a function that gives either"
    )
    create_workflow(id="w").sleep_until(-7.5).commit()


@pytest.mark.parametrize("graph", [3, [keep], keep, "ab"])
def test_a_graph_is_a_dict(graph: Any) -> None:
    (fault,) = faults_of(create_workflow(id="w").dag(graph))
    assert fault.startswith("node 1 (dag): .dag() takes a dict from each step to the list of those it needs")
    assert type(graph).__name__ in fault


def test_needs_that_name_no_step_of_the_graph_are_told() -> None:
    wrong: Any = create_workflow(id="w")
    fault, second = faults_of(wrong.dag({keep: [], length: [keep, "kept"], double: [[1]]}))
    assert fault == "node 1 (dag), 'length' needs 'kept', which is none of 'keep', 'length', 'double'"
    assert second == "node 1 (dag), 'double' needs [1], which is none of 'keep', 'length', 'double'"
    assert faults_of(wrong.dag({keep: [], keep_too: [keep, "keep"]})) == ["node 1 (dag), 'keep-too' needs 'keep' twice"]


@pytest.mark.parametrize("needs", ["keep", keep, 3, None])
def test_needs_are_a_list(needs: Any) -> None:
    (fault,) = faults_of(create_workflow(id="w").dag({keep: [], keep_too: needs}))
    assert fault.startswith("node 1 (dag), 'keep-too': what it needs is a list of steps or ids, [a, b], not ")


def test_a_merge_takes_one_way_to_decide() -> None:
    block = create_workflow(id="w").parallel([keep, keep_too])
    assert faults_of(block.merge(prefer="keep", with_=len)) == [
        "node 2 (merge): prefer= says who wins between forks, with_= makes the value itself: pass one of them"
    ]
    wrong: Any = block
    assert faults_of(wrong.merge(with_=3)) == [
        "node 2 (merge): with_ must be a function of {step id: output}, with_=lambda outputs: …, not 3"
    ]
    assert faults_of(wrong.merge(prefer=3)) == ["node 2 (merge): prefer is a branch's step or its id, not int"]


@pytest.mark.parametrize("name", ["on_start", "on_finish", "on_error"])
@pytest.mark.parametrize("given", [3, "print", print.__class__])
def test_callbacks_are_functions(name: str, given: Any) -> None:
    wrong: Any = create_workflow
    assert faults_of(wrong(id="w", **{name: given}).map(keep)) == [
        f"{name}: a function is wanted, def or async def, not {given!r}"
    ]


@pytest.mark.parametrize("given", [5, ["a"], pytest.param(10**5000, id="huge")])
def test_a_description_is_a_text_and_metadata_are_a_dict(given: Any) -> None:
    wrong: Any = create_workflow
    described, listed = faults_of(wrong(id="w", description=given, metadata=given).map(keep))
    assert described.startswith("description: a text is wanted, not ")
    assert listed.startswith("metadata: a dict is wanted, not ")


def trickle(ctx: StepContext[Any]) -> Iterator[Any]:
    yield ctx.input


async def trickle_later(ctx: StepContext[Any]) -> AsyncIterator[Any]:
    yield ctx.input


class Trickle:
    def __call__(self, ctx: StepContext[Any]) -> Iterator[Any]:
        yield ctx.input


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (trickle, "a generator"),
        (trickle_later, "an async generator"),
        (Trickle(), "a generator"),
        (functools.partial(trickle), "a generator"),
    ],
)
def test_a_generator_is_no_function_for_anything(function: Any, kind: str) -> None:
    start = create_workflow(id="w")
    refused = [
        start.then(function),
        start.map(function),
        start.branch([(function, keep)]),
        start.parallel([keep]).merge(with_=function),
        start.foreach(keep, concurrency=function),
        start.do_while(keep, function),
        start.do_until(keep, function),
        start.sleep(function),
        start.sleep_until(function),
        create_workflow(id="w", on_start=function).map(keep),
        create_workflow(id="w", on_finish=function).map(keep),
        create_workflow(id="w", on_error=function).map(keep),
    ]
    for builder in refused:
        (fault,) = faults_of(builder)
        assert kind in fault


def test_a_retry_is_a_policy() -> None:
    wrong: Any = create_workflow
    assert faults_of(wrong(id="w", retry=3).map(keep)) == [
        "retry: a RetryPolicy is wanted, RetryPolicy(attempts=…), not 3"
    ]


@pytest.mark.parametrize("name", ["run", "create_run", "as_step", "plan", "to_text", "fingerprint", "recover"])
def test_a_builder_that_is_used_as_a_workflow_says_what_to_call(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"workflow 'w' is not committed: call \.commit\(\) before \.{name}"):
        getattr(create_workflow(id="w"), name)
    with pytest.raises(AttributeError, match="a workflow builder has no 'nothing'"):
        getattr(create_workflow(id="w"), "nothing")  # noqa: B009


def test_map_takes_a_function() -> None:
    wrong: Any = create_workflow(id="w")
    assert faults_of(wrong.map(3)) == ["node 1 (map): .map() takes a function or a dict of sources, not int"]


def test_the_neighbours_of_a_faulty_step_are_not_blamed() -> None:
    wrong: Any = create_workflow(id="w", input_schema=str, output_schema=int)
    assert len(faults_of(wrong.then(3).then(double))) == 1
    assert len(faults_of(wrong.parallel([3]).merge().then(double))) == 1
    assert len(faults_of(wrong.parallel(3).merge().then(double))) == 1
    assert len(faults_of(wrong.map(3))) == 1

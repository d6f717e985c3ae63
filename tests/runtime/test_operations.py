"""What the nodes of a plan become: what is recorded, what is copied for a branch, what nobody awaits any more."""

from __future__ import annotations

import copy
from enum import Enum
from typing import Any

import anyio
import pytest

from interlock import Blocked, Completed, Failed, StepContext, Workflow, create_step, create_workflow
from interlock.errors import RunError, StepFailed
from interlock.processors import InputContext
from interlock.runtime.operations import fork_value
from tests.lifecycle.acting import Everywhere, Patient, aborting, flow, picking

pytestmark = pytest.mark.anyio


class Colour(Enum):
    RED = "red"


class Forks:
    """Makes its own copies."""

    def __init__(self) -> None:
        self.forked = 0

    def fork(self) -> str:
        self.forked += 1
        return "a fork"


@pytest.mark.parametrize("value", [None, True, 7, 1.5, 2j, "text", b"bytes", Colour.RED, int])
def test_what_cannot_change_is_passed_as_it_is(value: object) -> None:
    assert fork_value(value, "a", "block") is value


def test_an_object_that_can_fork_forks_and_others_are_copied_deeply() -> None:
    assert fork_value(Forks(), "a", "block") == "a fork"
    given = {"deep": [1, [2]]}
    made = fork_value(given, "a", "block")
    made["deep"][1].append(3)
    assert given == {"deep": [1, [2]]}


class Stubborn:
    """Cannot be copied."""

    def __deepcopy__(self, memo: object) -> Any:
        raise copy.Error("no copies")


def test_what_cannot_be_copied_says_where_what_and_what_to_do() -> None:
    with pytest.raises(RunError, match=r"branch 'a' of 'flow/block' cannot be copied.*Stubborn.*fork\(\)"):
        fork_value([Stubborn()][0], "a", "flow/block")


def one(function: Any, name: str = "it") -> Workflow[Any, Any]:
    """A workflow of one step."""
    return create_workflow(id="one").then(create_step(function, id=name)).commit()


def number(ctx: StepContext[Any]) -> Any:
    """Gives a number."""
    return 7


def outputs(ctx: StepContext[Any]) -> Any:
    return dict(ctx.input)


async def test_def_branches_run_in_list_order_before_the_first_async_branch_begins() -> None:
    log: list[str] = []

    def now(name: str) -> Any:
        def note(ctx: StepContext[Any]) -> None:
            log.append(name)

        return create_step(note, id=name)

    def later(name: str) -> Any:
        async def waits(ctx: StepContext[Any]) -> None:
            log.append(name)

        return create_step(waits, id=name)

    workflow = create_workflow(id="flow").parallel([later("a"), now("b"), later("c"), now("d")]).commit()
    await workflow.run(1)
    assert log[:2] == ["b", "d"]
    assert sorted(log[2:]) == ["a", "c"]


async def test_a_def_guard_that_aborts_wins_over_an_async_one_before_it() -> None:
    guards = [Patient("first", {InputContext.phase: aborting()}, turns=0), Everywhere("second")]
    guards[1].acts[InputContext.phase] = aborting()
    outcome = await flow().parallel(guards).merge().commit().run(InputContext("hello"))
    assert isinstance(outcome, Blocked)
    assert outcome.tripwire.processor_id == "second"
    assert guards[0].log == []


async def test_branches_that_were_to_wait_are_dropped_without_a_trace_when_a_def_branch_fails() -> None:
    """Also those inside nested blocks and workflows: a coroutine that nobody awaits would be warned of."""

    async def waits(ctx: StepContext[Any]) -> None:
        pytest.fail("began")

    def fails(ctx: StepContext[Any]) -> None:
        raise OSError("broken")

    inner = create_workflow(id="inner").parallel([create_step(waits, id=n) for n in "ab"]).map(outputs).commit()
    deeper = create_workflow(id="deeper").parallel([create_step(inner), create_step(waits, id="c")]).commit()
    workflow = create_workflow(id="outer").parallel([create_step(deeper), one(waits, "d"), create_step(fails)]).commit()
    outcome = await workflow.run(1)
    assert isinstance(outcome, Failed)
    assert {r.step_id: r.status for r in outcome.steps if r.kind == "function"} == {
        "a": "canceled",
        "b": "canceled",
        "c": "canceled",
        "d": "canceled",
        "fails": "failed",
    }


async def test_the_scope_of_output_of_is_its_own_workflow() -> None:
    shared = create_step(number, id="shared")

    def ask(ctx: StepContext[Any]) -> object:
        return ctx.output_of(shared, default=None)

    inner = create_workflow(id="inner").then(create_step(ask)).commit()
    outer = create_workflow(id="outer").then(shared).then(inner).commit()
    outcome = await outer.run(1)
    assert isinstance(outcome, Completed)
    assert outcome.output is None


async def test_asking_for_the_output_of_a_step_that_has_not_run_fails_naming_both() -> None:
    never = create_step(number, id="never")

    def ask(ctx: StepContext[Any]) -> object:
        return ctx.output_of(never)

    outcome = await create_workflow(id="flow").then(create_step(ask)).commit().run(1)
    assert isinstance(outcome, Failed)
    assert "'never' has not run before 'ask'" in str(outcome.error)


async def test_a_merge_of_plain_values_fails_and_says_what_to_do() -> None:
    block = create_workflow(id="flow").parallel([create_step(number, id="a"), create_step(number, id="b")])
    outcome = await block.merge().commit().run(1)
    assert isinstance(outcome, Failed)
    assert "use .map" in str(outcome.error)


async def test_a_merge_of_one_branch_is_its_value() -> None:
    outcome = await create_workflow(id="flow").parallel([create_step(number)]).merge().commit().run(1)
    assert isinstance(outcome, Completed)
    assert outcome.output == 7


async def test_the_path_of_a_failure_leads_through_every_workflow() -> None:
    def fails(ctx: StepContext[Any]) -> None:
        raise OSError("broken")

    outer = create_workflow(id="c").then(create_workflow(id="b").parallel([one(fails)]).map(outputs).commit()).commit()
    outcome = await outer.run(1)
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, StepFailed)
    assert outcome.error.step_id == "b/one/it"


async def test_a_processors_step_is_recorded_with_the_context_that_went_in_and_the_one_that_came_out() -> None:
    def edit(ctx: Any) -> None:
        ctx.messages[0].parts[0].text = "changed"

    guard = Everywhere("guard", {InputContext.phase: edit})
    given = InputContext("hello")
    outcome = await flow().then(guard).then(Everywhere("behind")).commit().run(given)
    first, second = outcome.steps
    assert (first.step_id, first.path, first.status) == ("processor:guard", "processor:guard", "success")
    assert first.input is given
    assert isinstance(first.output, InputContext)
    assert first.output.messages[0].text == "changed"
    assert second.input is first.output


async def test_a_lone_async_branch_needs_no_task_and_its_swallowed_verdict_ends_it() -> None:
    async def swallows(ctx: Any) -> None:
        try:
            ctx.abort("stop")
        except BaseException:
            await anyio.sleep_forever()

    lone = Patient("lone", {InputContext.phase: swallows}, turns=0)
    block = flow().parallel([lone, Everywhere("other")]).map(picking("other")).commit()
    with anyio.fail_after(5):
        outcome = await block.run(InputContext("hello"))
    assert isinstance(outcome, Blocked)

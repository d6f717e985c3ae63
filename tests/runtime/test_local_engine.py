"""Every run ends with an outcome: a value, whatever happened inside; only a wrong call raises."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from pydantic import BaseModel, ValidationError

from interlock import (
    Blocked,
    Canceled,
    Completed,
    Failed,
    RequestContext,
    StepContext,
    Workflow,
    create_step,
    create_workflow,
    step,
)
from interlock.errors import AlreadyStarted, InvalidProcessorReturn, RunError, StepFailed
from interlock.messages import TextDelta
from interlock.processors import InputContext, OutputStreamContext
from interlock.verdict import AbortSignal
from tests.lifecycle.acting import Everywhere, Patient, aborting, flow, picking

pytestmark = pytest.mark.anyio

Function = Callable[[StepContext[Any]], Any]


@step
def double(ctx: StepContext[int]) -> int:
    return ctx.input * 2


@step
async def increase(ctx: StepContext[int]) -> int:
    await anyio.lowlevel.checkpoint()
    return ctx.input + 1


def one_step(function: Function, name: str = "it") -> Workflow[Any, Any]:
    """A workflow of one step that is made of a function."""
    return create_workflow(id="flow").then(create_step(function, id=name)).commit()


def both(function: Callable[[StepContext[Any]], object]) -> list[Function]:
    """The function, and the same as a coroutine function that first lets others run."""

    async def waits(ctx: StepContext[Any]) -> object:
        await anyio.lowlevel.checkpoint()
        return function(ctx)

    return [function, waits]


async def test_a_chain_gives_what_its_last_step_gave() -> None:
    workflow = create_workflow(id="sum", input_schema=int, output_schema=int).then(double).then(increase).commit()
    outcome = await workflow.run(4)
    assert isinstance(outcome, Completed)
    assert (outcome.output, outcome.status) == (9, "success")


async def test_a_parallel_block_gives_its_outputs_by_step_in_list_order_whoever_was_first() -> None:
    async def waits(ctx: StepContext[int]) -> str:
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        return "slow"

    workflow = (
        create_workflow(id="both").parallel([create_step(waits), double, increase]).map(lambda ctx: dict(ctx.input))
    )
    outcome = await workflow.commit().run(4)
    assert isinstance(outcome, Completed)
    assert list(outcome.output.items()) == [("waits", "slow"), ("double", 8), ("increase", 5)]


async def test_records_stand_in_the_order_in_which_steps_started() -> None:
    inner = create_workflow(id="inner").then(double).then(increase).commit()
    workflow = (
        create_workflow(id="outer")
        .parallel([create_step(inner), create_step(increase, id="other")])
        .map(lambda ctx: ctx.input["inner"])
        .then(create_step(double, id="last"))
        .commit()
    )
    outcome = await workflow.run(1)
    assert [(r.kind, r.path, r.status, r.input, r.output) for r in outcome.steps] == [
        ("parallel", "parallel", "success", 1, {"inner": 3, "other": 2}),
        ("workflow", "inner", "success", 1, 3),
        ("function", "inner/double", "success", 1, 2),
        ("function", "inner/increase", "success", 2, 3),
        ("function", "other", "success", 1, 2),
        ("map", "map", "success", {"inner": 3, "other": 2}, 3),
        ("function", "last", "success", 3, 6),
    ]
    assert outcome.steps[-1].step_id == "last"
    assert [r.step_id for r in outcome.steps[3:5]] == ["increase", "other"]
    assert all(record.started_at > 1.6e9 and record.duration >= 0 for record in outcome.steps)


def raises(ctx: StepContext[Any]) -> object:
    raise KeyError("broken")


@pytest.mark.parametrize("function", both(raises))
async def test_a_step_that_raises_makes_a_failed_outcome_naming_the_step(function: Function) -> None:
    outcome = await one_step(function, "fragile").run(1)
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, StepFailed)
    assert outcome.error.step_id == "fragile"
    assert isinstance(outcome.error.cause, KeyError)
    assert "fragile" in str(outcome.error)
    assert [(r.step_id, r.status, r.error) for r in outcome.steps] == [("fragile", "failed", outcome.error)]


@pytest.mark.parametrize("function", both(lambda ctx: ctx.abort("enough", metadata={"n": 1})))
async def test_a_step_that_aborts_makes_a_blocked_outcome(function: Function) -> None:
    outcome = await one_step(function, "guard").run(1)
    assert isinstance(outcome, Blocked)
    tripwire = outcome.tripwire
    assert (tripwire.reason, tripwire.processor_id, tripwire.phase) == ("enough", "guard", None)
    assert tripwire.metadata == {"n": 1}
    assert [(r.step_id, r.status) for r in outcome.steps] == [("guard", "tripwire")]


@pytest.mark.parametrize("function", both(raises))
async def test_a_map_that_raises_makes_a_failed_outcome(function: Function) -> None:
    outcome = await create_workflow(id="flow").map(function).commit().run(1)
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, StepFailed)
    assert outcome.error.step_id == "map"


async def test_a_failure_names_the_path_of_a_nested_step_and_stops_the_siblings() -> None:
    ended: list[str] = []

    async def waits(ctx: StepContext[Any]) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    inner = one_step(both(raises)[1], "fragile")
    workflow = create_workflow(id="outer").parallel([create_step(inner), create_step(waits)]).commit()
    outcome = await workflow.run(1)
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, StepFailed)
    assert outcome.error.step_id == "flow/fragile"
    assert ended == ["cancelled"]
    assert {r.step_id: r.status for r in outcome.steps} == {
        "parallel": "failed",
        "flow": "failed",
        "fragile": "failed",
        "waits": "canceled",
    }


class Ticket(BaseModel):
    """An input with a default."""

    text: str
    priority: int = 3


async def test_a_wrong_input_raises_and_the_run_may_be_started_with_a_right_one() -> None:
    run = create_workflow(id="typed", input_schema=Ticket).map(lambda ctx: ctx.input.priority).commit().create_run()
    with pytest.raises(ValidationError):
        await run.start({"priority": 1})  # type: ignore[call-overload]
    outcome = await run.start({"text": "lost parcel"})  # type: ignore[call-overload]
    assert isinstance(outcome, Completed)
    assert outcome.output == 3


async def test_a_step_is_checked_on_both_sides_and_a_wrong_value_is_a_failure_naming_it() -> None:
    def many(ctx: StepContext[Any]) -> Any:
        return "many"

    workflows: list[Workflow[Any, Any]] = [
        create_workflow(id="out").then(create_step(many, id="count", output_schema=int)).commit(),
        create_workflow(id="in").map(many).then(create_step(double, id="count")).commit(),
    ]
    for workflow in workflows:
        outcome = await workflow.run(1)
        assert isinstance(outcome, Failed)
        assert isinstance(outcome.error, StepFailed)
        assert outcome.error.step_id == "count"
        assert isinstance(outcome.error.cause, ValidationError)


async def test_a_run_is_started_once() -> None:
    run = one_step(lambda ctx: ctx.input).create_run("mine")
    assert run.run_id == "mine"
    await run.start(1)
    with pytest.raises(AlreadyStarted, match="mine"):
        await run.start(1)


async def test_starting_it_again_while_it_runs_is_refused_too() -> None:
    refused: list[str] = []

    async def starts_again(ctx: StepContext[Any]) -> None:
        with pytest.raises(AlreadyStarted):
            await run.start(1)
        refused.append("yes")

    run = one_step(starts_again).create_run()
    assert isinstance(await run.start(1), Completed)
    assert refused == ["yes"]


async def test_run_ids_differ_and_steps_see_them() -> None:
    workflow = one_step(lambda ctx: ctx.run_id)
    first, second = await workflow.run(1), await workflow.run(1)
    assert isinstance(first, Completed)
    assert first.output == first.run_id
    assert first.run_id != second.run_id


async def test_steps_see_the_request_context_the_run_input_and_earlier_outputs() -> None:
    def look(ctx: StepContext[int]) -> list[object]:
        return [ctx.request_context["user"], ctx.run_input, ctx.output_of(double), ctx.input]

    workflow = create_workflow(id="flow").then(double).then(increase).then(create_step(look)).commit()
    outcome = await workflow.run(5, request_context=RequestContext(user="ann"))
    assert isinstance(outcome, Completed)
    assert outcome.output == ["ann", 5, 10, 11]


async def test_a_branch_works_on_a_copy_of_its_own() -> None:
    def add(ctx: StepContext[Any]) -> Any:  # no schema: validation would make a copy of its own
        ctx.input.append(len(ctx.input))
        return ctx.input

    given = [7]
    workflow = create_workflow(id="flow").parallel([create_step(add, id="a"), create_step(add, id="b")]).commit()
    outcome = await workflow.run(given)
    assert isinstance(outcome, Completed)
    assert dict(outcome.output) == {"a": [7, 1], "b": [7, 1]}
    assert given == [7]


async def test_an_input_that_cannot_be_copied_fails_naming_branch_and_type() -> None:
    workflow = create_workflow(id="flow").parallel([create_step(double, id="a"), increase]).commit()
    outcome = await workflow.run(n for n in range(3))
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, RunError)
    assert "'a'" in str(outcome.error)
    assert "generator" in str(outcome.error)


async def test_cancel_makes_a_canceled_outcome_and_ends_every_step() -> None:
    ended: list[str] = []
    waiting = anyio.Event()

    def waits(name: str) -> Function:
        async def wait(ctx: StepContext[Any]) -> None:
            waiting.set()
            try:
                await anyio.sleep_forever()
            finally:
                ended.append(name)

        return wait

    workflow = create_workflow(id="flow").parallel([create_step(waits(n), id=n) for n in ("a", "b")]).commit()
    run = workflow.create_run()

    async def cancels() -> None:
        await waiting.wait()
        run.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(cancels)
        outcome = await run.start(1)
        assert isinstance(outcome, Canceled)
        assert outcome.status == "canceled"
        assert sorted(ended) == ["a", "b"]
        assert [r.status for r in outcome.steps] == ["canceled", "canceled", "canceled"]  # the block, and its arms


async def test_cancel_before_the_start_runs_nothing() -> None:
    ran: list[int] = []
    run = one_step(lambda ctx: ran.append(1)).create_run()
    run.cancel()
    assert isinstance(await run.start(1), Canceled)
    assert ran == []


async def test_cancel_by_a_step_stops_the_run_at_the_next_wait() -> None:
    def cancels(ctx: StepContext[Any]) -> None:
        run.cancel()

    for function in both(cancels):
        workflow = create_workflow(id="flow").then(create_step(function, id="a")).then(create_step(rests, id="b"))
        run = workflow.commit().create_run()
        with anyio.fail_after(5):
            assert isinstance(await run.start(1), Canceled)


async def rests(ctx: StepContext[Any]) -> None:
    """Waits for ever."""
    await anyio.sleep_forever()


async def test_cancel_after_the_end_changes_nothing() -> None:
    run = one_step(lambda ctx: ctx.input).create_run()
    outcome = await run.start(1)
    run.cancel()
    assert isinstance(outcome, Completed)


async def test_cancelling_the_caller_raises_as_in_any_python_code() -> None:
    with anyio.CancelScope() as scope:

        async def cancels(ctx: StepContext[Any]) -> None:
            scope.cancel()
            await anyio.lowlevel.checkpoint()

        await one_step(cancels).run(1)
        pytest.fail("the cancellation was lost")
    assert scope.cancelled_caught


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_step_that_cancelled_itself_is_a_failure_not_a_cancelled_caller() -> None:
    """Seen in practice: it awaited a task that somebody else had cancelled."""

    async def cancelled_itself(ctx: StepContext[Any]) -> None:
        task = asyncio.ensure_future(asyncio.sleep(60))
        task.cancel()
        await task

    outcome = await one_step(cancelled_itself, "odd").run(1)
    assert isinstance(outcome, Failed)
    assert "odd" in str(outcome.error)


async def test_an_error_that_follows_a_verdict_does_not_hide_it() -> None:
    async def fails_in_clean_up(ctx: StepContext[Any]) -> None:
        try:
            ctx.abort("enough")
        finally:
            await anyio.lowlevel.checkpoint()
            raise OSError("clean-up")

    outcome = await one_step(fails_in_clean_up).run(1)
    assert isinstance(outcome, Blocked)
    assert outcome.tripwire.reason == "enough"


@pytest.mark.parametrize("function", both(lambda ctx: ctx.abort("enough")))
async def test_a_verdict_that_was_swallowed_stands(function: Function) -> None:
    def swallows(ctx: StepContext[Any]) -> object:
        try:
            return function(ctx)
        except BaseException:
            return "went on"

    async def swallows_async(ctx: StepContext[Any]) -> object:
        with pytest.raises(AbortSignal):
            await maybe_awaited(function(ctx))
        return "went on"

    ran: list[int] = []

    def behind(ctx: StepContext[Any]) -> None:
        ran.append(1)

    for made in (swallows, swallows_async):
        outcome = await create_workflow(id="flow").then(create_step(made, id="guard")).then(behind).commit().run(1)
        assert isinstance(outcome, Blocked)
        assert ran == []


async def maybe_awaited(value: Any) -> object:
    """The value; awaited where it must be."""
    return await value if inspect.isawaitable(value) else value


async def test_of_two_verdicts_the_first_in_time_counts_and_at_one_moment_the_first_in_the_list() -> None:
    guards = [Patient("a", {InputContext.phase: aborting("a")}, turns=3), Everywhere("b"), Patient("c", turns=1)]
    guards[2].acts[InputContext.phase] = aborting("c")
    outcome = await flow().parallel(guards).merge().commit().run(InputContext("hello"))
    assert isinstance(outcome, Blocked)
    assert outcome.tripwire.processor_id == "c"
    both_now = [Everywhere(name, {InputContext.phase: aborting(name)}) for name in ("x", "y")]
    outcome = await flow().parallel(both_now).merge().commit().run(InputContext("hello"))
    assert isinstance(outcome, Blocked)
    assert outcome.tripwire.processor_id == "x"


async def test_a_workflow_of_processors_takes_the_context_of_any_phase_and_runs_what_acts_there() -> None:
    guard = Everywhere("guard")
    outcome = await flow().then(guard).commit().run(InputContext("hello"))
    assert isinstance(outcome, Completed)
    assert isinstance(outcome.output, InputContext)
    assert guard.log == ["guard:input"]


async def test_the_context_that_was_given_is_not_changed() -> None:
    def edit(ctx: Any) -> None:
        ctx.messages[0].parts[0].text = "changed"

    given = InputContext("hello")
    outcome = await flow().then(Everywhere("guard", {given.phase: edit})).commit().run(given)
    assert isinstance(outcome, Completed)
    assert isinstance(outcome.output, InputContext)
    assert outcome.output.messages[0].text == "changed"
    assert given.messages[0].text == "hello"


@pytest.mark.parametrize("turns", [0, 1])
async def test_in_the_per_chunk_phase_it_gives_what_goes_on(turns: int) -> None:
    def shout(ctx: OutputStreamContext) -> object:
        return [ctx.chunk.replace(text=c.upper()) for c in ctx.chunk.text] if isinstance(ctx.chunk, TextDelta) else None

    def twice(ctx: OutputStreamContext) -> object:
        return [ctx.chunk, ctx.chunk] if ctx.chunk == TextDelta("A") else ctx.chunk

    phase = OutputStreamContext.phase
    workflow = (
        flow()
        .then(Patient("shout", {phase: shout}, turns=turns) if turns else Everywhere("shout", {phase: shout}))
        .parallel([Patient("twice", {phase: twice}, turns=1), Everywhere("b")])
        .map(picking("twice"))
        .commit()
    )
    outcome = await workflow.run(OutputStreamContext(chunk=TextDelta("ab")))
    assert isinstance(outcome, Completed)
    assert isinstance(outcome.output, OutputStreamContext)
    assert outcome.output.out == (TextDelta("A"), TextDelta("A"), TextDelta("B"))
    assert [(c.processor_id, c.verdict) for c in outcome.checks] == [
        ("shout", "changed"),
        ("twice", "changed"),
        ("b", "passed"),
    ]


@pytest.mark.parametrize("turns", [0, 1])
async def test_in_the_per_chunk_phase_it_is_blocked_or_fails_like_anywhere(turns: int) -> None:
    def run_with(act: Callable[[Any], object]) -> Workflow[Any, Any]:
        acts = {OutputStreamContext.phase: act}
        return flow().then(Patient("guard", acts, turns=1) if turns else Everywhere("guard", acts)).commit()

    blocked = await run_with(aborting("enough")).run(OutputStreamContext(chunk=TextDelta("ab")))
    assert isinstance(blocked, Blocked)
    assert blocked.tripwire.processor_id == "guard"
    failed = await run_with(lambda ctx: "no chunk").run(OutputStreamContext(chunk=TextDelta("ab")))
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, InvalidProcessorReturn)
    dropped = await run_with(lambda ctx: None).run(OutputStreamContext(chunk=TextDelta("ab")))
    assert isinstance(dropped, Completed)
    assert dropped.output.out == ()


class Bare(BaseException):
    """No ``Exception``, and no wish of anybody to stop."""


async def test_a_bare_base_exception_of_a_step_is_its_failure() -> None:
    def raises(ctx: StepContext[Any]) -> Any:
        raise Bare("odd")

    outcome = await create_workflow(id="w").then(create_step(raises)).commit().run(None)
    assert isinstance(outcome, Failed)
    assert "step 'raises' failed: Bare: odd" in str(outcome.error)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
async def test_a_wish_to_stop_the_program_comes_out(error: BaseException) -> None:
    def raises(ctx: StepContext[Any]) -> Any:
        raise error

    with pytest.raises(type(error)):
        await create_workflow(id="w").then(create_step(raises)).commit().run(None)


@pytest.mark.anyio
async def test_run_sync_is_refused_inside_a_loop() -> None:
    workflow = create_workflow(id="w").map(lambda ctx: 1).commit()
    with pytest.raises(RunError, match=r"run_sync was called inside a running .* loop: await run"):
        workflow.run_sync(None)


def test_run_sync_runs_in_a_loop_of_its_own_with_the_state_and_context_it_is_given() -> None:
    def told(ctx: StepContext[Any]) -> Any:
        return ctx.input, ctx.state["n"], ctx.request_context["who"]

    workflow = create_workflow(id="w").then(create_step(told)).commit()
    outcome = workflow.run_sync("in", state={"n": 2}, request_context={"who": "ann"})
    assert isinstance(outcome, Completed)
    assert outcome.output == ("in", 2, "ann")

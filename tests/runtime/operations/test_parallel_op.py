"""Parallel blocks: what goes in, what comes out, who is stopped."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import Blocked, StepContext, create_step
from interlock.errors import StepFailed
from interlock.workflows import StepError, Suspended
from tests.runtime.operations.acting import Actor, completed, failed, flow, record, retry, statuses, turns

pytestmark = pytest.mark.anyio


async def test_the_output_is_keyed_in_list_order_whatever_the_order_in_which_arms_end() -> None:
    act = Actor()
    block = [act.gives("c", 3, waits=3), act.gives("a", 1), act.gives("b", 2, waits=1)]
    output = completed(await flow().parallel(block).commit().run(0))
    assert list(output.items()) == [("c", 3), ("a", 1), ("b", 2)]
    assert act.log == ["a", "b", "c"]


@pytest.mark.parametrize("value", [0, "", False, {}, [], None])
async def test_falsy_outputs_are_outputs(value: Any) -> None:
    def give(ctx: StepContext[Any]) -> Any:
        return value

    block = [create_step(give, id="a"), create_step(give, id="b")]
    for join in ("all", 2, "any"):
        outcome = await flow().parallel(block, join=join).commit().run(1)
        assert completed(outcome) == ({"a": value} if join == "any" else {"a": value, "b": value})


async def test_each_arm_has_a_copy_of_its_own() -> None:
    def edit(name: str) -> Any:
        async def append(ctx: StepContext[Any]) -> Any:
            ctx.input["list"].append(name)
            await turns(2)
            return ctx.input["list"]

        return create_step(append, id=name)

    given: dict[str, Any] = {"list": ["x"]}
    output = completed(await flow().parallel([edit("a"), edit("b")]).commit().run(given))
    assert output == {"a": ["x", "a"], "b": ["x", "b"]}
    assert given == {"list": ["x"]}


async def test_shared_arms_have_the_very_input() -> None:
    given: Any = object()
    act = Actor()
    output = completed(await flow().parallel([act.gives("a"), act.gives("b")], share=True).commit().run(given))
    assert output["a"] is given
    assert output["b"] is given


async def test_an_input_that_cannot_be_copied_fails_before_any_arm_begins() -> None:
    act = Actor()
    error = failed(await flow().parallel([act.gives("a"), act.gives("b")]).commit().run(n for n in [1]))
    assert "the input of branch 'a' of 'parallel' cannot be copied for it: a generator" in str(error)
    assert "share=True" in str(error)
    assert act.log == []


@pytest.mark.parametrize("options", [{}, {"concurrency": 3}, {"join": 3}])
async def test_an_arm_that_fails_stops_the_others_at_once(options: dict[str, Any]) -> None:
    act = Actor()
    block = [act.stays("a"), act.fails("b", waits=2), act.stays("c")]
    with anyio.fail_after(5):
        outcome = await flow().parallel(block, **options).commit().run(0)
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.step_id == "b"
    assert sorted(act.log) == ["a cancelled", "b", "c cancelled"]
    assert statuses(outcome) == {"parallel": "failed", "a": "canceled", "b": "failed", "c": "canceled"}


async def test_with_wait_all_the_others_end_first_and_the_first_failure_in_time_is_told() -> None:
    act = Actor()
    block = [act.fails("late", waits=4), act.fails("early", waits=1), act.gives("last", waits=8)]
    outcome = await flow().parallel(block, on_error="wait_all").commit().run(0)
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.step_id == "early"
    assert act.log == ["early", "late", "last"]


async def test_with_wait_all_the_run_waits_for_answers_before_it_fails() -> None:
    act = Actor()
    run = flow().parallel([act.fails("broken"), act.asks("ask")], on_error="wait_all").commit().create_run()
    assert isinstance(await run.start(0), Suspended)
    error = failed(await run.resume(1))
    assert isinstance(error, StepFailed)
    assert error.step_id == "broken"
    assert act.log == ["broken", "ask", "ask"]


async def test_with_wait_all_the_first_failure_in_time_is_told_also_where_the_run_was_resumed_meanwhile() -> None:
    act = Actor()
    block = [act.fails("late", waits=4), act.fails("early", waits=1), act.asks("ask")]
    run = flow().parallel(block, on_error="wait_all").commit().create_run()
    assert isinstance(await run.start(0), Suspended)
    error = failed(await run.resume(1))
    assert isinstance(error, StepFailed)
    assert error.step_id == "early"


async def test_a_failure_that_is_collected_is_a_value_that_can_flow_anywhere() -> None:
    act = Actor()
    block = [act.gives("a", 1), act.fails("b", waits=1), act.gives("c", 3, waits=3)]
    further = [act.gives("d"), act.gives("e")]
    outcome = await flow().parallel(block, on_error="collect").parallel(further).commit().run(0)
    for output in completed(outcome).values():
        assert {key: output[key] for key in "ac"} == {"a": 1, "c": 3}
        assert isinstance(output["b"], StepError)
        assert output["b"].step_id == "b"
        assert "b is broken" in str(output["b"].error)
    assert statuses(outcome)["b"] == "failed"
    assert statuses(outcome)["parallel"] == "success"


@pytest.mark.parametrize("on_error", ["fail_fast", "wait_all", "collect"])
async def test_an_arm_that_aborts_always_stops_the_run(on_error: Any) -> None:
    act = Actor()

    async def abort(ctx: StepContext[Any]) -> None:
        await turns(2)
        ctx.abort("enough")

    with anyio.fail_after(5):
        block = [act.stays("a"), create_step(abort)]
        outcome = await flow().parallel(block, on_error=on_error).commit().run(0)
    assert isinstance(outcome, Blocked)
    assert act.log == ["a cancelled"]


async def test_with_any_the_first_to_end_is_the_output_and_the_others_are_cancelled() -> None:
    act = Actor()
    block = [act.stays("a"), act.gives("b", 2, waits=1), act.gives("c", 3, waits=9)]
    outcome = await flow().parallel(block, join="any").commit().run(0)
    assert completed(outcome) == {"b": 2}
    assert sorted(act.log) == ["a cancelled", "b", "c cancelled"]
    assert record(outcome, "parallel").chosen == ("b",)


async def test_where_the_first_arms_are_enough_inline_further_ones_do_not_begin() -> None:
    act = Actor()
    block = [act.gives("a", waits=0), act.gives("b"), act.gives("c")]
    outcome = await flow().parallel(block, join="any").commit().run(0)
    assert completed(outcome) == {"b": 0}
    assert act.log == ["b"]
    assert statuses(outcome) == {"parallel": "success", "a": "canceled", "b": "success"}
    assert record(outcome, "a").attempts == 0


async def test_those_that_end_in_one_turn_are_no_more_than_were_wanted() -> None:
    """Otherwise a merge behind a block of which one arm is enough would find several."""
    act = Actor()
    block = [act.gives(name, waits=1) for name in "abcd"]
    for wanted in (1, 2, 3):
        outcome = await flow().parallel(block, join=wanted).commit().run(0)
        assert len(completed(outcome)) == wanted
    assert completed(await flow().parallel(block, join="any").merge().commit().run(5)) == 5


@pytest.mark.parametrize("on_error", ["fail_fast", "wait_all"])
async def test_failures_count_only_once_too_few_arms_are_left(on_error: Any) -> None:
    act = Actor()
    block = [act.fails("a"), act.gives("b", 2, waits=3), act.fails("c", waits=1)]
    outcome = await flow().parallel(block, join="any", on_error=on_error).commit().run(0)
    assert completed(outcome) == {"b": 2}
    block = [act.fails("a"), act.gives("b", 2, waits=3), act.fails("c", waits=1)]
    outcome = await flow().parallel(block, join=2, on_error=on_error).commit().run(0)
    error = failed(outcome)
    assert isinstance(error, StepFailed)
    assert error.step_id in ("a", "c")
    assert statuses(outcome)["b"] == ("canceled" if on_error == "fail_fast" else "success")


async def test_an_arm_that_waits_to_be_resumed_does_not_hold_up_one_that_is_enough() -> None:
    act = Actor()
    run = flow().parallel([act.asks("ask"), act.gives("b", waits=2)], join="any").then(act.asks("more")).commit()
    started = run.create_run()
    outcome = await started.start(0)
    assert isinstance(outcome, Suspended)
    assert [one.path for one in outcome.suspensions] == ["more"], "nobody need answer what was left behind"
    assert statuses(outcome)["ask"] == "canceled"
    assert completed(await started.resume("yes")) == "yes"
    assert act.log == ["ask", "b", "more", "more"]


@pytest.mark.parametrize("width", [1, 2, 3])
async def test_no_more_arms_than_allowed_run_at_once(width: int) -> None:
    running: list[str] = []
    most: list[int] = []

    def busy(name: str) -> Any:
        async def work(ctx: StepContext[Any]) -> str:
            running.append(name)
            most.append(len(running))
            await turns(3)
            running.remove(name)
            return name

        return create_step(work, id=name)

    outcome = await flow().parallel([busy(name) for name in "abcde"], concurrency=width).commit().run(0)
    assert list(completed(outcome)) == list("abcde")
    assert max(most) == width


@pytest.mark.parametrize("options", [{}, {"concurrency": 2}, {"on_error": "collect"}])
async def test_a_bail_that_is_swallowed_by_a_step_that_goes_on_waiting_stops_the_block(options: Any) -> None:
    act = Actor()

    async def swallow(ctx: StepContext[Any]) -> None:
        await turns(1)
        try:
            ctx.bail("out")
        except BaseException:
            await anyio.sleep_forever()

    with anyio.fail_after(5):
        outcome = await flow().parallel([act.stays("a"), create_step(swallow)], **options).commit().run(0)
    assert completed(outcome) == "out"
    assert act.log == ["a cancelled"]


async def test_arms_that_are_tried_again_are_their_own_business() -> None:
    act = Actor()
    block = [act.fails("a", times=2, waits=0, retry=retry(3)), act.fails("b", times=1, retry=retry(2))]
    outcome = await flow().parallel(block, concurrency=1).commit().run(4)
    assert completed(outcome) == {"a": 4, "b": 4}
    assert act.log == ["a", "a", "a", "b", "b"]


@pytest.mark.parametrize("options", [{}, {"join": "any"}, {"on_error": "collect"}])
async def test_behind_a_block_a_step_that_swallows_its_abort_and_waits_is_interrupted_again(options: Any) -> None:
    act = Actor()

    async def swallow(ctx: StepContext[Any]) -> None:
        try:
            ctx.abort("enough")
        except BaseException:
            await anyio.sleep_forever()

    block = flow().parallel([act.gives("a", waits=1), act.gives("b", waits=1)], **options)
    with anyio.fail_after(5):
        outcome = await block.then(create_step(swallow)).commit().run(0)
    assert isinstance(outcome, Blocked)


async def test_an_arm_that_ends_in_the_very_turn_of_a_bail_makes_room_for_no_other() -> None:
    act = Actor()
    block = [act.bails("out", 7, waits=3), act.gives("a", waits=3), act.gives("b"), act.gives("c")]
    assert completed(await flow().parallel(block, concurrency=2).commit().run(0)) == 7
    assert not {"b", "c"} & set(act.log[act.log.index("out") :])

"""Model calls that failed and are made again: ``process_api_error`` and what it may answer.

The road: ``take_step`` catches what the model raised and asks ``recover(run, error)``; the step then begins anew.
"""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from interlock import Agent, Phase, Processor
from interlock.errors import InvalidProcessorReturn, ModelError
from interlock.messages import MessageList
from interlock.processors import APIErrorContext, Retry
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, chunks_and_result, kinds
from tests.lifecycle.test_retries import refusing

pytestmark = pytest.mark.anyio


class Handler(Processor):
    """Answers failed calls, as often as it is told to."""

    def __init__(self, id: str = "handler", times: int = 1, delay: float = 0.0) -> None:  # noqa: A002
        super().__init__(id=id)
        self.times = times
        self.delay = delay
        self.asked: list[Exception] = []

    def process_api_error(self, ctx: APIErrorContext) -> Retry | None:
        self.asked.append(ctx.error)
        if len(self.asked) <= self.times:
            return Retry(self.delay)
        return None


DOWN = ModelError("overloaded", status=529)


@pytest.mark.parametrize("where", ["error_processors", "input_processors", "output_processors"])
async def test_a_failed_call_is_made_again_where_a_handler_says_so(where: str) -> None:
    model = ScriptedModel([DOWN, "well"])
    handler = Handler()
    options: dict[str, Any] = {where: [handler]}
    result = await Agent(model=model, **options).generate("hello")
    assert result.text == "well"
    assert handler.asked == [DOWN]
    assert [s.finish_reason for s in result.steps] == ["stop"]


async def test_what_a_failed_attempt_had_said_leaves_no_trace_in_the_conversation() -> None:
    model = ScriptedModel([["half an ", DOWN], "whole"])
    chunks, result = await chunks_and_result(Agent(model=model, error_processors=[Handler()]))
    assert result.text == "whole"
    assert [c.finish_reason for c in chunks if c.type == "step-finish"] == ["retry", "stop"]
    assert "half" not in model.received(1)


async def test_the_first_handler_that_answers_counts_and_the_next_is_not_asked() -> None:
    silent, first, second = Handler("silent", times=0), Handler("first"), Handler("second")
    agent = Agent(model=ScriptedModel([DOWN, "well"]), error_processors=[silent, first], input_processors=[second])
    result = await agent.generate("hello")
    assert (len(silent.asked), len(first.asked), len(second.asked)) == (1, 1, 0)
    told = {check.processor_id: (check.verdict, check.reason) for check in result.checks}
    assert told["second"] == ("not-checked", "'first' has answered")


async def test_an_object_in_two_lists_is_asked_once() -> None:
    handler = Handler(times=0)
    agent = Agent(model=ScriptedModel([DOWN]), error_processors=[handler], input_processors=[handler])
    with pytest.raises(ModelError):
        await agent.generate("hello")
    assert len(handler.asked) == 1


async def test_without_a_budget_of_its_own_a_run_recovers_ten_times() -> None:
    handler = Handler(times=99)
    model = ScriptedModel(lambda _: DOWN)
    with pytest.raises(ModelError):
        await Agent(model=model, error_processors=[handler]).generate("hello")
    assert model.calls == 11


async def test_the_budget_counts_recoveries_and_rejections_together() -> None:
    guard = Everywhere("guard", {Phase.OUTPUT_STEP: refusing(9)})
    model = ScriptedModel([DOWN, "one", "two", "three"])
    agent = Agent(model=model, error_processors=[Handler()], output_processors=[guard], max_processor_retries=2)
    result = await agent.generate("hello")
    assert result.status == "tripwire"
    assert model.calls == 3


async def test_the_step_begins_again_with_the_conversation_as_the_handler_left_it() -> None:
    class Shortening(Processor):
        id = "shortening"

        def process_api_error(self, ctx: APIErrorContext) -> Retry:
            ctx.message_list.remove(ctx.messages[0].id)
            return Retry()

    asked = MessageList()
    asked.add(["long ago", "hello"], source="input")
    model = ScriptedModel([ModelError("too long", status=400), "well"])
    steps: list[int] = []
    agent = Agent(model=model, error_processors=[Shortening()])
    result = await agent.generate(asked, prepare_step=lambda ctx: steps.append(ctx.step_number))
    assert "long ago" not in model.received(1)
    assert steps == [0, 0]
    assert [m.text for m in result.messages.all] == ["hello", "well"]


async def test_nobody_recovers_then_the_stream_ends_with_the_error() -> None:
    chunks, result = await chunks_and_result(Agent(model=ScriptedModel([DOWN])))
    assert kinds(chunks)[-1] == "error"
    assert (result.status, result.error) == ("failed", DOWN)


async def test_a_delay_is_waited_for_and_canceling_ends_it() -> None:
    handler = Handler(delay=3600.0)
    agent = Agent(model=ScriptedModel([DOWN, "well"]), error_processors=[handler])
    async with agent.stream("hello") as stream, anyio.create_task_group() as group:

        async def read() -> None:
            assert (await stream.result()).status == "canceled"

        group.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        stream.cancel()


@pytest.mark.parametrize("delay", [-1.0, float("nan"), float("inf"), "soon", True])
async def test_a_delay_is_a_number_of_seconds(delay: Any) -> None:
    agent = Agent(model=ScriptedModel([DOWN, "well"]), error_processors=[Handler(delay=delay)])
    with pytest.raises(InvalidProcessorReturn, match="delay is a number of seconds"):
        await agent.generate("hello")

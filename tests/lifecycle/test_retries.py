"""Steps that are done again: ``abort(retry=True)`` where it is honoured, ``Retry`` after a failed model call, budgets.

The road: a verdict unwinds the step like any other; ``take_step`` asks ``repeats(run)``, and ``reject(run)`` takes the
verdict and the step back and leaves the reason for the model. A failed call goes to ``recover(run, error)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from interlock import Agent, Phase, Processor, tool
from interlock.errors import DefinitionError, ModelError
from interlock.messages import Chunk, TextDelta, ToolError
from interlock.processors import (
    InputStepContext,
    LLMResponseContext,
    OutputResultContext,
    OutputStepContext,
    OutputStreamContext,
    ToolResultContext,
)
from interlock.processors.hook_context import HookContext
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, Patient, chunks_and_result, flow, kinds

pytestmark = pytest.mark.anyio

REPEATING = [
    Phase.INPUT_STEP,
    Phase.LLM_REQUEST,
    Phase.OUTPUT_STREAM,
    Phase.LLM_RESPONSE,
    Phase.OUTPUT_STEP,
    Phase.TOOL_CALL,
    Phase.OUTPUT_RESULT,
]
"""Where the step is done again."""

RAN: list[str] = []


@tool
def track(parcel: str = "7") -> str:
    """Where a parcel is."""
    RAN.append(parcel)
    return f"parcel {parcel} is in Leipzig"


@pytest.fixture(autouse=True)
def no_tool_has_run() -> None:
    RAN.clear()


def refusing(times: int, reason: str = "too short") -> Callable[[Any], object]:
    """Asks for another try so many times, numbering the reasons; in the stream at the first text."""
    asked = 0

    def act(ctx: HookContext) -> object:
        nonlocal asked
        chunk = ctx.chunk if isinstance(ctx, OutputStreamContext) else None
        if asked < times and (chunk is None or chunk.type == "text-delta"):
            asked += 1
            ctx.abort(f"{reason} {asked}", retry=True)
        return chunk

    return act


def both_lists(guard: Processor) -> dict[str, Any]:
    return {"input_processors": [guard], "output_processors": [guard]}


def with_a_call(text: str) -> list[Any]:
    return [text, ScriptedModel.tool_call("track")]


@pytest.mark.parametrize("kind", [Everywhere, Patient])
@pytest.mark.parametrize("phase", REPEATING)
async def test_the_step_is_done_again_and_only_the_accepted_answer_stays(phase: Phase, kind: type[Everywhere]) -> None:
    guard = kind("guard", {phase: refusing(1)})
    first = with_a_call("rejected") if phase is Phase.TOOL_CALL else "rejected"
    begins = phase in (Phase.INPUT_STEP, Phase.LLM_REQUEST)
    model = ScriptedModel(["accepted"] if begins else [first, "accepted"])
    agent = Agent(model=model, tools=[track], max_processor_retries=1, **both_lists(guard))
    result = await agent.generate("hello")
    assert result.status == "success"
    assert result.text == "accepted"
    assert [(s.step_number, s.finish_reason, s.reason) for s in result.steps] == [
        (0, "retry", "too short 1"),
        (0, "stop", None),
    ]
    assert [m.text for m in result.messages.all] == ["hello", "accepted"]
    assert RAN == []
    assert model.calls == (1 if begins else 2)


@pytest.mark.parametrize("phase", REPEATING)
async def test_without_budget_it_is_a_plain_block_that_says_what_was_asked_for(phase: Phase) -> None:
    guard = Everywhere("guard", {phase: refusing(1)})
    agent = Agent(model=ScriptedModel([with_a_call("rejected"), "more"]), tools=[track], **both_lists(guard))
    result = await agent.generate("hello")
    assert result.status == "tripwire"
    assert result.tripwire is not None
    assert result.tripwire.retry
    assert result.tripwire.reason == "too short 1"


@pytest.mark.parametrize("phase", [Phase.INPUT, Phase.API_ERROR])
async def test_where_there_is_no_step_to_repeat_it_is_reported_and_not_honoured(phase: Phase) -> None:
    guard = Everywhere("guard", {phase: refusing(1)})
    agent = Agent(model=ScriptedModel([ModelError("down", status=503)]), max_processor_retries=3, **both_lists(guard))
    result = await agent.generate("hello")
    assert result.status == "tripwire"
    assert result.tripwire is not None
    assert result.tripwire.retry


async def test_a_used_up_budget_ends_the_run() -> None:
    guard = Everywhere("guard", {Phase.OUTPUT_STEP: refusing(5)})
    model = ScriptedModel(lambda _: "rejected")
    result = await Agent(model=model, max_processor_retries=2, **both_lists(guard)).generate("hello")
    assert result.status == "tripwire"
    assert model.calls == 3
    assert result.text == ""
    assert [m.text for m in result.messages.all] == ["hello"]
    assert [s.finish_reason for s in result.steps] == ["retry", "retry", "stop"]


async def test_the_model_is_told_the_newest_reason_only_and_no_more_once_a_step_is_accepted() -> None:
    guard = Everywhere("guard", {Phase.OUTPUT_STEP: refusing(2)})
    model = ScriptedModel(["one", "two", with_a_call("three"), "four"])
    result = await Agent(model=model, tools=[track], max_processor_retries=2, **both_lists(guard)).generate("hello")
    assert "too short 1" in model.received(1)
    assert "too short 2" in model.received(2)
    assert "too short 1" not in model.received(2)
    assert "too short" not in model.received(3)
    for number in (1, 2):
        system = [m for m in model.requests[number].prompt if m.role == "system"]
        assert len(system) == 1
    assert "one" not in model.received(1)
    assert result.messages.system_messages("processor-retry-feedback") == []
    assert result.text == "threefour"


async def test_retries_do_not_use_up_max_steps() -> None:
    guard = Everywhere("guard", {Phase.OUTPUT_STEP: refusing(3)})
    model = ScriptedModel(["a", "b", "c", with_a_call("d"), "e"])
    agent = Agent(model=model, tools=[track], max_processor_retries=3, max_steps=2, **both_lists(guard))
    result = await agent.generate("hello")
    assert (result.text, result.finish_reason) == ("de", "stop")
    assert [s.step_number for s in result.steps] == [0, 0, 0, 0, 1]


async def test_every_hook_sees_how_often_the_run_has_been_retried_so_far() -> None:
    seen: list[tuple[str, int]] = []

    class Counting(Everywhere):
        def _note(self, ctx: HookContext) -> None:
            seen.append((str(ctx.phase), ctx.retry_count))

    guard = Counting("guard", {Phase.OUTPUT_STEP: refusing(1)})
    await Agent(model=ScriptedModel(["a", "b"]), max_processor_retries=1, **both_lists(guard)).generate("hello")
    at = seen.index(("output_step", 0))
    assert {count for _, count in seen[: at + 1]} == {0}
    assert {count for _, count in seen[at + 1 :]} == {1}
    assert {name for name, _ in seen[at + 1 :]} >= {"input_step", "llm_request", "output_stream", "output_result"}


async def test_the_budget_of_a_call_takes_the_place_of_the_agents() -> None:
    guard = Everywhere("guard", {Phase.OUTPUT_STEP: refusing(1)})
    agent = Agent(model=ScriptedModel(["a", "b"]), **both_lists(guard))
    assert (await agent.generate("hello", max_processor_retries=1)).text == "b"


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "3"])
def test_a_budget_is_a_whole_number(wrong: Any) -> None:
    with pytest.raises(DefinitionError, match="max_processor_retries must be a whole number from 0"):
        Agent(model="embedded/echo", max_processor_retries=wrong)


# What the client sees


async def test_the_client_sees_that_the_rejected_answer_ended_with_retry() -> None:
    guard = Everywhere("guard", {Phase.OUTPUT_STEP: refusing(1)})
    agent = Agent(model=ScriptedModel(["one", "two"]), max_processor_retries=1, **both_lists(guard))
    chunks, result = await chunks_and_result(agent)
    ends = [chunk.finish_reason for chunk in chunks if chunk.type == "step-finish"]
    assert ends == ["retry", "stop"]
    assert kinds(chunks).count("step-start") == 2
    assert "".join(c.text for c in chunks if isinstance(c, TextDelta)) == "onetwo"
    assert result.text == "two"


@pytest.mark.parametrize("release", ["step", "run"])
@pytest.mark.parametrize("phase", [p for p in REPEATING if p is not Phase.OUTPUT_RESULT])
async def test_what_is_held_until_the_step_was_accepted_never_shows_a_rejected_answer(
    phase: Phase, release: Any
) -> None:
    guard = Everywhere("guard", {phase: refusing(1)})
    begins = phase in (Phase.INPUT_STEP, Phase.LLM_REQUEST)
    model = ScriptedModel([*([] if begins else [with_a_call("rejected")]), "accepted"])
    agent = Agent(model=model, tools=[track], max_processor_retries=1, **both_lists(guard))
    chunks, result = await chunks_and_result(agent, release=release)
    assert kinds(chunks) == [
        "start",
        "step-start",
        "text-start",
        "text-delta",
        "text-end",
        "step-finish",
        "finish",
    ]
    assert "".join(c.text for c in chunks if isinstance(c, TextDelta)) == result.text == "accepted"


async def test_what_is_held_until_the_run_was_accepted_shows_nothing_of_an_answer_that_the_result_hook_refused() -> (
    None
):
    guard = Everywhere("guard", {Phase.OUTPUT_RESULT: refusing(1)})
    model = ScriptedModel([with_a_call("see. "), "rejected", "accepted"])
    agent = Agent(model=model, tools=[track], max_processor_retries=1, **both_lists(guard))
    chunks, result = await chunks_and_result(agent, release="run")
    assert "".join(c.text for c in chunks if isinstance(c, TextDelta)) == result.text == "see. accepted"
    assert RAN == ["7"]


@pytest.mark.parametrize(("release", "shown"), [("chunk", "see. no"), ("step", "see. "), ("run", "")])
async def test_a_block_shows_what_was_released_and_the_result_says_the_same(release: Any, shown: str) -> None:
    class Last(Processor):
        id = "last"

        def process_output_step(self, ctx: OutputStepContext) -> None:
            if ctx.step_number == 1:
                ctx.abort("no")

    model = ScriptedModel([with_a_call("see. "), "no"])
    chunks, result = await chunks_and_result(
        Agent(model=model, tools=[track], output_processors=[Last()]), release=release
    )
    assert "".join(c.text for c in chunks if isinstance(c, TextDelta)) == result.text == shown
    assert kinds(chunks)[-1] == "tripwire"


@pytest.mark.parametrize("release", ["step", "run"])
async def test_with_nothing_to_reject_held_chunks_come_out_in_order_and_all(release: Any) -> None:
    def made() -> Agent:
        return Agent(model=ScriptedModel([with_a_call("see. "), ["a", "b"]]), tools=[track])

    plain, _ = await chunks_and_result(made())
    held, _ = await chunks_and_result(made(), release=release)
    assert kinds(held) == kinds(plain)
    assert held[1:] == plain[1:]


def test_release_is_one_of_three() -> None:
    with pytest.raises(DefinitionError, match="release must be"):
        Agent(model="embedded/echo").generate_sync("hello", release="later")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# Tool results


@pytest.mark.parametrize("kind", [Everywhere, Patient])
async def test_a_refused_tool_result_becomes_the_tools_error_and_the_tool_does_not_run_twice(
    kind: type[Everywhere],
) -> None:
    guard = kind("guard", {Phase.TOOL_RESULT: refusing(1, "not this")})
    model = ScriptedModel([with_a_call("see. "), "well"])
    agent = Agent(model=model, tools=[track], max_processor_retries=1, max_steps=1, input_processors=[guard])
    chunks, result = await chunks_and_result(agent)
    assert RAN == ["7"]
    assert "tool-error" in kinds(chunks)
    assert "tool-result" not in kinds(chunks)
    assert "Leipzig" not in model.received(1)
    assert "not this 1" in model.received(1)
    assert result.text == "see. well"
    assert [s.finish_reason for s in result.steps] == ["tool-calls", "stop"]


async def test_the_other_tools_of_the_step_go_on_when_one_result_is_refused() -> None:
    @tool
    def other() -> str:
        """Another."""
        return "the other one"

    class Choosy(Processor):
        id = "choosy"

        def process_tool_result(self, ctx: ToolResultContext) -> None:
            if ctx.tool_name == "track":
                ctx.abort("no parcels", retry=True)

    model = ScriptedModel([[ScriptedModel.tool_call("track"), ScriptedModel.tool_call("other")], "well"])
    agent = Agent(model=model, tools=[track, other], max_processor_retries=1, input_processors=[Choosy()])
    result = await agent.generate("hello")
    assert "the other one" in model.received(1)
    assert "no parcels" in model.received(1)
    assert result.status == "success"


async def test_a_refused_tool_result_without_budget_blocks() -> None:
    guard = Everywhere("guard", {Phase.TOOL_RESULT: refusing(1)})
    model = ScriptedModel([with_a_call("see. "), "well"])
    result = await Agent(model=model, tools=[track], input_processors=[guard]).generate("hello")
    assert result.status == "tripwire"
    assert model.calls == 1


# Verdicts that are swallowed, or come late


@pytest.mark.parametrize("phase", [p for p in REPEATING if p is not Phase.OUTPUT_STREAM])
async def test_a_hook_that_swallows_its_verdict_and_waits_on_is_interrupted_and_the_step_is_done_again(
    phase: Phase,
) -> None:
    asked = 0

    async def stubborn(ctx: HookContext) -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            try:
                ctx.abort("again", retry=True)
            except BaseException:  # what a careless hook does
                await anyio.sleep_forever()

    guard = Patient("guard", {phase: stubborn})
    model = ScriptedModel(lambda _: with_a_call("text") if not RAN else "done")
    agent = Agent(model=model, tools=[track], max_processor_retries=1, **both_lists(guard))
    with anyio.fail_after(20):
        result = await agent.generate("hello")
    assert result.status == "success"
    assert [s.finish_reason for s in result.steps].count("retry") == 1


async def test_what_is_left_over_of_a_rejected_attempt_cannot_stop_the_next() -> None:
    kept: list[OutputStepContext] = []

    class Keeping(Processor):
        id = "keeping"

        def process_output_step(self, ctx: OutputStepContext) -> None:
            kept.append(ctx)
            if len(kept) == 1:
                ctx.abort("again", retry=True)

        def process_output_result(self, ctx: OutputResultContext) -> None:
            with pytest.raises(BaseException, match="again"):
                kept[0].abort("too late")

    model = ScriptedModel(["one", "two"])
    result = await Agent(model=model, max_processor_retries=1, output_processors=[Keeping()]).generate("hello")
    assert result.text == "two"


# What stays of a rejected step


async def test_what_input_processors_did_stays_and_what_the_rejected_answer_brought_goes() -> None:
    class Noting(Processor):
        id = "noting"

        def process_input_step(self, ctx: InputStepContext) -> None:
            ctx.state["times"] = ctx.state.get("times", 0) + 1
            if ctx.state["times"] == 1:
                ctx.message_list.add("by the way", source="context")

        def process_output_step(self, ctx: OutputStepContext) -> None:
            if ctx.state["times"] == 1:
                ctx.abort("again", retry=True)

    guard = Noting()
    model = ScriptedModel(["one", "two"])
    result = await Agent(model=model, max_processor_retries=1, **both_lists(guard)).generate("hello")
    assert [m.text for m in result.messages.all] == ["hello", "by the way", "two"]


async def test_usage_counts_rejected_answers() -> None:
    guard = Everywhere("guard", {Phase.OUTPUT_STEP: refusing(1)})
    agent = Agent(model=ScriptedModel(["one", "two"]), max_processor_retries=1, **both_lists(guard))
    result = await agent.generate("hello")
    assert result.usage == result.steps[0].usage + result.steps[1].usage
    assert result.steps[0].usage.total_tokens > 0


async def test_in_a_workflow_a_verdict_asks_for_another_try_like_in_a_list() -> None:
    guard = Everywhere("guard", {Phase.OUTPUT_STEP: refusing(1)})
    graph = flow().parallel([guard, Everywhere("other")]).merge().commit()
    agent = Agent(model=ScriptedModel(["one", "two"]), max_processor_retries=1, output_processors=[graph])
    assert (await agent.generate("hello")).text == "two"


async def test_a_rejected_answer_is_not_held_against_the_next_in_the_records() -> None:
    class Once(Processor):
        id = "once"

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            if ctx.text == "no":
                ctx.abort("no", retry=True)
            return ctx.chunk

        def process_llm_response(self, ctx: LLMResponseContext) -> None:
            """Sees the answer that was accepted."""

    guard = Once()
    result = await Agent(model=ScriptedModel(["no", "yes"]), max_processor_retries=1, **both_lists(guard)).generate("?")
    assert result.text == "yes"
    assert [(c.phase, c.verdict) for c in result.checks] == [("llm_response", "passed"), ("output_stream", "blocked")]


async def test_what_a_stream_guard_says_after_a_result_was_sent_back_stands() -> None:
    class SendsBack(Processor):
        id = "sends-back"

        def process_tool_result(self, ctx: ToolResultContext) -> None:
            ctx.abort("not good", retry=True)

        def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
            if isinstance(ctx.chunk, ToolError):
                ctx.abort("no more")
            return ctx.chunk

    def look() -> str:
        """Look."""
        return "seen"

    model = ScriptedModel([ScriptedModel.tool_call("look", {}), "done"])
    agent = Agent(model=model, tools=[look], output_processors=[SendsBack()], max_processor_retries=1)
    result = await agent.generate("x")
    assert result.tripwire is not None
    assert (result.tripwire.reason, model.calls) == ("no more", 1)


@pytest.mark.parametrize(("reason", "told"), [("too short", "too short."), ("Say more.", "Say more."), ("so?", "so?")])
async def test_the_model_is_told_the_reason_as_a_sentence(reason: str, told: str) -> None:
    model = ScriptedModel(["a", "b"])

    def refuse(ctx: Any) -> None:
        if not ctx.retry_count:
            ctx.abort(reason, retry=True)

    guard = Everywhere("guard", {Phase.OUTPUT_STEP: refuse})
    await Agent(model=model, output_processors=[guard], max_processor_retries=1).generate("hello")
    assert f"Your last answer was not accepted: {told} Answer again." in model.received(1)

"""No exception is swallowed: one in a hook fails the run, in the stream too, and what a hook may not return says so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from interlock import Agent, Message, MessageList, Phase, tool
from interlock.errors import InterlockError, InvalidProcessorReturn, ModelError, StepFailed
from interlock.messages import ErrorChunk, PromptMessage, TextDelta, TextPart
from interlock.models.scripted import Script
from interlock.processors import (
    CachedResponse,
    Changes,
    Deny,
    RequestChanges,
    StepChanges,
    ToolCallChanges,
    ToolResultChanges,
)
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Act, Everywhere, Patient, chunks_and_result, flow, kinds, model_that_calls

pytestmark = pytest.mark.anyio


def raising(error: Exception) -> Act:
    """Raises at the phase; in the stream at the first text."""

    def act(ctx: Any) -> object:
        if ctx.phase is not Phase.OUTPUT_STREAM:
            raise error
        if ctx.chunk.type == "text-delta":
            raise error
        return ctx.chunk

    return act


def agent_with(phase: Phase, act: Act, *, patient: bool = False) -> tuple[Agent, ScriptedModel, Everywhere]:
    """An agent whose run comes to the phase, with a processor that does something there."""
    model = ScriptedModel([ModelError("gone")]) if phase is Phase.API_ERROR else model_that_calls("track")
    guard = (Patient if patient else Everywhere)("guard", {phase: act})

    def track(n: int = 0) -> str:
        """Where a parcel is."""
        return "in Leipzig"

    agent = Agent(
        model=model, tools=[track], input_processors=[guard], output_processors=[guard], error_processors=[guard]
    )
    return agent, model, guard


@pytest.mark.parametrize("patient", [False, True])
@pytest.mark.parametrize("phase", Phase)
async def test_an_exception_in_any_hook_fails_the_run_naming_processor_and_phase(phase: Phase, patient: bool) -> None:
    agent, _, guard = agent_with(phase, raising(KeyError("broken")), patient=patient)
    chunks, result = await chunks_and_result(agent)
    assert result.status == "failed"
    assert result.finish_reason == "error"
    assert result.tripwire is None
    assert isinstance(result.error, StepFailed)
    assert isinstance(result.error.cause, KeyError)
    assert (result.error.step_id, result.error.phase) == ("processor:guard", phase)
    assert kinds(chunks)[-1] == "error"
    assert isinstance(chunks[-1], ErrorChunk)
    assert chunks[-1].error is result.error
    assert not {"finish", "tripwire"} & set(kinds(chunks))
    assert guard.log[-1] == f"guard:{phase}"


@pytest.mark.parametrize("phase", Phase)
async def test_generate_raises_the_error_with_the_result_attached(phase: Phase) -> None:
    agent, _, _ = agent_with(phase, raising(KeyError("broken")))
    with pytest.raises(StepFailed, match="broken") as raised:
        await agent.generate("hello")
    result: Any = raised.value.result
    assert result.status == "failed"
    assert result.error is raised.value
    assert result.checks[-1].verdict in ("not-checked", "passed")


async def test_the_original_chunk_is_never_emitted_because_a_guard_crashed() -> None:
    agent, model, _ = agent_with(Phase.OUTPUT_STREAM, raising(KeyError("broken")))
    chunks, result = await chunks_and_result(agent)
    assert not any(isinstance(chunk, TextDelta) for chunk in chunks)
    assert result.text == ""
    assert model.closed == 1


async def test_a_model_that_fails_fails_the_run_with_its_own_error() -> None:
    error = ModelError("overloaded", status=529, body="{}")
    scripts: list[Script] = [[error], [["some text", error]]]
    for script in scripts:
        chunks, result = await chunks_and_result(Agent(model=ScriptedModel(script)))
        assert result.error is error
        assert kinds(chunks)[-1] == "error"
        with pytest.raises(ModelError) as raised:
            await Agent(model=ScriptedModel(script)).generate("hello")
        assert raised.value is error
        assert raised.value.result is not None


async def test_an_error_that_is_none_of_the_librarys_own_carries_the_result_too() -> None:
    with pytest.raises(OSError, match="no route") as raised:
        await Agent(model=ScriptedModel([OSError("no route")])).generate("hello")
    result: Any = vars(raised.value)["result"]
    assert result.status == "failed"


async def test_a_process_api_error_sees_what_the_model_raised() -> None:
    seen: list[object] = []
    error = ModelError("overloaded", status=529)
    guard = Everywhere("guard", {Phase.API_ERROR: lambda ctx: seen.append(ctx.error)})
    async with Agent(model=ScriptedModel([error]), error_processors=[guard]).stream("hello") as stream:
        result = await stream.result()
    assert seen == [error]
    assert result.error is error


async def test_an_error_chunk_in_the_models_stream_is_a_failed_call() -> None:
    error = ModelError("broken off")
    guard = Everywhere("guard")
    agent = Agent(model=ScriptedModel([["text", ErrorChunk(error)]]), error_processors=[guard])
    chunks, result = await chunks_and_result(agent)
    assert result.error is error
    assert kinds(chunks).count("error") == 1
    assert guard.log == ["guard:api_error"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("phase", Phase)
async def test_a_hook_or_model_that_awaited_a_cancelled_task_has_failed(phase: Phase) -> None:
    """It must not look as if the caller had been cancelled."""

    async def awaits_a_cancelled_task(ctx: Any = None) -> None:
        task = asyncio.ensure_future(asyncio.sleep(60))
        task.cancel()
        await task

    agent, _, _ = agent_with(phase, awaits_a_cancelled_task, patient=True)
    _, result = await chunks_and_result(agent)
    assert result.status == "failed"
    assert isinstance(result.error, StepFailed)
    if phase is Phase.API_ERROR:
        broken = ScriptedModel([["x", awaits_a_cancelled_task]])
        _, result = await chunks_and_result(Agent(model=broken))
        assert isinstance(result.error, InterlockError)
        assert "CancelledError" in str(result.error)


ODD: Any = "no such thing"
"""A value of a wrong type."""

ANYWHERE: list[object] = ["text", 7, True, {}, object(), ["text"], [Message.user("x"), "text"]]
WRONG: dict[Phase, list[object]] = {
    Phase.INPUT: [
        StepChanges(),
        RequestChanges(),
        Deny("x"),
        Changes(messages=ODD),
        Changes(system_messages=[Message.user("x")]),
    ],
    Phase.INPUT_STEP: [
        RequestChanges(),
        StepChanges(model=ODD),
        StepChanges(model="nobody/knows"),
        StepChanges(tools=[ODD]),
        StepChanges(messages=[ODD]),
        StepChanges(system_messages=ODD),
        StepChanges(system_messages=[Message.user("x")]),
        StepChanges(tools=7),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        StepChanges(tools=[tool(lambda: 1, name="t"), tool(lambda: 2, name="t")]),
        StepChanges(tool_choice=7),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        StepChanges(active_tools="look"),
        StepChanges(active_tools=[7]),  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
        StepChanges(model_settings=7),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        StepChanges(provider_options=7),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ],
    Phase.LLM_REQUEST: [
        Changes(),
        [Message.user("x")],
        RequestChanges(prompt=[ODD]),
        RequestChanges(prompt=7),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        RequestChanges(response=7),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        RequestChanges(response=CachedResponse(7)),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ],
    Phase.API_ERROR: [Changes(), [], [Message.user("x")]],
    Phase.OUTPUT_STREAM: [Changes(), Message.user("x")],
    Phase.LLM_RESPONSE: [Changes(), []],
    Phase.OUTPUT_STEP: [StepChanges(), ToolResultChanges(result=1), Changes(messages=ODD)],
    Phase.TOOL_CALL: [Changes(), ToolResultChanges(result=1), [Message.user("x")]],
    Phase.TOOL_RESULT: [Changes(), ToolCallChanges(args={}), Deny("x"), [Message.user("x")]],
    Phase.OUTPUT_RESULT: [StepChanges(), Deny("x")],
}


@pytest.mark.parametrize(
    ("phase", "number"), [(phase, n) for phase in Phase for n in range(len(ANYWHERE) + len(WRONG[phase]))]
)
async def test_a_wrong_return_value_names_processor_phase_and_what_is_allowed(phase: Phase, number: int) -> None:
    wrong = [*ANYWHERE, *WRONG[phase]][number]
    agent, _, _ = agent_with(phase, lambda ctx: wrong)
    _, result = await chunks_and_result(agent)
    assert result.status == "failed"
    assert isinstance(result.error, InvalidProcessorReturn), result.error
    assert result.error.processor_id == "guard"
    assert result.error.phase == phase
    assert result.error.allowed in str(result.error)
    assert "None" in result.error.allowed


MESSAGE_PHASES = [phase for phase in Phase if phase is not Phase.OUTPUT_STREAM]


@pytest.mark.parametrize("phase", MESSAGE_PHASES)
async def test_another_message_list_than_the_one_given_is_refused(phase: Phase) -> None:
    agent, _, _ = agent_with(phase, lambda ctx: MessageList("other"))
    _, result = await chunks_and_result(agent)
    assert isinstance(result.error, InvalidProcessorReturn)
    assert "another list" in str(result.error)


@pytest.mark.parametrize("phase", MESSAGE_PHASES)
async def test_the_list_that_was_given_and_none_are_always_right(phase: Phase) -> None:
    acts: list[Act] = [lambda ctx: ctx.message_list, lambda ctx: None]
    for act in acts:
        agent, _, _ = agent_with(phase, act)
        _, result = await chunks_and_result(agent)
        assert result.status == ("failed" if phase is Phase.API_ERROR else "success"), result.error
        if phase is Phase.API_ERROR:
            assert isinstance(result.error, ModelError)


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("back", [None, 7, "text"])
async def test_in_a_workflow_a_map_must_give_a_context_of_its_phase(phase: Phase, back: object) -> None:
    agent, _, _ = agent_with(phase, lambda ctx: None)

    def lost(ctx: Any) -> Any:
        return back

    workflow = flow("strange").parallel([Everywhere("a"), Everywhere("b")]).map(lost).commit()
    async with agent.stream(
        "hello", input_processors=[workflow], output_processors=[workflow], error_processors=[workflow]
    ) as stream:
        result = await stream.result()
    assert isinstance(result.error, InvalidProcessorReturn)
    assert "map" in str(result.error)
    assert result.error.phase in (phase, Phase.INPUT)


async def test_a_failure_after_a_verdict_is_no_failure() -> None:
    def act(ctx: Any) -> None:
        try:
            ctx.abort("enough")
        finally:
            raise OSError("clean-up")

    for phase in (Phase.INPUT, Phase.OUTPUT_STREAM, Phase.TOOL_CALL):
        agent, _, _ = agent_with(phase, act)
        assert (await agent.generate("hello")).status == "tripwire"


async def test_an_error_of_on_violation_is_logged_and_dropped() -> None:
    def broken(violation: object) -> None:
        raise OSError("no log file")

    guard = Everywhere("guard", {Phase.INPUT: lambda ctx: ctx.warn("mind")})
    guard.on_violation = broken
    result = await Agent(model="embedded/echo", input_processors=[guard]).generate("hello")
    assert result.status == "success"
    assert [check.verdict for check in result.checks][:1] == ["warned"]


async def test_what_a_failed_step_had_begun_is_not_left_in_the_conversation() -> None:
    agent, _, _ = agent_with(Phase.OUTPUT_STEP, raising(KeyError("broken")))
    _, result = await chunks_and_result(agent)
    assert result.messages.texts() == ["hello"]


async def test_a_prompt_of_ones_own_is_for_this_call_only() -> None:
    """Not a failure: the right return value, for comparison."""
    prompt = [PromptMessage("user", [TextPart("another question")])]
    acts: list[Act] = [lambda ctx: prompt, lambda ctx: RequestChanges(prompt=prompt)]
    for act in acts:
        agent, model, _ = agent_with(Phase.LLM_REQUEST, lambda ctx: act(ctx) if ctx.step_number == 0 else None)  # noqa: B023
        result = await agent.generate("hello")
        assert model.received(0) == "another question"
        assert model.received(1).startswith("hello")
        assert result.messages.texts()[0] == "hello"


async def test_a_cached_answer_that_fails_is_a_failed_call() -> None:
    cached = CachedResponse([TextDelta("x"), ErrorChunk(ModelError("gone"))])
    agent, _, guard = agent_with(Phase.LLM_REQUEST, lambda ctx: RequestChanges(response=cached))
    chunks, result = await chunks_and_result(agent)
    assert result.status == "failed"
    assert kinds(chunks).count("error") == 1
    assert guard.log[-1] == "guard:api_error"


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.API_ERROR])
async def test_a_condition_that_raises_is_named_with_its_path_and_the_point(phase: Phase) -> None:
    def broken(ctx: Any) -> bool:
        if ctx.input.phase is phase:
            raise KeyError("broken")
        return True

    def track(n: int = 0) -> str:
        """Where a parcel is."""
        return "in Leipzig"

    entry = flow("outer").branch([(broken, Everywhere("guard"))]).merge().commit()
    agent = Agent(
        model=model_that_calls("track"),
        tools=[track],
        input_processors=[entry],
        output_processors=[entry],
    )
    _, result = await chunks_and_result(agent)
    assert isinstance(result.error, StepFailed)
    assert (result.error.step_id, result.error.phase) == ("outer/branch", phase)


@pytest.mark.parametrize("phase", [Phase.INPUT, Phase.OUTPUT_STREAM])
async def test_a_map_that_gives_no_context_is_named_with_its_path(phase: Phase) -> None:
    def no_context(ctx: Any) -> Any:
        return "text"

    entry = flow("outer").then(flow("inner").then(Everywhere("guard")).map(no_context).commit()).commit()
    lists: dict[str, Any] = {"input_processors" if phase is Phase.INPUT else "output_processors": [entry]}
    _, result = await chunks_and_result(Agent(model=ScriptedModel(["hello"]), **lists))
    assert isinstance(result.error, InvalidProcessorReturn)
    assert f"'outer/inner/map' returned str in phase '{phase}'" in str(result.error)

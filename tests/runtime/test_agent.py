"""An agent as a whole: made, asked, streamed, and what its result says."""

from __future__ import annotations

import anyio
import pytest

from interlock import Agent, tool
from interlock.errors import DefinitionError, InterlockError, ModelError
from interlock.messages import Usage
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, chunks_and_result, kinds, model_that_calls

call = ScriptedModel.tool_call


@tool
def track(n: int = 0) -> str:
    """Where a parcel is."""
    return f"parcel {n}"


@pytest.mark.anyio
async def test_the_result_of_a_run_with_a_tool() -> None:
    model = model_that_calls("track", text="Let me see. ", then="In Leipzig.")
    agent = Agent(id="support", model=model, tools=[track])
    result = await agent.generate("Where?")
    assert (result.status, result.finish_reason, result.error, result.tripwire) == ("success", "stop", None, None)
    assert result.text == "Let me see. In Leipzig."
    assert [(step.step_number, step.text, step.finish_reason) for step in result.steps] == [
        (0, "Let me see. ", "tool-calls"),
        (1, "In Leipzig.", "stop"),
    ]
    assert [chunk.tool_name for chunk in result.steps[0].tool_calls] == ["track"]
    assert result.usage == result.steps[0].usage + result.steps[1].usage
    assert result.usage.total_tokens > 0
    assert result.messages.texts() == ["Where?", "Let me see. In Leipzig."]
    assert result.run_id.startswith("run_")
    assert result.output is None
    result.raise_if_blocked()


@pytest.mark.anyio
async def test_the_chunks_of_a_run_with_a_tool_in_their_order() -> None:
    agent = Agent(model=model_that_calls("track"), tools=[track])
    chunks, result = await chunks_and_result(agent)
    assert kinds(chunks) == [
        "start",
        "step-start",
        "text-start",
        "text-delta",
        "text-end",
        "tool-call-input-streaming-start",
        "tool-call-delta",
        "tool-call",
        "step-finish",
        "tool-result",
        "step-start",
        "text-start",
        "text-delta",
        "text-end",
        "step-finish",
        "finish",
    ]
    assert chunks[0].to_wire()["runId"] == result.run_id
    assert chunks[-1].to_wire()["payload"] == {
        "finishReason": "stop",
        "usage": {
            "inputTokens": result.usage.input_tokens,
            "outputTokens": result.usage.output_tokens,
            "reasoningTokens": 0,
            "cachedInputTokens": 0,
            "totalTokens": result.usage.total_tokens,
        },
    }


@pytest.mark.anyio
async def test_generate_and_stream_come_to_the_same() -> None:
    def agent() -> Agent:
        guard = Everywhere("guard")
        return Agent(
            model=model_that_calls("track"), tools=[track], input_processors=[guard], output_processors=[guard]
        )

    generated = await agent().generate("hello")
    _, streamed = await chunks_and_result(agent())
    for name in ("status", "text", "finish_reason", "usage", "output", "error", "tripwire"):
        assert getattr(generated, name) == getattr(streamed, name)
    assert generated.messages.texts() == streamed.messages.texts()
    assert [(c.processor_id, c.phase, c.verdict) for c in generated.checks] == [
        (c.processor_id, c.phase, c.verdict) for c in streamed.checks
    ]


@pytest.mark.anyio
@pytest.mark.parametrize("most", [1, 2, 5])
async def test_max_steps_counts_model_calls(most: int) -> None:
    model = ScriptedModel([call("track", {"n": n}) for n in range(9)])
    result = await Agent(model=model, tools=[track]).generate("hello", max_steps=most)
    assert model.calls == len(result.steps) == most
    assert result.finish_reason == "max-steps"
    assert result.status == "success"
    assert all(step.tool_results for step in result.steps)


@pytest.mark.anyio
async def test_a_run_that_ends_by_itself_at_the_last_step_does_not_say_max_steps() -> None:
    result = await Agent(model=model_that_calls("track"), tools=[track], max_steps=2).generate("hello")
    assert result.finish_reason == "stop"


@pytest.mark.anyio
async def test_an_agent_serves_several_runs_at_once() -> None:
    agent = Agent(model="embedded/echo", input_processors=[Everywhere("guard")])
    texts: list[str] = []

    async def ask(text: str) -> None:
        texts.append((await agent.generate(text)).text)

    async with anyio.create_task_group() as group:
        for n in range(5):
            group.start_soon(ask, f"number {n}")
    assert sorted(texts) == [f"number {n}" for n in range(5)]


def test_generate_sync_is_for_scripts() -> None:
    agent = Agent(model="embedded/echo")
    assert agent.generate_sync("hello").text == "hello"
    assert agent.generate_sync("again", model_settings={"x": 1}).text == "again"


def test_generate_sync_raises_what_generate_raises() -> None:
    with pytest.raises(ModelError, match="gone"):
        Agent(model=ScriptedModel([ModelError("gone")])).generate_sync("hello")


@pytest.mark.anyio
async def test_generate_sync_inside_a_running_loop_says_what_to_do(anyio_backend_name: str) -> None:
    with pytest.raises(InterlockError, match=rf"running {anyio_backend_name} loop: await generate"):
        Agent(model="embedded/echo").generate_sync("hello")


@pytest.mark.parametrize("most", [0, -1, 1.5, "3", True])
def test_max_steps_that_is_none_is_refused(most: object) -> None:
    odd: dict[str, object] = {"max_steps": most}
    with pytest.raises(DefinitionError, match="max_steps"):
        Agent(model="embedded/echo", **odd)  # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match="max_steps"):
        Agent(model="embedded/echo").generate_sync("hello", **odd)  # type: ignore[arg-type]


def test_an_unknown_option_is_refused_and_the_options_are_named() -> None:
    odd: dict[str, object] = {"temprature": 1}
    with pytest.raises(
        DefinitionError, match=r"no option 'temprature'; the options are active_tools, .*model_settings"
    ):
        Agent(model="embedded/echo").generate_sync("hello", **odd)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["two words", "", "a/b"])
def test_an_id_that_is_none_is_refused(bad: str) -> None:
    with pytest.raises(DefinitionError, match=r"agent: .*id"):
        Agent(id=bad, model="embedded/echo")


def test_a_model_that_is_none_is_refused_when_the_agent_is_made() -> None:
    with pytest.raises(DefinitionError, match="nobody"):
        Agent(model="nobody/knows")


def test_it_shows_its_id_its_model_and_how_many_tools_it_has() -> None:
    assert (
        repr(Agent(id="support", model="embedded/echo", tools=[track])) == "<Agent 'support': embedded/echo, 1 tools>"
    )


@pytest.mark.anyio
async def test_reasoning_is_kept_apart_from_text() -> None:
    model = ScriptedModel([[ScriptedModel.reasoning("I think", signature="sealed"), "so it is"]])
    result = await Agent(model=model).generate("hello")
    assert result.text == "so it is"
    assert (result.steps[0].text, result.steps[0].reasoning) == ("so it is", "I think")
    assert [part.type for part in result.messages[-1].parts] == ["reasoning", "text"]
    assert result.usage.reasoning_tokens == 2


@pytest.mark.anyio
async def test_an_answer_of_nothing_is_a_success_and_leaves_no_message() -> None:
    result = await Agent(model=ScriptedModel([[]])).generate("hello")
    assert (result.status, result.text, result.usage) == ("success", "", Usage(1, 0))
    assert result.messages.texts() == ["hello"]


@pytest.mark.anyio
async def test_a_step_that_said_nothing_is_not_given_what_the_step_before_said() -> None:
    guard = Everywhere()
    agent = Agent(model=ScriptedModel([["I look. ", call("track")], []]), tools=[track], output_processors=[guard])
    result = await agent.generate("hello")
    assert [step.text for step in result.steps] == ["I look. ", ""]
    assert result.text == "I look. "

"""From an agent and a call's options to a run: whose lists, which settings, what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio.lowlevel
import pytest

from interlock import Agent, Message, MessageList, Phase, RequestContext, tool
from interlock.errors import DefinitionError
from interlock.processors import InputStepContext, StepChanges
from interlock.processors.compose import ProcessorLike
from interlock.runtime import CallOptions
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import Everywhere, model_that_calls

pytestmark = pytest.mark.anyio


def model() -> ScriptedModel:
    """A model that answers as often as it is asked."""
    return ScriptedModel(lambda request: "ok")


def first(n: int = 0) -> str:
    """A tool."""
    return "first"


def second(n: int = 0) -> str:
    """Another."""
    return "second"


async def test_a_calls_list_replaces_the_agents_own_of_that_name_for_this_call_alone() -> None:
    log: list[str] = []
    agent = Agent(
        model=model(),
        input_processors=[Everywhere("own-input", log=log)],
        output_processors=[Everywhere("own-output", log=log)],
    )
    await agent.generate("hello", input_processors=[Everywhere("given", log=log)])
    assert {entry.partition(":")[0] for entry in log} == {"given", "own-output"}
    log.clear()
    await agent.generate("hello", input_processors=[], output_processors=[])
    assert log == []
    await agent.generate("hello")
    assert {entry.partition(":")[0] for entry in log} == {"own-input", "own-output"}


@pytest.mark.parametrize("waits", [False, True])
async def test_a_list_may_be_a_function_of_the_request_context_called_once_per_run(waits: bool) -> None:
    log: list[str] = []
    asked: list[object] = []

    def choose(request: RequestContext) -> Sequence[ProcessorLike]:
        asked.append(request["tier"])
        return [Everywhere(str(request["tier"]), log=log)]

    async def choose_later(request: RequestContext) -> Sequence[ProcessorLike]:
        await anyio.lowlevel.checkpoint()
        return choose(request)

    agent = Agent(model=model_that_calls("first"), tools=[first], input_processors=choose_later if waits else choose)
    await agent.generate("hello", request_context={"tier": "gold"})
    assert asked == ["gold"]
    assert log.count("gold:input_step") == 2
    await agent.generate("hello", request_context=RequestContext(tier="blue"), model=model())
    assert asked == ["gold", "blue"]
    assert "blue:input" in log


async def test_a_calls_list_may_be_a_function_too() -> None:
    log: list[str] = []
    agent = Agent(model=model(), output_processors=[Everywhere("own", log=log)])
    await agent.generate("hello", output_processors=lambda request: [Everywhere("given", log=log)])
    assert {entry.partition(":")[0] for entry in log} == {"given"}


async def test_a_function_that_gives_no_list_is_a_definition_error() -> None:
    def nothing(request: RequestContext) -> Any:
        """Forgets to return."""

    with pytest.raises(DefinitionError, match="input_processors"):
        await Agent(model=model(), input_processors=nothing).generate("hello")


async def test_the_caller_gets_its_request_context_back_with_what_was_written() -> None:
    request = RequestContext(user="ann")
    guard = Everywhere("guard", {Phase.INPUT: lambda ctx: ctx.request_context.update(seen=True)})
    await Agent(model=model(), input_processors=[guard]).generate("hello", request_context=request)
    assert dict(request) == {"user": "ann", "seen": True}


async def test_settings_of_the_call_go_over_those_of_the_agent_and_leave_them_alone() -> None:
    asked = model()
    agent = Agent(model=asked, model_settings={"temperature": 1, "top_p": 0.5})
    await agent.generate(
        "hello", model_settings={"temperature": 0}, provider_options={"openai": {"user": "x"}}, tool_choice="none"
    )
    await agent.generate("hello")
    given, own = asked.requests
    assert (given.settings, given.tool_choice) == ({"temperature": 0, "top_p": 0.5}, "none")
    assert given.provider_options == {"openai": {"user": "x"}}
    assert (own.settings, own.tool_choice, own.provider_options) == ({"temperature": 1, "top_p": 0.5}, "auto", {})


async def test_a_call_may_name_another_model_tools_and_which_of_them_are_offered() -> None:
    own, other = model(), model()
    agent = Agent(model=own, tools=[first])
    await agent.generate("hello", model=other, tools=[first, second], active_tools=["second"])
    assert own.calls == 0
    assert [spec.name for spec in other.requests[0].tools] == ["second"]
    assert (await agent.generate("hello", model="embedded/echo")).text == "hello"


async def test_what_a_tool_is_told_the_model_of_is_its_name_description_and_schema() -> None:
    asked = model()
    await Agent(model=asked, tools=[first]).generate("hello")
    (spec,) = asked.requests[0].tools
    assert (spec.name, spec.description) == ("first", "A tool.")
    assert spec.parameters["properties"] == {"n": {"default": 0, "type": "integer"}}


async def test_active_tools_that_are_none_fail_the_run_and_name_those_that_are() -> None:
    async with Agent(model=model(), tools=[first]).stream("hello", active_tools=["third"]) as stream:
        result = await stream.result()
    assert result.status == "failed"
    assert "'third'" in str(result.error)
    assert "'first'" in str(result.error)


async def test_prepare_step_runs_last_in_input_step_and_sees_what_the_others_left() -> None:
    seen: list[object] = []

    def prepare(ctx: InputStepContext) -> StepChanges:
        seen.append((ctx.step_number, ctx.tool_choice, ctx.processor_id))
        return StepChanges(tool_choice="none")

    guard = Everywhere("guard", {Phase.INPUT_STEP: lambda ctx: StepChanges(tool_choice="required")})
    asked = model_that_calls("first")
    await Agent(model=asked, tools=[first], input_processors=[guard]).generate("hello", prepare_step=prepare)
    assert seen == [(0, "required", "prepare-step"), (1, "required", "prepare-step")]
    assert [request.tool_choice for request in asked.requests] == ["none", "none"]


async def test_prepare_step_may_be_async_abort_or_return_nothing() -> None:
    async def prepare(ctx: InputStepContext) -> None:
        await anyio.lowlevel.checkpoint()
        if ctx.step_number == 1:
            ctx.abort("once is enough")

    result = await Agent(model=model_that_calls("first"), tools=[first]).generate("hello", prepare_step=prepare)
    assert result.status == "tripwire"
    assert result.tripwire is not None
    assert result.tripwire.processor_id == "prepare-step"


async def test_a_steps_settings_are_for_that_step_alone() -> None:
    def prepare(ctx: InputStepContext) -> StepChanges | None:
        if ctx.step_number:
            return None
        return StepChanges(model_settings={"temperature": 0}, active_tools=["first"], model=other)

    asked, other = model(), model_that_calls("first")
    agent = Agent(model=asked, tools=[first, second], model_settings={"top_p": 1})
    await agent.generate("hello", prepare_step=prepare)
    assert (other.requests[0].settings, [t.name for t in other.requests[0].tools]) == ({"temperature": 0}, ["first"])
    assert (asked.requests[0].settings, [t.name for t in asked.requests[0].tools]) == (
        {"top_p": 1},
        ["first", "second"],
    )


async def test_instructions_may_be_a_function_of_the_request_context() -> None:
    asked = model()
    agent = Agent(model=asked, instructions=lambda request: f"You help {request['user']}.")
    await agent.generate("hello", request_context={"user": "ann"})
    assert asked.received() == "You help ann.\nhello"


ASKED: list[tuple[Any, list[str]]] = [
    ("hello", ["hello"]),
    (Message.user("hello"), ["hello"]),
    ([Message.user("one"), Message.assistant("two"), Message.user("three")], ["one", "two", "three"]),
    (({"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}), ["one", "two"]),
    (MessageList(["one", "two"]), ["one", "two"]),
]


@pytest.mark.parametrize(("given", "texts"), ASKED)
async def test_a_text_a_message_messages_or_a_conversation_may_be_asked(given: Any, texts: list[str]) -> None:
    asked = model()
    result = await Agent(model=asked).generate(given)
    assert asked.received().splitlines() == texts
    assert result.messages.texts() == [*texts, "ok"]


async def test_system_messages_that_come_with_what_is_asked_stand_behind_the_instructions() -> None:
    asked = model()
    agent = Agent(model=asked, instructions="Be kind.")
    await agent.generate([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}])
    assert asked.received() == "Be kind.\nBe brief.\nhello"


async def test_a_message_that_is_asked_is_not_changed_by_the_run() -> None:
    def edit(ctx: Any) -> None:
        ctx.messages[0].parts[0].text = "changed"

    message = Message.user("hello")
    agent = Agent(model=model(), input_processors=[Everywhere("guard", {Phase.INPUT: edit})])
    result = await agent.generate(message)
    assert (message.text, result.messages[0].text) == ("hello", "changed")


async def test_none_for_an_option_is_as_if_it_were_not_given() -> None:
    options: dict[str, Any] = dict.fromkeys(CallOptions.__annotations__)
    asked = model()
    agent = Agent(model=asked, tools=[first], model_settings={"top_p": 1}, input_processors=[Everywhere("guard")])
    result = await agent.generate("hello", **options)
    assert len(result.checks) == 4
    assert asked.requests[0].settings == {"top_p": 1}
    assert (len(asked.requests[0].tools), asked.requests[0].tool_choice) == (1, "auto")


async def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(DefinitionError, match="'first'"):
        Agent(model=model(), tools=[first, tool(second, name="first")])
    with pytest.raises(DefinitionError, match="'first'"):
        await Agent(model=model()).generate("hello", tools=[first, first])

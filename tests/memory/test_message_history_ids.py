"""A model that counts its tool calls anew in each run: no prompt holds an id twice."""

from __future__ import annotations

import pytest

from interlock import Agent, Message, tool
from interlock.memory import InMemoryMessageStore, Memory
from interlock.messages import ToolCallPart, prompt_to_openai
from interlock.testing import ScriptedModel
from tests.lifecycle.valid_history import faults_in_history

pytestmark = pytest.mark.anyio


@tool
def look() -> str:
    """Look."""
    return "seen"


async def test_a_tool_call_id_of_an_earlier_turn_is_not_used_again() -> None:
    agent = Agent(model="embedded/echo", tools=[look], memory=Memory())
    for turn in range(3):
        model = ScriptedModel([ScriptedModel.tool_call("look", {}, id="call_0"), "ok"])
        await agent.generate(f"question {turn}", thread="t", model=model)
        assert faults_in_history(prompt_to_openai(model.requests[-1].prompt)) == []


@pytest.mark.parametrize("way", ["asked again", "a shorter memory"])
async def test_calls_that_were_stored_under_one_id_are_told_apart_when_they_are_recalled(way: str) -> None:
    store = InMemoryMessageStore()
    asked = [Message.user("question"), Message.user("another question")]
    if way == "asked again":
        asked[1] = asked[0]
    last = 0 if way == "a shorter memory" else 10
    for message in asked:
        model = ScriptedModel([ScriptedModel.tool_call("look", {}, id="call_0"), "ok"])
        agent = Agent(model=model, tools=[look], memory=Memory(store, last_messages=last))
        await agent.generate(message, thread="t")
    model = ScriptedModel(["ok"])
    await Agent(model=model, tools=[look], memory=Memory(store)).generate("and now?", thread="t")
    calls = [part.tool_call_id for m in model.requests[0].prompt for part in m.parts if isinstance(part, ToolCallPart)]
    assert calls == ["call_0", "call_0-2"]
    assert faults_in_history(prompt_to_openai(model.requests[0].prompt)) == []

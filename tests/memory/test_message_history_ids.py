"""A model that counts its tool calls anew in each run: no prompt holds an id twice."""

from __future__ import annotations

import pytest

from interlock import Agent, tool
from interlock.memory import Memory
from interlock.messages import prompt_to_openai
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

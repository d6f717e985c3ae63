"""What a step says of its tool calls is what the tools were given: as the guards have left it."""

from __future__ import annotations

from typing import Any

import pytest

from interlock import Agent, Phase, tool
from interlock.processors import PIIDetector, Scope
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import chunks_and_result

pytestmark = pytest.mark.anyio

GIVEN: list[str] = []


@tool
def send(to: str) -> str:
    """Send something."""
    GIVEN.append(to)
    return "sent"


@pytest.mark.parametrize("phase", [Phase.OUTPUT_STREAM, Phase.OUTPUT_STEP, Phase.TOOL_CALL])
async def test_what_a_guard_has_made_of_the_arguments_is_what_every_place_says(phase: Phase) -> None:
    GIVEN.clear()
    guard = PIIDetector(phases=[phase], method="placeholder", scope=Scope(parts=["tool-arguments"]))
    lists: dict[str, Any] = {"input_processors" if phase is Phase.TOOL_CALL else "output_processors": [guard]}
    model = ScriptedModel([[ScriptedModel.tool_call("send", {"to": "ann@example.com"})], "done"])
    _, result = await chunks_and_result(Agent(model=model, tools=[send], **lists))
    assert result.status == "success"
    (step, _) = result.steps
    assert GIVEN == ["[EMAIL]"]
    assert [call.args for call in step.tool_calls] == [{"to": "[EMAIL]"}]
    (part,) = [p for m in result.messages.response for p in m.parts if p.type == "tool-invocation"]
    assert part.args == {"to": "[EMAIL]"}
    assert "ann@example.com" not in model.received(1)

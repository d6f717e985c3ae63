"""What a tool of an agent among the tools returned passes the guards of the agent that asks, as all it streams does."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from interlock import Agent, tool
from interlock.messages import TextDelta, ToolOutput, ToolResult
from interlock.processors import PIIDetector
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import chunks_and_result

pytestmark = pytest.mark.anyio

CARD = "4111 1111 1111 1111"


@tool
def card() -> dict[str, list[str]]:
    """The card."""
    return {"cards": [f"card {CARD}"]}


def asking(strategy: Literal["redact", "block", "filter", "warn"]) -> Agent:
    inner = Agent(
        id="inner",
        description="Knows.",
        model=ScriptedModel([ScriptedModel.tool_call("card", {}), "well"]),
        tools=[card],
    )
    model = ScriptedModel([ScriptedModel.tool_call("inner", {"prompt": "which?"}), "done"])
    return Agent(id="asks", model=model, tools=[inner], output_processors=[PIIDetector(strategy=strategy)])


def inner_results(chunks: list[Any]) -> list[object]:
    return [c.output.result for c in chunks if isinstance(c, ToolOutput) and isinstance(c.output, ToolResult)]


async def test_it_is_redacted_before_a_client_reads_it() -> None:
    chunks, result = await chunks_and_result(asking("redact"))
    assert result.status == "success"
    assert inner_results(chunks) == [{"cards": ["card **** **** **** 1111"]}]


async def test_it_is_blocked_before_a_client_reads_it() -> None:
    chunks, result = await chunks_and_result(asking("block"))
    assert result.status == "tripwire"
    assert inner_results(chunks) == []


async def test_whoever_only_warns_changes_nothing_of_it() -> None:
    chunks, result = await chunks_and_result(asking("warn"))
    assert inner_results(chunks) == [{"cards": [f"card {CARD}"]}]
    assert [c.text for c in chunks if isinstance(c, TextDelta)] == ["done"]
    assert any(check.verdict == "warned" for check in result.checks)

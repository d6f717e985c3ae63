"""What one branch changes in place, no other branch and no later point sees, unless its branch goes on."""

from __future__ import annotations

from typing import Any, cast

import pytest

from interlock import Agent, Processor, ProcessorStepSchema, Workflow, create_workflow
from interlock.messages import Chunk
from interlock.processors import (
    LLMResponseContext,
    OutputResultContext,
    OutputStepContext,
    OutputStreamContext,
    ToolResultContext,
)
from interlock.testing import ScriptedModel

pytestmark = pytest.mark.anyio


class Vandal(Processor):
    """Changes in place whatever it is shown."""

    id = "vandal"

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        if ctx.chunk.type == "tool-call":
            ctx.chunk.args["to"].append("eve")
        return ctx.chunk

    def process_llm_response(self, ctx: LLMResponseContext) -> None:
        list_of(ctx.chunks).clear()
        list_of(ctx.request.prompt).clear()

    def process_output_step(self, ctx: OutputStepContext) -> None:
        for call in ctx.tool_calls:
            call.args["to"].append("eve")
        list_of(ctx.tool_calls).clear()
        ctx.steps[-1].text = "eve"
        list_of(ctx.steps).clear()

    def process_tool_result(self, ctx: ToolResultContext) -> None:
        ctx.args["to"].append("eve")
        ctx.steps[-1].tool_calls.clear()

    def process_output_result(self, ctx: OutputResultContext) -> None:
        ctx.result.steps[0].tool_calls.clear()


class Witness(Processor):
    """Notes what it is shown."""

    id = "witness"

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[object] = []

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        if ctx.chunk.type == "tool-call":
            self.seen.append(list(ctx.chunk.args["to"]))
        return ctx.chunk

    def process_llm_response(self, ctx: LLMResponseContext) -> None:
        self.seen.append((bool(ctx.chunks), bool(ctx.request.prompt)))

    def process_output_step(self, ctx: OutputStepContext) -> None:
        self.seen.append([list(call.args["to"]) for call in ctx.tool_calls])
        self.seen.append(ctx.steps[-1].text)

    def process_tool_result(self, ctx: ToolResultContext) -> None:
        self.seen.append((list(ctx.args["to"]), len(ctx.steps[-1].tool_calls)))

    def process_output_result(self, ctx: OutputResultContext) -> None:
        self.seen.append(len(ctx.result.steps[0].tool_calls))


def list_of(value: Any) -> list[Any]:
    """What a context shows, taken for the list it may be."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def beside(first: Processor, second: Processor) -> Workflow[Any, Any]:
    """Both at once; the witness goes on."""
    return (
        create_workflow(id="both", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
        .parallel([first, second])
        .map(lambda ctx: ctx.input["processor:witness"])
        .commit()
    )


@pytest.mark.parametrize("before", [True, False])
async def test_a_branch_that_changes_everything_in_place_changes_nothing(before: bool) -> None:
    sent: list[list[str]] = []

    def send(to: list[str]) -> str:
        """Send."""
        sent.append(to)
        return "sent"

    witness = Witness()
    graph = beside(Vandal(), witness) if before else beside(witness, Vandal())
    model = ScriptedModel([ScriptedModel.tool_call("send", {"to": ["bob"]}), "done"])
    agent = Agent(model=model, tools=[send], input_processors=[graph], output_processors=[graph])
    result = await agent.generate("send it")
    assert result.status == "success"
    assert sent == [["bob"]]
    assert witness.seen == [
        ["bob"],
        (True, True),
        [["bob"]],
        "",
        (["bob"], 1),
        (True, True),
        [],
        "done",
        1,
    ]
    assert [step.text for step in result.steps] == ["", "done"]
    assert result.steps[0].tool_calls[0].args == {"to": ["bob"]}

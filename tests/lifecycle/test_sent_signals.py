"""Signals that hooks send: what the model reads, what a branch that is left behind sends, and what is kept."""

from __future__ import annotations

import pytest

from interlock import Agent, Phase, create_workflow, tool
from interlock.messages import ToolInvocationPart
from interlock.processors import OutputStreamContext, ProcessorStepSchema
from interlock.processors.hook_context import HookContext
from interlock.runtime import MemoryRunStore
from interlock.storage import RunStore
from interlock.testing import ScriptedModel

from .acting import Act, Everywhere

pytestmark = pytest.mark.anyio


def look() -> str:
    """Look."""
    return "seen"


def signalling(text: str = "mind the gap", *, transient: bool = False) -> Act:
    """Sends a signal; in the stream with the first text."""

    def act(ctx: HookContext) -> object:
        if not isinstance(ctx, OutputStreamContext):
            ctx.send_signal(text, attributes={"at": str(ctx.phase)}, transient=transient)
            return None
        if ctx.chunk.type == "text-delta":
            ctx.send_signal(text, attributes={"at": str(ctx.phase)}, transient=transient)
        return ctx.chunk

    return act


def two_steps() -> ScriptedModel:
    return ScriptedModel([["say", ScriptedModel.tool_call("look", {})], "done"])


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase not in (Phase.API_ERROR, Phase.OUTPUT_RESULT)])
async def test_a_signal_is_read_by_the_model_with_the_next_prompt(phase: Phase) -> None:
    sends = Everywhere(acts={phase: signalling()})
    model = two_steps()
    result = await Agent(model=model, tools=[look], input_processors=[sends], output_processors=[sends]).generate("x")
    shown = f'<system-reminder at="{phase}">mind the gap</system-reminder>'
    at_once = phase in (Phase.INPUT, Phase.INPUT_STEP)
    assert (shown in model.received(0)) is at_once
    assert shown in model.received(1)
    asked = model.requests[1].prompt
    assert [m.role for m in asked if shown in m.text] == ["user"] * (2 if phase is Phase.INPUT_STEP else 1)
    if not at_once and phase is not Phase.LLM_REQUEST:  # there the answer has not begun
        assert asked[-1].text == shown  # behind the tool's result, which belongs to its call
    assert all(message["role"] != "signal" for message in result.messages.to_ui())
    assert any(message.role == "signal" for message in result.messages)
    assert result.text == "saydone"
    (call,) = [p for m in result.messages for p in m.parts if isinstance(p, ToolInvocationPart)]
    assert call.state == "result"


async def test_an_equal_transient_signal_is_in_the_conversation_once_at_its_end() -> None:
    sends = Everywhere(acts={Phase.INPUT_STEP: signalling(transient=True)})
    model = two_steps()
    await Agent(model=model, tools=[look], input_processors=[sends]).generate("x")
    roles = [message.role for message in model.requests[1].prompt]
    assert roles == ["user", "assistant", "tool", "user"]


async def test_a_signal_of_a_branch_that_is_left_behind_is_not_sent() -> None:
    flow = (
        create_workflow(id="flow", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
        .parallel(
            [
                Everywhere("a", {Phase.INPUT: signalling("from a")}),
                Everywhere("b", {Phase.INPUT: signalling("from b")}),
            ]
        )
        .map(lambda ctx: ctx.input["processor:b"])
        .commit()
    )
    model = ScriptedModel(["ok"])
    await Agent(model=model, input_processors=[flow]).generate("x")
    assert "from b" in model.received(0)
    assert "from a" not in model.received(0)


async def test_a_signal_sent_with_an_answer_that_was_rejected_is_taken_back_with_it() -> None:
    asked = 0

    def once(ctx: HookContext) -> object:
        nonlocal asked
        if isinstance(ctx, OutputStreamContext) and ctx.chunk.type == "text-delta":
            asked += 1
            ctx.send_signal(f"signal {asked}")
            if asked == 1:
                ctx.abort("again", retry=True)
        return getattr(ctx, "chunk", None)

    model = ScriptedModel(["no", ["yes", ScriptedModel.tool_call("look", {})], "done"])
    sends = Everywhere(acts={Phase.OUTPUT_STREAM: once})
    await Agent(model=model, tools=[look], output_processors=[sends], max_processor_retries=1).generate("x")
    assert "signal 2" in model.received(2)
    assert "signal 1" not in model.received(1) + model.received(2)


@pytest.mark.parametrize("store", [None, MemoryRunStore()], ids=["in this process", "from a store"])
async def test_a_signal_sent_when_somebody_is_asked_is_read_when_the_run_goes_on(store: RunStore | None) -> None:
    @tool(needs_approval=True)
    def pay() -> str:
        return "paid"

    def asked(ctx: HookContext) -> object:
        if isinstance(ctx, OutputStreamContext) and ctx.chunk.type == "tool-call-approval":
            ctx.send_signal("a person was asked", attributes={"n": 1}, transient=True)
        return getattr(ctx, "chunk", None)

    def agent(model: ScriptedModel) -> Agent:
        sends = Everywhere(acts={Phase.OUTPUT_STREAM: asked})
        return Agent(model=model, tools=[pay], output_processors=[sends], run_store=store)

    model = ScriptedModel([ScriptedModel.tool_call("pay", {}), "done"])
    first = agent(model)
    waits = await first.generate("x")
    result = await (first if store is None else agent(model)).resume(waits.run_id, approve=True)
    assert '<system-reminder n="1">a person was asked</system-reminder>' in model.received(1)
    assert [message.role for message in result.messages] == ["user", "assistant", "signal"]

"""What comes of tools passes a judge in the stream, string by string, and stream, result and messages agree."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Sequence
from typing import Any, Literal

import pytest

from interlock import Agent, tool
from interlock.messages import (
    Chunk,
    Message,
    MessageList,
    ObjectChunk,
    Part,
    ReasoningPart,
    StepStart,
    StepStartPart,
    TextDelta,
    TextPart,
    ToolError,
    ToolInvocationPart,
    ToolOutput,
    ToolResult,
    Usage,
)
from interlock.processors import ModerationProcessor, OutputResultContext, OutputStreamContext, RunResult
from interlock.processors.stream_context import StreamSoFar
from interlock.testing import ScriptedModel
from interlock.tools import ToolContext
from interlock.verdict import AbortSignal
from tests.lifecycle.acting import chunks_and_result
from tests.processors.guards.streamed import streamed

pytestmark = pytest.mark.anyio

ABUSE = "You are a worthless piece of garbage."

Strategy = Literal["block", "warn", "filter"]


def calling(name: str, args: dict[str, Any], *tools: Any, guard: ModerationProcessor) -> Agent:
    model = ScriptedModel([ScriptedModel.tool_call(name, args), "done"])
    return Agent(id="asks", model=model, tools=list(tools), output_processors=[guard])


def knows(answer: Any, *tools: Any) -> Agent:
    return Agent(id="inner", description="Knows.", model=ScriptedModel(answer), tools=list(tools))


def ask_inner(answer: Any, *tools: Any, guard: ModerationProcessor) -> Agent:
    return calling("inner", {"prompt": "which?"}, knows(answer, *tools), guard=guard)


@tool
def remark() -> dict[str, list[str]]:
    """A remark."""
    return {"said": ["hello", ABUSE]}


@tool
async def speaks(ctx: ToolContext) -> str:
    """Says it while it runs."""
    ctx.stream({"now": ABUSE})
    return "spoke"


def results(chunks: list[Chunk]) -> list[object]:
    return [chunk.result for chunk in chunks if isinstance(chunk, ToolResult)]


def stored(messages: MessageList) -> list[object]:
    return [part.result for m in messages.response for part in m.parts if isinstance(part, ToolInvocationPart)]


def said(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))


@pytest.mark.parametrize("answer", [f"{ABUSE} Bye", [f"{ABUSE[:9]}", f"{ABUSE[9:]} Bye"]])
async def test_an_inner_agents_answer_that_is_filtered_leaves_the_outer_answer_as_it_was_read(answer: Any) -> None:
    chunks, result = await chunks_and_result(ask_inner([answer], guard=ModerationProcessor(strategy="filter")))
    assert ABUSE not in json.dumps([chunk.to_wire() for chunk in chunks], default=str)
    assert (result.status, said(chunks), result.text) == ("success", "done", "done")
    assert results(chunks) == stored(result.messages) == ["[filtered]"]
    assert {(check.phase, check.verdict) for check in result.checks} == {
        ("output_result", "passed"),
        ("output_stream", "changed"),
    }


@pytest.mark.parametrize("streams", [True, False])
async def test_of_a_tools_result_the_string_is_filtered_for_the_client_the_message_and_the_model(streams: bool) -> None:
    agent = calling("remark", {}, remark, guard=ModerationProcessor(strategy="filter"))
    if streams:
        chunks, result = await chunks_and_result(agent)
        assert results(chunks) == [{"said": ["hello", "[filtered]"]}]
    else:
        result = await agent.generate("hello")
    assert stored(result.messages) == [{"said": ["hello", "[filtered]"]}]
    assert result.text == "done"


@pytest.mark.parametrize("name", ["remark", "inner"])
async def test_a_tools_result_is_blocked_before_a_client_reads_it(name: str) -> None:
    inner = knows([ScriptedModel.tool_call("remark", {}), "well"], remark)
    args = {"prompt": "which?"} if name == "inner" else {}
    agent = calling(name, args, inner, remark, guard=ModerationProcessor())
    chunks, result = await chunks_and_result(agent)
    assert result.tripwire is not None
    assert result.tripwire.reason == "moderation: harassment"
    assert ABUSE not in json.dumps([chunk.to_wire() for chunk in chunks], default=str)


async def test_what_a_tool_of_an_inner_agent_returned_is_filtered() -> None:
    script = [ScriptedModel.tool_call("remark", {}), "well"]
    chunks, _ = await chunks_and_result(ask_inner(script, remark, guard=ModerationProcessor(strategy="filter")))
    inner = [c.output for c in chunks if isinstance(c, ToolOutput)]
    assert [c.result for c in inner if isinstance(c, ToolResult)] == [{"said": ["hello", "[filtered]"]}]


async def test_what_a_tool_says_while_it_runs_is_filtered() -> None:
    agent = calling("speaks", {}, speaks, guard=ModerationProcessor(strategy="filter"))
    chunks, _ = await chunks_and_result(agent)
    assert [c.output for c in chunks if isinstance(c, ToolOutput)] == [{"now": "[filtered]"}]


@pytest.mark.parametrize(
    ("strategy", "goes_on"), [("block", []), ("filter", ["[filtered]"]), ("warn", [f"it said: {ABUSE}"])]
)
def test_a_tools_error_is_judged(strategy: Strategy, goes_on: list[str]) -> None:
    told = streamed(ModerationProcessor(strategy=strategy), ToolError("1", "post", {}, f"it said: {ABUSE}"))
    assert [chunk.error for chunk in told.chunks if isinstance(chunk, ToolError)] == goes_on
    assert (told.tripwire is not None, len(told.warnings)) == (strategy == "block", strategy == "warn")
    assert told.looked_at == {("tool", "tool-result")}


def test_a_key_of_a_result_cannot_be_taken_out_and_stops_the_run() -> None:
    told = streamed(ModerationProcessor(strategy="filter"), ToolResult("1", "post", {}, {ABUSE: 1}))
    assert told.tripwire is not None
    assert "cannot be taken out" in told.tripwire.reason


async def test_a_judge_is_asked_once_about_each_text_of_a_tool_and_of_an_inner_agent() -> None:
    asked: list[str] = []

    def verdicts(request: Any) -> str:
        texts = json.loads(request.prompt[-1].text)
        asked.extend(one["text"] for one in texts)
        return json.dumps({"verdicts": [{"text_id": one["text_id"], "scores": {}} for one in texts]})

    guard = ModerationProcessor(model=ScriptedModel([verdicts] * 20), categories=["rude", "harassment"])
    _, result = await chunks_and_result(ask_inner(["Fine it is."], guard=guard))
    assert result.text == "done"
    assert stored(result.messages) == ["Fine it is."]
    assert sorted(asked) == sorted(set(asked))
    assert {"Fine it is.", "which?", "done"} <= set(asked)


@pytest.mark.parametrize(
    ("strategy", "goes_on"),
    [
        ("filter", [{"fine": "hello", "rude": "[filtered]"}]),
        ("warn", [{"fine": "hello", "rude": ABUSE[:30]}, {"fine": "hello", "rude": ABUSE}]),
    ],
)
def test_an_object_of_an_inner_agent_goes_on_when_the_whole_was_judged(
    strategy: Strategy, goes_on: list[object]
) -> None:
    guard = ModerationProcessor(strategy=strategy)
    ctx = OutputStreamContext(chunk=StepStart(), so_far=StreamSoFar(inside=("1",)))
    given: list[object] = []
    for rude, final in [(ABUSE[:30], False), (ABUSE, True)]:
        ctx.chunk = ObjectChunk({"fine": "hello", "rude": rude}, final)
        out = guard.process_output_stream(ctx)
        assert not isinstance(out, Awaitable)
        given += [one.object for one in (out if isinstance(out, Sequence) else [out]) if isinstance(one, ObjectChunk)]
    assert given == goes_on


# Where only the complete answer is looked at


def at_the_end(message: Message, strategy: Strategy = "filter") -> MessageList:
    conversation = MessageList("hello")
    conversation.add(message, source="response")
    result = RunResult(text="", usage=Usage(), finish_reason="stop", steps=())
    ctx = OutputResultContext(conversation, result=result)
    ModerationProcessor(strategy=strategy).process_output_result(ctx)
    return ctx.message_list


def test_of_an_answer_the_string_or_the_part_is_taken_out_and_what_else_it_says_stays() -> None:
    call = ToolInvocationPart("1", "remark", {"to": ABUSE}, state="result", result=["hello", ABUSE])
    message = Message("assistant", [ReasoningPart(ABUSE), TextPart(ABUSE), call, TextPart("done")])
    (left,) = at_the_end(message).response
    assert left.text == "done"
    kinds = [part.type for part in left.parts]
    assert kinds == ["tool-invocation", "text"]
    (kept,) = [part for part in left.parts if isinstance(part, ToolInvocationPart)]
    assert (kept.args, kept.result) == ({"to": "[filtered]"}, ["hello", "[filtered]"])


@pytest.mark.parametrize("before", [[], [StepStartPart()]])
def test_an_answer_of_which_nothing_is_left_is_taken_out(before: list[Part]) -> None:
    assert len(at_the_end(Message("assistant", [*before, TextPart(ABUSE)])).response) == 0


def test_sealed_reasoning_of_an_answer_stops_the_run() -> None:
    sealed = Message("assistant", [ReasoningPart(ABUSE, signature="s"), TextPart("done")])
    with pytest.raises(AbortSignal) as stopped:
        at_the_end(sealed)
    assert "cannot be taken out" in stopped.value.tripwire.reason

"""What is held back until it was accepted goes out as the conversation has it by then, and as it came where nobody
changed it."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import Agent, AgentResult, Phase, Processor, tool
from interlock.messages import (
    Chunk,
    FileChunk,
    Finish,
    Message,
    ObjectChunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceChunk,
    StepFinish,
    TextDelta,
    TextEnd,
    TextPart,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
    ToolResult,
)
from interlock.messages.json_text import json_text
from interlock.processors import OutputStepContext, TextGuard
from interlock.testing import ScriptedModel

pytestmark = pytest.mark.anyio

Release = Literal["step", "run"]
few = settings(max_examples=settings().max_examples // 2)


class Tickets(TextGuard):
    """Finds tickets where it is told to look."""

    id = "tickets"
    patterns = ("T-[0-9]{1,4}",)


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"seen {at}"


def pieces(draw: st.DrawFn, text: str) -> list[str]:
    places = sorted(draw(st.sets(st.integers(1, len(text) - 1)))) if len(text) > 1 else []
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)] if text else []


TEXTS = st.lists(st.sampled_from(["T-1", "T-2222", "ann ", "x", "\u00e9 ", "T-"]), max_size=4).map("".join)


@st.composite
def answers(draw: st.DrawFn, *, last: bool) -> list[Chunk]:
    """An answer of several parts, some of which may be said at once."""
    made: list[Chunk] = []
    for n in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["text", "reasoning"]))
        cut = pieces(draw, draw(TEXTS))
        if kind == "text":
            made += [TextStart(f"t{n}"), *(TextDelta(one, f"t{n}") for one in cut), TextEnd(f"t{n}")]
        else:
            made += [ReasoningStart(f"r{n}"), *(ReasoningDelta(one, f"r{n}") for one in cut), ReasoningEnd(f"r{n}")]
    if not last:
        args = {"at": draw(TEXTS)}
        call = f"c{draw(st.integers(0, 10**6))}"
        made += [ToolCallStart(call, "look"), *(ToolCallDelta(call, one) for one in pieces(draw, json_text(args)))]
        made.append(ToolCall(call, "look", args))
        if draw(st.booleans()):
            made.append(TextDelta(draw(TEXTS), "behind"))
    return made


@st.composite
def conversations(draw: st.DrawFn) -> list[list[Chunk]]:
    return [*(draw(answers(last=False)) for _ in range(draw(st.integers(0, 2)))), draw(answers(last=True))]


async def streamed(
    said: list[list[Chunk]], *guards: Processor, release: Any, **more: Any
) -> tuple[list[Chunk], AgentResult]:
    agent = Agent(model=ScriptedModel(said), tools=[look], output_processors=guards)
    async with agent.stream("go", release=release, **more) as stream:
        return [chunk async for chunk in stream], await stream.result()


def texts(chunks: list[Chunk], kind: type[TextDelta | ReasoningDelta]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, kind))


@pytest.mark.parametrize("release", ["step", "run"])
@few
@given(said=conversations())
async def test_what_nobody_changed_goes_out_as_it_came(said: list[list[Chunk]], release: Release) -> None:
    at_once, _ = await streamed(said, release="chunk")
    held, _ = await streamed(said, release=release)
    assert held[1:] == at_once[1:]  # the first has the run's id


@pytest.mark.parametrize("strategy", ["redact", "filter"])
@pytest.mark.parametrize(
    ("release", "phase"), [("step", "output_step"), ("run", "output_step"), ("run", "output_result")]
)
@few
@given(said=conversations())
async def test_what_a_guard_takes_out_of_the_message_is_not_released(
    said: list[list[Chunk]], release: Release, phase: str, strategy: Any
) -> None:
    chunks, result = await streamed(said, Tickets(strategy=strategy, phases=[phase]), release=release)
    assert result.status == "success"
    assert texts(chunks, TextDelta) == result.text
    assert "T-1" not in repr(chunks[1:]).replace("T-[", "")
    message = next((m for m in result.messages.response if m.role == "assistant"), None)
    stored = [] if message is None else message.parts
    assert texts(chunks, ReasoningDelta) == "".join(p.text for p in stored if p.type == "reasoning")
    for part in stored:
        if part.type == "tool-invocation":
            call = next(c for c in chunks if isinstance(c, ToolCall) and c.tool_call_id == part.tool_call_id)
            came = next(c for c in chunks if isinstance(c, ToolResult) and c.tool_call_id == part.tool_call_id)
            assert (call.args, came.result) == (part.args, part.result)
    unedited, _ = await streamed(said, release="chunk")
    few = (TextDelta, ReasoningDelta, ToolCallDelta)
    assert Counter(type(c) for c in chunks if not isinstance(c, few)) == Counter(
        type(c) for c in unedited if not isinstance(c, few)
    )


async def test_texts_stand_in_their_own_places() -> None:
    said: list[Chunk] = [TextDelta("a T-", "1"), TextDelta("clean", "2"), TextDelta("1 b", "1"), TextDelta(" end", "2")]
    chunks, _ = await streamed([said], Tickets(phases=["output_step"]), release="step")
    deltas = [chunk for chunk in chunks if isinstance(chunk, TextDelta)]
    assert deltas == [TextDelta("a [REDACTED] b", "1"), TextDelta("clean", "2"), TextDelta(" end", "2")]


class Says(Processor):
    """Says something instead."""

    id = "says"

    def __init__(self, *texts: str) -> None:
        super().__init__()
        self._texts = texts

    def process_output_step(self, ctx: OutputStepContext) -> None:
        for message in ctx.message_list.response if ctx.step_number == 0 else ():
            message.parts = [*map(TextPart, self._texts), *(p for p in message.parts if p.type == "tool-invocation")]


@pytest.mark.parametrize("instead", [("one",), ("one", "two", "three")])
async def test_where_there_are_more_or_fewer_all_stand_where_the_first_one_stood(instead: tuple[str, ...]) -> None:
    said: list[Chunk] = [TextDelta("a", "1"), TextDelta("b", "2")]
    chunks, result = await streamed([said], Says(*instead), release="step")
    assert [chunk for chunk in chunks if isinstance(chunk, TextDelta)] == [TextDelta("".join(instead), "1")]
    assert result.text == "".join(instead)


async def test_what_is_said_where_nothing_was_stands_at_the_end_of_its_step() -> None:
    chunks, result = await streamed(
        [[ToolCall("c", "look", {"at": "x"})], [TextDelta("bye")]], Says("hello "), release="run"
    )
    assert result.text == texts(chunks, TextDelta)
    types = [type(chunk) for chunk in chunks]
    assert types.index(TextDelta) < types.index(StepFinish) < types.index(Finish)


async def test_objects_on_the_way_to_what_is_said_no_longer_are_not_released() -> None:
    said: list[Chunk] = [TextDelta('{"a": "T-'), TextDelta('1", "b": 2}')]
    guard = Tickets(phases=["output_step"])
    chunks, result = await streamed([said], guard, release="step", output_schema={})
    assert [chunk for chunk in chunks if isinstance(chunk, ObjectChunk)] == [
        ObjectChunk({"a": "[REDACTED]", "b": 2}, final=True)
    ]
    assert result.output == {"a": "[REDACTED]", "b": 2}
    assert {Phase(check.phase) for check in result.checks if check.kept} == {Phase.OUTPUT_STEP}


class TakesOut(Processor):
    """Takes everything but texts out of the answer."""

    id = "takes-out"

    def process_output_step(self, ctx: OutputStepContext) -> None:
        for message in ctx.message_list.response:
            message.parts = [part for part in message.parts if part.type == "text"]


@pytest.mark.parametrize("release", ["step", "run"])
async def test_calls_files_and_sources_that_were_taken_out_are_not_released(release: Release) -> None:
    said: list[Chunk] = [
        TextDelta("x"),
        ToolCallStart("c", "look"),
        ToolCallDelta("c", '{"at": "secret"}'),
        ToolCall("c", "look", {"at": "secret"}),
        FileChunk("text/plain", "c2VjcmV0"),
        SourceChunk("s", "https://secret.example", "secret"),
    ]
    chunks, result = await streamed([said], TakesOut(), release=release)
    assert result.status == "success"
    assert "secret" not in repr(chunks)
    assert "c2VjcmV0" not in repr(chunks)
    assert texts(chunks, TextDelta) == result.text == "x"
    unedited, _ = await streamed([said, [TextDelta("done")]], release=release)
    assert {FileChunk, SourceChunk, ToolCall} <= {type(chunk) for chunk in unedited}


class Replaces(Processor):
    """Puts another message in the place of the answer."""

    id = "replaces"

    def process_output_step(self, ctx: OutputStepContext) -> None:
        for message in list(ctx.message_list.response):
            ctx.message_list.remove(message.id)
        ctx.message_list.add(Message("assistant", [TextPart(f"clean {ctx.step_number}. ")]), source="response")


@pytest.mark.parametrize("release", ["step", "run"])
async def test_a_message_that_was_put_in_the_place_of_the_answer_is_released(release: Release) -> None:
    chunks, result = await streamed([[TextDelta("dirty "), TextDelta("words")]], Replaces(), release=release)
    assert texts(chunks, TextDelta) == result.text == "clean 0. "

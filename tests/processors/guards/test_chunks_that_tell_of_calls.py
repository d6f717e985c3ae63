"""What tells of a tool call passes the guards: what came of the tool, what it asks, and the arguments it repeats."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import Agent, Phase, Processor, tool
from interlock.messages import (
    Chunk,
    JSONValue,
    ToolCall,
    ToolCallApproval,
    ToolCallDelta,
    ToolCallStart,
    ToolCallSuspended,
    ToolError,
    ToolOutput,
    ToolResult,
)
from interlock.models.arguments import decode_arguments
from interlock.processors import ModerationProcessor, PIIDetector, Scope, TextGuard, ToolCallContext
from interlock.testing import ScriptedModel
from interlock.tools import ToolContext
from tests.lifecycle.acting import chunks_and_result, flow
from tests.processors.guards.streamed import streamed

pytestmark = pytest.mark.anyio

Strategy = Literal["redact", "block", "filter", "warn"]
Told = Callable[[str, JSONValue], Chunk]

ABUSE = "You are a worthless piece of garbage."


class Tickets(TextGuard):
    """Finds tickets."""

    id = "tickets"
    patterns = ("TICKET-[0-9]{1,8}",)


class Cards(TextGuard):
    """Finds cards."""

    id = "cards"
    patterns = ("CARD-[0-9]{1,8}",)


@tool
def mail(to: str) -> str:
    """Send a mail."""
    return f"sent to {len(to)}"


@tool
def breaks(to: str) -> str:
    """Break."""
    raise ValueError(f"no {len(to)}")


@tool(needs_approval=True)
def pay(to: str) -> str:
    """Pay."""
    return to


@tool
async def ask(to: str, ctx: ToolContext) -> None:
    """Ask."""
    del to
    ctx.stream({"asks": "TICKET-4711, CARD-12"})
    ctx.suspend({"question": "close TICKET-4711 of CARD-12?"})


def asking(name: str, args: object, depth: int, guards: Sequence[Any], *more: Chunk) -> Agent:
    """An agent that asks an agent, that asks an agent …, the last of which calls a tool."""
    script: list[Any] = [[*more, ScriptedModel.tool_call(name, args)], "done"]
    tools: list[Any] = [mail, breaks, pay, ask]
    for n in range(depth):
        inner = Agent(id=f"inner-{n}", description="Knows.", model=ScriptedModel(script), tools=tools)
        script, tools = [ScriptedModel.tool_call(inner.id, {"prompt": "go"}), "done"], [inner]
    return Agent(id="outer", model=ScriptedModel(script), tools=tools, output_processors=list(guards))


def shown(chunks: Sequence[Chunk]) -> str:
    return json.dumps([chunk.to_wire() for chunk in chunks], default=str)


WEB = ToolCall("web", "web", {"q": "TICKET-4711"}, provider_executed=True)


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("name", ["mail", "breaks", "pay", "unknown"])
@pytest.mark.parametrize("strategy", ["redact", "filter"])
async def test_no_chunk_shows_arguments_that_the_call_did_not(depth: int, name: str, strategy: Strategy) -> None:
    of_provider = (WEB, ToolResult("web", "web", WEB.args, {"r": 1}, provider_executed=True))
    agent = asking(name, {"to": "see TICKET-4711"}, depth, [Tickets(strategy=strategy)], *of_provider)
    chunks, result = await chunks_and_result(agent)
    assert result.error is None
    assert "TICKET" not in shown(chunks)


@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("args", ["{'to': 'TICKET-47'}", '{"to": TICKET-47}', '{"to": "x"} I mean TICKET-47'])
@pytest.mark.parametrize("strategy", ["redact", "filter", "block"])
async def test_arguments_that_are_no_json_are_read_as_text(depth: int, args: str, strategy: Strategy) -> None:
    chunks, result = await chunks_and_result(asking("mail", args, depth, [Tickets(strategy=strategy)]))
    assert "TICKET" not in shown(chunks)
    assert (result.status == "tripwire") == (strategy == "block")


async def test_arguments_are_warned_of_once() -> None:
    for guard in (Tickets(strategy="warn"), ModerationProcessor(strategy="warn")):
        args: dict[str, JSONValue] = {"to": f"TICKET-4711. {ABUSE}"}
        calls: list[Chunk] = [
            ToolCall("1", "mail", args),
            ToolResult("1", "mail", args, "sent"),
            ToolCallApproval("1", "mail", args),
        ]
        assert len(streamed(guard, *calls).warnings) == 1


TOLD: dict[str, Told] = {
    "result": lambda text, args: ToolResult("1", "mail", args, text),
    "error": lambda text, args: ToolError("1", "mail", args, text),
    "question": lambda text, args: ToolCallSuspended("1", "mail", args, {"asks": text}),
    "approval": lambda _, args: ToolCallApproval("1", "mail", args),
}


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("guard", [Tickets(), ModerationProcessor(strategy="filter")], ids=lambda one: one.id)
def test_arguments_whose_call_was_not_seen_are_read_themselves(told: str, guard: Processor) -> None:
    made = streamed(guard, TOLD[told]("fine", {"to": f"TICKET-4711. {ABUSE}"}))
    assert ("TICKET-4711" if guard.id == "tickets" else ABUSE) not in shown(made.chunks)
    assert ("assistant", "tool-arguments") in made.looked_at


@pytest.mark.parametrize("guard", [Tickets(), ModerationProcessor(strategy="filter")], ids=lambda one: one.id)
def test_what_a_tool_asks_is_read_as_what_it_returns(guard: Processor) -> None:
    made = streamed(guard, TOLD["question"](f"TICKET-4711. {ABUSE}", {}))
    assert ("TICKET-4711" if guard.id == "tickets" else ABUSE) not in shown(made.chunks)
    assert ("tool", "tool-result") in made.looked_at
    blocks: Processor = Tickets(strategy="block") if guard.id == "tickets" else ModerationProcessor()
    assert streamed(blocks, TOLD["question"](f"TICKET-4711. {ABUSE}", {})).tripwire is not None


def test_a_scope_leaves_out_what_it_does_not_take() -> None:
    results = Tickets(scope=Scope(parts=["tool-result"]))
    arguments = Tickets(scope=Scope(parts=["tool-arguments"]))
    text: str = "TICKET-4711"
    for name, told in TOLD.items():
        result_is_shown = "TICKET" in shown(streamed(results, told(text, {})).chunks)
        assert result_is_shown is (name == "result"), "of its own tools, hooks are asked about the result"
        assert ("TICKET" in shown(streamed(arguments, told("fine", {"to": text})).chunks)) is False
        assert ("TICKET" in shown(streamed(results, told("fine", {"to": text})).chunks)) is True
        assert ("TICKET" in shown(streamed(arguments, told(text, {})).chunks)) is (name != "approval")


@pytest.mark.parametrize("parallel", [False, True])
async def test_a_question_that_several_edit_goes_out_with_all_their_edits(parallel: bool) -> None:
    guards = [flow().parallel([Tickets(), Cards()]).merge().commit()] if parallel else [Tickets(), Cards()]
    chunks, result = await chunks_and_result(asking("ask", {"to": "x"}, 0, guards))
    assert result.status == "suspended"
    assert [c.payload for c in chunks if isinstance(c, ToolCallSuspended)] == [
        {"question": "close [REDACTED] of [REDACTED]?"}
    ]
    assert [c.output for c in chunks if isinstance(c, ToolOutput)] == [{"asks": "[REDACTED], [REDACTED]"}]


async def test_a_guard_of_personal_data_leaves_arguments_and_reads_questions() -> None:
    args: dict[str, JSONValue] = {"to": "ann@example.com"}
    made = streamed(PIIDetector(), ToolCall("1", "mail", args), TOLD["question"]("bob@example.com", args))
    assert "ann@example.com" in shown(made.chunks[1:])
    assert "bob@example.com" not in shown(made.chunks)


TEXTS = st.lists(st.sampled_from(["TICKET-1", "TICKET-", "2", "T", "\\", '"', "é", " ", "x"]), max_size=5).map("".join)
VALUES = st.recursive(
    st.one_of(TEXTS, TEXTS, st.sampled_from([None, True, 12, 1234567])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=3)
    ),
    max_leaves=5,
)
MISTAKES = st.sampled_from(["", "", ",", '"', "TICKET-3", "t", "\\u00", "'", "}", "\\"])


@st.composite
def arguments(draw: st.DrawFn) -> str:
    """What a model writes as arguments: JSON, now and then with a mistake or cut off."""
    text = json.dumps(draw(VALUES)).replace("K", draw(st.sampled_from(["K", "\\u004b"])))
    at = draw(st.integers(0, len(text)))
    return text[:at] + draw(MISTAKES) + text[at : draw(st.sampled_from([len(text), at + 5]))]


@given(arguments(), st.integers(1, 9), st.sampled_from(["redact", "filter", "block"]))
@settings(max_examples=200, deadline=None)
def test_the_deltas_say_what_the_call_says_json_or_not(args: str, size: int, strategy: Strategy) -> None:
    deltas = [ToolCallDelta("1", args[n : n + size]) for n in range(0, len(args), size)]
    called = ToolCall("1", "mail", decode_arguments(args))
    made = streamed(Tickets(strategy=strategy), ToolCallStart("1", "mail"), *deltas, called)
    alone = streamed(Tickets(strategy=strategy), called)
    assert (made.tripwire is None) == (alone.tripwire is None)
    written = "".join(c.args_text for c in made.chunks if isinstance(c, ToolCallDelta))
    if made.tripwire is None:
        (call,) = [c for c in made.chunks if isinstance(c, ToolCall)]
        assert [call] == alone.chunks
        assert call.args == (written if called.args == args else decode_arguments(written))
    if strategy != "filter":  # what is left can be a match where one was taken out
        assert not re.search("TICKET-[0-9]", str(decode_arguments(written)))


@pytest.mark.parametrize("phase", [Phase.OUTPUT_STREAM, Phase.OUTPUT_STEP, Phase.TOOL_CALL])
async def test_what_is_no_json_is_read_alike_at_every_point(phase: Phase) -> None:
    given_to: list[object] = []

    class Notes(Processor):
        """Notes what a tool is called with."""

        id = "notes"

        def process_tool_call(self, ctx: ToolCallContext) -> None:
            given_to.append(ctx.args)

    args = '{"to": "\\u0054ICKET-1", "b": TICKET-2'
    await chunks_and_result(asking("mail", args, 0, [Tickets(phases=[phase]), Notes()]))
    assert given_to == ['{"to": "[REDACTED]", "b": [REDACTED]']

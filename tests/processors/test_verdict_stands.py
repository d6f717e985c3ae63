"""What a guard has edited it does not edit again: the result says what a client has read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import Agent, Phase, Processor, tool
from interlock.messages import ReasoningDelta, TextDelta, TextEdit, TextPart, ToolInvocationPart, ToolResult
from interlock.processors import OutputStepContext, PIIDetector, TextGuard
from interlock.testing import (
    ScriptedModel,
    assert_chunking_invariant,
    assert_same_verdict_everywhere,
)
from tests.lifecycle.acting import chunks_and_result, flow

TICKET = re.compile("TICKET-[0-9]{1,8}")
SEAM = "TICKTICKET-1ET-2 x"


class Tickets(TextGuard):
    """Finds tickets."""

    id = "tickets"
    patterns = (TICKET.pattern,)


class Words(TextGuard):
    """Finds words that stand in the way."""

    id = "words"
    patterns = ("-x-",)


@tool
def note(text: str) -> str:
    """Note it."""
    return f"TICKTICKET-1ET-{len(text)}"


async def answered(guards: Sequence[Any], *answers: Any, **options: Any) -> tuple[str, Any]:
    agent = Agent(model=ScriptedModel(list(answers)), tools=[note], output_processors=list(guards))
    chunks, result = await chunks_and_result(agent, **options)
    assert result.error is None
    return "".join(c.text for c in chunks if isinstance(c, TextDelta | ReasoningDelta)), result


SEAMS = [
    (Tickets(replacement=""), SEAM),
    (Tickets(strategy="filter"), f"All is well. {SEAM}"),
    (Tickets(replacement="TICKET-9"), "see TICKET-1"),
    (PIIDetector(), "(+1 212 555 0199ann@example.com"),
    (PIIDetector(method="placeholder"), "write +10.0.0.1 1 212 555 0199 x"),
    (PIIDetector(strategy="filter"), "my phone: +1 212 555 4111 1111 1111 11110199"),
]


@pytest.mark.parametrize(("guard", "text"), SEAMS)
def test_an_edit_that_puts_together_what_is_looked_for_is_read_and_kept_alike_everywhere(
    guard: TextGuard, text: str
) -> None:
    assert_same_verdict_everywhere(guard, text, finds=True)
    assert_chunking_invariant(guard, text, finds=True)


PIECES = st.lists(st.sampled_from(["TICK", "ET-1", "TICKET-1", "ET-2", " ", "x"]), min_size=1, max_size=8)


@given(PIECES, st.sampled_from(["redact", "filter"]), st.sampled_from([["output_stream", "output_step"], None]))
@settings(max_examples=60, deadline=None)
def test_the_result_says_what_was_read_and_is_one_pass_of_edits(pieces: list[str], strategy: Any, phases: Any) -> None:
    guard = Tickets(replacement="", strategy=strategy, phases=phases)
    read, result = anyio.run(answered, [guard], pieces)
    assert read == result.text == TICKET.sub("", "".join(pieces))


@given(PIECES)
@settings(max_examples=30, deadline=None)
def test_without_the_stream_it_is_one_pass_too(pieces: list[str]) -> None:
    guard = Tickets(replacement="", phases=["output_step", "output_result"])
    _, result = anyio.run(answered, [guard], pieces)
    assert result.text == TICKET.sub("", "".join(pieces))


def test_arguments_and_results_of_tools_keep_their_first_verdict() -> None:
    script: list[Any] = [ScriptedModel.tool_call("note", {"text": SEAM}), "done"]
    agent = Agent(model=ScriptedModel(script), tools=[note], output_processors=[Tickets(replacement="")])
    chunks, result = anyio.run(chunks_and_result, agent)
    (part,) = [p for m in result.messages.response for p in m.parts if isinstance(p, ToolInvocationPart)]
    assert part.args == {"text": "TICKET-2 x"}
    assert [c.result for c in chunks if isinstance(c, ToolResult)] == [part.result] == ["TICKET-10"]


class Rewrites(Processor):
    """Puts something into the answer that was not in the stream."""

    id = "rewrites"

    def process_output_step(self, ctx: OutputStepContext) -> None:
        for message in ctx.message_list.response:
            for n, part in enumerate(message.parts):
                if isinstance(part, TextPart):
                    end = len(part.text)
                    ctx.message_list.edit_text(message.id, n, [TextEdit(end, end, " and more")])


def test_what_somebody_else_has_changed_since_is_read_again() -> None:
    _, result = anyio.run(answered, [Rewrites(), Tickets(replacement="")], SEAM)
    assert result.text == " x and more"


def test_what_another_guards_edit_puts_together_is_read_at_the_end_of_the_step() -> None:
    tickets, words = Tickets(strategy="block"), Words(replacement="")
    side_by_side = flow().parallel([tickets, words]).merge().commit()
    agent = Agent(model=ScriptedModel(["TICK-x-ET-1"]), output_processors=[side_by_side])
    _, result = anyio.run(chunks_and_result, agent)
    assert result.tripwire is not None
    assert result.tripwire.phase is Phase.OUTPUT_STEP
    row = Agent(model=ScriptedModel(["TICK-x-ET-1"]), output_processors=[words, tickets])
    chunks, result = anyio.run(chunks_and_result, row)
    assert result.tripwire is not None
    assert result.tripwire.phase is Phase.OUTPUT_STREAM
    assert not [c for c in chunks if isinstance(c, TextDelta)]


def test_what_users_write_is_no_verdict_on_what_a_model_says() -> None:
    guard = Tickets(replacement="", phases=["input", "output_step"])
    agent = Agent(model=ScriptedModel(["TICKET-2 x"]), input_processors=[guard], output_processors=[guard])
    result = agent.generate_sync(SEAM)
    assert result.messages.input[0].text == "TICKET-2 x"
    assert result.text == " x"

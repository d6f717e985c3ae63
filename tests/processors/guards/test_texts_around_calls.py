"""A text that goes on behind a tool call is one text: what begins before the call and ends behind it is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import Agent, Processor, tool
from interlock.messages import (
    Chunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StepFinish,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
)
from interlock.processors import ModerationProcessor, OutputStreamContext, PIIDetector, TextGuard
from interlock.processors.compose import ProcessorLike
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import chunks_and_result, flow, picking

pytestmark = pytest.mark.anyio

CARD = "4111 1111 1111 1111"


class Beside(Processor):
    """Stands beside a guard."""

    id = "beside"

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        return ctx.chunk


class Words(TextGuard):
    """Stands beside a guard, and holds other text back."""

    id = "words"
    patterns = ("11 aside",)

    def __init__(self) -> None:
        super().__init__(phases=["output_stream"])


@tool
def look() -> str:
    """Look."""
    return "seen"


Places = Callable[[Processor], list[ProcessorLike]]
PLACES: dict[str, Places] = {
    "in a list": lambda guard: [guard],
    "in a branch, merged": lambda guard: [flow().parallel([guard, Words()]).merge().commit()],
    "in a branch, picked": lambda guard: [flow().parallel([guard, Beside()]).map(picking(guard.id)).commit()],
    "in a chain in a branch": lambda guard: [
        flow().parallel([flow("row").then(Words()).then(guard).commit(), Beside()]).merge().commit()
    ],
}


async def answered(entries: Sequence[ProcessorLike], chunks: Sequence[Chunk]) -> tuple[str, Any]:
    """What a client has read of the first answer."""
    agent = Agent(model=ScriptedModel([list(chunks), ""]), tools=[look], output_processors=list(entries))
    given_out, result = await chunks_and_result(agent)
    assert result.error is None
    return "".join(c.text for c in given_out if isinstance(c, TextDelta | ReasoningDelta)), result


def cut_by_a_call(text: str, at: int) -> list[Chunk]:
    call = ToolCall("c", "look", {})
    return [TextStart("t"), TextDelta(text[:at], "t"), call, TextDelta(text[at:], "t"), TextEnd("t"), StepFinish()]


@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=15, deadline=None)
@given(st.integers(0, len(f"pay {CARD} now")))
async def test_what_a_call_divides_is_redacted_as_if_the_call_were_not_there(place: str, at: int) -> None:
    text, result = await answered(PLACES[place](PIIDetector()), cut_by_a_call(f"pay {CARD} now", at))
    assert text == result.text == "pay **** **** **** 1111 now"
    assert result.steps[0].tool_results


@pytest.mark.parametrize("place", PLACES)
async def test_nothing_of_what_is_blocked_leaves_before_the_call(place: str) -> None:
    text, result = await answered(PLACES[place](PIIDetector(strategy="block")), cut_by_a_call(f"pay {CARD} now", 20))
    assert result.status == "tripwire"
    assert text == "pay "


@pytest.mark.parametrize("place", ["in a list", "in a branch, merged"])
async def test_a_sentence_that_a_call_divides_is_judged_as_a_whole(place: str) -> None:
    said = "Hello. You are a worthless idiot. Bye."
    entries = PLACES[place](ModerationProcessor(strategy="filter"))
    text, _ = await answered(entries, cut_by_a_call(said, said.index("idiot")))
    assert text == "Hello. Bye."


async def test_reasoning_that_goes_on_behind_a_call_is_one_text_too() -> None:
    begun: list[Chunk] = [ReasoningStart("r"), ReasoningDelta(CARD[:17], "r"), ToolCall("c", "look", {})]
    chunks: list[Chunk] = [*begun, ReasoningDelta(CARD[17:], "r"), ReasoningEnd("r"), StepFinish()]
    text, _ = await answered([PIIDetector()], chunks)
    assert text == "**** **** **** 1111"


@pytest.mark.parametrize("place", PLACES)
async def test_a_text_whose_end_is_never_told_is_not_lost_behind_a_call(place: str) -> None:
    chunks: list[Chunk] = [TextStart("t"), TextDelta("card 4111", "t"), ToolCall("c", "look", {}), StepFinish()]
    text, result = await answered(PLACES[place](PIIDetector()), chunks)
    assert text == result.text == "card 4111"

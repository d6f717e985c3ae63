"""Texts that guards hold back, where chunks that end them go another way: nothing is lost, nothing leaves that must not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from interlock import Agent, Processor
from interlock.messages import Chunk, TextDelta, TextEnd, ToolCall
from interlock.processors import OutputStreamContext, TextGuard
from interlock.processors.compose import ProcessorLike
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import chunks_and_result, flow

pytestmark = pytest.mark.anyio


class Cards(TextGuard):
    """Redacts card numbers, in the stream alone."""

    id = "cards"
    patterns = (r"4[0-9]{5}",)

    def __init__(self) -> None:
        super().__init__(phases=["output_stream"], replacement="[CARD]")


class Words(TextGuard):
    """Redacts a word."""

    id = "words"
    patterns = ("secret",)

    def __init__(self) -> None:
        super().__init__(phases=["output_stream"], replacement="[WORD]")


class Without(Processor):
    """Drops chunks of some types."""

    id = "without"

    def __init__(self, *types: str) -> None:
        super().__init__()
        self.types = types

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk | None:
        return None if ctx.chunk.type in self.types else ctx.chunk


async def shown(entries: Sequence[ProcessorLike], chunks: Sequence[Any]) -> str:
    agent = Agent(model=ScriptedModel([list(chunks)]), output_processors=list(entries))
    given, result = await chunks_and_result(agent)
    assert result.error is None
    return "".join(chunk.text for chunk in given if isinstance(chunk, TextDelta))


def deltas(*texts: str) -> list[Chunk]:
    return [TextDelta(text) for text in texts]


@pytest.mark.parametrize("end", [TextEnd(), ToolCall("c", "nothing", {})], ids=["text-end", "tool-call"])
async def test_a_guard_that_was_not_told_of_an_end_finds_what_it_finds_at_its_place(end: Chunk) -> None:
    row = flow("row").then(Without(end.type)).then(Cards()).commit()
    entries = [flow().parallel([row, Words()]).merge().commit()]
    chunks = [*deltas("ab 41"), end, *deltas("zz 412345 secret yy")]
    assert await shown(entries, chunks) == "ab 41zz [CARD] [WORD] yy"

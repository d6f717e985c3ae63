"""A guard that fails while it holds text back: where it is skipped, what it held is not lost, and not there twice."""

from __future__ import annotations

from typing import Any

import pytest

from interlock import Agent, Phase, RetryPolicy, create_step
from interlock.messages import TextDelta
from interlock.processors import ModerationProcessor, OutputStreamContext, TextGuard
from interlock.testing import ScriptedModel
from tests.lifecycle.acting import chunks_and_result, flow
from tests.lifecycle.failing import checks_of

pytestmark = pytest.mark.anyio


class BreaksOnce(TextGuard):
    """Looks at the text with "KET" in it, and breaks then, once."""

    id = "breaks-once"
    patterns = (r"\bTICKET-[0-9]{1,8}\b",)
    broken = False

    def process_output_stream(self, ctx: OutputStreamContext) -> Any:
        out = super().process_output_stream(ctx)
        if not self.broken and ctx.chunk.type == "text-delta" and "KET" in ctx.chunk.text:
            self.broken = True
            raise ValueError("no")
        return out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"on_failure": "skip"}, "see TICKET-12 and"),
        ({"retry": RetryPolicy(attempts=2, delay=0)}, "see [REDACTED] and"),
        ({"retry": RetryPolicy(attempts=2, delay=0), "on_failure": "skip"}, "see [REDACTED] and"),
    ],
)
async def test_text_that_a_failed_attempt_has_taken_in_is_not_there_twice(options: dict[str, Any], text: str) -> None:
    step = create_step(BreaksOnce(phases={Phase.OUTPUT_STREAM}), **options)
    agent = Agent(model=ScriptedModel([["see TIC", "KET-1", "2 and"]]), output_processors=[step])
    assert (await agent.generate("hello")).text == text


async def test_in_parallel_branches_the_text_of_a_skipped_guard_goes_on_as_far_as_the_others_have_decided() -> None:
    class Orders(TextGuard):
        id = "orders"
        patterns = (r"\bORDER-[0-9]{1,8}\b",)

    both = (
        flow()
        .parallel([create_step(BreaksOnce(phases={Phase.OUTPUT_STREAM}), on_failure="skip"), Orders()])
        .merge()
        .commit()
    )
    model = ScriptedModel([["see TIC", "KET-1", " and TICKET-", "7 ORDER-1 th", "en"]])
    result = await Agent(model=model, output_processors=[both]).generate("hello")
    assert result.text == "see TICKET-1 and [REDACTED] [REDACTED] then"


async def test_a_sentence_that_a_skipped_judge_held_back_is_not_lost() -> None:
    class Breaks(ModerationProcessor):
        id = "breaks"

        def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            if ctx.chunk.type == "text-delta" and "boom" in ctx.chunk.text:
                raise ValueError("no")
            return super().process_output_stream(ctx)

    step = create_step(Breaks(), on_failure="skip")
    agent = Agent(
        model=ScriptedModel([["It is a nice", " day, boom", " it is. Good ", "bye."]]), output_processors=[step]
    )
    assert (await agent.generate("hello")).text == "It is a nice day, boom it is. Good bye."


async def test_text_that_a_skipped_guard_held_back_is_not_lost() -> None:
    class Breaks(TextGuard):
        id = "breaks"
        patterns = (r"\bTICKET-[0-9]{1,8}\b",)

        def process_output_stream(self, ctx: OutputStreamContext) -> Any:
            if ctx.chunk.type == "text-delta" and "boom" in ctx.chunk.text:
                raise ValueError("no")
            return super().process_output_stream(ctx)

    model = ScriptedModel([["see TIC", "KET-boom", " and TICKET-", "7 then"]])
    agent = Agent(model=model, output_processors=[create_step(Breaks(), on_failure="skip")])
    chunks, result = await chunks_and_result(agent)
    assert result.text == "see TICKET-boom and [REDACTED] then"
    assert "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta)) == result.text
    (check,) = checks_of(result, "breaks", Phase.OUTPUT_STREAM)
    assert check.verdict == "not-checked"

"""A judge in a stream: it sees whole sentences, each once, and nothing goes on that it has not seen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from interlock import Agent
from interlock.errors import DefinitionError
from interlock.messages import (
    Chunk,
    ReasoningDelta,
    ReasoningEnd,
    StepFinish,
    TextDelta,
    TextEnd,
    ToolCall,
    ToolCallDelta,
)
from interlock.models import LanguageModel
from interlock.processors import ModerationProcessor
from interlock.testing import ScriptedModel
from tests.processors.guards.streamed import streamed, text_streamed
from tests.processors.guards.verdicts import ask

ABUSE = "You are a worthless piece of garbage. "


def judge_that_scores(*scores: float) -> ScriptedModel:
    """A model that gives one text after the other these scores."""
    return ScriptedModel(
        [json.dumps({"verdicts": [{"text_id": 0, "scores": {"rude": s} if s else {}}]}) for s in scores]
    )


def _guard(model: LanguageModel, **options: Any) -> ModerationProcessor:
    return ModerationProcessor(model=model, categories=["rude", "harassment"], **options)


def asked_of(model: ScriptedModel) -> list[str]:
    """The texts that a judge was shown."""
    shown: list[str] = []
    for request in model.requests:
        shown += [one["text"] for one in json.loads(request.prompt[-1].text)]
    return shown


def test_a_sentence_goes_on_when_it_is_complete_and_no_sooner() -> None:
    told = streamed(ModerationProcessor(), TextDelta("It rai"), TextDelta("ns. And"), TextDelta(" on"), TextEnd())
    assert told.chunks == [TextDelta("It rains. "), TextDelta("And on"), TextEnd()]


@pytest.mark.parametrize("pieces", [["One. Two! Three?"], list("One. Two! Three?"), ["One. T", "wo! Thr", "ee?"]])
def test_a_model_is_asked_once_a_sentence_about_the_window_however_the_text_is_cut(pieces: Sequence[str]) -> None:
    model = judge_that_scores(0, 0, 0)
    assert text_streamed(_guard(model, window=2), pieces).text == "One. Two! Three?"
    assert asked_of(model) == ["One. ", "One. Two! ", "Two! Three?"]


def test_the_rules_are_asked_first_and_what_they_find_costs_no_call() -> None:
    model = judge_that_scores(0)
    told = text_streamed(_guard(model), ["Nice. ", ABUSE])
    assert told.tripwire is not None
    assert (told.text, model.calls) == ("Nice. ", 1)


def test_nothing_of_a_sentence_that_is_blocked_has_left() -> None:
    told = text_streamed(_guard(judge_that_scores(0, 0.9)), list("All fine. Not so fine. Bye."))
    assert told.tripwire is not None
    assert told.tripwire.metadata == {"categories": ["rude"], "count": 1}
    assert told.text == "All fine. "


def test_a_filter_drops_the_sentence_and_the_next_ones_are_seen_without_it() -> None:
    model = judge_that_scores(0, 0.9, 0)
    told = text_streamed(_guard(model, strategy="filter"), ["All fine. Not so fine. ", "Bye."])
    assert told.text == "All fine. Bye."
    assert asked_of(model)[-1] == "All fine. Bye."


def test_a_warning_comes_once_a_sentence_and_holds_nothing() -> None:
    told = text_streamed(ModerationProcessor(strategy="warn"), [*ABUSE, "Nice. Bye."])
    assert (told.text, told.most_held, len(told.warnings)) == (ABUSE + "Nice. Bye.", 0, 1)


def test_signs_in_two_sentences_are_weighed_together_in_a_stream_as_in_a_message() -> None:
    two = "You are so stupid. What an idiot you are. "
    threshold = 0.8
    alone = [ModerationProcessor(threshold=threshold, window=1) for _ in two.split(". ")]
    assert all(
        text_streamed(guard, [s + ". "]).tripwire is None for guard, s in zip(alone, two.split(". "), strict=True)
    )
    assert text_streamed(ModerationProcessor(threshold=threshold), list(two)).tripwire is not None


def test_signs_are_weighed_together_over_many_short_sentences() -> None:
    text = "You are so stupid. " + "Well. " * 20 + "What an idiot you are. "
    guard = ModerationProcessor(threshold=0.8, window=2)
    assert ask(guard, text).tripwire is not None
    assert text_streamed(guard, list(text)).tripwire is not None
    assert text_streamed(guard, list(text.replace("Well. ", "Well, and so on. " * 3))).tripwire is None


def test_reasoning_is_judged_too_and_sealed_reasoning_is_not_edited() -> None:
    chunks: list[Chunk] = [ReasoningDelta("Fine. "), ReasoningDelta(ABUSE), ReasoningEnd(), StepFinish()]
    told = streamed(ModerationProcessor(strategy="filter"), *chunks)
    assert told.chunks == [ReasoningDelta("Fine. "), ReasoningEnd(), StepFinish()]
    assert told.looked_at == {("assistant", "reasoning")}
    sealed = streamed(ModerationProcessor(strategy="filter"), *chunks[:2], ReasoningEnd(signature="s"))
    assert sealed.tripwire is not None
    assert "cannot be taken out" in sealed.tripwire.reason


def test_what_is_written_of_a_tool_call_waits_until_the_call_was_judged() -> None:
    args = {"say": ABUSE}
    written: list[Chunk] = [ToolCallDelta("1", '{"say": "You are'), ToolCallDelta("1", f'{ABUSE[7:]}"}}')]
    blocked = streamed(ModerationProcessor(), *written, ToolCall("1", "post", args))
    assert blocked.tripwire is not None
    assert blocked.chunks == []
    filtered = streamed(ModerationProcessor(strategy="filter"), *written, ToolCall("1", "post", args))
    assert filtered.chunks == [
        ToolCallDelta("1", '{"say": "[filtered]"}'),
        ToolCall("1", "post", {"say": "[filtered]"}),
    ]
    clean = streamed(
        ModerationProcessor(), ToolCallDelta("1", '{"say": '), ToolCallDelta("1", '"hi"}'), ToolCall("1", "p")
    )
    assert clean.chunks == [ToolCallDelta("1", '{"say": "hi"}'), ToolCall("1", "p")]


def test_a_tool_call_lets_go_of_the_text_before_it() -> None:
    told = streamed(ModerationProcessor(), TextDelta("Let me see"), ToolCall("1", "look", {"n": 1}), StepFinish())
    assert told.chunks == [TextDelta("Let me see"), ToolCall("1", "look", {"n": 1}), StepFinish()]


@pytest.mark.anyio
@pytest.mark.parametrize("streams", [True, False])
async def test_an_answer_that_was_judged_in_the_stream_is_not_paid_for_again(streams: bool) -> None:
    judge = judge_that_scores(0, 0)
    agent = Agent(model=ScriptedModel([["All f", "ine. B", "ye."]]), output_processors=[_guard(judge)])
    if streams:
        async with agent.stream("hello") as stream:
            result = await stream.result()
    else:
        result = await agent.generate("hello")
    assert (result.text, judge.calls) == ("All fine. Bye.", 2)
    assert {(c.phase, c.verdict) for c in result.checks} == {("output_stream", "passed"), ("output_result", "passed")}


@pytest.mark.anyio
async def test_a_judge_that_does_not_answer_lets_nothing_through() -> None:
    agent = Agent(model=ScriptedModel([["All fine. ", "Bye."]]), output_processors=[_guard(ScriptedModel(["what?"]))])
    given: list[str] = []
    async with agent.stream("hello") as stream:
        async for chunk in stream:
            given += [chunk.text] if isinstance(chunk, TextDelta) else []
        result = await stream.result()
    assert result.tripwire is not None
    assert (result.tripwire.processor_id, given, result.text) == ("moderation", [], "")


@pytest.mark.parametrize("window", [0, -1, True])
def test_a_window_of_no_sentence_is_refused(window: Any) -> None:
    with pytest.raises(DefinitionError, match="number of sentences"):
        ModerationProcessor(window=window)

"""A judge of answers that are objects: what is escaped in them is read as what it stands for, alike at every point."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock import Agent, AgentResult, Phase
from interlock.messages import ObjectChunk, TextDelta
from interlock.processors import ModerationProcessor
from interlock.processors.detection.escapes import Spelled, SpellingRules
from interlock.processors.detection.finding import Finding
from interlock.testing import ScriptedModel
from tests.processors.guards.test_judged_streams import asked_of

ANY: dict[str, Any] = {}  # a schema that everything fits
NEWLINE = json.dumps({"fine": "All is well. ", "reply": "Listen:\nworthless\nidiot\nthat you are, piece of\ngarbage."})
LETTERS = '{"fine": "All is well. ", "reply": "You are a w\\u006frthl\\u0065ss piece of g\\u0061rbage."}'
HIDDEN = (NEWLINE, LETTERS)


def of_one(point: Phase, **options: Any) -> ModerationProcessor:
    """A guard at one point alone."""
    body = {"process_" + str(other): None for other in (Phase.OUTPUT_STREAM, Phase.OUTPUT_RESULT) if other is not point}
    made: ModerationProcessor = type("At", (ModerationProcessor,), body)(**options)
    return made


def agent(guard: ModerationProcessor, pieces: Sequence[str]) -> Agent:
    return Agent(model=ScriptedModel([list(pieces)]), output_processors=[guard])


def answered(guard: ModerationProcessor, answer: str, schema: object = ANY) -> AgentResult:
    return anyio.run(lambda: agent(guard, [answer]).generate("hello", output_schema=schema))


@pytest.mark.parametrize("answer", HIDDEN)
@pytest.mark.parametrize("schema", [ANY, None], ids=["object", "text"])
def test_what_is_escaped_in_an_object_is_read_as_what_it_stands_for(answer: str, schema: object) -> None:
    made = answered(ModerationProcessor(), answer, schema)
    assert made.status == ("tripwire" if schema is not None else "success")


@pytest.mark.parametrize("answer", HIDDEN)
@given(data=st.data())
def test_nothing_of_it_is_streamed_however_it_is_cut(answer: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.sets(st.integers(1, len(answer) - 1))))
    cut = [answer[a:b] for a, b in zip([0, *places], [*places, len(answer)], strict=True)]

    async def main() -> None:
        async with agent(ModerationProcessor(), cut).stream("hello", output_schema=ANY) as stream:
            chunks = [chunk async for chunk in stream]
        assert (await stream.result()).status == "tripwire"
        assert "".join(c.text for c in chunks if isinstance(c, TextDelta)) == '{"fine": "All is well. '
        assert {json.dumps(c.object) for c in chunks if isinstance(c, ObjectChunk)} <= {
            "{}",
            '{"fine": ""}',
            '{"fine": "All is well. "}',
        }

    anyio.run(main)


def test_the_whole_answer_is_read_alike() -> None:
    for answer in HIDDEN:
        told: list[Any] = []
        for point in (Phase.OUTPUT_STREAM, Phase.OUTPUT_RESULT):
            made = answered(of_one(point), answer)
            assert made.tripwire is not None
            assert made.tripwire.phase is point
            told.append(made.tripwire.metadata)
        assert told[0] == told[1]


def test_a_model_is_shown_both_readings_in_one_call() -> None:
    nothing: list[Any] = [{"text_id": n, "scores": {}} for n in range(2)]
    model = ScriptedModel([json.dumps({"verdicts": nothing[:1]}), json.dumps({"verdicts": nothing})])
    guard = ModerationProcessor(model=model, categories=["rude"])
    answer = '{"a": "Yes. ", "b": "o\\u006be"}'
    made = answered(guard, answer)
    assert made.status == "success"
    assert asked_of(model) == ['{"a": "Yes. ', answer, '{"a": "Yes. ", "b": "oke"}']
    assert model.calls == 2


def test_what_a_model_says_of_what_is_escaped_counts() -> None:
    said: dict[str, Any] = {"verdicts": [{"text_id": 0, "scores": {}}, {"text_id": 1, "scores": {"rude": 0.9}}]}
    guard = ModerationProcessor(model=ScriptedModel([json.dumps(said)]), categories=["rude"])
    made = answered(guard, '{"b": "o\\u006be"}')
    assert made.tripwire is not None
    assert made.tripwire.metadata == {"categories": ["rude"], "count": 1}


class Words:
    """Finds every word, the longer the surer."""

    def find(self, text: str, /) -> list[Finding]:
        return [Finding("word", m.start(), m.end(), min(1.0, len(m[0]) / 10)) for m in re.finditer("[a-z]+", text)]


@given(st.text(st.sampled_from('abé😀\n\t"\\/u0\ud83d'), max_size=20))
def test_spelled_out_a_string_is_what_a_parser_makes_of_it(text: str) -> None:
    for written in (json.dumps(text), json.dumps(text, ensure_ascii=False)):
        spelled = Spelled.of(written)
        said = written if spelled is None else spelled.text
        assert said == f'"{json.loads(written)}"'
        if spelled is not None:
            assert len(spelled.starts) == len(said) + 1
            assert spelled.starts[-1] == len(written)
            for n, character in enumerate(said[1:-1], 1):
                assert json.loads(f'"{written[spelled.starts[n] : spelled.starts[n + 1]]}"') == character


def test_what_is_found_is_told_where_it_stands_in_the_text_as_it_came() -> None:
    text = "ab \\u0061bcd"
    found = SpellingRules(Words()).find(text)
    assert [text[f.start : f.end] for f in found] == ["ab", "u", "bcd", "\\u0061bcd"]
    assert SpellingRules(Words()).find("abc de") == Words().find("abc de")

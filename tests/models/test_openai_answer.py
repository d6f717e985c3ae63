"""OpenAI's events as chunks. What a server of that form may send, and what comes of it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import ModelError
from interlock.messages.chunks import (
    Chunk,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    SourceChunk,
    StepFinish,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
)
from interlock.messages.usage import FinishReason, Usage
from interlock.models.openai_answer import OpenAIAnswer, error_from_body
from tests.models.loopback import delta

STOP = delta("stop")


def answer(*events: Mapping[str, object]) -> list[Chunk]:
    """All chunks of these events."""
    reading = OpenAIAnswer("openai")
    return [chunk for event in events for chunk in reading.read(event)] + list(reading.end())


def piece(index: int | None = None, id: str | None = None, name: str | None = None, args: object = None) -> object:  # noqa: A002
    """One piece of a tool call."""
    function = {key: value for key, value in (("name", name), ("arguments", args)) if value is not None}
    keys = (("index", index), ("id", id), ("function", function))
    return {key: value for key, value in keys if value is not None}


def calls(chunks: list[Chunk]) -> list[tuple[str, str, object]]:
    return [(c.tool_call_id, c.tool_name, c.args) for c in chunks if isinstance(c, ToolCall)]


def finished(chunks: list[Chunk]) -> StepFinish:
    last = chunks[-1]
    assert isinstance(last, StepFinish)
    return last


def test_text_is_one_part() -> None:
    chunks = answer(delta(role="assistant", content=""), delta(content="Par"), delta(content="is"), STOP)
    assert chunks[:-1] == [TextStart("0"), TextDelta("Par", "0"), TextDelta("is", "0"), TextEnd("0")]
    assert finished(chunks).provider_metadata == {"openai": {"id": "chatcmpl-1", "model": "m-1"}}


def test_an_empty_answer_has_no_parts() -> None:
    assert [type(c) for c in answer(delta(role="assistant", content=""), delta(content=None), STOP)] == [StepFinish]


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_is_a_part_of_its_own(field: str) -> None:
    chunks = answer(delta(**{field: "I thi"}), delta(**{field: "nk"}), delta(content="so"), STOP)
    assert chunks[:3] == [ReasoningStart("0"), ReasoningDelta("I thi", "0"), ReasoningDelta("nk", "0")]
    assert chunks[3:-1] == [ReasoningEnd("0"), TextStart("1"), TextDelta("so", "1"), TextEnd("1")]


def test_reasoning_that_is_sent_under_both_names_comes_once() -> None:
    chunks = answer(delta(reasoning="hm", reasoning_content="hm"), STOP)
    assert [c.text for c in chunks if isinstance(c, ReasoningDelta)] == ["hm"]


def test_typed_items_are_read_as_text_and_thinking() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Ok"}, {"type": "text", "text": "ay"}]}
    chunks = answer(delta(content=[thinking]), delta(content=[{"type": "text", "text": "yes"}]), STOP)
    assert [c.text for c in chunks if isinstance(c, ReasoningDelta)] == ["Okay"]
    assert [c.text for c in chunks if isinstance(c, TextDelta)] == ["yes"]


def test_the_seal_of_reasoning_comes_with_its_end() -> None:
    details = [{"type": "reasoning.text", "signature": "seal"}]
    chunks = answer(delta(reasoning="hm"), delta(reasoning_details=details), delta(content="yes"), STOP)
    assert [c.signature for c in chunks if isinstance(c, ReasoningEnd)] == ["seal"]


def test_a_refusal_is_what_the_model_says() -> None:
    assert [c.text for c in answer(delta(refusal="I ca"), delta(refusal="nnot"), STOP) if isinstance(c, TextDelta)] == [
        "I ca",
        "nnot",
    ]


def test_cited_pages_are_sources() -> None:
    cited = [{"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A"}}, {"type": "other"}]
    chunks = answer(delta(annotations=cited), delta(annotations=cited), STOP)
    assert chunks[:-1] == [SourceChunk(str(n), "https://a.example", "A") for n in range(2)]


def test_a_tool_call_comes_in_pieces_and_then_whole() -> None:
    chunks = answer(
        delta(tool_calls=[piece(0, "c1", "track", "")]),
        delta(tool_calls=[piece(0, args='{"id"')]),
        delta(tool_calls=[piece(0, args=': "7"}')]),
        delta("tool_calls"),
    )
    assert chunks[:-1] == [
        ToolCallStart("c1", "track"),
        ToolCallDelta("c1", '{"id"'),
        ToolCallDelta("c1", ': "7"}'),
        ToolCall("c1", "track", {"id": "7"}),
    ]
    assert finished(chunks).finish_reason == "tool-calls"


def test_parallel_calls_may_be_written_in_turns() -> None:
    chunks = answer(
        delta(tool_calls=[piece(0, "a", "f", '{"x"'), piece(1, "b", "g", "[")]),
        delta(tool_calls=[piece(1, args="1]"), piece(0, args=": 1}")]),
        delta("tool_calls"),
    )
    assert calls(chunks) == [("a", "f", {"x": 1}), ("b", "g", [1])]


def test_text_closes_before_a_call_and_opens_anew_after_it() -> None:
    chunks = answer(delta(content="one"), delta(tool_calls=[piece(0, "a", "f", "{}")]), delta(content="two"), STOP)
    kinds = [TextStart, TextDelta, TextEnd, ToolCallStart, ToolCallDelta, TextStart, TextDelta, TextEnd, ToolCall]
    assert [type(c) for c in chunks[:-1]] == kinds
    assert [c.id for c in chunks if isinstance(c, TextStart)] == ["0", "1"]


def test_an_id_may_come_late() -> None:
    chunks = answer(
        delta(tool_calls=[piece(0, name="f", args='{"x"')]), delta(tool_calls=[piece(0, "late", args=": 1}")]), STOP
    )
    assert calls(chunks) == [("late", "f", {"x": 1})]
    assert [c.args_text for c in chunks if isinstance(c, ToolCallDelta)] == ['{"x": 1}']


def test_a_call_without_an_id_is_given_one() -> None:
    chunks = answer(delta(tool_calls=[piece(0, name="f", args="{}")]), delta("tool_calls"))
    start = chunks[0]
    assert isinstance(start, ToolCallStart)
    assert start.tool_call_id
    assert calls(chunks) == [(start.tool_call_id, "f", {})]


def test_calls_without_an_index_are_told_apart_by_their_names_and_ids() -> None:
    chunks = answer(
        delta(tool_calls=[piece(None, "a", "f", "[1"), piece(None, None, "g", "[2")]),
        delta(tool_calls=[piece(None, args=",2]")]),
        delta(tool_calls=[piece(None, "a", args=",1]")]),
        STOP,
    )
    assert [(name, args) for _, name, args in calls(chunks)] == [("f", [1, 1]), ("g", [2, 2])]


def test_calls_that_all_have_the_index_0_are_told_apart_by_their_ids() -> None:
    chunks = answer(
        delta(tool_calls=[piece(0, "a", "f", "[1")]),
        delta(tool_calls=[piece(0, args="]")]),
        delta(tool_calls=[piece(0, "b", "f", "[2")]),
        delta(tool_calls=[piece(0, args="]")]),
        STOP,
    )
    assert calls(chunks) == [("a", "f", [1]), ("b", "f", [2])]


def test_one_id_for_two_calls_is_made_two() -> None:
    chunks = answer(delta(tool_calls=[piece(0, "a", "f", "1"), piece(1, "a", "g", "2")]), delta("tool_calls"))
    (first, *_), (second, *_) = calls(chunks)
    assert first == "a"
    assert second not in ("a", "")


def test_an_id_that_comes_with_every_piece_is_one_call() -> None:
    chunks = answer(*(delta(tool_calls=[piece(0, "a", "f", text)]) for text in ("[", "1", "]")), STOP)
    assert calls(chunks) == [("a", "f", [1])]


def test_broken_arguments_stay_text() -> None:
    chunks = answer(delta(tool_calls=[piece(0, "a", "f", '{"x": ')]), delta("length"))
    assert calls(chunks) == [("a", "f", '{"x": ')]
    assert finished(chunks).finish_reason == "length"


def test_arguments_that_come_as_an_object_are_taken() -> None:
    assert calls(answer(delta(tool_calls=[piece(0, "a", "f", {"x": 1})]), STOP)) == [("a", "f", {"x": 1})]


def test_a_call_without_a_name_is_an_error() -> None:
    with pytest.raises(ModelError, match="a tool call without a name"):
        answer(delta(tool_calls=[piece(0, "a", args="{}")]), STOP)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "content-filter"),
        ("error", "error"),
        ("tool_calls", "other"),
        ("eos", "other"),
    ],
)
def test_finish_reasons(said: str, reason: FinishReason) -> None:
    assert finished(answer(delta(content="hi"), delta(said))).finish_reason == reason


def test_tool_calls_count_whatever_the_server_calls_the_end() -> None:
    assert finished(answer(delta(tool_calls=[piece(0, "a", "f")]), STOP)).finish_reason == "tool-calls"


@pytest.mark.parametrize(
    ("sent", "usage"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 2}, Usage(3, 2)),
        (
            {
                "prompt_tokens": 30,
                "completion_tokens": 20,
                "prompt_tokens_details": {"cached_tokens": 10},
                "completion_tokens_details": {"reasoning_tokens": 15},
            },
            Usage(30, 20, reasoning_tokens=15, cached_input_tokens=10),
        ),
        ({"prompt_tokens": 3, "cached_tokens": 1}, Usage(3, 0, cached_input_tokens=1)),
        ({"prompt_tokens": 3, "prompt_cache_hit_tokens": 2}, Usage(3, 0, cached_input_tokens=2)),
        ({"prompt_tokens": None, "completion_tokens": "7", "prompt_tokens_details": None}, Usage()),
    ],
)
def test_usage_may_come_after_the_finish_reason(sent: dict[str, object], usage: Usage) -> None:
    chunks = answer(delta(content="hi"), STOP, {"choices": [], "usage": sent})
    assert finished(chunks).usage == usage


def test_usage_in_groqs_own_field_is_read() -> None:
    assert finished(answer(STOP, {"x_groq": {"usage": {"prompt_tokens": 1}}})).usage == Usage(1)


def test_only_the_first_of_several_answers_is_read() -> None:
    second = {"choices": [{"index": 1, "delta": {"content": "other"}}]}
    assert [c.text for c in answer(delta(content="one"), second, STOP) if isinstance(c, TextDelta)] == ["one"]


def test_a_whole_answer_is_read_as_one_event() -> None:
    tool_calls = [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}]
    message = {"role": "assistant", "reasoning": "hm", "content": "yes", "tool_calls": tool_calls}
    chunks = answer(
        {
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 2},
        }
    )
    assert [c.text for c in chunks if isinstance(c, TextDelta | ReasoningDelta)] == ["hm", "yes"]
    assert calls(chunks) == [("a", "f", {"x": 1})]
    assert chunks[-1] == StepFinish("tool-calls", Usage(1, 2))


def test_an_answer_without_an_end_broke_off() -> None:
    with pytest.raises(ModelError, match="broke off") as caught:
        answer(delta(content="half"))
    assert caught.value.retryable


def test_the_servers_word_that_it_is_done_is_an_end() -> None:
    reading = OpenAIAnswer("openai")
    chunks = [*reading.read(delta(content="all")), *reading.end(done=True)]
    assert finished(chunks).finish_reason == "other"


@pytest.mark.parametrize("holder", ["event", "choice"])
def test_an_error_in_the_stream_is_raised(holder: str) -> None:
    error = {"error": {"code": 502, "message": "upstream is down"}}
    event = error if holder == "event" else {"choices": [{"index": 0, "delta": {}, **error}]}
    with pytest.raises(ModelError, match="upstream is down") as caught:
        answer(delta(content="half"), event)
    assert (caught.value.status, caught.value.retryable, caught.value.provider) == (502, True, "openai")
    assert "upstream is down" in (caught.value.body or "")


@pytest.mark.parametrize(
    ("body", "message", "status", "retryable"),
    [
        ('{"error": {"message": "no such model", "code": "model_not_found"}}', "no such model", None, False),
        ('{"error": {"message": "busy", "type": "server_error"}}', "busy", None, True),
        ('{"error": {"message": "slow down", "code": "429"}}', "slow down", 429, True),
        ('{"error": {"message": "pay", "code": "insufficient_quota", "status": 429}}', "pay", 429, False),
        ('{"error": {"message": "bad", "status_code": 400, "code": 500}}', "bad", 400, False),
        ('{"error": "unloaded"}', "unloaded", None, False),
        ('{"object": "error", "message": "too long", "type": "BadRequestError"}', "too long", None, False),
        ('{"detail": "Not authenticated"}', "Not authenticated", None, False),
        ("<html>Bad gateway</html>", "<html>Bad gateway</html>", None, False),
        ('{"error": {"code": 7}}', '{"error": {"code": 7}}', None, False),
        ("", "an error without words", None, False),
        ("[" * 100_000, "[" * 200, None, False),
    ],
    ids=lambda value: str(value)[:30],
)
def test_errors_are_told_in_the_servers_words(body: str, message: str, status: int | None, retryable: bool) -> None:
    error = error_from_body(body, provider="p")
    assert (error.message, error.status, error.retryable, error.body) == (message, status, retryable, body)


def test_the_status_line_speaks_where_the_body_does_not() -> None:
    error = error_from_body("<html/>", provider="p", status=502, otherwise="Bad Gateway", hint="try later")
    assert (error.message, error.status, error.retryable) == ("Bad Gateway (try later)", 502, True)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
KEYS = ("choices", "index", "delta", "message", "content", "tool_calls", "function", "name", "arguments", "id", "usage")
MORE = ("finish_reason", "reasoning", "reasoning_details", "annotations", "prompt_tokens_details", "type", "thinking")
ALIKE = st.recursive(
    JUNK,
    lambda inner: st.dictionaries(st.sampled_from(KEYS + MORE), inner, max_size=5) | st.lists(inner, max_size=2),
    max_leaves=20,
)


@given(st.lists(st.fixed_dictionaries({"choices": st.lists(ALIKE, max_size=2), "usage": ALIKE}), max_size=4))
def test_whatever_a_server_sends_gives_well_formed_parts_or_a_model_error(sent: list[dict[str, object]]) -> None:
    try:
        chunks = answer(*sent, STOP)
    except ModelError:
        return
    opened: str | None = None
    for chunk in chunks:
        match chunk:
            case TextStart() | ReasoningStart():
                assert opened is None
                opened = chunk.id
            case TextDelta() | ReasoningDelta():
                assert chunk.id == opened
            case TextEnd() | ReasoningEnd():
                assert chunk.id == opened
                opened = None
            case _:
                pass
    assert opened is None
    assert [type(c) for c in chunks].count(StepFinish) == 1
    starts = [c.tool_call_id for c in chunks if isinstance(c, ToolCallStart)]
    assert sorted(starts) == sorted(c.tool_call_id for c in chunks if isinstance(c, ToolCall))
    assert len(set(starts)) == len(starts)


@given(st.lists(st.text(), min_size=1, max_size=6), st.lists(st.text(max_size=4), max_size=4))
def test_arguments_are_the_pieces_joined(texts: list[str], more: list[str]) -> None:
    written = json.dumps({"texts": texts})
    edges = sorted(len(written) * n // (len(more) + 1) for n in range(len(more) + 2))
    parts = [written[a:b] for a, b in itertools.pairwise(edges)]
    chunks = answer(
        delta(tool_calls=[piece(0, "a", "f")]), *(delta(tool_calls=[piece(0, args=part)]) for part in parts), STOP
    )
    assert "".join(c.args_text for c in chunks if isinstance(c, ToolCallDelta)) == written
    assert calls(chunks) == [("a", "f", {"texts": texts})]


@pytest.mark.parametrize("args", ['{"x": 1e999}', '{"x": NaN}', {"x": float("inf")}])
def test_arguments_with_a_number_that_is_not_finite_stay_text(args: object) -> None:
    chunks = answer(delta(tool_calls=[piece(0, "c1", "f", args)]), delta("tool_calls"))
    ((_, _, kept),) = calls(chunks)
    assert kept == (args if isinstance(args, str) else '{"x": Infinity}')


def test_a_character_that_comes_in_two_halves_is_whole() -> None:
    chunks = answer(
        delta(reasoning="hm \ud83d"),
        delta(reasoning="\ude00"),
        delta(content="a\ud83d"),
        delta(content=None),
        delta(content="\ude00b"),
        delta(tool_calls=[piece(0, "c1", "f", '{"x": "\ud83d')]),
        delta(tool_calls=[piece(0, args='\ude00"}')]),
        delta("tool_calls"),
    )
    assert [c.text for c in chunks if isinstance(c, ReasoningDelta)] == ["hm ", "😀"]
    assert [c.text for c in chunks if isinstance(c, TextDelta)] == ["a", "😀b"]
    assert [c.args_text for c in chunks if isinstance(c, ToolCallDelta)] == ['{"x": "', '😀"}']
    assert calls(chunks) == [("c1", "f", {"x": "😀"})]


def test_a_half_that_stays_alone_comes_before_the_end_of_its_part() -> None:
    chunks = answer(delta(content="a\ud83d"), delta(tool_calls=[piece(0, "c1", "f", "\ud83d")]), delta("tool_calls"))
    assert chunks[:4] == [TextStart("0"), TextDelta("a", "0"), TextDelta("\ud83d", "0"), TextEnd("0")]
    assert chunks[4:-1] == [ToolCallStart("c1", "f"), ToolCallDelta("c1", "\ud83d"), ToolCall("c1", "f", "\ud83d")]

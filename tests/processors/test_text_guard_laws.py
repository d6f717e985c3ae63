"""What holds for every guard of texts that comes along, whatever it does about what it finds."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.messages import MessageList, ToolCall, ToolCallDelta
from interlock.processors import InputContext, ModerationProcessor, PIIDetector, Processor, Scope, TextGuard
from interlock.processors.detection.pii.recogniser import KINDS, PIIKind
from interlock.processors.seat import RunFacts, Seat
from interlock.testing import assert_chunking_invariant, assert_same_verdict_everywhere
from interlock.verdict import AbortSignal, Tripwire
from tests.processors.guards.streamed import streamed, text_streamed


class Keys(TextGuard):
    """Eight kinds of keys."""

    id = "keys"
    patterns = {f"k{n}": rf"\bk{n}-[0-9a-f]{{4,12}}\b" for n in range(8)}  # noqa: RUF012


_SECRETS = [
    *("ann@example.com", "4111 1111 1111 1111", "+49 170 1234567", "536-22-7814", "81.2.69.142", "(415) 555-2671"),
    *("DE89 3704 0044 0532 0130 00", "4111\u200b1111\u200b1111\u200b1111", "ｍail@example.com", "k3-0a1b2c3d"),
    *("phone: 3056 930902 5904", "GB82WEST12345698765432"),
]
_ALMOST = [
    *(
        "ann",
        "@",
        "example",
        ".com",
        "4111",
        "1111 ",
        "-",
        "+49 ",
        "1",
        "22",
        ". ",
        ", ",
        " ",
        "call me at ",
        "\n",
        "k3-",
    ),
    *("\u200b", "e\u0301", "\u00ad", "é", "2024-05-01 ", "the ", "Room 12", "k", "x", "..", ":", "/"),
]
_TEXTS = st.lists(st.sampled_from([*_SECRETS, *_ALMOST, *_ALMOST]), min_size=1, max_size=10).map("".join)


def _of_kind(kind: PIIKind) -> Callable[[Any], TextGuard]:
    return lambda strategy: PIIDetector(strategy=strategy, kinds=[kind])


MADE: dict[str, Callable[[Any], TextGuard]] = {
    "pii": lambda strategy: PIIDetector(strategy=strategy),
    "pii of a region": lambda strategy: PIIDetector(strategy=strategy, region="DE", method="placeholder"),
    **{f"pii: {kind}": _of_kind(kind) for kind in KINDS},
    "keys": lambda strategy: Keys(strategy=strategy),
}


@st.composite
def _cut(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> tuple[str, list[str]]:
    """A text, and the same in pieces."""
    text = draw(texts)
    if draw(st.booleans()):
        return text, list(text)
    places = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    return text, [text[a:b] for a, b in pairwise([0, *places, len(text)])]


def _as_message(guard: Processor, text: str) -> tuple[str, Tripwire | None]:
    seat = Seat(guard.id, RunFacts(), {})
    ctx = InputContext(MessageList(text)).seated(seat)
    try:
        guard.process_input(ctx)
    except AbortSignal as stopped:
        return "", stopped.tripwire
    return "".join(m.text for m in ctx.messages), None


@pytest.mark.parametrize("name", MADE)
@given(cut=_cut(_TEXTS))
@settings(max_examples=40)
def test_what_is_let_go_is_the_redacted_whole_however_it_is_cut(name: str, cut: tuple[str, list[str]]) -> None:
    guard = MADE[name]("redact")
    text, pieces = cut
    told = text_streamed(guard, pieces)
    assert (told.text, told.tripwire) == _as_message(guard, text)


@pytest.mark.parametrize("name", MADE)
@given(cut=_cut(_TEXTS))
@settings(max_examples=40)
def test_a_block_comes_alike_and_nothing_of_what_it_is_for_has_left(name: str, cut: tuple[str, list[str]]) -> None:
    guard = MADE[name]("block")
    text, pieces = cut
    told = text_streamed(guard, pieces)
    tripwire = _as_message(guard, text)[1]
    assert (told.tripwire is None) == (tripwire is None)
    first = guard.first_match(text)
    assert text.startswith(told.text)
    assert told.text == text if first is None else len(told.text) <= first


@pytest.mark.parametrize("name", MADE)
@given(cut=_cut(_TEXTS))
@settings(max_examples=30)
def test_a_filter_lets_go_of_everything_but_what_was_found(name: str, cut: tuple[str, list[str]]) -> None:
    text, pieces = cut
    guard = MADE[name]("filter")
    told = text_streamed(guard, pieces)
    assert told.tripwire is None
    assert told.text == text_streamed(guard, [text]).text
    assert (told.text == text) == (guard.first_match(text) is None)


@pytest.mark.parametrize("name", MADE)
@given(cut=_cut(_TEXTS))
@settings(max_examples=30)
def test_a_warning_holds_nothing_and_changes_nothing(name: str, cut: tuple[str, list[str]]) -> None:
    text, pieces = cut
    guard = MADE[name]("warn")
    told = text_streamed(guard, pieces)
    assert (told.text, told.most_held, told.tripwire) == (text, 0, None)
    assert bool(told.warnings) == (guard.first_match(text) is not None)


@pytest.mark.parametrize("name", MADE)
@given(text=st.lists(st.sampled_from(_ALMOST[:16]), max_size=30).map("".join))
@settings(max_examples=30)
def test_no_more_is_held_than_the_longest_match_and_what_it_looks_ahead(name: str, text: str) -> None:
    guard = MADE[name]("block")
    assert text_streamed(guard, list(text)).most_held <= guard.longest_hold


@pytest.mark.parametrize("strategy", ["redact", "block", "filter"])
def test_of_text_that_begins_nothing_only_the_last_character_is_held_which_a_mark_may_join(strategy: Any) -> None:
    told = text_streamed(PIIDetector(strategy=strategy), ["Well (so be it) )", "“Quite!” ))", "Wait: there is more ))"])
    assert told.most_held == 1


_ROUTES = [
    "I am ann@example.com, card 4111 1111 1111 1111.",
    "Nothing to see here. Room 12 is free!",
    "call me at 7155552671 or at +49 170 1234567, not on 2024-05-01",
    "it is 4\u200b111 1111 1111 1111 and 536-22-7814; from 81.2.69.142 to DE89 3704 0044 0532 0130 00",
]


@pytest.mark.parametrize("strategy", ["redact", "block", "warn"])
@pytest.mark.parametrize("text", _ROUTES)
def test_personal_data_meets_the_same_verdict_everywhere(strategy: Any, text: str) -> None:
    assert_same_verdict_everywhere(PIIDetector(strategy=strategy), text)


@pytest.mark.parametrize("strategy", ["redact", "block", "filter", "warn"])
def test_personal_data_streams_alike_through_an_agent_however_it_is_cut(strategy: Any) -> None:
    for text in (_ROUTES[0], _ROUTES[3]):
        assert_chunking_invariant(PIIDetector(strategy=strategy), text)


@pytest.mark.parametrize("strategy", ["redact", "filter"])
@given(text=_TEXTS, size=st.integers(1, 9))
@settings(max_examples=40)
def test_what_is_written_of_a_tool_call_says_the_same_as_the_call_itself(strategy: Any, text: str, size: int) -> None:
    args = {"note": [text, "and on"], "n": 4111111111111111}
    written = json.dumps(args, ensure_ascii=size % 2 == 0)
    pieces = [ToolCallDelta("1", written[n : n + size]) for n in range(0, len(written), size)]
    guard = PIIDetector(strategy=strategy, scope=Scope(parts=["tool-arguments"]))
    told = streamed(guard, *pieces, ToolCall("1", "note", args))
    assert told.tripwire is None
    (call,) = [chunk for chunk in told.chunks if isinstance(chunk, ToolCall)]
    assert json.loads("".join(c.args_text for c in told.chunks if isinstance(c, ToolCallDelta))) == call.args
    assert "4111111111111111" not in str(call.args)


_ABUSE = [
    "You are a worthless piece of garbage.",
    "Nice day. You are a worthless piece of garbage! Bye.",
    "Nice day. Bye.",
]


@pytest.mark.parametrize("strategy", ["block", "warn"])
@pytest.mark.parametrize("text", _ABUSE)
def test_abuse_meets_the_same_verdict_everywhere(strategy: Any, text: str) -> None:
    assert_same_verdict_everywhere(ModerationProcessor(strategy=strategy), text)


@pytest.mark.parametrize("strategy", ["block", "filter", "warn"])
def test_abuse_streams_alike_through_an_agent_however_it_is_cut(strategy: Any) -> None:
    assert_chunking_invariant(ModerationProcessor(strategy=strategy), _ABUSE[1])


_SENTENCES: Sequence[str] = [
    *(
        "You are a worthless piece of garbage. ",
        "Nice day. ",
        "I will kill you! ",
        "word ",
        ". ",
        "\n",
        "? ",
        "garbage ",
    ),
    *("You are ", "stupid", "an idiot", "\u200b", "worthless "),
]


@given(cut=_cut(st.lists(st.sampled_from(_SENTENCES), min_size=1, max_size=14).map("".join)))
@settings(max_examples=60)
def test_a_judge_decides_a_stream_alike_however_it_is_cut(cut: tuple[str, list[str]]) -> None:
    text, pieces = cut
    for strategy in ("block", "filter", "warn"):
        guard = ModerationProcessor(strategy=strategy)
        told, whole = text_streamed(guard, pieces), text_streamed(guard, [text])
        assert (told.tripwire is None) == (whole.tripwire is None)
        assert [w.detail for w in told.warnings] == [w.detail for w in whole.warnings]
        if strategy != "block":
            assert told.text == whole.text
        else:
            assert (told.tripwire is None) == (_as_message(guard, text)[1] is None)
            assert text.startswith(told.text)

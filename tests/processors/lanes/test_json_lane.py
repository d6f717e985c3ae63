"""Laws of editing JSON that comes in pieces."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from interlock.processors.lanes.bounded_pattern import BoundedPattern
from interlock.processors.lanes.json_lane import JSONLane
from interlock.processors.lanes.lane import LaneKind, whole
from interlock.processors.lanes.matcher import Match

KIND = LaneKind([BoundedPattern(r"\d{3,4}"), BoundedPattern("ab{1,2}c", reading="folded")])
MANY = settings(max_examples=300, deadline=None)

STRINGS = st.text(st.one_of(st.sampled_from('1234abc "\\/\n\té\U0001f600\u200b'), st.characters()), max_size=12)
VALUES = st.recursive(
    st.one_of(STRINGS, st.integers(-(10**9), 10**18), st.booleans(), st.none(), st.floats(allow_nan=False, width=32)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(STRINGS, inner, max_size=4)),
    max_leaves=8,
)


def replace(match: Match, text: str) -> str:
    return f'<"{len(text)}>'


def edited(text: str) -> str:
    """A string as the guard leaves it."""
    made, at = "", 0
    for match in whole(KIND, text):
        made += text[at : match.start]
        made += replace(match, text[match.start : match.end]) if match.replacement is None else match.replacement
        at = match.end
    return made + text[at:]


def expected(value: Any) -> Any:
    match value:
        case str():
            return edited(value)
        case dict():
            return {key: expected(inner) for key, inner in cast("dict[str, Any]", value).items()}
        case list():
            return [expected(inner) for inner in cast("list[Any]", value)]
        case bool() | None:
            return value
        case _:
            literal = json.dumps(value)
            changed = edited(literal) if sum(map(str.isdigit, literal)) >= 7 else literal
            return value if changed == literal else changed


def cut(text: str, places: list[int]) -> list[str]:
    return [text[a:b] for a, b in pairwise([0, *sorted(min(p, len(text)) for p in places), len(text)])]


PLACES = st.one_of(st.lists(st.integers(0, 200), max_size=10), st.just(list(range(200))))


@MANY
@given(VALUES, PLACES, st.booleans(), st.sampled_from([None, 2]))
def test_in_pieces_each_string_is_edited_as_it_is_whole_and_the_rest_stays_byte_for_byte(
    value: Any, places: list[int], ascii_only: bool, indent: int | None
) -> None:
    try:
        text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent)
    lane = JSONLane(KIND, replace)
    out = "".join(lane.push(piece) for piece in cut(text, places)) + lane.end()
    assert json.loads(out) == expected(value)
    if not lane.found or all(finding.is_key for finding in lane.found):
        assert out == text
    again = JSONLane(KIND, replace)
    assert again.push(text) + again.end() == out
    assert "".join(piece.text for piece in lane.pieces) == out
    assert "".join(text[piece.start : piece.end] for piece in lane.pieces) == text
    assert all(piece.text == text[piece.start : piece.end] for piece in lane.pieces if piece.kept)
    event("something was found" if lane.found else "nothing was found")


@MANY
@given(VALUES, PLACES)
def test_whoever_only_looks_finds_the_same_and_holds_nothing_of_a_string(value: Any, places: list[int]) -> None:
    text = json.dumps(value)
    looks, edits = JSONLane(KIND, None), JSONLane(KIND, replace)
    assert "".join(looks.push(piece) for piece in cut(text, places)) + looks.end() == text
    edits.push(text)
    edits.end()
    assert looks.found == edits.found


@MANY
@given(st.text('{}[]:,"\\u0123abc 1234567', max_size=40), PLACES)
def test_what_is_no_json_comes_out_the_same_for_every_cut(text: str, places: list[int]) -> None:
    lane, again = JSONLane(KIND, replace), JSONLane(KIND, replace)
    out = "".join(lane.push(piece) for piece in cut(text, places)) + lane.end()
    assert out == again.push(text) + again.end()


def test_keys_are_found_and_left_as_they_are() -> None:
    lane = JSONLane(KIND, replace)
    assert lane.push('{"a1234": "b1234"}') == '{"a1234": "b<\\"4>"}'
    assert [(finding.text, finding.is_key) for finding in lane.found] == [("1234", True), ("1234", False)]


def test_no_character_of_a_match_leaves_early() -> None:
    lane = JSONLane(KIND, replace)
    assert lane.push('{"a": "x12') == '{"a": "x'
    assert lane.push("3") == ""
    assert lane.push('4"') == '<\\"4>"'


@pytest.mark.parametrize("number", ["4111111111111111", "-1234567", "1.2345678e9"])
def test_a_long_number_in_which_something_is_found_becomes_a_string(number: str) -> None:
    lane = JSONLane(KIND, replace)
    out = "".join(lane.push(c) for c in f'{{"n": {number}}}')
    assert json.loads(out)["n"] == edited(number)
    assert number not in out


def test_nothing_is_kept_of_what_is_over() -> None:
    lane = JSONLane(KIND, replace)
    lane.push("[")
    for _ in range(2_000):
        lane.push('"a word after another", 5, ')
        assert lane.held < 10


def test_a_number_without_end_is_let_go_in_parts() -> None:
    lane = JSONLane(KIND, replace)
    for _ in range(2_000):
        lane.push("5")
        assert lane.held <= 512

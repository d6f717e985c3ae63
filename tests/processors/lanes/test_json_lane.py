"""Laws of editing the arguments of a call, JSON that comes in pieces."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from interlock.processors.lanes.bounded_pattern import BoundedPattern
from interlock.processors.lanes.edited_lane import Edit, Gone
from interlock.processors.lanes.json_lane import JSONLane
from interlock.processors.lanes.json_scan import JSONScan
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


def lane_of_call(*, holds: bool = True, after: JSONScan | None = None) -> JSONLane:
    return JSONLane(KIND, replace, holds=holds, after=after, of_call=True)


def through(pieces: list[str], *, holds: bool = True) -> Gone:
    """All that a lane lets go of arguments that come in pieces."""
    lane = lane_of_call(holds=holds)
    gone = [*map(lane.push, pieces), lane.end()]
    return Gone(
        "".join(one.text for one in gone),
        [edit for one in gone for edit in one.edits],
        [piece for one in gone for piece in one.pieces],
        [edit for one in gone for edit in one.fixed],
    )


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
    out, edits, pieces, fixed = through(cut(text, places))
    assert json.loads(out) == expected(value)
    if len(edits) == len(fixed):
        assert out == text
    assert through([text]).text == out
    assert "".join(piece.text for piece in pieces) == out
    assert "".join(text[piece.start : piece.end] for piece in pieces) == text
    assert all(piece.text == text[piece.start : piece.end] for piece in pieces if piece.kept)
    event("something was found" if edits else "nothing was found")


@MANY
@given(VALUES, PLACES)
def test_whoever_only_looks_finds_the_same_and_holds_nothing(value: Any, places: list[int]) -> None:
    text = json.dumps(value)
    pieces = cut(text, places)
    looks = through(pieces, holds=False)
    assert looks.text == text
    lane = lane_of_call(holds=False)
    assert [lane.push(piece).text for piece in pieces] == pieces
    assert sorted(looks.edits, key=repr) == sorted(through([text]).edits, key=repr)


BROKEN = st.lists(
    st.sampled_from(
        [*'{}[]:,"\\ é', "123", "4", "ab", "bc", '{"a": "', '", "b": ', "true", "\\u003", "1", "\\u-061", "\\x"]
    ),
    max_size=14,
).map("".join)


@MANY
@given(BROKEN, PLACES)
def test_what_is_no_json_comes_out_the_same_for_every_cut(text: str, places: list[int]) -> None:
    assert through(cut(text, places)).text == through([text]).text


@MANY
@given(VALUES, st.text("ab c1234,'", min_size=1, max_size=20), PLACES)
def test_behind_a_mistake_all_is_read_as_text(value: Any, behind: str, places: list[int]) -> None:
    """A text on lines of its own: no match stands across their border."""
    text = json.dumps(value)
    out = through(cut(f"{text}\n;{behind}", places)).text
    assert out == f"{through([text]).text}\n;{edited(behind)}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{'pin': '1234'}", "{'pin': '<\"4>'}"),
        ('{"pin": x1234}', '{"pin": x<"4>}'),
        ('{"pin": 12 1234}', '{"pin": 12 <"4>}'),
        ('{"pin": 01234}', '{"pin": <"4>4}'),
        ('{"a": nabc1}', '{"a": n<"3>1}'),
        ('{"a": "\\u1 1234"}', '{"a": "\\u1 <"4>"}'),
        ('{"a": "1234", b: "1234"', '{"a": "<\\"4>", b: "<"4>"'),
        ('{"a": "\\u0031234"} 1234', '{"a": "<\\"4>"} <"4>'),
    ],
)
def test_no_match_passes_in_what_is_no_json(text: str, shown: str) -> None:
    shown = shown.replace('<"', '<"')
    assert through([text]).text == through(list(text)).text == shown


def test_a_match_that_begins_where_all_was_json_yet_is_replaced_as_a_whole() -> None:
    kind = LaneKind([BoundedPattern("[a-z]{1,9}@[a-z]{1,9}"), BoundedPattern("[0-9]{2} [0-9]{2}")])
    for text, shown in (('{"a": true@b}', '{"a": *}'), ('{"a": n@b}', '{"a": *}'), ("[12 34]", "[*]")):
        lane = JSONLane(kind, lambda _match, _text: "*", of_call=True)
        assert "".join([lane.push(c).text for c in text]) + lane.end().text == shown


@pytest.mark.parametrize("escape", ["-061", "+061", " 061", "0_61", "006g", "\u0660061", "\uff10061"])
@pytest.mark.parametrize("before", ["", "\\ud83d"])
def test_what_is_no_escape_is_a_mistake(escape: str, before: str) -> None:
    text = f'{{"a": "{before}\\u{escape} 1234"}}'
    out = through(list(text)).text
    assert out == through([text]).text
    assert out.endswith(' <"4>"}')


def test_keys_are_found_and_left_as_they_are() -> None:
    out, edits, _, fixed = through(['{"a1234": "b1234"}'])
    assert out == '{"a1234": "b<\\"4>"}'
    assert [edit.text for edit in edits] == ["1234", "1234"]
    assert fixed == [Edit(edits[0].match, "1234", '<"4>')]


def test_no_character_of_a_match_leaves_early() -> None:
    lane = lane_of_call()
    assert lane.push('{"a": "x12').text == '{"a": "x'
    assert lane.push("3").text == ""
    assert lane.push('4",').text == '<\\"4>"'  # a mark may yet join the last character


@pytest.mark.parametrize("number", ["4111111111111111", "-1234567", "1.2345678e9"])
def test_a_long_number_in_which_something_is_found_becomes_a_string(number: str) -> None:
    out = through(list(f'{{"n": {number}}}')).text
    assert json.loads(out)["n"] == edited(number)
    assert number not in out


def test_nothing_is_kept_of_what_is_over() -> None:
    lane = lane_of_call()
    lane.push("[")
    for _ in range(2_000):
        lane.push('"a word after another", 5, ')
        assert lane.held < 10


def test_a_number_without_end_is_let_go_in_parts() -> None:
    lane = lane_of_call()
    for _ in range(2_000):
        lane.push("5")
        assert lane.held <= 512


@MANY
@given(VALUES, st.sampled_from(["", " oops "]), PLACES)
def test_a_lane_that_goes_on_with_a_text_knows_where_in_it_it_is(value: Any, behind: str, places: list[int]) -> None:
    """As behind a failure: what another lane has read before counts as read."""
    text = json.dumps(value) + behind
    place = min([*places, len(text)])
    first = lane_of_call()
    first.push(text[:place])
    second = lane_of_call(after=first.scan)
    second.push(text[place:])
    assert second.scan.is_plain == JSONScan.of(text).is_plain == bool(behind)

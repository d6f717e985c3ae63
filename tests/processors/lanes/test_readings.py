"""Laws of the scan copy of a text that comes in pieces, and of what is found in it."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from interlock.processors.detection.scan_copy import ScanCopy
from interlock.processors.lanes.bounded_pattern import BoundedPattern
from interlock.processors.lanes.edited_lane import EditedLane
from interlock.processors.lanes.json_lane import JSONLane
from interlock.processors.lanes.lane import LaneKind, whole
from interlock.processors.lanes.matcher import Match, Reading
from interlock.processors.lanes.reading_stream import INVISIBLE_TEXT, LONGEST_INVISIBLE, ReadingStream
from interlock.processors.lanes.region import Region

MANY = settings(max_examples=300, deadline=None)
ODD = "aA1 é\u0301\u0300ß４①ℌﬁ한\u1100\u1161\u200b\u200d\u00ad\u202e\U0001f468\u200d\U0001f469аеор\ud83d\udc68\n\x07ς"
ODD_TEXTS = st.text(st.one_of(st.sampled_from(ODD), st.characters()), max_size=30)


@st.composite
def odd_pieces(draw: st.DrawFn) -> list[str]:
    text = draw(ODD_TEXTS)
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    if draw(st.booleans()):
        places = list(range(len(text) + 1))
    return [text[a:b] for a, b in pairwise([0, *places, len(text)])]


@MANY
@given(odd_pieces(), st.sampled_from(["plain", "folded"]))
def test_in_pieces_a_text_reads_as_it_does_whole(pieces: list[str], reading: Reading) -> None:
    stream = ReadingStream(reading)
    read = "".join([*(stream.push(piece, final=False) for piece in pieces), stream.push("", final=True)])
    copy = ScanCopy("".join(pieces))
    layer = copy.plain if reading == "plain" else copy.folded
    assert read == layer.text
    for n in range(len(read)):
        assert stream.raw_span(n, n + 1) == layer.raw_span(n, n + 1)
        assert stream.counts(n, n + 1) == layer.counts(n, n + 1)


@MANY
@given(odd_pieces())
def test_only_an_unfinished_sequence_waits(pieces: list[str]) -> None:
    stream = ReadingStream("folded")
    for piece in pieces:
        stream.push(piece, final=False)
        assert len(stream._pending) <= 32 + LONGEST_INVISIBLE + 1


PATTERNS = [r"4\d{1,3}", r"[a-c]{2,4}@[a-c]{1,3}", r"\bae\b", "fi", "é{1,2}", r"h1?", "ss"]


def spans(found: list[Match]) -> list[tuple[int, int, str | None]]:
    return [(m.start, m.end, m.replacement) for m in found]


@MANY
@given(odd_pieces(), st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=3, unique=True), st.data())
def test_in_pieces_the_same_is_found_in_every_reading(
    pieces: list[str], patterns: list[str], data: st.DataObject
) -> None:
    readings: list[Reading] = ["raw", "plain", "folded"]
    matchers = [BoundedPattern(p, kind=p, reading=data.draw(st.sampled_from(readings))) for p in patterns]
    kind = LaneKind(matchers)
    text = "".join(pieces)
    lane = kind.lane()
    expected = spans(whole(kind, text))
    seen: list[Match] = []
    before = 0
    for piece in pieces:
        upto, found = lane.push(piece)
        seen += found
        assert before <= upto
        assert spans(seen) == expected[: len(seen)]
        assert len(seen) >= sum(match[0] < upto for match in expected)
        before = upto
    upto, found = lane.end()
    assert upto == len(text)
    assert spans([*seen, *found]) == expected
    event("something was found" if expected else "nothing was found")


def test_what_hides_behind_invisible_characters_is_found() -> None:
    kind = LaneKind([BoundedPattern(r"\d{4}", reading="folded")])
    assert spans(whole(kind, "a 4\u200b1\u00ad1\u200d1 b")) == [(2, 9, None)]
    assert spans(whole(kind, "４１１１")) == [(0, 4, None)]


def test_a_finding_of_folded_letters_counts_only_where_scripts_mix() -> None:
    kind = LaneKind([BoundedPattern("paper", reading="folded")])
    assert spans(whole(kind, "раper")) == [(0, 5, None)]
    assert spans(whole(kind, "рарег")) == []


@pytest.mark.parametrize("count", [64, 65, 66, 500])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_too_many_invisible_characters_are_found_as_soon_as_they_are_too_many(count: int, size: int) -> None:
    kind = LaneKind([BoundedPattern("zzz", reading="folded")])
    text = "a" + "\u200b" * count + "b" * 5
    lane = kind.lane()
    found: list[Match] = []
    for n in range(0, len(text), size):
        found += lane.push(text[n : n + size]).found
        assert lane.held <= LONGEST_INVISIBLE + 1 + size
    found += lane.end().found
    assert {match.kind for match in found} == ({INVISIBLE_TEXT} if count > LONGEST_INVISIBLE else set())
    left = [n for n in range(len(text)) if not any(match.start <= n < match.end for match in found)]
    assert "".join(text[n] for n in left) == ("abbbbb" if count > LONGEST_INVISIBLE else text)


def test_memory_does_not_grow_with_the_text() -> None:
    kind = LaneKind([BoundedPattern(r"\d{4}", reading="folded"), BoundedPattern("é", reading="plain")])
    lane = kind.lane()
    for _ in range(3_000):
        lane.push("wörd аnd ４１１１ ")
    for stream, decider in lane._readings:
        assert len(stream._starts) < 1_000
        assert len(decider._text) < 1_000


# Regions


@MANY
@given(st.text("<>ab", max_size=30), st.lists(st.integers(0, 30), max_size=8))
def test_a_region_is_what_stands_between_its_edges_or_up_to_the_end(text: str, places: list[int]) -> None:
    kind = LaneKind([Region("<<", ">>")])
    expected = re.sub(r"<<[\s\S]*?(?:>>|\Z)", "#", text)

    def edited(found: list[Match]) -> str:
        made, at = "", 0
        for match in found:
            made += text[at : match.start] + ("#" if match.replacement is None else match.replacement)
            at = match.end
        return made + text[at:]

    assert edited(whole(kind, text)) == expected
    lane = kind.lane()
    found: list[Match] = []
    for a, b in pairwise([0, *sorted(min(p, len(text)) for p in places), len(text)]):
        found += lane.push(text[a:b]).found
        assert lane.held <= 1
    found += lane.end().found
    assert edited(found) == expected


REGIONS = st.lists(st.sampled_from(["<<", ">>", "<", ">", "a", "b", "ab", "aab"]), max_size=10).map("".join)
EDGES = st.one_of(st.lists(st.integers(0, 80), max_size=8), st.just(list(range(80))))
BESIDE = st.lists(st.sampled_from(["a{1,3}", "b<", "ab{1,2}", ">a", "a>", "<<a", "b"]), min_size=1, max_size=3)


def cut(text: str, places: list[int]) -> list[str]:
    return [text[a:b] for a, b in pairwise([0, *sorted(min(p, len(text)) for p in places), len(text)])]


@MANY
@given(REGIONS, EDGES, BESIDE, st.booleans())
def test_what_begins_inside_a_region_is_a_part_of_it_however_the_text_is_cut(
    text: str, places: list[int], patterns: list[str], region_first: bool
) -> None:
    others = [BoundedPattern(pattern) for pattern in patterns]
    region = Region("<<", ">>")
    kind = LaneKind([region, *others] if region_first else [*others, region])
    whole_text = EditedLane(kind.lane(), lambda _match, _text: "#")
    expected = whole_text.push(text).text + whole_text.end().text
    lane = EditedLane(kind.lane(), lambda _match, _text: "#")
    assert "".join([lane.push(piece).text for piece in cut(text, places)]) + lane.end().text == expected


@MANY
@given(REGIONS, EDGES, BESIDE, st.sets(st.integers(0, 20)))
def test_so_it_is_in_an_answer_that_is_read_decoded_and_as_it_came(
    text: str, places: list[int], patterns: list[str], escaped: set[int]
) -> None:
    spelled = "".join(f"\\u{ord(c):04x}" if n in escaped else c for n, c in enumerate(text))
    kind = LaneKind([Region("<<", ">>"), *map(BoundedPattern, patterns)])
    whole_text = JSONLane(kind, lambda _match, _text: "#")
    expected = whole_text.whole(f'["{spelled}"]')
    lane = JSONLane(kind, lambda _match, _text: "#")
    gone = [*map(lane.push, cut(f'["{spelled}"]', places)), lane.end()]
    assert any(one.fixed for one in gone) == bool(expected.fixed)
    if not expected.fixed:  # else the run is stopped
        assert "".join(one.text for one in gone) == expected.text

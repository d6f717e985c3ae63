"""Laws of deciding a text that comes in pieces."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from interlock.processors.lanes.bounded_pattern import BoundedPattern
from interlock.processors.lanes.lane import Lane, LaneKind, whole
from interlock.processors.lanes.matcher import Match, Matcher, MatcherError, checked
from tests.processors.lanes.strategies import LETTERS, MATCHERS, PATTERNS, FixedWords, by_hand, decided, pieces_of

MANY = settings(max_examples=400, deadline=None)


def lane_of(*matchers: Matcher) -> Lane:
    return LaneKind(matchers).lane()


def plain(found: list[Match]) -> list[tuple[int, int, str, str | None]]:
    return [(m.start, m.end, m.kind, m.replacement) for m in found]


@MANY
@given(MATCHERS, pieces_of())
def test_in_pieces_the_same_is_found_as_in_the_whole(matchers: list[Matcher], pieces: list[str]) -> None:
    text = "".join(pieces)
    kind = LaneKind(matchers)
    told = decided(kind.lane(), pieces)
    found = [match for one in told for match in one.found]
    expected = by_hand(matchers, text)
    event("something was found" if expected else "nothing was found")
    assert plain(found) == plain(expected)
    assert plain(whole(kind, text)) == plain(expected)
    assert told[-1].upto == len(text)


@MANY
@given(MATCHERS, pieces_of())
def test_nothing_is_decided_before_it_is_known_and_no_more_is_held_than_was_declared(
    matchers: list[Matcher], pieces: list[str]
) -> None:
    text = "".join(pieces)
    kind = LaneKind(matchers)
    decider = kind.lane()
    longest = max(matcher.longest_match + matcher.look_ahead - 1 for matcher in matchers)
    assert kind.longest_hold == longest
    expected = plain(by_hand(matchers, text))
    seen: list[Match] = []
    came, before = 0, 0
    for piece in pieces:
        came += len(piece)
        upto, found = decider.push(piece)
        seen += found
        assert before <= upto <= came
        assert came - upto <= longest
        assert decider.held == came - upto
        assert plain(seen) == expected[: len(seen)]
        assert len(seen) >= sum(match[0] < upto for match in expected)
        before = upto


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(PATTERNS, st.text(LETTERS, max_size=12))
def test_what_a_pattern_holds_back_could_become_a_match(pattern: BoundedPattern, text: str) -> None:
    """Looked for by trying: whatever is held back, some continuation makes a match of it, or changes one."""
    decider = lane_of(pattern)
    upto, _ = decider.push(text)
    assume(upto < len(text))
    assume(not pattern.closure.edges)
    missing = pattern.longest_match - 1
    assume(missing <= 4)
    event("held back")
    assert any(
        re.fullmatch(pattern.source, text[upto:] + "".join(more))
        for length in range(1, missing + 1)
        for more in itertools.product("ab1 .", repeat=length)
    )


@MANY
@given(PATTERNS, st.text(LETTERS, max_size=30), st.data())
def test_patterns_keep_to_what_they_declare(pattern: BoundedPattern, text: str, data: st.DataObject) -> None:
    found = list(checked(pattern, text, 0))
    inside = {n for match in found for n in range(match.start + 1, match.end)}
    place = data.draw(st.sampled_from([n for n in range(len(text) + 1) if n not in inside]))
    assert list(pattern.find(text, place)) == [match for match in found if match.start >= place]
    for match in found:
        low = max(0, match.start - pattern.look_behind)
        high = match.start + pattern.longest_match + pattern.look_ahead
        window = text[low:high]
        edges = (low == 0, high >= len(text))
        if edges == (True, True) or not pattern.closure.edges:
            again = list(pattern.find(window, match.start - low))
            assert again
            assert (again[0].start + low, again[0].end + low) == match[:2]


def test_clean_text_is_not_held() -> None:
    matchers: list[Matcher] = [BoundedPattern(r"\b\d{4}(?: ?\d{4}){3}\b"), BoundedPattern(r"sk-[a-z0-9]{8,16}")]
    for some in (matchers, matchers[:1]):
        decider = lane_of(*some)
        for word in ["Dear ", "Ann, ", "we ", "meet ", "soon. "] * 50:
            assert decider.push(word).found == ()
            assert decider.held == 0


def test_a_beginning_is_held_and_let_go_when_it_turns_out_to_be_none() -> None:
    decider = lane_of(BoundedPattern(r"sk-[a-z]{4}"))
    assert decider.push("a sk-ab").upto == 2
    assert decider.push("1").upto == 8


def test_only_what_is_needed_is_kept() -> None:
    decider = lane_of(BoundedPattern(r"\bsk-[a-z]{4}\b"))
    for _ in range(2_000):
        decider.push("word after word sk-abcd ")
    assert len(decider._readings[0][1]._text) < 1_000


def test_where_things_overlap_the_first_stands_whole_and_the_rest_is_removed() -> None:
    matchers: list[Matcher] = [BoundedPattern("bcde", kind="late"), BoundedPattern("abc", kind="early")]
    assert plain(whole(LaneKind(matchers), "xabcdex")) == [(1, 4, "early", None), (4, 6, "late", "")]


def test_of_two_that_begin_together_the_longer_stands_and_of_equals_the_first() -> None:
    ab, abc, other = (BoundedPattern(p, kind=k) for p, k in (("ab", "short"), ("abc", "long"), ("abc", "other")))
    assert plain(whole(LaneKind([ab, abc]), "abcd")) == [(0, 3, "long", None)]
    assert plain(whole(LaneKind([other, abc]), "abcd")) == [(0, 3, "other", None)]


class Liar(Matcher):
    """Says what it is told to."""

    kind = "liar"
    longest_match = 3

    def __init__(self, *found: tuple[int, int]) -> None:
        self.found = found

    def find(self, text: str, start: int, /) -> list[tuple[int, int]]:
        return [one for one in self.found if one[0] >= start]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([(0, 4)], "a match of 4 characters, where longest_match is 3"),
        ([(2, 2)], "not empty"),
        ([(0, 2), (1, 3)], "do not overlap"),
        ([(8, 11)], "in a text of"),
    ],
)
def test_a_matcher_that_does_not_keep_to_what_it_declares_is_a_failure(found: list[tuple[int, int]], said: str) -> None:
    with pytest.raises(MatcherError, match=said):
        whole(LaneKind([Liar(*found)]), "0123456789")
    with pytest.raises(MatcherError, match=said):
        decided(lane_of(Liar(*found)), ["01234", "56789"])


def test_without_more_being_known_as_much_is_held_as_a_match_may_be_long() -> None:
    decider = lane_of(FixedWords(["abcd"]))
    assert decider.push("1234567").upto == 4
    assert decider.end().upto == 7

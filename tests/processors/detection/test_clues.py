from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.processors.detection.clues import Clue, ClueBook, Sighting, weigh, with_blanks
from interlock.processors.detection.patterns import Pattern

_A = Clue("spam", "free", 0.5, r"free")
_B = Clue("spam", "now", 0.5, r"\bnow\b")
_C = Clue("scam", "send", 0.4, r"send")


def test_signs_near_each_other_count_as_independent_evidence() -> None:
    (score,) = weigh(ClueBook([_A, _B]).sightings("free now"), window=100)
    assert (score.score, score.names) == (0.75, ("free", "now"))


def test_one_name_counts_once_however_often_it_is_seen() -> None:
    (score,) = weigh(ClueBook([_A]).sightings("free " * 20), window=1000)
    assert score.score == 0.5


def test_signs_pages_apart_do_not_add_up() -> None:
    far = ClueBook([_A, _B]).sightings("free" + " " * 1000 + "now")
    assert max(s.score for s in weigh(far, window=200)) == 0.5


def test_the_leading_kind_has_the_passages_whole_score_and_the_others_their_own() -> None:
    scores = {s.kind: s.score for s in weigh(ClueBook([_A, _B, _C]).sightings("free now send"), window=100)}
    assert scores == {"spam": 0.85, "scam": 0.4}


@given(st.lists(st.tuples(st.sampled_from([_A, _B, _C]), st.integers(0, 500)), max_size=12))
def test_what_stands_within_half_a_window_is_never_torn_apart(places: list[tuple[Clue, int]]) -> None:
    seen = [Sighting(clue, at, at + 1, clue.weight) for clue, at in places]
    best = max((s.score for s in weigh(seen, window=200)), default=0.0)
    for at in range(0, 500, 25):
        doubt = 1.0
        for clue in {s.clue for s in seen if at <= s.start < at + 100}:
            doubt *= 1 - clue.weight
        assert best >= round(1 - doubt, 4)


def test_nothing_seen_scores_nothing() -> None:
    assert weigh([], window=100) == []


_RUNS = st.text(alphabet=" \t\n\r\v\u00a0\u2800", min_size=1, max_size=12)


@given(_RUNS, _RUNS)
def test_a_blank_of_a_pattern_is_any_run_of_white_space(one: str, other: str) -> None:
    book = ClueBook([Clue("spam", "offer", 0.5, r"buy now(?: or| and)? (?:pay|cry)[- ]later")])
    text = f"buy{one}now{other}pay{other}later"
    assert [(s.start, s.end) for s in book.sightings(text)] == [(0, len(text))]


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("ass ?hole", "ass \n hole", True),
        ("ass ?hole", "asshole", True),
        ("[- ]x", "- \tx", True),
        ("[ _a-z]{1,3}!", "a\nb!", True),
        ("[ _a-z]{1,3}!", "a    b!", False),
        ("[^ ]x", "\tx", False),
        (r"[\] ]x", "\nx", True),
        ("a b", "ab", False),
    ],
)
def test_a_blank_in_a_character_class_stays_inside(pattern: str, text: str, matches: bool) -> None:
    assert Pattern(with_blanks(pattern)).matches(text) is matches

"""Changes found by comparing: they lead from one text to the other, and say what they cannot know."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.messages import TextEdit
from interlock.messages.diff import derive
from interlock.messages.rewriting import apply_edits

WORDS = st.lists(st.sampled_from(["a", "b", "cc", " ", " ", ".", "é", "\n"]), max_size=14).map("".join)


@settings(max_examples=300)
@given(WORDS, WORDS, st.sampled_from([0, 1, 3, 256]))
def test_the_changes_lead_from_one_text_to_the_other(before: str, after: str, limit: int) -> None:
    edits = derive(before, after, limit)
    assert apply_edits(before, [TextEdit(e.start, e.end, e.replacement) for e in edits]) == after
    assert all(one.end < other.start for one, other in pairwise(edits))


@settings(max_examples=300)
@given(st.data())
def test_whatever_word_may_have_been_kept_or_taken_away_is_in_doubt(data: st.DataObject) -> None:
    words = data.draw(st.lists(st.sampled_from(["a", "b", "cc"]), min_size=1, max_size=7))
    kept = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    before = " ".join(words)
    left = [word for word, keep in zip(words, kept, strict=True) if keep]
    edits = derive(before, " ".join(left))
    at = 0
    for place, word in enumerate(words):
        possible = {_leaves(words[:place], words[place + 1 :], left, keep) for keep in ([], [word])}
        if possible == {True}:
            assert any(low <= at and at + len(word) <= high for edit in edits for low, high in edit.doubt)
        at += len(word) + 1


def _leaves(before: list[str], after: list[str], left: list[str], middle: list[str]) -> bool:
    """Whether ``left`` can come about by taking words from both sides of ``middle``."""
    return any(
        _within(left[:cut], before)
        and left[cut : cut + len(middle)] == middle
        and _within(left[cut + len(middle) :], after)
        for cut in range(len(left) + 1)
    )


def _within(some: list[str], words: list[str]) -> bool:
    rest = iter(words)
    return all(word in rest for word in some)


@pytest.mark.parametrize(
    ("before", "after", "edits"),
    [
        ("call 555-1234 now", "call [PHONE] now", [(5, 13, "[PHONE]", ())]),
        ("ab cd", "ab cd ef", [(5, 5, " ef", ())]),
        ("", "x", [(0, 0, "x", ())]),
        ("x", "", [(0, 1, "", ())]),
        ("same", "same", []),
        ("secret secret", "secret", [(6, 13, "", ((0, 6), (7, 13)))]),
        ("bb.b", "bb", [(2, 4, "", ((1, 2), (3, 4)))]),
        ("one two three", "1 two 3", [(0, 3, "1", ()), (8, 13, "3", ())]),
        ("+49 170 1234567", "+49 *** ***4567", [(4, 7, "***", ()), (8, 11, "***", ())]),
    ],
)
def test_what_is_found(before: str, after: str, edits: list[tuple[int, int, str, tuple[tuple[int, int], ...]]]) -> None:
    assert [(e.start, e.end, e.replacement, e.doubt) for e in derive(before, after)] == edits


def test_a_cut_through_the_middle_of_words_is_one_change() -> None:
    assert [(e.start, e.end, e.replacement) for e in derive("call ann or 555-1234 now", "call an#34 now")] == [
        (7, 18, "#"),
    ]


def test_a_word_that_is_gone_is_not_in_doubt_although_the_space_is() -> None:
    (edit,) = derive("keep lost keep2", "keep keep2")
    assert not any(low < 9 and high > 5 for low, high in edit.doubt)


def test_past_the_limit_everything_between_the_common_ends_is_one_change_in_doubt() -> None:
    before = "head " + " ".join(f"a{n}" for n in range(200)) + " tail"
    after = "head " + " ".join(f"b{n}" for n in range(200)) + " tail"
    (edit,) = derive(before, after)
    assert (edit.doubt[0][0], edit.doubt[-1][1]) == (edit.start, edit.end)
    assert len(edit.doubt) == 200


def test_long_and_repetitive_texts_take_milliseconds() -> None:
    started = time.perf_counter()
    for before, after in (
        ("ab " * 10_000, "ab " * 9_999),
        ("a" * 30_000, "a" * 29_999),
        ("abc def. " * 3_000, "xyz uvw, " * 3_000),
    ):
        assert derive(before, after)
    assert time.perf_counter() - started < 5.0

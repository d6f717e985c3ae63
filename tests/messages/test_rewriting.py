"""Recorded edits: checked, made, remembered."""

from __future__ import annotations

import copy

from hypothesis import given
from hypothesis import strategies as st

from interlock.messages import TextEdit
from interlock.messages.rewriting import History, apply_edits, checked_edits, common_prefix, trimmed


def test_insertions_at_one_point_keep_their_order() -> None:
    edits = checked_edits("ab", [TextEdit(1, 1, "x"), TextEdit(1, 1, "y"), TextEdit(1, 2, "z")], "here")
    assert apply_edits("ab", edits) == "axyz"


@given(st.text("ab", max_size=12), st.text("ab", max_size=12))
def test_the_common_prefix_is_the_longest(one: str, other: str) -> None:
    length = common_prefix(one, other)
    assert one[:length] == other[:length]
    assert length == min(len(one), len(other)) or one[length] != other[length]


@given(st.text("ab", max_size=8), st.integers(0, 8), st.integers(0, 8), st.text("abX", max_size=5))
def test_a_trimmed_edit_does_the_same_with_nothing_to_spare(text: str, low: int, high: int, new: str) -> None:
    start, end = sorted((min(low, len(text)), min(high, len(text))))
    left, right, rest = trimmed(text, start, end, new)
    assert text[:left] + rest + text[right:] == text[:start] + new + text[end:]
    assert start <= left <= right <= end
    if rest and left < right:
        assert text[left] != rest[0]
        assert text[right - 1] != rest[-1]


def test_a_history_tells_what_came_after_an_ancestor() -> None:
    first = History(None, "a", (), "b")
    second = History(first, "b", (), "c")
    other = History(first, "b", (), "d")
    assert second.since(first) == [second]
    assert second.since(None) == [first, second]
    assert second.since(other) is None
    assert copy.deepcopy(second) is second

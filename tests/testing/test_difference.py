"""Two texts side by side: whole where they are short, else around the first character in which they differ."""

from __future__ import annotations

import pytest

from interlock.testing.difference import both_shown, ends_shown


def test_short_texts_are_shown_whole() -> None:
    assert both_shown("one", "other") == ("'one'", "'other'")
    assert ends_shown("one") == "'one'"


@pytest.mark.parametrize("place", [0, 1, 29, 30, 31, 499, 500])
def test_of_long_ones_both_are_shown_around_the_same_place(place: int) -> None:
    one, other = "a" * place + "b" * (500 - place), "a" * place + "c" * (600 - place)
    shown = both_shown(one, other)
    assert [text.startswith(f"at {place} of ") for text in shown] == [True, True]
    assert ("b" in shown[0], "c" in shown[1]) == (place < 500, True)
    assert all(len(text) < 100 for text in shown)


def test_of_a_long_text_by_itself_both_ends_are_shown() -> None:
    assert ends_shown("a" * 100 + "b" * 100) == f"{'a' * 30!r}…{'b' * 30!r}"

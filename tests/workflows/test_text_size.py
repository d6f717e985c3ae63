"""How much room a text takes in a picture."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.workflows.labels import printable
from interlock.workflows.text_size import fitted, text_width


def test_a_text_is_as_wide_as_its_characters_and_grows_with_the_font() -> None:
    assert text_width("", 13) == 0
    assert text_width("iiii", 13) < text_width("mmmm", 13)
    assert text_width("ab", 13) == pytest.approx(text_width("a", 13) + text_width("b", 13))
    assert text_width("abc", 26) == pytest.approx(2 * text_width("abc", 13))


def test_a_wide_character_takes_twice_the_room_and_a_combining_one_none() -> None:
    assert text_width("日", 10) == pytest.approx(2 * text_width("é", 10))
    assert text_width("e\u0301", 10) == text_width("e", 10)


@given(st.text(max_size=500), st.floats(30, 400), st.integers(1, 4), st.booleans())
def test_lines_keep_to_the_room_and_begin_as_the_text_does(text: str, width: float, lines: int, prose: bool) -> None:
    broken = fitted(text, width, 12, lines=lines, prose=prose)
    assert 1 <= len(broken) <= lines
    assert all(text_width(line, 12) <= width for line in broken)
    joined = "".join(broken).removesuffix("…").replace(" ", "")
    assert printable(text).replace(" ", "").startswith(joined)


def test_a_text_with_room_stands_on_one_line() -> None:
    assert fitted("processor:pii-detector", 200, 13, lines=3) == ["processor:pii-detector"]


def test_an_id_breaks_after_its_colon_and_prose_between_words() -> None:
    assert fitted("processor:prompt-injection-detector", 200, 13, lines=3) == [
        "processor:",
        "prompt-injection-detector",
    ]
    assert fitted("it failed: no such-thing", 100, 13, lines=3, prose=True) == ["it failed: no", "such-thing"]


def test_what_does_not_fit_is_cut_and_says_so() -> None:
    assert fitted("word " * 100, 60, 12, lines=2, prose=True) == ["word word", "word wo…"]

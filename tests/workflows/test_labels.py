"""What ids and descriptions look like where they are shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.workflows.labels import printable, shortened


@given(st.text())
def test_nothing_shown_can_act_on_a_terminal(text: str) -> None:
    assert printable(text).replace("\u200d", "").isprintable()


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"])))
def test_what_can_be_seen_is_shown_as_it_is(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n  b\t", "a b"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\u202eabc", "\\u202eabc"),
        ("\ud800", "\\ud800"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("a\u200db", "a\\u200db"),
        ("\u200d", "\\u200d"),
    ],
)
def test_breaks_become_spaces_and_what_cannot_be_seen_an_escape(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(max_size=60), st.integers(2, 40))
def test_a_shortened_text_keeps_to_the_limit_and_begins_as_the_whole(text: str, limit: int) -> None:
    short = shortened(text, limit)
    assert len(short) <= limit
    assert printable(text).startswith(short.removesuffix("…"))


def test_a_text_is_cut_between_words_where_it_has_some() -> None:
    assert shortened("redacts all card numbers", 15) == "redacts all…"
    assert shortened("x" * 30, 10) == "x" * 9 + "…"
    assert shortened("short", 10) == "short"

"""Laws of cutting a text that comes in pieces into sentences."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.errors import DefinitionError
from interlock.processors.lanes.sentences import Sentence, Sentences

TEXTS = st.text("ab. !?\"'\n\t…。)", max_size=40)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.lists(st.integers(0, 40), max_size=8), st.integers(1, 12))
def test_the_sentences_of_a_text_do_not_depend_on_its_pieces(text: str, places: list[int], cap: int) -> None:
    whole = Sentences(cap)
    expected = [*whole.push(text), *whole.end()]
    sentences = Sentences(cap)
    made: list[Sentence] = []
    for a, b in pairwise([0, *sorted(min(p, len(text)) for p in places), len(text)]):
        made += sentences.push(text[a:b])
        assert sentences.held < cap
    made += sentences.end()
    assert made == expected
    assert "".join(one.text for one in made) == text
    assert all(text[one.start : one.end] == one.text for one in made)
    assert all(0 < len(one.text) <= cap for one in made)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("One. Two! ", ["One. ", "Two! "]),
        ("3.5 of them. ", ["3.5 of them. "]),
        ('He said "no." Then', ['He said "no." ', "Then"]),
        ("one\ntwo", ["one\n", "two"]),
        ("Wait...  what", ["Wait... ", " what"]),
        ("好。再见", ["好。", "再见"]),
    ],
)
def test_where_a_sentence_ends(text: str, cut: list[str]) -> None:
    sentences = Sentences()
    assert [s.text for s in [*sentences.push(text), *sentences.end()]] == cut


def test_a_cap_is_a_number_above_zero() -> None:
    with pytest.raises(DefinitionError, match="a whole number from 1"):
        Sentences(0)

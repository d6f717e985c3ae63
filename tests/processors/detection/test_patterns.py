from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import DefinitionError
from interlock.processors.detection.patterns import Pattern, PatternSet


@given(st.text(alphabet="ab1 é\U0001f600", max_size=40))
def test_offsets_are_in_characters_whatever_the_characters(text: str) -> None:
    assert [m.span() for m in Pattern("[a1]+").find_all(text)] == [m.span() for m in re.finditer("[a1]+", text)]


def test_text_before_the_start_is_context_only() -> None:
    assert [m.span() for m in Pattern(r"\ba").find_all("aa a", 1)] == [(3, 4)]


@pytest.mark.parametrize("source", [r"(?=a)", r"(?<!a)b", r"(a)\1", "(", "[z-a]"])
def test_what_cannot_be_matched_in_linear_time_is_an_error_that_names_it(source: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        Pattern(source)
    assert repr(source) in str(refused.value)


@given(st.text(alphabet="abc ", max_size=30))
def test_a_set_names_what_occurs_and_nothing_else(text: str) -> None:
    words = ["a", "bc", "ca+", "b b"]
    assert PatternSet(words).occurring(text) == [n for n, word in enumerate(words) if re.search(word, text)]


def test_a_set_that_cannot_answer_says_that_everything_may_occur(monkeypatch: pytest.MonkeyPatch) -> None:
    class OutOfMemory:
        def Match(self, text: str) -> None:  # noqa: N802 - RE2's own name
            return None

    patterns = PatternSet(["a", "b"])
    monkeypatch.setattr(patterns, "_compiled", OutOfMemory())
    assert patterns.occurring("b") == [0, 1]


def test_case_is_ignored_where_asked() -> None:
    assert Pattern("σ", ignore_case=True).find("Σ") is not None
    assert PatternSet(["ж"], ignore_case=True).occurring("Ж") == [0]
    assert Pattern("a").find("A") is None

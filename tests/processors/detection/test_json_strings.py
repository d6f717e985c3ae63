from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.processors.detection.json_strings import JSONStrings

_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(_values)
def test_what_is_not_changed_stays_as_it_was(value: Any) -> None:
    assert JSONStrings(value).value == value


@given(_values)
def test_every_string_is_read_once_and_changing_all_changes_each(value: Any) -> None:
    strings = JSONStrings(value)
    for n, text in enumerate(strings.texts):
        if text.can_change:
            strings.change(n, "x")
    assert {t.text for t in JSONStrings(strings.value).texts if t.can_change} <= {"x"}


@given(_values)
def test_the_value_given_is_never_changed(value: Any) -> None:
    before = repr(value)
    strings = JSONStrings(value)
    for n in range(len(strings.texts)):
        if strings.texts[n].can_change:
            strings.change(n, "x")
    assert repr(value) == before


def test_a_long_number_is_read_by_its_literal_and_becomes_a_string() -> None:
    strings = JSONStrings({"card": 4111111111111111, "n": 42})
    assert [t.text for t in strings.texts] == ["card", "n", "4111111111111111"]
    strings.change(2, "****")
    assert strings.value == {"card": "****", "n": 42}


def test_true_is_no_number() -> None:
    assert [t.text for t in JSONStrings([True, None]).texts] == []


def test_keys_are_read_and_cannot_change() -> None:
    assert [(t.text, t.can_change) for t in JSONStrings({"k": "v"}).texts] == [("k", False), ("v", True)]


@dataclass
class Person:
    mail: str
    born: date


def test_objects_that_pydantic_knows_are_read_as_json() -> None:
    strings = JSONStrings(Person("ann@example.com", date(2000, 1, 2)))
    assert strings.value == {"mail": "ann@example.com", "born": "2000-01-02"}


def test_a_value_that_holds_itself_is_an_error_and_no_hang() -> None:
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(ValueError, match=r"[Cc]ircular|depth"):
        JSONStrings(circle)

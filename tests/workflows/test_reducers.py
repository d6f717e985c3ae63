"""How a change meets what is there."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from interlock.workflows import append

lists = st.lists(st.integers())


@given(lists, st.integers() | st.none() | st.text())
def test_an_element_is_appended(old: list[Any], element: object) -> None:
    assert append(old, element) == [*old, element]


@given(lists, lists)
def test_the_elements_of_a_list_are_appended(old: list[int], more: list[int]) -> None:
    assert append(old, more) == old + more


@given(lists, lists, lists)
def test_appending_is_associative(a: list[int], b: list[int], c: list[int]) -> None:
    assert append(append(a, b), c) == append(a, append(b, c))


def test_a_list_in_a_list_appends_a_list() -> None:
    assert append([[1]], [[2, 3]]) == [[1], [2, 3]]


def test_the_old_list_stays_as_it_is() -> None:
    old, more = [1], [2]
    new = append(old, more)
    new.append(3)
    assert (old, more) == ([1], [2])
    assert append(old, []) is not old


def test_other_iterables_are_elements() -> None:
    old: list[Any] = []
    assert append(old, "ab") == ["ab"]
    assert append(old, (1, 2)) == [(1, 2)]
    assert append(old, {"a": 1}) == [{"a": 1}]

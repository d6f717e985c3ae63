"""Joining JSON values: key by key, place by place, edit by edit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.errors import MergeConflict
from interlock.messages import JSONValue, merge_values
from interlock.messages.parts import same_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["one", "one two", "two"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


@given(JSON, JSON)
def test_what_one_branch_changed_is_taken_over(base: JSONValue, value: JSONValue) -> None:
    for values in ({"x": value, "y": base}, {"x": base, "y": value}, {"x": value, "y": value}):
        assert same_json(merge_values(base, values, None, "it"), value)


@given(JSON, JSON, JSON)
def test_who_is_preferred_settles_every_conflict(base: JSONValue, one: JSONValue, other: JSONValue) -> None:
    for winner in ("x", "y"):
        merge_values(base, {"x": one, "y": other}, winner, "it")


@given(JSON, JSON, JSON)
def test_whether_there_is_a_conflict_does_not_hang_on_list_order(
    base: JSONValue, one: JSONValue, other: JSONValue
) -> None:
    outcomes: list[set[str]] = []
    for values in ({"x": one, "y": other}, {"y": other, "x": one}):
        try:
            merge_values(base, values, None, "it")
            outcomes.append(set())
        except MergeConflict as conflict:
            outcomes.append(set(conflict.branches))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0] in (set(), {"x", "y"})


def test_dicts_are_joined_key_by_key_to_any_depth() -> None:
    base = {"a": {"x": 1, "y": 2}, "b": 1, "gone": 1}
    one = {"a": {"x": 9, "y": 2}, "b": 1, "gone": 1, "new": 1}
    other = {"a": {"x": 1, "y": 8}, "b": 7}
    assert merge_values(base, {"x": one, "y": other}, None, "it") == {"a": {"x": 9, "y": 8}, "b": 7, "new": 1}


def test_a_key_that_one_removed_and_another_changed_is_gone() -> None:
    assert merge_values({"a": 1}, {"x": {}, "y": {"a": 2}}, None, "it") == {}


def test_dicts_added_by_two_are_joined() -> None:
    assert merge_values({}, {"x": {"n": {"a": 1}}, "y": {"n": {"b": 2}}}, None, "it") == {"n": {"a": 1, "b": 2}}
    assert merge_values(None, {"x": {"a": 1}, "y": {"b": 2}}, None, "it") == {"a": 1, "b": 2}


def test_lists_of_one_length_are_joined_place_by_place() -> None:
    assert merge_values([1, 2, 3], {"x": [9, 2, 3], "y": [1, 2, 8]}, None, "it") == [9, 2, 8]
    with pytest.raises(MergeConflict, match="'x' and 'y' changed it in different ways"):
        merge_values([1, 2], {"x": [1], "y": [1, 3]}, None, "it")


def test_redactions_of_one_string_are_joined() -> None:
    values = {"x": {"text": "[NAME] at 555-1234"}, "y": {"text": "ann at [PHONE]"}}
    assert merge_values({"text": "ann at 555-1234"}, values, None, "it") == {"text": "[NAME] at [PHONE]"}


def test_names_are_not_joined_like_texts() -> None:
    values = {"x": {"choice": "none"}, "y": {"choice": "required"}}
    with pytest.raises(MergeConflict, match=r"'x' and 'y' changed settings\['choice'\]"):
        merge_values({"choice": "auto"}, values, None, "settings", texts=False)
    assert merge_values({"choice": "auto"}, values, "y", "settings", texts=False) == {"choice": "required"}


def test_true_and_one_are_two_values() -> None:
    with pytest.raises(MergeConflict):
        merge_values(0, {"x": 1, "y": True}, None, "it")


def test_the_conflict_names_the_place_and_only_those_who_disagree() -> None:
    base = {"a": [{"b": 1}], "c": 1}
    values = {"x": {"a": [{"b": 2}], "c": 1}, "calm": {"a": [{"b": 1}], "c": 2}, "y": {"a": [{"b": 3}], "c": 1}}
    with pytest.raises(MergeConflict) as caught:
        merge_values(base, values, "calm", "args")
    assert caught.value.what == "args['a'][0]['b']"
    assert caught.value.branches == ("x", "y")

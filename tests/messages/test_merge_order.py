"""Joining sequences: what was taken out, put in, and moved."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.errors import MergeConflict
from interlock.messages.merge_order import merge_order

BASE = list("abcde")


@st.composite
def branches(draw: st.DrawFn) -> dict[str, list[str]]:
    """Three branches that take out and put in; the second may also move."""
    made: dict[str, list[str]] = {}
    for name in "xyz":
        keys = [key for key in BASE if draw(st.booleans())]
        if name == "y":
            keys = draw(st.permutations(keys))
        for number in range(draw(st.integers(0, 2))):
            keys.insert(draw(st.integers(0, len(keys))), f"{name}{number}")
        made[name] = keys
    return made


@settings(max_examples=200)
@given(branches())
def test_the_result_is_what_all_kept_and_what_any_added(made: dict[str, list[str]]) -> None:
    merged = merge_order(BASE, made, None, "letters")
    kept = [key for key in BASE if all(key in keys for keys in made.values())]
    added = [key for keys in made.values() for key in keys if key not in BASE]
    assert sorted(merged) == sorted(kept + added)
    assert [key for key in merged if key in kept] == [key for key in made["y"] if key in kept]


@settings(max_examples=200)
@given(branches())
def test_the_branch_that_moved_finds_its_own_in_its_order(made: dict[str, list[str]]) -> None:
    merged = merge_order(BASE, made, None, "letters")
    if [key for key in made["y"] if key in BASE] != sorted(key for key in made["y"] if key in BASE):
        assert [key for key in merged if key in made["y"]] == [key for key in made["y"] if key in merged]


@settings(max_examples=200)
@given(branches(), st.sampled_from("xyz"))
def test_one_changed_branch_gives_that_branch(made: dict[str, list[str]], name: str) -> None:
    assert merge_order(BASE, {"before": BASE, name: made[name], "after": BASE}, None, "letters") == made[name]


@given(branches())
def test_an_unchanged_branch_changes_nothing(made: dict[str, list[str]]) -> None:
    merged = merge_order(BASE, made, None, "letters")
    assert merge_order(BASE, {"first": BASE, **made, "last": BASE}, None, "letters") == merged
    assert merge_order(BASE, {}, None, "letters") == BASE


def test_additions_follow_what_they_followed_though_another_took_it_out() -> None:
    made = {"x": ["a", "b", "new", "c"], "y": ["a", "c"]}
    assert merge_order("abc", made, None, "letters") == ["a", "new", "c"]


def test_additions_at_one_place_come_in_list_order() -> None:
    made = {"x": ["a", "x1", "x2"], "y": ["y1", "a", "y2"]}
    assert merge_order("a", made, None, "letters") == ["y1", "a", "x1", "x2", "y2"]


def test_two_orders_are_a_conflict_unless_one_is_preferred() -> None:
    made = {"x": list("bca"), "y": list("cab"), "z": list("abc")}
    with pytest.raises(MergeConflict, match="'x' and 'y' changed the order of letters") as caught:
        merge_order("abc", made, None, "letters")
    assert caught.value.branches == ("x", "y")
    with pytest.raises(MergeConflict):
        merge_order("abc", made, "z", "letters")
    assert merge_order("abc", made, "y", "letters") == list("cab")
    assert merge_order("abc", {"x": list("bca"), "y": list("bca")}, None, "letters") == list("bca")

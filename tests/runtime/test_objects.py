"""Objects while their text comes in: for every cut, what is shown grows into the whole, and nothing half is shown."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.messages.parts import JSONValue, same_json
from interlock.runtime.objects import PartialObject

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


def shown(pieces: list[str]) -> list[JSONValue]:
    """What is shown of a text in these pieces."""
    partial = PartialObject()
    made = [partial.add(piece) for piece in pieces]
    assert not any(one.final for one in made if one is not None)
    return [one.object for one in made if one is not None]


def cut(text: str, places: set[int]) -> list[str]:
    """A text cut at some places."""
    ends = [*sorted(place for place in places if place < len(text)), len(text)]
    return [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def within(part: JSONValue, whole: JSONValue) -> bool:
    """Whether a value is the other as far as it goes."""
    if isinstance(part, dict) and isinstance(whole, dict):
        fields, wanted = cast("dict[str, JSONValue]", part), cast("dict[str, JSONValue]", whole)
        return all(key in wanted and within(value, wanted[key]) for key, value in fields.items())
    if isinstance(part, list) and isinstance(whole, list):
        items, all_items = cast("list[JSONValue]", part), cast("list[JSONValue]", whole)
        return len(items) <= len(all_items) and all(map(within, items, all_items))
    return same_json(part, whole)


@settings(max_examples=60)
@given(st.lists(VALUES, max_size=3) | st.dictionaries(st.text(max_size=3), VALUES, max_size=3), st.data())
def test_for_every_cut_what_is_shown_is_the_whole_as_far_as_it_goes_and_ends_with_it(
    whole: JSONValue, data: st.DataObject
) -> None:
    text = json.dumps(whole, ensure_ascii=data.draw(st.booleans()), indent=data.draw(st.sampled_from([None, 1])))
    objects = shown(cut(text, data.draw(st.sets(st.integers(0, len(text)), max_size=12))))
    assert same_json(objects[-1], whole)
    assert all(within(one, whole) for one in objects)
    assert not any(same_json(a, b) for a, b in pairwise(objects))


def test_a_number_is_shown_when_it_is_whole() -> None:
    assert shown(['{"a": 1', "2", ".5", "}"]) == [{}, {"a": 12.5}]


@settings(max_examples=40)
@given(st.lists(st.text(max_size=6), max_size=6))
def test_a_text_that_is_no_json_shows_nothing_false_and_fails_nowhere(pieces: list[str]) -> None:
    shown(pieces)

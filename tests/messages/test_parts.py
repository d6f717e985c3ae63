"""Parts: plain values that copy deep enough to be edited."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.messages import (
    DataPart,
    ErrorPart,
    FilePart,
    JSONValue,
    Part,
    ReasoningPart,
    SourcePart,
    StepStartPart,
    TextPart,
    ToolInvocationPart,
)
from interlock.messages.parts import copy_json, origin_of, same_json, same_part

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)

ALL_PARTS: tuple[Part, ...] = (
    TextPart("a", {"openai": {"x": [1]}}),
    ReasoningPart("b", "seal", {"anthropic": {}}),
    ToolInvocationPart("c", "tool", {"deep": [{"x": 1}]}, "result", [1], None, {"shown": []}, True, {"p": {}}),
    FilePart("image/png", data="aGk=", provider_metadata={"p": {}}),
    SourcePart("1", "https://example.org", "title"),
    StepStartPart(),
    DataPart("d", {"x": [1]}),
    ErrorPart("e"),
)


@pytest.mark.parametrize("part", ALL_PARTS, ids=lambda part: cast("Part", part).type)
def test_a_copy_is_equal_and_of_one_origin(part: Part) -> None:
    copied = part.copy()
    assert copied == part
    assert copied is not part
    assert origin_of(copied) is origin_of(part)


@pytest.mark.parametrize("part", ALL_PARTS, ids=lambda part: cast("Part", part).type)
def test_a_deep_copy_keeps_the_origin(part: Part) -> None:
    mark = origin_of(part)
    assert origin_of(copy.deepcopy(part)) is mark


def test_a_copy_shares_nothing_that_can_be_edited() -> None:
    part = ToolInvocationPart("c", "tool", {"deep": [{"x": 1}]}, result={"y": [1]}, provider_metadata={"p": {"q": 1}})
    copied = part.copy()
    copied.args["deep"][0]["x"] = 2
    copied.result["y"].append(2)
    cast("dict[str, dict[str, int]]", copied.provider_metadata)["p"]["q"] = 2
    assert part == ToolInvocationPart(
        "c", "tool", {"deep": [{"x": 1}]}, result={"y": [1]}, provider_metadata={"p": {"q": 1}}
    )


@given(JSON)
def test_a_copied_value_is_the_same_json(value: JSONValue) -> None:
    assert same_json(copy_json(value), value)


def test_a_value_of_another_mutable_type_is_copied_too() -> None:
    class Answer:
        def __init__(self) -> None:
            self.found = [1]

    value = (Answer(), [2])
    copied = cast("tuple[Answer, list[int]]", copy_json(value))
    copied[0].found.append(3)
    copied[1].append(4)
    assert value[0].found == [1]
    assert value[1] == [2]


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0, False), ({"a": 1}, {"a": True}), ([1], [1.0])])
def test_equal_numbers_of_different_types_are_different_json(one: JSONValue, other: JSONValue) -> None:
    assert one == other
    assert not same_json(one, other)
    assert not same_part(DataPart("d", one), DataPart("d", other))


def test_not_a_number_is_the_same_as_itself() -> None:
    assert same_json(float("nan"), float("nan"))


def test_how_a_text_came_to_be_is_not_part_of_its_value() -> None:
    part = TextPart("a")
    assert replace(part, history=None) == part
    assert "history" not in repr(part)

"""JSON schemas: what of a value does not fit, where; and what of a schema cannot be checked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from interlock.models.json_schema import faults_in_json_schema, faults_in_value

CASES: list[tuple[dict[str, Any], list[object], list[object]]] = [
    ({"type": "integer"}, [1, -3, 2.0], [True, "1", 1.5, None]),
    ({"type": "number"}, [1, 1.5], [True, "1"]),
    ({"type": ["string", "null"]}, ["a", None], [1, []]),
    ({"enum": [1, "a"]}, [1, 1.0, "a"], [True, "b"]),
    ({"const": False}, [False], [0, None]),
    ({"minLength": 2, "maxLength": 3}, ["ab", "abc", 7], ["a", "abcd"]),
    ({"pattern": "^a+$"}, ["aa", 7], ["b", "ab"]),
    ({"minimum": 1, "exclusiveMaximum": 3}, [1, 2.9, "x"], [0.9, 3]),
    ({"maximum": 3, "exclusiveMinimum": 1}, [1.1, 3], [1, 3.1]),
    ({"multipleOf": 0.1}, [0.3, 1], [0.35]),
    ({"items": {"type": "integer"}, "minItems": 1, "maxItems": 2}, [[1], [1, 2], "x"], [[], ["a"], [1, 2, 3]]),
    ({"prefixItems": [{"type": "string"}], "items": False}, [["a"], []], [[1], ["a", 1]]),
    ({"uniqueItems": True}, [[1, True], [1, 2]], [[1, 1.0], ["a", "a"]]),
    ({"properties": {"a": {"type": "string"}}, "required": ["a"]}, [{"a": "x", "b": 1}], [{}, {"a": 1}]),
    ({"properties": {"a": True}, "additionalProperties": False}, [{}, {"a": 1}], [{"b": 1}]),
    ({"additionalProperties": {"type": "integer"}}, [{"x": 1}], [{"x": "1"}]),
    ({"patternProperties": {"^n_": {"type": "integer"}}}, [{"n_a": 1, "x": "y"}], [{"n_a": "1"}]),
    ({"minProperties": 1, "maxProperties": 1}, [{"a": 1}], [{}, {"a": 1, "b": 2}]),
    ({"anyOf": [{"type": "string"}, {"minimum": 3}]}, ["a", 3], [2]),
    ({"oneOf": [{"type": "integer"}, {"minimum": 3}]}, [1, 3.5], [3, 2.5]),
    ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, [3], [2, 3.5]),
    ({"not": {"type": "string"}}, [1], ["a"]),
    (
        {
            "$ref": "#/$defs/tree",
            "$defs": {"tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}}}},
        },
        [{"next": {"next": {}}}],
        [{"next": {"next": 1}}],
    ),
]


@pytest.mark.parametrize(("schema", "good", "bad"), CASES)
def test_each_keyword_takes_what_it_should_and_no_more(
    schema: dict[str, Any], good: list[object], bad: list[object]
) -> None:
    assert list(faults_in_json_schema(schema)) == []
    assert [value for value in good if faults_in_value(value, schema)] == []
    assert [value for value in bad if not faults_in_value(value, schema)] == []


def test_a_fault_names_its_place() -> None:
    schema = {"properties": {"trips": {"items": {"properties": {"days": {"type": "integer"}}}}}}
    assert faults_in_value({"trips": [{"days": 1}, {"days": "x"}]}, schema) == ["trips[1].days: is no integer: 'x'"]
    assert faults_in_value([], {"type": "object"}) == ["the whole: is no object: []"]


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "text"}, "the schema.type: there is no type 'text'"),
        ({"properties": {"a": {"dependentRequired": {}}}}, "the schema.properties.a.dependentRequired: this keyword"),
        ({"$ref": "#/$defs/x"}, "leads nowhere"),
        ({"pattern": "("}, "the schema.pattern: "),
        ({"minimum": "1"}, "the schema.minimum is a number"),
        ({"minLength": 1.5}, "the schema.minLength is a whole number"),
        ({"required": "a"}, "the schema.required is a list"),
        ({"properties": []}, "the schema.properties is a mapping"),
        ({"items": 3}, "the schema.items is a mapping, True or False"),
    ],
)
def test_what_cannot_be_checked_is_a_fault_of_the_schema(schema: object, fault: str) -> None:
    (found,) = faults_in_json_schema(schema)
    assert fault in found


class Stop(TypedDict):
    place: str
    nights: int | None


class Trip(TypedDict):
    to: str
    stops: list[Stop]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["to", "stops", "place", "nights"]), inner, max_size=4)
    ),
    max_leaves=8,
)
_TRIPS = st.fixed_dictionaries(
    {"to": st.text(max_size=2) | _VALUES},
    optional={"stops": st.lists(st.fixed_dictionaries({"place": st.text(max_size=2), "nights": _VALUES}), max_size=2)},
)


@given(_TRIPS | _VALUES)
def test_a_schema_that_pydantic_writes_takes_what_pydantic_takes(value: object) -> None:
    adapter = TypeAdapter(Trip)
    try:
        adapter.validate_python(value, strict=True)
        fits = True
    except ValidationError:
        fits = False
    assert (not faults_in_value(value, adapter.json_schema())) is fits

"""Output schemas: what may be one, and what the text of an answer comes to."""

from __future__ import annotations

import dataclasses

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from interlock.errors import DefinitionError, OutputMismatch
from interlock.models.openai_schema import response_format
from interlock.models.output_schema import ObjectSchema, object_schema


class Trip(BaseModel):
    to: str
    days: int = Field(ge=1)


@dataclasses.dataclass
class Point:
    x: int


class Named(TypedDict):
    name: str


JSON = {"title": "Days", "type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}


@pytest.mark.parametrize(
    ("schema", "text", "made", "name"),
    [
        (Trip, '{"to": "Rome", "days": 3}', Trip(to="Rome", days=3), "Trip"),
        (Point, '{"x": 1}', Point(1), "Point"),
        (Named, '{"name": "a"}', {"name": "a"}, "Named"),
        (list[int], " [1, 2]\n", [1, 2], "list[int]"),
        (JSON, '{"days": 3, "more": null}', {"days": 3, "more": None}, "Days"),
    ],
)
def test_an_answer_that_fits_becomes_the_object(schema: object, text: str, made: object, name: str) -> None:
    of = ObjectSchema(schema)
    assert (of.whole(text), of.name) == (made, name)
    assert object_schema(schema).json_schema == of.json_schema


@pytest.mark.parametrize(
    ("schema", "text", "fault"),
    [
        (Trip, '{"to": "Rome"}', "days: Field required"),
        (Trip, '{"to": 1, "days": 0}', "to: Input should be a valid string; days: Input should be greater"),
        (Trip, "Rome, three days", "the whole: Invalid JSON"),
        (list[Point], '[{"x": 1}, {"x": "a"}]', r"\[1\]\.x: Input should be a valid integer"),
        (JSON, '{"days": "3"}', "days: is no integer: '3'"),
        (JSON, "{}", "the whole: lacks 'days'"),
        (JSON, '{"days": 1', "the whole: it is no JSON"),
        (JSON, '{"days": NaN}', "the whole: it is no JSON"),
        (JSON, "[" * 10_000, "the whole: it is no JSON"),
    ],
)
def test_an_answer_that_does_not_fit_says_what_does_not(schema: object, text: str, fault: str) -> None:
    with pytest.raises(OutputMismatch, match=fault):
        ObjectSchema(schema).whole(text)


@pytest.mark.parametrize("wrong", ["Trip", 3, {"type": "text"}, {"if": {}}, [Trip]])
def test_what_is_no_schema_is_refused(wrong: object) -> None:
    with pytest.raises(DefinitionError, match="output_schema"):
        object_schema(wrong)


def test_the_schema_of_a_type_is_made_once() -> None:
    assert object_schema(Trip) is object_schema(Trip)


def test_openais_strict_mode_is_asked_for_where_its_rules_are_kept() -> None:
    strict = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    made = response_format({"title": "A trip", **strict})
    assert made["type"] == "json_schema"
    assert (made["json_schema"]["name"], made["json_schema"]["strict"]) == ("A_trip", True)
    loose: list[dict[str, object]] = [
        {**strict, "required": []},
        {**strict, "additionalProperties": True},
        {**strict, "$defs": {"x": {"type": "object", "properties": {"b": True}}}},
        {**strict, "properties": {"a": {"type": "array", "items": {"oneOf": []}}}},
    ]
    assert [response_format(schema)["json_schema"]["strict"] for schema in loose] == [False] * 4
    assert response_format(strict)["json_schema"]["name"] == "answer"

"""The JSON schema of a tool's arguments, read from annotations and docstring."""

from __future__ import annotations

import sys
import typing
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
import typing_extensions
from pydantic import BaseModel, Field

from interlock import tool
from interlock.errors import DefinitionError
from interlock.tools import ToolContext
from interlock.tools.signature import Signature


class Address(BaseModel):
    """Where somebody lives."""

    street: str
    number: int | None = None


class Opaque:
    """Nothing a model could be told of."""


def schema(function: Any) -> dict[str, Any]:
    """The schema of a function's arguments."""
    return dict(Signature("t", function).json_schema)


def test_types_defaults_and_descriptions_make_the_schema() -> None:
    def order(what: str, count: int = 1, how: Literal["fast", "slow"] = "slow") -> None:
        """Order something.

        Args:
            what: The article,
                by its number.
            count (int): How many.
            how: When: fast or slow.

        Returns:
            what: not this one
        """

    assert schema(order) == {
        "type": "object",
        "properties": {
            "what": {"type": "string", "description": "The article, by its number."},
            "count": {"type": "integer", "default": 1, "description": "How many."},
            "how": {
                "type": "string",
                "enum": ["fast", "slow"],
                "default": "slow",
                "description": "When: fast or slow.",
            },
        },
        "required": ["what"],
        "additionalProperties": False,
    }


def test_models_lists_and_unions_are_described() -> None:
    def move(to: Address, names: list[str], note: str | None = None) -> None: ...

    made = schema(move)
    assert made["properties"]["names"] == {"type": "array", "items": {"type": "string"}}
    assert made["properties"]["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    assert made["properties"]["to"] == {"$ref": "#/$defs/Address"}
    assert made["$defs"]["Address"]["required"] == ["street"]
    assert made["required"] == ["to", "names"]


def test_constraints_in_annotations_hold() -> None:
    def pick(n: Annotated[int, Field(ge=1, le=9)]) -> None: ...

    assert schema(pick)["properties"]["n"] == {"type": "integer", "minimum": 1, "maximum": 9}
    with pytest.raises(ValueError, match="less than or equal to 9"):
        Signature("t", pick).bind({"n": 10})


def test_without_parameters_it_is_an_empty_object() -> None:
    def ping() -> None: ...

    assert schema(ping) == {"type": "object", "properties": {}, "additionalProperties": False}


def test_a_parameter_without_annotation_takes_anything() -> None:
    function: Any = eval("lambda x: x")
    assert schema(function)["properties"] == {"x": {}}
    assert Signature("t", function).bind({"x": {"a": [1]}}) == {"x": {"a": [1]}}


def test_a_parameter_may_have_any_name() -> None:
    """Also one that a pydantic model could not have a field of."""

    def odd(json: str, schema: int, copy: bool, model_config: int, model_dump: str, _x: int = 1) -> None: ...

    made = Signature("t", odd)
    args = {"json": "a", "schema": 1, "copy": True, "model_config": 2, "model_dump": "b"}
    assert list(made.json_schema["properties"]) == [*args, "_x"]
    assert made.json_schema["required"] == list(args)
    assert made.bind(args) == {**args, "_x": 1}
    with pytest.raises(ValueError, match="schema\n"):
        made.bind({**args, "schema": "many"})
    with pytest.raises(ValueError, match="Extra inputs"):
        made.bind({**args, "field_0": 1})


def test_the_parameter_for_the_context_is_injected_wherever_it_stands() -> None:
    def first(ctx: ToolContext, n: int) -> None: ...

    def last(n: int, here: ToolContext) -> None: ...

    for function, name in ((first, "ctx"), (last, "here")):
        made = Signature("t", function)
        assert made.context_parameter == name
        assert list(made.json_schema["properties"]) == ["n"]


def test_the_context_may_be_left_out_by_whoever_calls_the_function_directly() -> None:
    def one(n: int, ctx: ToolContext | None = None) -> None: ...

    def other(n: int, ctx: typing.Optional[ToolContext] = None) -> None: ...  # noqa: UP045

    for function in (one, other):
        assert Signature("t", function).context_parameter == "ctx"
        assert list(schema(function)["properties"]) == ["n"]


def test_two_parameters_for_the_context_are_refused() -> None:
    def both(one: ToolContext, two: ToolContext) -> None: ...

    with pytest.raises(DefinitionError, match="one parameter is given the ToolContext, not 2: one, two"):
        Signature("t", both)


def test_a_type_without_a_schema_is_a_definition_error_when_it_is_first_needed() -> None:
    def f(thing: Opaque) -> None: ...

    with pytest.raises(DefinitionError, match="tool 't': its parameters have no JSON schema"):
        schema(f)


def test_names_that_only_the_functions_own_scope_knows_do_not_hide_the_others() -> None:
    class Local(BaseModel):
        x: int

    def look(ctx: ToolContext, local: Local, n: int) -> None: ...

    made = Signature("t", look)
    assert made.context_parameter == "ctx"
    assert made.json_schema["properties"]["n"] == {"type": "integer"}


def positional(a: int, /) -> None: ...


def many(*numbers: int) -> None: ...


def named(**more: int) -> None: ...


@pytest.mark.parametrize("function", [positional, many, named])
def test_parameters_that_cannot_be_given_by_name_are_refused(function: Any) -> None:
    with pytest.raises(DefinitionError, match=r"tool '\w+': parameter '\w+' cannot be given by name"):
        tool(function)


class Plain(typing.TypedDict):
    """A typed dictionary as the standard library makes it."""

    a: int


class Extended(typing_extensions.TypedDict):
    """One that pydantic reads on every Python."""

    a: int


class Around(typing_extensions.TypedDict):
    """One that holds the other kind."""

    inner: Plain


def bare(x: Plain) -> None: ...


def optional(y: int, x: Plain | None = None) -> None: ...


def around(x: Around) -> None: ...


def extended(x: Extended, y: list[Extended]) -> Plain:
    return {"a": x["a"] + len(y)}


def nested(x: Annotated[Mapping[str, list[Plain]], Field(description="many")]) -> None: ...


before_312 = pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydantic takes typing.TypedDict from 3.12 on")


@before_312
@pytest.mark.parametrize("function", [bare, optional, nested])
def test_a_typed_dict_that_cannot_be_validated_is_refused_when_the_tool_is_made(function: Any) -> None:
    with pytest.raises(DefinitionError, match=r"parameter 'x' is 'Plain', .* typing_extensions\.TypedDict$") as caught:
        tool(function)
    assert len(caught.value.faults) == 1


@before_312
def test_one_inside_another_type_is_a_definition_error_when_it_is_first_needed() -> None:
    made = Signature("t", around)
    with pytest.raises(DefinitionError, match=r"tool 't': its parameters cannot be validated: .*typing_extensions"):
        _ = made.json_schema


def test_a_typed_dict_of_typing_extensions_is_validated() -> None:
    assert Signature("t", extended).bind({"x": {"a": "1"}, "y": []}) == {"x": {"a": 1}, "y": []}
    assert Signature("t", extended).json_schema["properties"]["y"]["items"] == {"$ref": "#/$defs/Extended"}


def test_two_docstring_sections_that_look_alike_do_not_mix() -> None:
    def note(text: str) -> None:
        """Write a note.

        Example:
            text: not a description

        Args:
            text: What to write.

        Raises:
            text: not this either
        """

    assert schema(note)["properties"]["text"]["description"] == "What to write."


def test_bound_values_are_objects_of_the_named_types() -> None:
    def move(to: Address, count: int = 2) -> None: ...

    bound = Signature("t", move).bind({"to": {"street": "Main"}})
    assert bound == {"to": Address(street="Main"), "count": 2}

"""What an answer is to be: a schema that models are sent, and that the text of an answer is checked against."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from interlock.errors import DefinitionError, OutputMismatch
from interlock.messages.parts import JSONValue
from interlock.schema import fault_in_schema, schema_name

__all__ = ["ObjectSchema", "object_schema"]


class ObjectSchema:
    """What an answer is to be.

    Args:
        given: A pydantic model, a dataclass, a ``TypedDict`` or any other type that pydantic can validate; or a JSON
            schema as a mapping.

    Attributes:
        json_schema: The schema as models are sent it.
        name: What it is called there: letters, digits, ``_`` and ``-``.

    Raises:
        DefinitionError: It is no schema.

    Example:
        >>> schema = ObjectSchema({"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]})
        >>> schema.whole('{"days": 3}')
        {'days': 3}
    """

    def __init__(self, given: object) -> None:
        self._adapter: Any = None
        if isinstance(given, Mapping):
            self.json_schema = dict(cast("Mapping[str, JSONValue]", given))
            self._check(self.json_schema)
            title: object = self.json_schema.get("title")
            self.name = title if isinstance(title, str) else "answer"
        else:
            fault = fault_in_schema(given)
            if fault is not None:
                raise DefinitionError(fault, subject="output_schema")
            self._adapter, self.json_schema = _adapted(given)
            self.name = schema_name(given)

    def whole(self, text: str) -> object:
        """The object of a whole answer: an instance of the type, or JSON values for a JSON schema.

        Raises:
            OutputMismatch: The text is no JSON, or does not fit; the error says what does not.
        """
        from pydantic import ValidationError
        from pydantic_core import from_json

        if self._adapter is not None:
            try:
                return cast("object", self._adapter.validate_json(text))
            except ValidationError as error:
                faults = [f"{_place(e['loc']) or 'the whole'}: {e['msg']}" for e in error.errors()]
                raise OutputMismatch(self.name, faults) from error
        from interlock.models.json_schema import faults_in_value

        try:
            value: JSONValue = from_json(text, allow_inf_nan=False)
            faults = faults_in_value(value, self.json_schema)
        except (ValueError, RecursionError) as error:
            raise OutputMismatch(self.name, [f"the whole: it is no JSON: {error}"]) from error
        if faults:
            raise OutputMismatch(self.name, faults)
        return value

    def as_json(self, made: object) -> JSONValue:
        """An object as JSON values."""
        return made if self._adapter is None else self._adapter.dump_python(made, mode="json", by_alias=True)

    @staticmethod
    def _check(schema: Mapping[str, JSONValue]) -> None:
        from interlock.models.json_schema import faults_in_json_schema

        faults = list(faults_in_json_schema(schema, "output_schema"))
        if faults:
            raise DefinitionError(faults, subject="output_schema")


def object_schema(given: object) -> ObjectSchema:
    """The schema of what was given; that of a type is made once.

    Raises:
        DefinitionError: It is no schema.
    """
    try:
        hash(given)
    except TypeError:  # a mapping, or such as Annotated with a list
        return ObjectSchema(given)
    return _made_once(given)


@lru_cache(maxsize=256)
def _made_once(given: Any) -> ObjectSchema:
    return ObjectSchema(given)


def _adapted(schema: Any) -> tuple[Any, dict[str, JSONValue]]:
    from pydantic import PydanticUserError, TypeAdapter

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(schema)
        return adapter, adapter.json_schema()
    except (PydanticUserError, TypeError, NameError) as error:
        raise DefinitionError(
            f"{schema_name(schema)} is no type that pydantic can validate: {error}", subject="output_schema"
        ) from error


def _place(steps: tuple[int | str, ...]) -> str:
    place = ""
    for step in steps:
        place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else step
    return place

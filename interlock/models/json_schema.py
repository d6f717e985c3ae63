"""Values checked against a JSON schema.

The keywords are those of JSON Schema 2020-12 (https://json-schema.org/draft/2020-12/json-schema-validation) that
describe a value by itself; what only annotates (``title``, ``description``, ``default``, ``format``, …) is passed over,
and any other is a fault of the schema, told before anything is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from interlock.messages.parts import JSONValue, same_json

__all__ = ["faults_in_json_schema", "faults_in_value"]

Schema = Mapping[str, JSONValue]

_TYPES: Final[Mapping[str, Callable[[object], bool]]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
    ),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}

_ONE: Final = frozenset({"items", "additionalProperties", "not"})
_SEVERAL: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_NAMED: Final = frozenset({"properties", "$defs", "definitions", "patternProperties"})
_LISTS: Final = frozenset({"enum", "required"})
_NUMBERS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_COUNTS: Final = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
_ANNOTATIONS: Final = frozenset(
    {"$schema", "$id", "$comment", "title", "description", "default", "examples", "example", "deprecated", "readOnly"}
    | {"writeOnly", "format", "discriminator", "contentEncoding", "contentMediaType", "const", "uniqueItems"}
)


def faults_in_json_schema(schema: object, where: str = "the schema") -> Iterator[str]:
    """What of a JSON schema cannot be checked.

    Args:
        schema: The schema.
        where: Its place, for the faults.
    """
    yield from _faults_in_schema(schema, where, schema)


def _faults_in_schema(schema: object, where: str, root: object) -> Iterator[str]:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        yield f"{where} is a mapping, True or False, not {schema!r:.60}"
        return
    for key, value in cast("Mapping[str, object]", schema).items():
        at = f"{where}.{key}"
        if key in _ONE:
            yield from _faults_in_schema(value, at, root)
        elif key in _SEVERAL or key in _LISTS:
            if not isinstance(value, list | tuple):
                yield f"{at} is a list, not {value!r:.60}"
            elif key in _SEVERAL:
                for number, one in enumerate(cast("Sequence[object]", value)):
                    yield from _faults_in_schema(one, f"{at}[{number}]", root)
        elif key in _NAMED:
            if not isinstance(value, Mapping):
                yield f"{at} is a mapping, not {value!r:.60}"
                continue
            for name, one in cast("Mapping[str, object]", value).items():
                yield from _faults_in_schema(one, f"{at}.{name}", root)
        else:
            yield from _faults_in_keyword(key, value, at, root)


def _faults_in_keyword(key: str, value: object, at: str, root: object) -> Iterator[str]:
    if key == "type":
        names = cast("Sequence[object]", value if isinstance(value, list | tuple) else [value])
        yield from (f"{at}: there is no type {name!r}" for name in names if name not in _TYPES)
    elif key == "$ref":
        if _referred(value, root) is None:
            yield f"{at}: {value!r} leads nowhere in the schema"
    elif key == "pattern":
        try:
            re.compile(cast("str", value))
        except (re.error, TypeError) as error:
            yield f"{at}: {error}"
    elif key in _NUMBERS:
        if not _TYPES["number"](value):
            yield f"{at} is a number, not {value!r:.60}"
    elif key in _COUNTS:
        if not _TYPES["integer"](value):
            yield f"{at} is a whole number, not {value!r:.60}"
    elif key not in _ANNOTATIONS:
        yield f"{at}: this keyword cannot be checked"


def faults_in_value(value: JSONValue, schema: JSONValue) -> list[str]:
    """What of a value does not fit a JSON schema, each with its place.

    Args:
        value: JSON values.
        schema: A schema in which :func:`faults_in_json_schema` finds nothing.

    >>> faults_in_value({"days": "two"}, {"type": "object", "properties": {"days": {"type": "integer"}}})
    ["days: is no integer: 'two'"]
    """
    return list(_faults(value, schema, "", schema))


def _faults(value: Any, schema: Any, place: str, root: Any) -> Iterator[str]:
    said = f"{place or 'the whole'}: "
    if schema is True:
        return
    if schema is False:
        yield f"{said}may not be there"
        return
    kinds = schema.get("type")
    names = [kinds] if isinstance(kinds, str) else list(kinds or ())
    if names and not any(_TYPES[name](value) for name in names):
        yield f"{said}is no {' or '.join(names)}: {value!r:.60}"
        return
    if "$ref" in schema:
        yield from _faults(value, _referred(schema["$ref"], root), place, root)
    if "enum" in schema and not any(_equal(value, one) for one in schema["enum"]):
        yield f"{said}is none of {', '.join(map(repr, schema['enum']))}: {value!r:.60}"
    if "const" in schema and not _equal(value, schema["const"]):
        yield f"{said}is not {schema['const']!r}: {value!r:.60}"
    yield from _joined(value, schema, place, root)
    if isinstance(value, str):
        yield from (said + fault for fault in _in_text(value, schema))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from (said + fault for fault in _in_number(value, schema))
    elif isinstance(value, list):
        yield from _in_list(cast("list[Any]", value), schema, place, root)
    elif isinstance(value, dict):
        yield from _in_object(cast("dict[str, Any]", value), schema, place, root)


def _joined(value: Any, schema: Schema, place: str, root: Any) -> Iterator[str]:
    said = f"{place or 'the whole'}: "
    for one in schema.get("allOf", ()):
        yield from _faults(value, one, place, root)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            each = [list(_faults(value, one, place, root)) for one in schema[key]]
            fits = sum(not faults for faults in each)
            if not fits:
                yield f"{said}fits none of what it may be ({'; '.join(faults[0] for faults in each)})"
            elif key == "oneOf" and fits > 1:
                yield f"{said}fits {fits} of what it may be, and may fit one only"
    if "not" in schema and not list(_faults(value, schema["not"], place, root)):
        yield f"{said}is what it may not be: {value!r:.60}"


def _in_text(value: str, schema: Schema) -> Iterator[str]:
    yield from _in_range(len(value), schema, "minLength", "maxLength", "characters")
    if "pattern" in schema and re.search(schema["pattern"], value) is None:
        yield f"does not match {schema['pattern']!r}: {value!r:.60}"


def _in_number(value: float, schema: Schema) -> Iterator[str]:
    if "minimum" in schema and value < schema["minimum"]:
        yield f"is less than {schema['minimum']}: {value}"
    if "maximum" in schema and value > schema["maximum"]:
        yield f"is more than {schema['maximum']}: {value}"
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        yield f"is not more than {schema['exclusiveMinimum']}: {value}"
    if "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
        yield f"is not less than {schema['exclusiveMaximum']}: {value}"
    step = schema.get("multipleOf")
    if step and abs(value / step - round(value / step)) > 1e-9:
        yield f"is no multiple of {step}: {value}"


def _in_list(value: Sequence[Any], schema: Schema, place: str, root: Any) -> Iterator[str]:
    said = f"{place or 'the whole'}: "
    yield from (said + fault for fault in _in_range(len(value), schema, "minItems", "maxItems", "items"))
    if schema.get("uniqueItems") and any(_equal(a, b) for n, a in enumerate(value) for b in value[:n]):
        yield f"{said}has an item twice"
    first = schema.get("prefixItems", ())
    for number, item in enumerate(value):
        wanted = first[number] if number < len(first) else schema.get("items", True)
        yield from _faults(item, wanted, f"{place}[{number}]", root)


def _in_object(value: Mapping[str, Any], schema: Schema, place: str, root: Any) -> Iterator[str]:
    said = f"{place or 'the whole'}: "
    yield from (said + fault for fault in _in_range(len(value), schema, "minProperties", "maxProperties", "fields"))
    yield from (f"{said}lacks {name!r}" for name in schema.get("required", ()) if name not in value)
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for name, item in value.items():
        at = f"{place}.{name}" if place else name
        wanted = [known[name]] if name in known else []
        wanted += [one for pattern, one in patterns.items() if re.search(pattern, name)]
        for one in wanted or [schema.get("additionalProperties", True)]:
            yield from _faults(item, one, at, root)


def _in_range(count: int, schema: Schema, least: str, most: str, what: str) -> Iterator[str]:
    if count < schema.get(least, 0):
        yield f"has {count} {what}, {schema[least]} at least"
    if count > schema.get(most, count):
        yield f"has {count} {what}, {schema[most]} at most"


def _equal(one: object, other: object) -> bool:
    """Whether two values are one in JSON, where 1 and 1.0 are, and 1 and true are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return same_json(one, other)


def _referred(reference: object, root: Any) -> Any:
    """The schema that a reference within the schema leads to; None where there is none."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found: Any = root
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, Mapping) or name not in found:
            return None
        found = cast("Mapping[str, Any]", found)[name]
    return found

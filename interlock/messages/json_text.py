"""Values as plain JSON, and as JSON text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import NoReturn, cast

from interlock.messages.parts import JSONValue

__all__ = ["json_text", "plain_json", "read_json"]


def plain_json(value: object, where: str) -> JSONValue:
    """The value made of dicts, lists, strings, numbers, booleans and None alone.

    Dataclasses, pydantic models, dates and the like become what pydantic makes of them.

    Raises:
        ValueError: Something in it has no JSON form; the message names its place below ``where``.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where}: {value} has no JSON form")
        return value
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {_key(key, where): plain_json(item, f"{where}.{key}") for key, item in items}
    if isinstance(value, list | tuple):
        return [plain_json(item, f"{where}[{i}]") for i, item in enumerate(cast("list[object]", value))]
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        made = to_jsonable_python(value)
    except PydanticSerializationError as error:
        raise ValueError(f"{where}: a {type(value).__name__} has no JSON form") from error
    return plain_json(made, where)  # pydantic lets numbers pass that are not finite


def _key(key: object, where: str) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    raise ValueError(f"{where}: {key!r} cannot be a key in JSON, which has only strings")


def json_text(value: JSONValue, where: str = "value") -> str:
    """The value as JSON text, in as few characters as are easily read; letters stay as they are."""
    return json.dumps(plain_json(value, where), ensure_ascii=False)


def read_json(text: str) -> JSONValue:
    """The value that JSON text stands for, of numbers that JSON has.

    Raises:
        ValueError: It is no JSON. ``NaN`` and ``Infinity`` are none (RFC 8259, section 6); nor, here, is a number too
            large for a float (``1e999``).
        RecursionError: It nests too deeply to be read.
    """
    value: JSONValue = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    return value


def _finite(written: str) -> float:
    number = float(written)
    if math.isinf(number):
        raise ValueError(f"{written} is too large")
    return number


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")

"""Values as plain JSON, and as JSON text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import cast

from interlock.messages.parts import JSONValue

__all__ = ["json_text", "plain_json"]


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
        return to_jsonable_python(value)
    except PydanticSerializationError as error:
        raise ValueError(f"{where}: a {type(value).__name__} has no JSON form") from error


def _key(key: object, where: str) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key)
    raise ValueError(f"{where}: {key!r} cannot be a key in JSON, which has only strings")


def json_text(value: JSONValue, where: str = "value") -> str:
    """The value as JSON text, in as few characters as are easily read; letters stay as they are."""
    return json.dumps(plain_json(value, where), ensure_ascii=False)

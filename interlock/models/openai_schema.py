"""Output schemas in the form of OpenAI's chat completions (``response_format``).

The form and the rules of its ``strict`` mode are those of https://platform.openai.com/docs/guides/structured-outputs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from interlock.messages.parts import JSONValue

__all__ = ["response_format"]

_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_NEVER_STRICT: Final = frozenset({"allOf", "not", "oneOf", "patternProperties", "default"})


def response_format(schema: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
    """What a request says of its output schema. ``strict`` only where the schema keeps that mode's rules: the answer
    is checked all the same.

    >>> response_format({"title": "Trip to X", "type": "object"})["json_schema"]["name"]
    'Trip_to_X'
    """
    name = _NO_NAME.sub("_", str(schema.get("title") or "answer"))[:64]
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": dict(schema), "strict": _is_strict(schema)},
    }


def _is_strict(schema: object) -> bool:
    """Whether every object lists all its fields as required and takes no others, and all that is used is taken."""
    if isinstance(schema, Mapping):
        told = cast("Mapping[str, Any]", schema)
        if not _NEVER_STRICT.isdisjoint(told):
            return False
        if told.get("type") == "object":
            named = told.get("properties", {})
            if told.get("additionalProperties") is not False or set(told.get("required", ())) != set(named):
                return False
        named_ones = ("properties", "$defs", "definitions")
        inner = [one for key in named_ones for one in told.get(key, {}).values()]
        return all(map(_is_strict, [*inner, told.get("items"), *told.get("anyOf", ())]))
    return not isinstance(schema, Sequence)

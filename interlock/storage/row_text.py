"""The data of a journal's rows as JSON text, and back."""

from __future__ import annotations

import json
from typing import Any, Final

__all__ = ["from_text", "row_text", "to_text"]

_PLAIN: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ESCAPED: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def to_text(value: Any) -> str:
    """JSON text that every database takes: letters as they are, half a surrogate pair escaped.

    Raises:
        TypeError, ValueError, RecursionError: It is no JSON.
    """
    text = _PLAIN.encode(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return _ESCAPED.encode(value)
    return text


def row_text(value: Any, run_id: str, kind: str) -> str:
    """:func:`to_text` of a row's data.

    Raises:
        ValueError: It is no JSON; the message names the run and the row's type.
    """
    try:
        return to_text(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"run {run_id!r}: the data of a {kind!r} row is no JSON: {error}") from error


def from_text(text: str) -> Any:
    """What :func:`to_text` was given, made anew."""
    return json.loads(text)

"""The arguments of a tool call as a model writes them: JSON text, now and then broken."""

from __future__ import annotations

import json
from typing import NoReturn

from interlock.messages.parts import JSONValue

__all__ = ["decode_arguments"]


def decode_arguments(text: str) -> JSONValue:
    """What the text says; text that is no JSON stays a string, for the tool to refuse. Nothing written means ``{}``.

    ``NaN`` and ``Infinity`` are no JSON (RFC 8259, section 6), nor is what nests too deeply to be read.

    Example:
        >>> decode_arguments('{"city": "Oslo"}'), decode_arguments('{"city": "Os'), decode_arguments("")
        ({'city': 'Oslo'}, '{"city": "Os', {})
    """
    if not text.strip():
        return {}
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")

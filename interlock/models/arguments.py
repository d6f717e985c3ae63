"""The arguments of a tool call as a model writes them: JSON text, now and then broken."""

from __future__ import annotations

from interlock.messages.json_text import read_json
from interlock.messages.parts import JSONValue

__all__ = ["decode_arguments"]


def decode_arguments(text: str) -> JSONValue:
    """What the text says; text that is no JSON stays a string, for the tool to refuse. Nothing written means ``{}``.

    ``NaN`` and ``Infinity`` are no JSON (RFC 8259, section 6). Nor, here, are a number too large for a
    float (``1e999``) and what nests too deeply to be read.

    Example:
        >>> decode_arguments('{"city": "Oslo"}'), decode_arguments('{"city": "Os'), decode_arguments("")
        ({'city': 'Oslo'}, '{"city": "Os', {})
    """
    if not text.strip():
        return {}
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return text

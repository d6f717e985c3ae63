"""Large values apart from the rows they occur in, by the hash of their content: each is kept once.

What a step gives is what the next is given, and often a part of what comes after. So wherever the text of a value, or
of a value inside it, is large, ``{"$sha256": "…"}`` stands in its place, and the text is kept under that hash. A large
value's own large parts are kept apart in the same way. An object of the user's that has such a key gets another ``$``
in front of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, Final, cast

from interlock.storage.row_text import to_text

__all__ = ["LARGE", "pack", "unpack"]

LARGE: Final = 4096
"""Characters of JSON text from which on a value is kept apart."""

_MARK: Final = "$sha256"
_MARK_IN_TEXT: Final = '$sha256"'


def pack(value: Any) -> tuple[str, dict[str, str]]:
    """A value as text, without what is large in it, and that: texts by their hashes.

    Raises:
        TypeError, ValueError, RecursionError: It is no JSON.

    Example:
        >>> text, large = pack({"n": 1, "letter": "a" * 5000})
        >>> text
        '{"n":1,"letter":{"$sha256":"59f569f1cb4a006580f388daf3f886b87e0bed545e06037fba04513a8498949e"}}'
        >>> [len(kept) for kept in large.values()]
        [5002]
    """
    text = to_text(value)
    if len(text) <= LARGE and _MARK_IN_TEXT not in text:
        return text, {}
    large: dict[str, str] = {}
    return to_text(_shrunk(value, large)), large


def unpack(text: str, fetch: Callable[[str], str]) -> Any:
    """The value that :func:`pack` was given, made anew.

    Args:
        text: Its text.
        fetch: Gives the text of a large value by its hash.
    """
    if _MARK_IN_TEXT not in text:
        return json.loads(text)

    def restored(found: dict[str, Any]) -> Any:
        if len(found) == 1 and _MARK in found:
            return unpack(fetch(found[_MARK]), fetch)
        if any(_is_marked(key) for key in found):
            return {key[1:] if _is_marked(key) else key: value for key, value in found.items()}
        return found

    return json.loads(text, object_hook=restored)


def _shrunk(value: Any, large: dict[str, str]) -> Any:
    """The value with references for what is large in it; a reference, where it is large still."""
    if isinstance(value, dict):
        return _reference({_marked(k): _shrunk_part(v, large) for k, v in cast("dict[str, Any]", value).items()}, large)
    if isinstance(value, list | tuple):
        return _reference([_shrunk_part(v, large) for v in cast("list[Any]", value)], large)
    return _reference(value, large)


def _reference(value: Any, large: dict[str, str]) -> Any:
    """A reference to a value, where it is large; what is large in it has been taken out."""
    text = to_text(value)
    if len(text) <= LARGE:
        return value
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    large[sha256] = text
    return {_MARK: sha256}


def _shrunk_part(value: Any, large: dict[str, str]) -> Any:
    return _shrunk(value, large) if _may_be_large(value) else value


def _may_be_large(value: object) -> bool:
    """Whether to look closer; most values are small, and are passed over quickly."""
    if isinstance(value, str):
        return len(value) * 12 + 2 > LARGE  # a character takes twelve in JSON at most
    if not isinstance(value, dict | list | tuple):
        return False
    text = to_text(value)
    return len(text) > LARGE or _MARK_IN_TEXT in text


def _is_marked(key: str) -> bool:
    """Whether a key was the mark, or such a key, before another ``$`` was put in front."""
    return key.endswith(_MARK) and key != _MARK and not key[: -len(_MARK)].strip("$")


def _marked(key: str) -> str:
    return f"${key}" if key == _MARK or _is_marked(key) else key

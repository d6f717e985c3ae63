"""Two texts that should be one, as an assertion shows them: long ones cut down to where they differ."""

from __future__ import annotations

from itertools import takewhile
from typing import Final

__all__ = ["both_shown", "ends_shown"]

_SHORT: Final = 120
"""Characters of a text that is shown whole."""

_AROUND: Final = 30
"""Characters that are shown before and behind the first difference of longer ones."""


def both_shown(one: str, other: str) -> tuple[str, str]:
    """Two texts; where one is long, both around the first character in which they differ.

    Example:
        >>> both_shown("a" * 200 + "b" * 100, "a" * 200)
        ("at 200 of 300: …'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'…", \
"at 200 of 200: …'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'")
    """
    if max(len(one), len(other)) <= _SHORT:
        return repr(one), repr(other)
    place = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return _cut_out(one, place), _cut_out(other, place)


def ends_shown(text: str) -> str:
    """A text; of a long one, how it begins and ends."""
    if len(text) <= _SHORT:
        return repr(text)
    return f"{text[:_AROUND]!r}…{text[-_AROUND:]!r}"


def _cut_out(text: str, place: int) -> str:
    start, end = max(0, place - _AROUND), place + _AROUND
    return f"at {place} of {len(text)}: {'…' if start else ''}{text[start:end]!r}{'…' if end < len(text) else ''}"

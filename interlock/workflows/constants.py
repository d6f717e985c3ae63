"""Constants as they are written into labels and fingerprints."""

from __future__ import annotations

from typing import Final

__all__ = ["constant_text"]

_LARGE: Final = 2000
"""Bits from which on a whole number is written in base 16: Python may refuse to write such in base 10."""


def constant_text(value: object) -> str:
    """The text of a text, number, … that tells it from every other, the same in every process.

    Example:
        >>> constant_text("en"), constant_text(16**700)[:12]
        ("'en'", '0x1000000000')
    """
    if isinstance(value, int) and value.bit_length() > _LARGE:
        return hex(value)
    return repr(value)

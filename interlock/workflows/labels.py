"""What ids and descriptions look like where they are shown: nothing in them may act on a terminal or a page."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["printable", "shortened"]

_JOINER = "\N{ZERO WIDTH JOINER}"
_LAST_WORD = re.compile(r"(?<=\S) +\S*$")


def printable(text: str) -> str:
    r"""The text on one line, with what cannot be seen written as an escape.

    Control characters, direction marks and lone surrogates are escaped, because an id may hold them and a terminal
    would obey them. A joiner between two symbols stays: it makes one emoji of them.

    Example:
        >>> print(printable("red\x1b[31m\n  alert"))
        red\x1b[31m alert
    """
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() or _joins(line, i) else _escaped(c) for i, c in enumerate(line))


def shortened(text: str, limit: int) -> str:
    """The printable text, cut at a word where it is longer than ``limit`` characters; "…" says so."""
    line = printable(text)
    if len(line) <= limit:
        return line
    return _LAST_WORD.sub("", line[: limit - 1]) + "…"


def _joins(line: str, at: int) -> bool:
    return line[at] == _JOINER and 0 < at < len(line) - 1 and all(_is_symbol(line[i]) for i in (at - 1, at + 1))


def _is_symbol(char: str) -> bool:
    return unicodedata.category(char) in ("So", "Sk") or char == "\N{VARIATION SELECTOR-16}"


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")

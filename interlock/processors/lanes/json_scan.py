"""Reading JSON while a model writes it: where its strings are, and what they say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol, Self

__all__ = ["CHARACTER", "KEY", "NUMBER", "PLAIN", "REST", "STRUCTURE", "Hears", "JSONScan"]

PLAIN: Final = ord("x")
"""Text that is no JSON: from the first character on that cannot stand where it does."""

STRUCTURE: Final = ord("s")
"""What holds JSON together: brackets, quotes, spaces, ``true``."""

KEY: Final = ord("k")
"""The first of what spells a character of a key."""

CHARACTER: Final = ord("c")
"""The first of what spells a character of a string that is a value."""

NUMBER: Final = ord("n")
"""The first of a number."""

REST: Final = ord("+")
"""What goes on with what is before it: an escape, a number."""

_LONGEST_NUMBER: Final = 512
"""Characters of a number after which it is told of as far as it has come."""

_OF_NUMBERS: Final = frozenset("-+0123456789.eE")
_NUMBER_IS: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS: Final = ("true", "false", "null", "NaN", "Infinity")
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_ESCAPED: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_VALUE: Final = ("value", "value or ]")
_NAME: Final = ("key", "key or }")


class Hears(Protocol):
    """Who is told what is read."""

    def opened(self, *, is_key: bool) -> None:
        """A string begins."""
        ...

    def came(self, text: str, starts: Sequence[int]) -> None:
        """Characters of it, decoded, and where the spelling of each begins."""
        ...

    def closed(self, end: int) -> None:
        """It ends, at this place."""
        ...

    def number(self, literal: str, start: int) -> None:
        """A number, and where it begins."""
        ...


class _Nobody:
    """Who wants to know no more than where a text has come to."""

    def opened(self, *, is_key: bool) -> None:
        del is_key

    def came(self, text: str, starts: Sequence[int]) -> None:
        del text, starts

    def closed(self, end: int) -> None:
        del end

    def number(self, literal: str, start: int) -> None:
        del literal, start


class _Containers(list[str]):
    """The containers around a place, by how each begins."""

    __slots__ = ()

    def __deepcopy__(self, memo: object) -> Self:
        """A flat copy: strings are not changed."""
        del memo
        return type(self)(self)


class JSONScan:
    """Reads JSON that comes in pieces. What comes behind a mistake is plain text.

    A parser that stops at the first mistake finds nothing behind it either, so nothing that it decodes is missed here.

    Args:
        hears: Is told what is read.
        after: What was read before, in a part of its own, of the same answer.
        goes_on: Whether that was the same part: a mistake in it counts on.

    Attributes:
        marks: What each character is, from where on somebody still asks.
        scanned: How many characters have a mark, those that nobody asks about any more included.
    """

    __slots__ = ("_came", "_escape", "_expects", "_hears", "_high", "_number", "_stack", "_word", "marks", "scanned")

    def __init__(self, hears: Hears, after: JSONScan | None = None, *, goes_on: bool = False) -> None:
        self._hears = hears
        self.marks = bytearray()
        self.scanned: int = 0
        self._came: int = 0
        self._number = ""
        self._expects = "value"
        self._stack = _Containers()
        self._escape = ""  # what has come of an escape
        self._high = ""  # the escape of a high surrogate that waits for its other half
        self._word = ""
        if after is not None and (goes_on or after._expects not in ("nothing", "end")):
            self._expects = "more digits" if after._number else after._expects
            self._stack += after._stack
            self._escape = after._escape
            self._high = after._high
            self._word = after._word
        if self.in_string:
            hears.opened(is_key=self._expects == "of key")

    @classmethod
    def of(cls, text: str, after: JSONScan | None = None, *, goes_on: bool = False) -> JSONScan:
        """One that has read a text, and what was before it, for what follows."""
        scan = cls(_Nobody(), after, goes_on=goes_on)
        scan.push(text)
        return scan

    @property
    def in_string(self) -> bool:
        """Whether a string has begun and not ended."""
        return self._expects in ("of key", "of string")

    @property
    def is_plain(self) -> bool:
        """Whether what comes is no JSON."""
        return self._expects == "nothing"

    def push(self, text: str) -> None:
        """Read on."""
        at = 0
        while at < len(text):
            if self._expects == "nothing":
                self._came += len(text) - at
                self._mark(PLAIN)
                return
            if not self.in_string:
                self._in_structure(text[at])
                at += 1
            elif self._escape:
                self._in_escape(text[at])
                at += 1
            else:
                at = self._in_string(text, at)

    def end(self) -> None:
        """Nothing more comes of this part."""
        if self.in_string and self._came > self.scanned:
            self._spelled("\ufffd")
        if self._number:
            self._end_number(cut=True)  # another part may go on with it

    def forget(self, place: int) -> None:
        """Nobody asks about the marks before a place any more."""
        first = self.scanned - len(self.marks)
        if place > first:
            del self.marks[: place - first]

    def _mark(self, first: int, rest: int | None = None) -> None:
        """Mark what has come and has no mark yet."""
        size = self._came - self.scanned
        if size > 0:
            self.marks.append(first)
            self.marks += bytes([first if rest is None else rest]) * (size - 1)
            self.scanned = self._came

    # Strings

    def _in_string(self, text: str, at: int) -> int:
        """Take characters of a string in, up to its end or an escape."""
        stop = at
        while stop < len(text) and text[stop] not in '"\\':
            stop += 1
        if stop > at:
            self._end_pair()
            start = self._came
            self._came += stop - at
            self._mark(self._of_string)
            self._hears.came(text[at:stop], range(start, self._came))
        if stop == len(text):
            return stop
        if text[stop] == "\\":
            self._escape = "\\"
            self._came += 1
            return stop + 1
        self._end_pair()
        self._came += 1
        self._mark(STRUCTURE)
        was_key = self._expects == "of key"
        self._expects = ":" if was_key else self._behind_value()
        self._hears.closed(self.scanned - 1)
        return stop + 1

    @property
    def _of_string(self) -> int:
        return KEY if self._expects == "of key" else CHARACTER

    def _in_escape(self, character: str) -> None:
        self._escape += character
        self._came += 1
        escape = self._escape
        if len(escape) == 2:
            if character in _ESCAPED:
                self._escape = ""
                self._end_pair(before=2)
                self._spelled(_ESCAPED[character])
            elif character != "u":
                self._no_escape()
        elif character not in _HEX:
            self._no_escape()
        elif len(escape) == 6:
            self._escape = ""
            self._unit(escape)

    def _no_escape(self) -> None:
        """A mistake: the string ends before the backslash."""
        escape, self._escape = self._escape, ""
        self._end_pair(before=len(escape))
        self._hears.closed(self.scanned)
        self._expects = "nothing"
        self._mark(PLAIN)

    def _unit(self, escape: str) -> None:
        """One ``\\uXXXX``: a character, or half of one."""
        code = int(escape[2:], 16)
        if self._high and 0xDC00 <= code < 0xE000:
            high = int(self._high[2:], 16)
            self._high = ""
            self._spelled(chr(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)))
            return
        self._end_pair(before=6)
        if 0xD800 <= code < 0xDC00:
            self._high = escape
        else:
            self._spelled(chr(code))

    def _end_pair(self, *, before: int = 0) -> None:
        """The other half of a high surrogate did not come.

        Args:
            before: Characters that have come of something else.
        """
        if self._high:
            high, self._high = self._high, ""
            came = self._came
            self._came -= min(before, came - self.scanned)
            self._spelled(chr(int(high[2:], 16)))
            self._came = came

    def _spelled(self, character: str) -> None:
        """What has come and has no mark spells a character."""
        start = self.scanned
        self._mark(self._of_string, REST)
        self._hears.came(character, (start,))

    # Everything else

    def _behind_value(self) -> str:
        return "," if self._stack else "end"

    def _in_structure(self, character: str) -> None:
        if character in _OF_NUMBERS and (self._number or self._expects in (*_VALUE, "more digits")) and not self._word:
            self._number += character
            self._came += 1
            if len(self._number) == _LONGEST_NUMBER:
                self._end_number(cut=True)
            return
        if self._number:
            self._end_number()
        elif self._expects == "more digits":
            self._expects = self._behind_value()
        self._came += 1
        if self._expects == "nothing" or not self._fits(character):
            self._expects = "nothing"
            self._mark(PLAIN)
        else:
            self._mark(STRUCTURE)
            if self.in_string:
                self._hears.opened(is_key=self._expects == "of key")

    def _fits(self, character: str) -> bool:
        """Whether a character may stand here; notes what may follow it."""
        expects, stack = self._expects, self._stack
        if self._word or (character.isalpha() and expects in _VALUE):
            self._word += character
            if self._word in _WORDS:
                self._word = ""
                self._expects = self._behind_value()
                return True
            return any(word.startswith(self._word) for word in _WORDS)
        match character:
            case " " | "\n" | "\r" | "\t":
                return True
            case '"' if expects in _VALUE:
                self._expects = "of string"
            case '"' if expects in _NAME:
                self._expects = "of key"
            case "{" if expects in _VALUE:
                stack.append("{")
                self._expects = "key or }"
            case "[" if expects in _VALUE:
                stack.append("[")
                self._expects = "value or ]"
            case "}" if expects in (",", "key or }") and stack[-1] == "{":
                stack.pop()
                self._expects = self._behind_value()
            case "]" if expects in (",", "value or ]") and stack[-1] == "[":
                stack.pop()
                self._expects = self._behind_value()
            case ":" if expects == ":":
                self._expects = "value"
            case "," if expects == ",":
                self._expects = "key" if stack[-1] == "{" else "value"
            case _:
                return False
        return True

    def _end_number(self, *, cut: bool = False) -> None:
        """A number has ended, or is told of before it has."""
        number, self._number = self._number, ""
        start = self.scanned
        if number == "-" and not cut:  # of -Infinity
            self._mark(NUMBER)
            self._expects = "value"
            return
        went_on = self._expects == "more digits"
        self._expects = "more digits" if cut else self._behind_value()
        if went_on or _NUMBER_IS.fullmatch(number) is not None:
            self._mark(NUMBER, REST)
            self._hears.number(number, start)
            return
        self._mark(PLAIN)
        if not cut:
            self._expects = "nothing"

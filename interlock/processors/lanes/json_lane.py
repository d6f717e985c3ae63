"""The arguments of a tool call while the model writes them: JSON in pieces, each string a text of its own.

What is not edited stays byte for byte, escapes included; what is edited stays JSON. A string is decoded character by
character, and each character remembers how it was spelled.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final, NamedTuple

from interlock.processors.lanes.lane import Decided, Lane, LaneKind, whole
from interlock.processors.lanes.matcher import Match
from interlock.processors.stream_context import Piece

__all__ = ["JSONFinding", "JSONLane", "Replace"]

Replace = Callable[[Match, str], str]
"""What stands in the place of a match, whose text is given as well."""

_SHORTEST_NUMBER: Final = 7
"""Digits from which on a number may be somebody's: the shortest phone numbers have so many."""

_LONGEST_NUMBER: Final = 512
"""Characters of a number after which it is looked at as far as it has come."""

_NUMBER: Final = frozenset("-+0123456789.eE")
_ESCAPED: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


_Looked = tuple[list[tuple[str, int | None]], list[tuple[Match, str]]]
"""Texts that may go out, each with how many characters it stands in the place of (None: it is these characters); and
what was found, with its text."""


class JSONFinding(NamedTuple):
    """What was found in a string, a number or a key.

    Args:
        match: In offsets of the decoded string.
        text: What was found.
        is_key: Whether it is in a key of an object, which is not edited: two might become one.
    """

    match: Match
    text: str
    is_key: bool


class JSONLane:
    """JSON that comes in pieces, edited as it goes.

    Strings are looked at decoded, each by itself; long numbers by their literal (edited, they become strings); keys are
    looked at and left as they are. What is no JSON passes as it came.

    Args:
        kind: What is looked for.
        replace: What stands in the place of a match; None: nothing is edited, and nothing held back.

    Attributes:
        found: What was found since somebody emptied it.
        pieces: Which ranges of what came in became what, since somebody emptied it.

    Example:
        >>> from interlock.processors.lanes.bounded_pattern import BoundedPattern
        >>> lane = JSONLane(LaneKind([BoundedPattern("[0-9]{4}")]), lambda match, text: "*")
        >>> "".join(lane.push(piece) for piece in ['{"pin": "is 12', '34", "n":', " 3}"]) + lane.end()
        '{"pin": "is *", "n": 3}'
    """

    __slots__ = (
        "_at",
        "_escape",
        "_high",
        "_is_key",
        "_kind",
        "_number",
        "_out",
        "_replace",
        "_stack",
        "_string",
        "found",
        "pieces",
    )

    def __init__(self, kind: LaneKind, replace: Replace | None) -> None:
        self._kind = kind
        self._replace = replace
        self.found: list[JSONFinding] = []
        self.pieces: list[Piece] = []
        self._at = 0
        self._out: list[str] = []
        self._stack: list[str] = []  # of the containers around: "[", "{" before a key, ":" before a value
        self._string: _String | None = None
        self._escape = ""  # what has come of an escape
        self._high = ""  # a high surrogate's escape that waits for its other half
        self._number = ""

    @property
    def held(self) -> int:
        """How many characters that have come have not gone out."""
        waits = len(self._escape) + len(self._high) + len(self._number)
        return waits + (self._string.held if self._string is not None else 0)

    def give_up(self) -> str:
        """What is held back, as it came: nobody will decide it."""
        string = "" if self._string is None else self._string.give_up()
        return string + self._high + self._escape + self._number

    def push(self, text: str) -> str:
        """Take more in; gives what may go out."""
        at = 0
        while at < len(text):
            if self._string is not None and not self._escape:
                at = self._in_string(self._string, text, at)
            elif self._string is not None:
                self._in_escape(self._string, text[at])
                at += 1
            else:
                self._in_structure(text[at])
                at += 1
        if self._string is not None:
            self._take(self._string.look())
        return self._taken()

    def end(self) -> str:
        """Nothing more comes; gives what was held back. JSON that was cut off stays so."""
        string = self._string
        if string is not None:
            if self._high or self._escape:
                string.add("\ufffd", self._high + self._escape)
                self._high = self._escape = ""
            self._take(string.end())
            self._string = None
        self._end_number()
        return self._taken()

    def _taken(self) -> str:
        out = "".join(self._out)
        self._out.clear()
        return out

    def _emit(self, text: str, size: int | None = None) -> None:
        """Let go of a text, in the place of so many characters of what came in; None: it is these characters."""
        if text or size:
            end = self._at + (len(text) if size is None else size)
            self.pieces.append(Piece(self._at, end, text, size is None))
            self._at = end
            self._out.append(text)

    # Strings

    def _in_string(self, string: _String, text: str, at: int) -> int:
        """Take characters of a string in, up to its end or an escape."""
        stop = at
        while stop < len(text) and text[stop] not in '"\\':
            stop += 1
        if stop > at:
            self._end_pair(string)
            string.add_plain(text[at:stop])
        if stop < len(text):
            if text[stop] == "\\":
                self._escape = "\\"
            else:
                self._end_pair(string)
                self._take(string.end())
                self._string = None
                self._emit('"')
                if self._is_key:
                    self._stack[-1] = "{"
            stop += 1
        return stop

    def _in_escape(self, string: _String, character: str) -> None:
        self._escape += character
        escape = self._escape
        if len(escape) == 2 and character != "u":
            self._end_pair(string)
            string.add(_ESCAPED.get(character, character), escape)
            self._escape = ""
        elif len(escape) == 6:
            self._escape = ""
            self._unit(string, escape)

    def _unit(self, string: _String, escape: str) -> None:
        """One ``\\uXXXX``: a character, or half of one."""
        try:
            code = int(escape[2:], 16)
        except ValueError:
            self._end_pair(string)
            string.add("\ufffd", escape)
            return
        if 0xDC00 <= code < 0xE000 and self._high:
            high = int(self._high[2:], 16)
            string.add(chr(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)), self._high + escape)
            self._high = ""
            return
        self._end_pair(string)
        if 0xD800 <= code < 0xDC00:
            self._high = escape
        else:
            string.add(chr(code), escape)

    def _end_pair(self, string: _String) -> None:
        """The other half of a high surrogate did not come."""
        if self._high:
            string.add(chr(int(self._high[2:], 16)), self._high)
            self._high = ""

    def _take(self, looked: _Looked) -> None:
        segments, found = looked
        for text, size in segments:
            self._emit(text, size)
        self.found += [JSONFinding(match, text, self._is_key) for match, text in found]

    # Everything else

    def _in_structure(self, character: str) -> None:
        if character in _NUMBER:
            self._number += character
            if len(self._number) == _LONGEST_NUMBER:
                self._end_number()
            return
        self._end_number()
        self._emit(character)
        stack = self._stack
        match character:
            case '"':
                self._is_key = bool(stack) and stack[-1] == "{"
                replace = None if self._is_key else self._replace
                self._string = _String(self._kind.lane(), replace, holds=self._replace is not None)
            case "[" | "{":
                stack.append(character)
            case "]" | "}":
                if stack:
                    stack.pop()
            case ":":
                if stack and stack[-1] == "{":
                    stack[-1] = ":"
            case ",":
                if stack and stack[-1] == ":":
                    stack[-1] = "{"
            case _:
                pass

    def _end_number(self) -> None:
        number, self._number = self._number, ""
        if sum(map(str.isdigit, number)) < _SHORTEST_NUMBER:
            self._emit(number)
            return
        found = whole(self._kind, number)
        self.found += [JSONFinding(match, number[match.start : match.end], False) for match in found]
        if not found or self._replace is None:
            self._emit(number)
            return
        made, at = "", 0
        for match in found:
            made += number[at : match.start] + _replacement(self._replace, match, number[match.start : match.end])
            at = match.end
        self._emit(json.dumps(made + number[at:]), len(number))


class _String:
    """One string while it comes: decoded for the lane, as it was spelled for whoever reads."""

    __slots__ = ("_at", "_came", "_gone_to", "_holds", "_lane", "_replace", "_spelled", "_text")

    def __init__(self, lane: Lane, replace: Replace | None, *, holds: bool) -> None:
        self._lane = lane
        self._replace = replace
        self._holds = holds
        self._text = ""  # decoded, what is not decided
        self._at = 0  # where that begins
        self._spelled: list[str] = []  # what has not gone out, as it was spelled
        self._gone_to = 0  # where that begins
        self._came = ""  # not looked at

    @property
    def held(self) -> int:
        return sum(map(len, self._spelled))

    def give_up(self) -> str:
        """What has not gone out, as it was spelled."""
        return "".join(self._spelled) if self._holds else ""

    def add_plain(self, text: str) -> None:
        """Characters that are spelled as they are."""
        self._came += text
        self._spelled += text

    def add(self, character: str, spelled: str) -> None:
        """A character that was spelled in another way."""
        self._came += character
        self._spelled.append(spelled)

    def look(self) -> _Looked:
        """Look at what has come; gives what may go out, and what was found with its text."""
        if not self._came:
            return [], []
        came, self._came = self._came, ""
        self._text += came
        return self._gone(self._lane.push(came))

    def end(self) -> _Looked:
        """The string is complete."""
        out, found = self.look()
        rest, more = self._gone(self._lane.end())
        return [*out, *rest], [*found, *more]

    def _gone(self, decided: Decided) -> _Looked:
        found = [(m, self._text[m.start - self._at : m.end - self._at]) for m in decided.found]
        out: list[tuple[str, int | None]] = []
        if not self._holds:
            out.append(("".join(self._spelled), None))
            self._spelled = []
        else:
            upto = self._at
            for match, text in found if self._replace is not None else ():
                out.append((self._let_go(match.start), None))
                size = len(self._let_go(match.end))
                out.append((json.dumps(_replacement(self._replace, match, text))[1:-1], size))
                upto = match.end
            out.append((self._let_go(max(upto, decided.upto)), None))
        self._text = self._text[decided.upto - self._at :]
        self._at = decided.upto
        return out, found

    def _let_go(self, place: int) -> str:
        """Characters up to a place, as they were spelled."""
        count = max(0, place - self._gone_to)
        spelled = "".join(self._spelled[:count])
        del self._spelled[:count]
        self._gone_to += count
        return spelled


def _replacement(replace: Replace | None, match: Match, text: str) -> str:
    if match.replacement is not None or replace is None:
        return match.replacement or ""
    return replace(match, text)

"""JSON that a model writes, read as it comes: an answer that is to be an object, or the arguments of a tool call.

Each string is looked at decoded, by itself; long numbers by their literal; keys are looked at and left as they are.
From the first mistake on it is read as the text it is. Of an answer, the text as it came counts before that too, so
that none passes that would be edited as a mere text. What is not edited stays byte for byte; what is edited stays JSON.
"""

from __future__ import annotations

import bisect
import json
from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from interlock.processors.lanes.edited_lane import Edit, Gone, Replace, edits_of
from interlock.processors.lanes.json_scan import CHARACTER, NUMBER, PLAIN, REST, JSONScan
from interlock.processors.lanes.lane import Lane, LaneKind
from interlock.processors.lanes.matcher import Match
from interlock.processors.stream_context import Piece

__all__ = ["JSONLane"]

_SHORTEST_NUMBER: Final = 7
"""Digits from which on a number may be somebody's: the shortest phone numbers have so many."""


class _Due(NamedTuple):
    """What was found, in the order in which it is acted on.

    Args:
        start: Where it begins in the text as it came.
        before: Where it ends, negative: of two that begin together the longer comes first.
        order: 0: in a string or number; 1: in the text as it came.
        text: What stands in its place.
        edits: What was found.
        fixed: Whether nothing can stand in its place.
    """

    start: int
    before: int
    order: int
    text: str
    edits: Sequence[Edit]
    fixed: bool


class JSONLane:
    """One JSON text while it comes.

    Args:
        kind: What is looked for.
        replace: What stands in the place of a match.
        holds: Whether text is held back until it is decided, and edited; else it only is looked at.
        after: What has read the part of the same answer before this one; of arguments, what came of them before.
        of_call: Whether it is the arguments of a call, which nobody reads as a text as long as they are JSON: what is
            found in the text as it came counts where it is none.

    Attributes:
        edited: Whether anything was found.
        scan: What reads this one.

    Example:
        >>> from interlock.processors.lanes.bounded_pattern import BoundedPattern
        >>> lane = JSONLane(LaneKind([BoundedPattern("[0-9]{4}")]), lambda match, text: "*")
        >>> gone = [lane.push('{"pin": "is 1\\\\u00'), lane.push('3234 \\\\u00e9"}'), lane.end()]
        >>> "".join(each.text for each in gone)
        '{"pin": "is * \\\\u00e9"}'
    """

    __slots__ = (
        "_at",
        "_covered",
        "_due",
        "_holds",
        "_is_key",
        "_kind",
        "_of_call",
        "_plain",
        "_plain_to",
        "_replace",
        "_seen",
        "_skip",
        "_string",
        "_text",
        "edited",
        "scan",
    )

    def __init__(
        self,
        kind: LaneKind,
        replace: Replace,
        *,
        holds: bool = True,
        after: JSONScan | None = None,
        of_call: bool = False,
    ) -> None:
        self._kind = kind
        self._replace = replace
        self._holds = holds
        self._of_call = of_call
        self._text = ""  # what is not decided
        self._at = 0  # where that begins
        self._skip = 0  # where what is being replaced ends
        self._covered = 0  # where what was found ends
        self._due: list[_Due] = []
        self._plain = kind.lane()
        self._plain_to = 0
        self._seen: deque[tuple[Match, str]] = deque()  # found in the text as it came, not yet placed
        self._string: _String | None = None
        self._is_key = False
        self.edited = False
        self.scan = JSONScan(self, after, goes_on=of_call)

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return len(self._text) if self._holds else 0

    def give_up(self) -> tuple[str, Piece]:
        """What is held back, as it came: nobody will decide it."""
        at = max(self._at, self._skip)
        held = self._text[at - self._at :] if self._holds else ""
        return held, Piece(at, at + len(held), held, True)

    def push(self, text: str) -> Gone:
        """Take more of the text in."""
        self._text += text
        self.scan.push(text)
        self._look(text, final=False)
        return self._gone(text, final=False)

    def end(self) -> Gone:
        """The text is complete."""
        self.scan.end()
        self._look("", final=True)
        return self._gone("", final=True)

    def whole(self, text: str) -> Gone:
        """Look at a text that has come as a whole."""
        self._text += text
        self.scan.push(text)
        self.scan.end()
        self._look(text, final=True)
        return self._gone("", final=True)

    # What is read

    def opened(self, *, is_key: bool) -> None:
        """A string begins."""
        self._string = _String(self._kind.lane())
        self._is_key = is_key

    def came(self, text: str, starts: Sequence[int]) -> None:
        """Characters of it have come."""
        if self._string is not None:
            self._string.add(text, starts)

    def closed(self, end: int) -> None:
        """It has ended."""
        self._look_at_string(end, final=True)
        self._string = None

    def number(self, literal: str, start: int) -> None:
        """A number has come."""
        if sum(map(str.isdigit, literal)) < _SHORTEST_NUMBER:
            return
        edits = edits_of(self._kind, literal, self._replace)
        if not edits:
            return
        made, at = "", 0
        for match, _, replacement in edits:
            made += literal[at : match.start] + replacement
            at = match.end
        self._due.append(_Due(start, -start - len(literal), 0, json.dumps(made + literal[at:]), edits, False))

    def _look(self, came: str, *, final: bool) -> None:
        """Look at what has come, decoded and as it came."""
        if self._string is not None:
            self._look_at_string(self.scan.scanned, final=final)
        upto, found = self._plain.push(came)
        if final:
            upto, more = self._plain.end()
            found = [*found, *more]
        self._plain_to = upto
        for match in found:
            self._seen.append((match, self._text[match.start - self._at : match.end - self._at]))

    def _look_at_string(self, end: int, *, final: bool) -> None:
        string = self._string
        if string is None:
            return
        for match, text, start, stop in string.look(end, final=final):
            edit = self._edit(match, text)
            spelled = json.dumps(edit.replacement)[1:-1]
            self._due.append(_Due(start, -stop, 0, spelled, (edit,), self._is_key))

    def _edit(self, match: Match, text: str) -> Edit:
        return Edit(match, text, self._replace(match, text) if match.replacement is None else match.replacement)

    def _placed(self, match: Match, text: str) -> _Due:
        """What was found in the text as it came, as far as JSON lets it be edited."""
        edit = self._edit(match, text)
        marks, base = self.scan.marks, self._at
        start, end = match.start - base, match.end - base
        if PLAIN in marks[start:end]:
            return _Due(match.start, -match.end, 1, edit.replacement, (edit,), False)
        while start > 0 and marks[start] == REST:
            start -= 1
        while end < len(marks) and marks[end] == REST:
            end += 1
        inside = marks[start:end]
        fixed, made = False, json.dumps(edit.replacement)
        if inside.count(CHARACTER) + inside.count(REST) == len(inside):
            made = made[1:-1]
        else:
            fixed = inside[0] != NUMBER or inside.count(REST) != len(inside) - 1
        return _Due(base + start, -base - end, 1, made, (edit,), fixed)

    # What goes on

    def _upto(self, *, final: bool) -> int:
        """How far all is decided: never in the middle of what spells one character, or of a number."""
        scanned, base = self.scan.scanned, self._at
        upto = min(self._plain_to, scanned)
        if self._string is not None and not final:
            upto = min(upto, self._string.decided(scanned))
        while self._seen:
            match, text = self._seen[0]
            if match.end > scanned:
                upto = min(upto, match.start)
                break
            self._seen.popleft()
            if not self._of_call or PLAIN in self.scan.marks[match.start - base : match.end - base]:
                self._due.append(self._placed(match, text))
        marks = self.scan.marks
        while base < upto < scanned and marks[upto - base] == REST:
            upto -= 1
        return max(upto, base)

    def _gone(self, came: str, *, final: bool) -> Gone:
        upto = self._upto(final=final)
        at = max(self._at, self._skip)
        pieces: list[Piece] = []
        edits: list[Edit] = []
        fixed: list[Edit] = []
        if self._due:
            self._due.sort(key=_place)
            number = bisect.bisect_left(self._due, upto, key=_start) if not final else len(self._due)
            due, self._due = self._due[:number], self._due[number:]
            for start, before, _, text, found, is_fixed in due:
                end = -before
                if end <= self._covered:
                    continue
                if start < self._covered:  # what sticks out of what was found before it
                    start, text = self._covered, ""
                self._covered = end
                edits += found
                if is_fixed:
                    fixed += found
                if is_fixed or not self._holds:
                    continue
                if start > at:
                    pieces.append(Piece(at, start, self._text[at - self._at : start - self._at], True))
                pieces.append(Piece(start, end, text, False))
                at = self._skip = end
        if edits:
            self.edited = True
        if not self._holds:
            place = self._at + len(self._text)
            pieces = [Piece(place - len(came), place, came, True)] if came else []
        elif upto > at:
            pieces.append(Piece(at, upto, self._text[at - self._at : upto - self._at], True))
        self._text = self._text[upto - self._at :]
        self._at = upto
        self.scan.forget(upto)
        return Gone("".join([piece.text for piece in pieces]), edits, pieces, fixed)


class _String:
    """One string while it comes: decoded for the lane, with the place where the spelling of each character begins."""

    __slots__ = ("_at", "_came", "_lane", "_starts", "_text")

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._text = ""  # decoded, what is not decided
        self._at = 0  # where that begins
        self._starts: list[int] = []
        self._came = ""  # not looked at

    def add(self, text: str, starts: Sequence[int]) -> None:
        """Characters have come."""
        self._came += text
        self._text += text
        self._starts += starts

    def decided(self, end: int) -> int:
        """How far the text as it came is decided, which has been read up to an end."""
        return self._starts[0] if self._starts else end

    def look(self, end: int, *, final: bool) -> list[tuple[Match, str, int, int]]:
        """Look at what has come, which has been read up to an end; gives what was found, and from where to where."""
        came, self._came = self._came, ""
        upto, found = self._lane.push(came)
        if final:
            upto, more = self._lane.end()
            found = [*found, *more]
        at, starts = self._at, self._starts
        made = [
            (
                match,
                self._text[match.start - at : match.end - at],
                starts[match.start - at],
                starts[match.end - at] if match.end - at < len(starts) else end,
            )
            for match in found
        ]
        self._text = self._text[upto - at :]
        del starts[: upto - at]
        self._at = upto
        return made


def _place(due: _Due) -> tuple[int, bool, int, int]:
    """What only takes out comes first: it may be a region that goes on, of which some comes with each piece."""
    return due.start, due.text != "", due.before, due.order


def _start(due: _Due) -> int:
    return due.start

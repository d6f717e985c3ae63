"""One text that comes in pieces: up to where it is decided, and what was found in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from interlock.processors.lanes.bounded_pattern import JointPatterns
from interlock.processors.lanes.decider import SWALLOWED, Decider
from interlock.processors.lanes.matcher import Match, Matcher, Reading
from interlock.processors.lanes.reading_stream import ReadingStream

__all__ = ["Decided", "Lane", "LaneKind", "whole"]


class Decided(NamedTuple):
    """How far a text is decided.

    Args:
        upto: Everything before this place is decided; counted from the beginning of the text.
        found: What was found since the last time and begins before ``upto``, from left to right, disjoint. Where things
            that were found overlap, the one that begins first stands whole (of two, the longer; of equals, the one
            whose matcher comes first), and what sticks out of it is one more match with the replacement ``""``. They
            may end behind ``upto``, and what sticks out may begin there.
    """

    upto: int
    found: Sequence[Match]


_NOTHING: Final[Sequence[Match]] = ()


class LaneKind:
    """What lanes of one kind look for; made once for many texts.

    Args:
        matchers: What is looked for. Each decides by itself, so that none keeps another from finding something.
    """

    __slots__ = ("_groups", "longest_hold")

    def __init__(self, matchers: Sequence[Matcher]) -> None:
        by_reading: dict[Reading, list[tuple[int, Matcher]]] = {}
        for order, matcher in enumerate(matchers):
            by_reading.setdefault(matcher.reading, []).append((order, matcher))
        self._groups: list[tuple[Reading, list[tuple[int, Matcher]], JointPatterns | None]] = [
            (reading, entries, Decider.joint([m for _, m in entries])) for reading, entries in by_reading.items()
        ]
        self.longest_hold = max(matcher.longest_match + matcher.look_ahead - 1 for matcher in matchers)

    def lane(self) -> Lane:
        """A lane for one text."""
        return Lane([(ReadingStream(r), Decider(entries, joint)) for r, entries, joint in self._groups])


class Lane:
    """One text that comes in pieces. Keeps only what it still needs. Made by :meth:`LaneKind.lane`.

    Args:
        readings: Each with what is decided in it.
    """

    __slots__ = ("_covered", "_end", "_pending", "_readings", "_released")

    def __init__(self, readings: Sequence[tuple[ReadingStream, Decider]]) -> None:
        self._readings = readings
        self._end = 0
        self._released = 0
        self._covered = 0  # the end of what is being replaced
        self._pending: list[tuple[int, bool, int, int, Match]] = []  # found, and not decided by all

    def push(self, text: str) -> Decided:
        """Take more of the text in."""
        return self._decide(text, final=False)

    def end(self) -> Decided:
        """The text is complete."""
        return self._decide("", final=True)

    @property
    def held(self) -> int:
        """How many characters are not decided."""
        return self._end - self._released

    def _decide(self, text: str, *, final: bool) -> Decided:
        self._end += len(text)
        upto = self._end
        for stream, decider in self._readings:
            place, found = decider.decide(stream.push(text, final=final), final=final)
            for order, match in found:
                if stream.counts(match.start, match.end):
                    start, end = stream.raw_span(match.start, match.end)
                    placed = match._replace(start=start, end=end)
                    self._pending.append((start, order != SWALLOWED, -end, order, placed))
            for match in stream.found():
                self._pending.append((match.start, True, -match.end, -1, match))
            raw = stream.raw_at(place)
            if raw < upto:
                upto = raw
            stream.forget(place)
        upto = self._released = max(self._released, upto)
        return Decided(upto, self._joined(upto) if self._pending else _NOTHING)

    def _joined(self, upto: int) -> Sequence[Match]:
        self._pending.sort()
        found: list[Match] = []
        taken = 0
        for start, _, _, _, match in self._pending:
            if start >= upto:
                break
            taken += 1
            if start >= self._covered:
                found.append(match)
            elif match.end > self._covered:
                found.append(match._replace(start=self._covered, replacement=""))
            self._covered = max(self._covered, match.end)
        del self._pending[:taken]
        return found


def whole(kind: LaneKind, text: str) -> list[Match]:
    """What is found in a whole text: the same as when it comes in pieces.

    Example:
        >>> from interlock.processors.lanes.bounded_pattern import BoundedPattern
        >>> [m[:2] for m in whole(LaneKind([BoundedPattern("a{1,3}"), BoundedPattern("ab")]), "xaab")]
        [(1, 3), (3, 4)]
    """
    return list(kind.lane()._decide(text, final=True).found)

"""Deciding one reading of a text that comes in pieces: what was found, and from where on that may still change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from interlock.processors.lanes.bounded_pattern import BoundedPattern, JointPatterns
from interlock.processors.lanes.matcher import Match, Matcher, checked
from interlock.processors.lanes.region import Region

__all__ = ["SWALLOWED", "Decider"]

SWALLOWED: Final = -2
"""In the place of a matcher's: what a region swallows. It began where the region did, however it comes in pieces."""

_SLACK: Final = 256
"""Characters that are decided and not yet forgotten: forgetting one by one would copy the text each time."""

_NOTHING: Final[Sequence[tuple[int, Match]]] = ()


class Decider:
    """Decides one reading of one text.

    Args:
        matchers: What is looked for, each with its place among all.
        joint: The same as one expression, where all are patterns: most texts hold nothing, and that is seen at once.
    """

    __slots__ = ("_at", "_base", "_behind", "_end", "_joint", "_kinds", "_text")

    def __init__(self, matchers: Sequence[tuple[int, Matcher]], joint: JointPatterns | None = None) -> None:
        self._kinds = [(order, _kind(matcher)) for order, matcher in matchers]
        self._joint = joint
        self._behind = max([1, *(matcher.look_behind for _, matcher in matchers)])
        self._text = ""
        self._base = 0  # where the kept text begins
        self._end = 0
        self._at = 0

    @staticmethod
    def joint(matchers: Sequence[Matcher]) -> JointPatterns | None:
        """The expression of all matchers, where they are patterns; to be made once for many texts."""
        patterns = [one for one in matchers if isinstance(one, BoundedPattern)]
        return JointPatterns(patterns) if len(patterns) == len(matchers) > 1 else None

    def decide(self, text: str, *, final: bool) -> tuple[int, Sequence[tuple[int, Match]]]:
        """Take more of the text in.

        Returns:
            The place before which all is decided, and what was found by which matcher. What was found may begin behind
            the place: another matcher has not come as far.
        """
        self._text += text
        self._end += len(text)
        text, base, joint = self._text, self._base, self._joint
        start = self._at - base
        if joint is not None and not joint.occur(text, start):
            place = base + (len(text) if final else joint.open_at(text, start))
            for _, kind in self._kinds:
                kind.at = max(kind.at, place)
            self._let_go(place)
            return place, _NOTHING
        upto = self._end
        found: list[tuple[int, Match]] = []
        for order, kind in self._kinds:
            for match in kind.decide(text, base, final=final):
                found.append((SWALLOWED if kind.swallows and match.replacement == "" else order, match))
            upto = min(upto, kind.at)
        self._let_go(upto)
        return upto, found

    def _let_go(self, upto: int) -> None:
        self._at = upto
        surplus = upto - self._behind - self._base
        if surplus > _SLACK:
            self._text = self._text[surplus:]
            self._base += surplus


class _Kind(Protocol):
    at: int
    """Everything before is decided."""
    swallows: bool
    """Whether what it takes out is what came before, gone on."""

    def decide(self, text: str, base: int, *, final: bool) -> list[Match]:
        """Decide as far as can be told; gives what was found."""
        ...


def _kind(matcher: Matcher) -> _Kind:
    return _Swallowing(matcher) if isinstance(matcher, Region) else _Finding(matcher)


class _Finding:
    """How far one matcher is."""

    __slots__ = ("_matcher", "at", "swallows")

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self.at = 0
        self.swallows = False

    def decide(self, text: str, base: int, *, final: bool) -> list[Match]:
        found: list[Match] = []
        length = len(text)
        while True:
            at = self.at - base
            place = length if final else min(self._matcher.open_at(text, at), length)
            if place <= at:
                return found
            for match in checked(self._matcher, text, at):
                if match.start >= place:
                    break
                found.append(match._replace(start=match.start + base, end=match.end + base))
                at = match.end
            self.at = base + max(at, place)
            if at <= place:
                return found  # else a match that is decided reaches behind the place: look again from its end

    def next(self, text: str, base: int, *, final: bool) -> Match | None:
        """Decide up to the end of the first match, which is given; or as far as can be told."""
        at = self.at - base
        place = len(text) if final else min(self._matcher.open_at(text, at), len(text))
        match = next(iter(checked(self._matcher, text, at)), None) if place > at else None
        if match is None or match.start >= place:
            self.at = base + max(at, place)
            return None
        self.at = base + match.end
        return match._replace(start=match.start + base, end=match.end + base)


class _Swallowing:
    """How far a region's matcher is."""

    __slots__ = ("_closer", "_inside", "_kind", "_opener", "at", "swallows")

    def __init__(self, region: Region) -> None:
        self._kind = region.kind
        self._opener = _Finding(region.opener)
        self._closer = _Finding(region.closer)
        self._inside = False
        self.at = 0
        self.swallows = True

    def decide(self, text: str, base: int, *, final: bool) -> list[Match]:
        found: list[Match] = []
        while True:
            edge = self._closer if self._inside else self._opener
            edge.at = self.at
            match = edge.next(text, base, final=final)
            if self._inside:
                if edge.at > self.at:
                    found.append(Match(self.at, edge.at, self._kind, replacement=""))
            elif match is not None:
                found.append(match)
            self.at = edge.at
            if match is None:
                return found
            self._inside = not self._inside

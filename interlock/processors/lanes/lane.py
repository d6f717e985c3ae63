"""One text that comes in pieces: up to where it is decided, and what was found in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from interlock.processors.lanes.bounded_pattern import BoundedPattern, JointPatterns
from interlock.processors.lanes.matcher import Match, Matcher, checked

__all__ = ["Decided", "Decider", "joined", "whole"]

_SLACK: Final = 256
"""Characters that are decided and not yet forgotten: forgetting one by one would copy the text each time."""


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


class Decider:
    """Decides one text in one reading.

    Args:
        matchers: What is looked for. Each decides by itself, so that none keeps another from finding something.
        joint: The same as one expression, where all are patterns: most texts hold nothing, and that is seen at once.
    """

    __slots__ = ("_base", "_behind", "_covered", "_end", "_joint", "_kinds", "_pending", "_released", "_text")

    def __init__(self, matchers: Sequence[Matcher], joint: JointPatterns | None = None) -> None:
        self._kinds = [_Kind(matcher) for matcher in matchers]
        self._joint = joint
        self._behind = max([1, *(matcher.look_behind for matcher in matchers)])
        self._text = ""
        self._base = 0  # where the kept text begins
        self._end = 0
        self._released = 0
        self._covered = 0  # the end of what is being replaced
        self._pending: list[tuple[int, int, int, Match]] = []  # found, and not decided by all

    @staticmethod
    def joint(matchers: Sequence[Matcher]) -> JointPatterns | None:
        """The expression of all matchers, where they are patterns; to be made once for many texts."""
        patterns = [one for one in matchers if isinstance(one, BoundedPattern)]
        return JointPatterns(patterns) if len(patterns) == len(matchers) > 1 else None

    def push(self, text: str) -> Decided:
        """Take more of the text in."""
        self._text += text
        self._end += len(text)
        return self._decide(final=False)

    def end(self) -> Decided:
        """The text is complete."""
        return self._decide(final=True)

    @property
    def held(self) -> int:
        """How many characters are not decided."""
        return self._end - self._released

    def _decide(self, *, final: bool) -> Decided:
        text, base = self._text, self._base
        start = self._released - base
        joint = self._joint
        is_clear = not self._pending and self._covered <= self._released
        if joint is not None and is_clear and not joint.occur(text, start):
            place = len(text) if final else joint.open_at(text, start)
            for kind in self._kinds:
                kind.at = max(kind.at, base + place)
            self._let_go(base + place)
            return Decided(self._released, _NOTHING)
        upto = self._end
        for order, kind in enumerate(self._kinds):
            for match in kind.decide(text, base, final=final):
                self._pending.append((match.start, -match.end, order, match))
            upto = min(upto, kind.at)
        found = self._joined(upto) if self._pending else _NOTHING
        self._let_go(upto)
        return Decided(upto, found)

    def _joined(self, upto: int) -> Sequence[Match]:
        self._pending.sort()
        found: list[Match] = []
        taken = 0
        for start, _, _, match in self._pending:
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

    def _let_go(self, upto: int) -> None:
        self._released = upto
        surplus = upto - self._behind - self._base
        if surplus > _SLACK:
            self._text = self._text[surplus:]
            self._base += surplus


class _Kind:
    """How far one matcher is.

    Attributes:
        at: Everything before is decided.
    """

    __slots__ = ("_matcher", "at")

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self.at = 0

    def decide(self, text: str, base: int, *, final: bool) -> list[Match]:
        """Decide as far as can be told; gives what was found."""
        found: list[Match] = []
        length = len(text)
        while True:
            at = self.at - base
            place = length if final else min(self._matcher.open_at(text, at), length)
            if place <= at:
                return found
            before = len(found)
            for match in checked(self._matcher, text, at):
                if match.start >= place:
                    break
                found.append(match._replace(start=match.start + base, end=match.end + base))
                at = match.end
            if at <= place or len(found) == before:
                self.at = base + max(at, place)
                return found
            self.at = base + at  # a match that is decided reaches behind the place: look again from its end


def joined(found: Sequence[Sequence[Match]]) -> list[Match]:
    """What several matchers found in one whole text, as one list of disjoint matches: see :class:`Decided`."""
    pending = sorted((m.start, -m.end, order, m) for order, matches in enumerate(found) for m in matches)
    made: list[Match] = []
    covered = 0
    for start, _, _, match in pending:
        if start >= covered:
            made.append(match)
        elif match.end > covered:
            made.append(match._replace(start=covered, replacement=""))
        covered = max(covered, match.end)
    return made


def whole(matchers: Sequence[Matcher], text: str, joint: JointPatterns | None = None) -> list[Match]:
    """What is found in a whole text: the same as when it comes in pieces.

    Example:
        >>> [m[:2] for m in whole([BoundedPattern("a{1,3}"), BoundedPattern("ab")], "xaab")]
        [(1, 3), (3, 4)]
    """
    if joint is not None and not joint.occur(text, 0):
        return []
    return joined([list(checked(matcher, text, 0)) for matcher in matchers])

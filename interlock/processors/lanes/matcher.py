"""What finds things in a text that grows: how far it sees, and from where on it may still change its mind."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, Self

from interlock.errors import InterlockError
from interlock.shown import shown

__all__ = ["Found", "Match", "Matcher", "MatcherError", "Reading", "checked"]

Reading = Literal["raw", "plain", "folded"]
"""Which reading of a text a matcher is given: as it came; NFKC without the invisible; the same in small letters, its
look-alikes folded."""


class Match(NamedTuple):
    """One thing that was found.

    Args:
        start: Where it begins.
        end: Where it ends, exclusive.
        kind: What it is.
        score: How sure that is, from 0 to 1.
        explanation: Why, in words; never the text itself.
        replacement: What stands in its place; None: that is for whoever acts on it to say.
    """

    start: int
    end: int
    kind: str = "match"
    score: float = 1.0
    explanation: str = ""
    replacement: str | None = None


Found = Match | tuple[int, int]
"""A match; or only where it begins and ends."""


class MatcherError(InterlockError):
    """A matcher that does not keep to what it declares. Nothing that it says can be relied on then.

    Args:
        who: The matcher.
        what: What is wrong.
    """

    def __init__(self, who: str, what: str) -> None:
        super().__init__(f"matcher {who!r} {what}")


class Matcher(ABC):
    """Finds things in a text, also when the text comes in pieces.

    A text is decided up to a place when nothing that comes later can change what is found before it. To know that, it
    must hold of what :meth:`find` gives, for every text:

    - *ordered*: matches are disjoint, not empty, and come from left to right;
    - *bounded*: none is longer than ``longest_match``;
    - *local*: whether and where a match that begins at ``s`` ends depends only on
      ``text[s - look_behind : s + longest_match + look_ahead]``;
    - *restartable*: asked from a place that is inside of no match, it gives the same matches from there on;
    - *deterministic*.

    Then at most ``longest_match + look_ahead - 1`` characters need be held back.

    Attributes:
        kind: What it finds.
        longest_match: Characters of the longest match.
        look_behind: Characters before a match that it depends on.
        look_ahead: Characters behind the longest match that it depends on.
        reading: Which reading of a text it is given; the figures count characters of that.
    """

    kind: str = "match"
    longest_match: int
    look_behind: int = 0
    look_ahead: int = 0
    reading: Reading = "raw"

    def __deepcopy__(self, memo: object) -> Self:
        """Itself: it keeps nothing of the texts that it is asked about."""
        del memo
        return self

    @abstractmethod
    def find(self, text: str, start: int, /) -> Iterable[Found]:
        """The matches that begin at or after ``start``; what stands before is context only."""

    def open_at(self, text: str, start: int, /) -> int:
        """The least place from ``start`` on at which a match may yet begin, or change, when the text grows.

        By default everything that a match could still reach. Give the true place where it can be told, so that nothing
        is held back where nothing can match.
        """
        return max(start, len(text) - self.longest_match - self.look_ahead + 1)


def checked(matcher: Matcher, text: str, start: int) -> Iterator[Match]:
    """What a matcher finds, as long as it keeps to what it declares.

    Raises:
        MatcherError: It does not.
    """
    at = start
    given = matcher.find(text, start)
    try:
        every = iter(given)
    except TypeError:
        raise _no_matches(matcher, given) from None
    for found in every:
        match = found if isinstance(found, Match) else _pair(matcher, found)
        if match.end - match.start > matcher.longest_match:
            what = f"gave a match of {match.end - match.start} characters, where longest_match is"
            raise MatcherError(matcher.kind, f"{what} {matcher.longest_match}")
        if match.start < at or match.end <= match.start or match.end > len(text):
            raise MatcherError(
                matcher.kind,
                f"gave {match.start}:{match.end} in a text of {len(text)} characters, from {at} on: matches are not "
                "empty, do not overlap, and come from left to right",
            )
        at = match.end
        yield match


def _no_matches(matcher: Matcher, given: object) -> MatcherError:
    if inspect.iscoroutine(given):
        given.close()
        return MatcherError(matcher.kind, "has an async find(): it must be plain, since it is asked at every chunk")
    return MatcherError(matcher.kind, f"gave {shown(given)}, where find() gives (start, end) or matches, one by one")


def _pair(matcher: Matcher, found: object) -> Match:
    match found:
        case (int(start), int(end)):
            return Match(start, end, matcher.kind)
        case _:
            raise MatcherError(matcher.kind, f"gave {shown(found)}, where a match is (start, end) or a Match")

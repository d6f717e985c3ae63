"""What finds one kind of personal data, in a whole text or in one that comes in pieces."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from interlock.processors.detection.patterns import Pattern
from interlock.processors.lanes.matcher import Match, Matcher, Reading

__all__ = [
    "KINDS",
    "Candidate",
    "Label",
    "NumberRecogniser",
    "PIIKind",
    "Recogniser",
    "beginnings",
    "begins_alone",
    "ends_alone",
    "first_open",
    "is_word",
]

PIIKind = Literal["email", "phone", "credit-card", "ssn", "ip-address", "iban"]
"""The kinds of personal data that rules can find."""

KINDS: Final[tuple[PIIKind, ...]] = ("email", "phone", "credit-card", "ssn", "ip-address", "iban")


class Candidate(NamedTuple):
    """What may stand at a place.

    Args:
        end: Where it ends, exclusive.
        score: How sure it is, from 0 to 1.
        explanation: Why.
    """

    end: int
    score: float
    explanation: str


class Recogniser(Matcher):
    """Finds one kind. What it finds depends on the text alone, never on which other kinds are looked for.

    Args:
        threshold: Of candidates below this score it takes no notice.
    """

    reading: Reading = "folded"

    def __init__(self, *, threshold: float = 0.0) -> None:
        self._threshold = threshold

    @abstractmethod
    def find(self, text: str, start: int, /) -> Iterator[Match]:
        """The matches that begin at or after ``start``."""


class NumberRecogniser(Recogniser):
    """Finds numbers of one kind.

    It is asked place by place, and shown no more of the text than it declares: so what it finds is local, and the same
    from wherever one begins to look.

    Attributes:
        begins: Where a match can begin. It looks no further than a match, its context included.
    """

    begins: re.Pattern[str]

    def find(self, text: str, start: int, /) -> Iterator[Match]:
        """The matches that begin at or after ``start``."""
        ahead = self.longest_match + self.look_ahead
        place = self.begins.search(text, start)
        while place is not None:
            at = place.start()
            low = max(0, at - self.look_behind)
            best = self._best(text[low : at + ahead], at - low)
            if best is None:
                place = self.begins.search(text, at + 1)
            else:
                yield Match(at, low + best.end, self.kind, best.score, best.explanation)
                place = self.begins.search(text, low + best.end)

    @abstractmethod
    def candidates(self, text: str, start: int) -> Iterable[Candidate]:
        """What may begin at ``start``.

        Args:
            text: The text around, as far as it counts.
            start: The place.
        """

    def _best(self, text: str, start: int) -> Candidate | None:
        """The longest candidate that counts: nothing of a shorter one stays behind."""
        best: Candidate | None = None
        for one in self.candidates(text, start):
            if one.score >= self._threshold and (best is None or one[:2] > best[:2]):
                best = one
        return best


class Label:
    """Words that say what the number right after them is: "card no. ", "SSN: ".

    Args:
        words: An expression for the words, in small letters.
        reach: How many characters may stand between the words and the number.

    Attributes:
        span: How many characters before the number are looked at.
    """

    __slots__ = ("_pattern", "span")

    def __init__(self, words: str, *, reach: int = 24) -> None:
        self._pattern = Pattern(rf"(?:\b|[^a-z])(?:{words})\b[^0-9]{{0,{reach}}}\z")
        self.span = reach + 40

    def before(self, text: str, start: int) -> bool:
        """Whether such words stand before ``text[start:]``."""
        return self._pattern.find(text[max(0, start - self.span) : start]) is not None


def first_open(
    text: str, low: int, ends: Container[str], opening: re.Pattern[str], may_begin: Callable[[str, int], bool]
) -> int:
    """Where the first number begins that more text may make a match; the length of the text: nowhere.

    Args:
        text: The text so far.
        low: Where to look from.
        ends: The characters that an unfinished number may end with.
        opening: Matches an unfinished number, up to the end of the text.
        may_begin: Whether one may begin at a place, by what stands before it.
    """
    length = len(text)
    if length == low or text[-1] not in ends:
        return length
    place = opening.search(text, low)
    while place is not None:
        at = place.start()
        if may_begin(text, at):
            return at
        place = opening.search(text, at + 1)
    return length


def begins_alone(text: str, start: int, separators: str = "-.:/") -> bool:
    """Whether what begins at ``start`` continues no word, and behind one of the separators no number."""
    before = text[max(0, start - 2) : start]
    return not (before and (is_word(before[-1]) or (before[-1] in separators and before[:-1].isdigit())))


def ends_alone(text: str, end: int, separators: str = "-.:") -> bool:
    """Whether what ends at ``end`` is continued by no word, and behind one of the separators by no number."""
    after = text[end : end + 2]
    return not (after and (is_word(after[0]) or (after[0] in separators and after[1:].isdigit())))


def is_word(character: str) -> bool:
    """Whether it is an ASCII letter, a digit or an underscore."""
    return character.isascii() and (character.isalnum() or character == "_")


def beginnings(units: Sequence[str]) -> str:
    """An expression for the beginnings of a sequence, the whole of it among them.

    Args:
        units: Expressions for one character each (or, with a ``?``, for one that may be left out).

    Example:
        >>> beginnings(["a", "b?", "c"])
        'a(?:b?(?:c)?)?'
    """
    made = ""
    for unit in reversed(units):
        made = f"{unit}(?:{made})?" if made else unit
    return made

"""What finds one kind of personal data in one text."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final, Literal, Protocol

from interlock.processors.detection.finding import Finding
from interlock.processors.detection.patterns import Pattern
from interlock.processors.detection.scan_copy import Layer, ScanCopy

__all__ = ["KINDS", "Label", "PIIKind", "Recogniser", "Row", "begins_alone", "ends_alone", "found", "stands_alone"]

PIIKind = Literal["email", "phone", "credit-card", "ssn", "ip-address", "iban"]
"""The kinds of personal data that rules can find."""

KINDS: Final[tuple[PIIKind, ...]] = ("email", "phone", "credit-card", "ssn", "ip-address", "iban")


class Recogniser(Protocol):
    """Finds one kind. What it finds depends on the text alone, never on which other kinds are looked for."""

    kind: PIIKind

    def find(self, copy: ScanCopy, /) -> Iterator[Finding]:
        """The findings of this kind, in offsets of the raw text; they may overlap."""
        ...


class Label:
    """Words that say what the number right after them is: "card no. ", "SSN: ".

    Args:
        words: An expression for the words, in small letters.
        reach: How many characters may stand between the words and the number.
    """

    __slots__ = ("_pattern", "_span")

    def __init__(self, words: str, *, reach: int = 24) -> None:
        self._pattern = Pattern(rf"(?:\b|[^a-z])(?:{words})\b[^0-9]{{0,{reach}}}\z")
        self._span = reach + 40

    def before(self, text: str, start: int) -> bool:
        """Whether such words stand before ``text[start:]``."""
        return self._pattern.find(text[max(0, start - self._span) : start]) is not None


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` is no part of a longer word or number: a hash, an id, a decimal fraction."""
    return begins_alone(text, start) and ends_alone(text, end)


def begins_alone(text: str, start: int, separators: str = "-.:/") -> bool:
    """Whether what begins at ``start`` continues no word, and behind one of the separators no number."""
    before = text[max(0, start - 2) : start]
    return not (before and (_is_word(before[-1]) or (before[-1] in separators and before[:-1].isdigit())))


def ends_alone(text: str, end: int, separators: str = "-.:") -> bool:
    """Whether what ends at ``end`` is continued by no word, and behind one of the separators by no number."""
    after = text[end : end + 2]
    return not (after and (_is_word(after[0]) or (after[0] in separators and after[1:].isdigit())))


class Row:
    """Things of one kind that stand in a row, one separator between them: ``a-b``. They do not continue one another.

    Args:
        text: The text they are in.
        spans: Where they are.
        separators: What may stand between them.
    """

    __slots__ = ("_ends", "_separators", "_starts", "_text")

    def __init__(self, text: str, spans: Collection[tuple[int, int]], separators: str = "-.:/") -> None:
        self._text = text
        self._separators = separators
        self._starts = {start for start, _ in spans}
        self._ends = {end for _, end in spans}

    def follows(self, start: int) -> bool:
        """Whether one of them ends just before ``start``."""
        return start - 1 in self._ends and self._text[start - 1] in self._separators

    def goes_on(self, end: int) -> bool:
        """Whether one of them begins just after ``end``."""
        return end + 1 in self._starts and self._text[end] in self._separators


def found(layer: Layer, kind: PIIKind, start: int, end: int, score: float, explanation: str) -> Iterator[Finding]:
    """The finding for a range of a layer, in raw offsets; none where only folded letters of another script made it."""
    if layer.counts(start, end):
        raw_start, raw_end = layer.raw_span(start, end)
        yield Finding(kind, raw_start, raw_end, score, explanation)


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")

"""What finds one kind of personal data in one text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, Protocol

from interlock.processors.detection.finding import Finding
from interlock.processors.detection.patterns import Pattern
from interlock.processors.detection.scan_copy import Layer, ScanCopy

__all__ = ["KINDS", "Label", "PIIKind", "Recogniser", "found", "stands_alone"]

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
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before and (_is_word(before[-1]) or (before[-1] in "-.:/" and len(before) == 2 and before[0].isdigit())):
        return False
    return not (after and (_is_word(after[0]) or (after[0] in "-.:" and len(after) == 2 and after[1].isdigit())))


def found(layer: Layer, kind: PIIKind, start: int, end: int, score: float, explanation: str) -> Iterator[Finding]:
    """The finding for a range of a layer, in raw offsets; none where only folded letters of another script made it."""
    if layer.counts(start, end):
        raw_start, raw_end = layer.raw_span(start, end)
        yield Finding(kind, raw_start, raw_end, score, explanation)


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")

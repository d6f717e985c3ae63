"""Telling words of a text that some branch took away, and how to keep them out of what another branch put in.

Words are compared folded: without differences of case, width or composition, so that none comes back in other letters.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from interlock.messages.rewriting import Range

__all__ = ["LostWords", "WordsOf", "fold", "without_letters"]

_WORD: Final = re.compile(r"\w+")
_RUN: Final = re.compile(r"[^\W\d_]{4,}|\d{3,}")
_SHORTEST: Final = 3
_TELLING: Final = 4
"""A word of so many letters says something by itself; a shorter one occurs anywhere, unless it is a number."""
_ROUNDS: Final = 3
"""Taking a word out may bring another together; what does so time and again is no text to keep."""


@lru_cache(maxsize=4096)
def _folded(letter: str) -> str:
    """A character without its case, its width and its accents."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", letter).casefold())
    return "".join(part for part in plain.casefold() if not unicodedata.combining(part))


def fold(text: str) -> str:
    """The text as it is compared: after NFKC and case folding, and without accents.

    >>> fold("ＡＮＮ") == fold("ann")
    True
    """
    return "".join(map(_folded, text))


def without_letters(text: str, lost: str) -> str:
    """The text without every letter and digit of ``lost``; other signs stay."""
    gone = set(fold(lost))
    return "".join(c for c in text if not c.isalnum() or gone.isdisjoint(_folded(c)))


def _spans(text: str) -> list[Range]:
    """Where the words lie. An accent or a vowel sign of its own, which ``\\w`` leaves out, does not part a word."""
    spans: list[Range] = []
    for found in _WORD.finditer(text):
        start, end = found.span()
        if spans and all(unicodedata.category(sign)[0] == "M" for sign in text[spans[-1][1] : start]):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


class WordsOf:
    """The words of a text, to be asked for by range."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._spans = _spans(text)
        self._starts = [start for start, _ in self._spans]
        self._whole: dict[int, str] = {}

    def lost(self, ranges: Iterable[Range]) -> LostWords:
        """What says something in these ranges: the words they cut, as a whole, and what they cut of them."""
        cut: set[int] = set()
        return LostWords(word for low, high in ranges for word in self._words(low, high, cut))

    def _words(self, low: int, high: int, cut: set[int]) -> Iterator[str]:
        at = max(0, bisect_right(self._starts, low) - 1)
        while at < len(self._spans) and self._spans[at][0] < high:
            start, end = self._spans[at]
            if max(low, start) < min(high, end):
                if at not in cut:
                    cut.add(at)
                    yield self._folded(at)
                whole = low <= start and end <= high
                lost = self._folded(at) if whole else fold(self.text[max(low, start) : min(high, end)])
                yield lost
                yield from _RUN.findall(lost)
            at += 1

    def _folded(self, at: int) -> str:
        if at not in self._whole:
            start, end = self._spans[at]
            self._whole[at] = fold(self.text[start:end])
        return self._whole[at]


class LostWords:
    """Words that are not to be said again."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = {word for word in words if len(word) >= _TELLING or (len(word) == _SHORTEST and word.isdigit())}
        lengths: dict[str, set[int]] = {}
        for word in self._words:
            lengths.setdefault(word[:_SHORTEST], set()).add(len(word))
        self._lengths = {head: sorted(found, reverse=True) for head, found in lengths.items()}

    def __bool__(self) -> bool:
        return bool(self._words)

    @property
    def signs(self) -> set[str]:
        """What is neither letter nor digit in the words: ``_``, and what some single letters fold to."""
        return {c for word in self._words for c in word if not c.isalnum()}

    def out_of(self, text: str) -> str:
        """The text without these words, wherever it has them and however it writes them."""
        for _ in range(_ROUNDS):
            left = self._once(text)
            if left == text:
                return text
            text = left
        return text if self._once(text) == text else ""

    def _once(self, text: str) -> str:
        if not self._words or not text:
            return text
        pieces = [_folded(letter) for letter in text]
        folded = "".join(pieces)
        said = self._united(folded)
        if not said:
            return text
        kept: list[str] = []
        at = which = 0
        for letter, piece in zip(text, pieces, strict=True):
            end = at + len(piece)
            while which < len(said) and said[which][1] <= at:
                which += 1
            if which == len(said) or said[which][0] >= max(end, at + 1):
                kept.append(letter)
            at = end
        return "".join(kept)

    def said(self, folded: str) -> Iterator[Range]:
        """Where the folded text says one of the words: the longest at each place, in order."""
        for at in range(len(folded) - _SHORTEST + 1):
            for length in self._lengths.get(folded[at : at + _SHORTEST], ()):
                if folded[at : at + length] in self._words:
                    yield at, at + length
                    break

    def _united(self, folded: str) -> list[Range]:
        """Where the folded text says one of the words, in order and without overlaps."""
        united: list[Range] = []
        for low, high in self.said(folded):
            if united and low <= united[-1][1]:
                united[-1] = (united[-1][0], max(united[-1][1], high))
            else:
                united.append((low, high))
        return united

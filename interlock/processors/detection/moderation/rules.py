"""The offline moderator: graded word lists and turns of phrase, weighed together. A baseline, no judge of tone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Final

from interlock.processors.detection.clues import ClueBook, Sighting, weigh, with_blanks
from interlock.processors.detection.finding import Finding
from interlock.processors.detection.moderation import harm_clues, hate_clues, insult_clues
from interlock.processors.detection.patterns import Pattern
from interlock.processors.detection.scan_copy import ScanCopy

__all__ = ["PASSAGE", "ModerationRules"]

_CLUES: Final = (*insult_clues.CLUES, *hate_clues.CLUES, *harm_clues.CLUES)
PASSAGE: Final = 600
"""Characters of a passage in which signs count together: some five sentences."""
_FAINTEST: Final = 0.05
_BEFORE: Final = 40
_TAKEN_BACK: Final = Pattern(
    with_blanks(
        r"(?:\b(?:i'm|i am|i was|i feel|i felt|me|myself|feel|felt|giggle|laugh\w*|like|not|isn't|aren't|never|"
        r"called|calls|word|words|fake it|no)\b[^.!?]{0,16})\z"
    )
)
_TAKEABLE: Final = frozenset({"insult", "mild insult", "strong insult", "profanity", "plain insult"})
_SPOKEN_ABOUT: Final = Pattern(r"(?:\b(?:words?|terms?|slurs?|epithet|spell|mean)\b[^.!?]{0,16})\z")


class ModerationRules:
    """Finds what abuses, threatens or exposes people.

    Args:
        categories: What to look for; names it does not know have no rules.

    Example:
        >>> [f.kind for f in ModerationRules(["harassment"]).find("You are a worthless piece of garbage")]
        ['harassment']
    """

    def __init__(self, categories: Collection[str]) -> None:
        self._book = _book(frozenset(categories))

    def find(self, text: str) -> list[Finding]:
        """At most one finding a category, for the strongest passage; in offsets of the text."""
        return [
            Finding(s.kind, s.start, s.end, s.score, f"signs: {', '.join(s.names)}")
            for s in weigh(self._sightings(text), window=PASSAGE)
            if s.score >= _FAINTEST
        ]

    def _sightings(self, text: str) -> Iterator[Sighting]:
        layer = ScanCopy(text).folded
        for seen in self._book.sightings(layer.text):
            if not layer.counts(seen.start, seen.end):
                continue
            start, end = layer.raw_span(seen.start, seen.end)
            yield Sighting(seen.clue, start, end, seen.weight * _discount(layer.text, seen))


def _discount(text: str, seen: Sighting) -> float:
    """Half for what people say of themselves or deny, and for slurs that are spoken about."""
    before = text[max(0, seen.start - _BEFORE) : seen.start]
    taken_back = seen.clue.name in _TAKEABLE and _TAKEN_BACK.find(before) is not None
    spoken_about = seen.clue.name == "slur" and _SPOKEN_ABOUT.find(before) is not None
    return 0.5 if taken_back or spoken_about else 1.0


@lru_cache(maxsize=16)
def _book(categories: frozenset[str]) -> ClueBook:
    return ClueBook([clue for clue in _CLUES if clue.kind in categories])

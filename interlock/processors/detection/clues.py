"""Weighing many small signs: how rules that are sure of nothing alone come to a score together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from interlock.processors.detection.patterns import Pattern, PatternSet

__all__ = ["Clue", "ClueBook", "Score", "Sighting", "weigh", "with_blanks"]


@dataclass(frozen=True, slots=True)
class Clue:
    """A sign that a text is of some kind.

    Args:
        kind: What it is a sign of.
        name: Its own name, for explanations. Clues of one name count once, by the surest sighting.
        weight: How far it alone goes, from 0 to 1.
        pattern: A regular expression in RE2's syntax. A blank in it stands for any run of white space.
    """

    kind: str
    name: str
    weight: float
    pattern: str


@dataclass(frozen=True, slots=True)
class Sighting:
    """A clue at a place of a text.

    Args:
        clue: The clue.
        start: Where it begins.
        end: Where it ends, exclusive.
        weight: What it counts here; less than the clue's own where the words around it take it back.
    """

    clue: Clue
    start: int
    end: int
    weight: float


class ClueBook:
    """Clues, ready to be looked for.

    Args:
        clues: The clues.
        ignore_case: For texts that were not casefolded.
    """

    def __init__(self, clues: Sequence[Clue], *, ignore_case: bool = False) -> None:
        self._clues = tuple(clues)
        sources = [with_blanks(c.pattern) for c in clues]
        self._set = PatternSet(sources, ignore_case=ignore_case)
        self._patterns = [Pattern(source, ignore_case=ignore_case) for source in sources]

    def sightings(self, text: str) -> Iterator[Sighting]:
        """Every place of every clue; one pass says which occur, only those are then located."""
        for n in self._set.occurring(text):
            clue = self._clues[n]
            for match in self._patterns[n].find_all(text):
                start, end = match.span()
                if end > start:
                    yield Sighting(clue, start, end, clue.weight)


_CLASS: Final = re.compile(r"(\[\^?\]?(?:\\.|[^\]\\])*\](?:[{*+])?)")
_SEPARATING: Final = re.compile(r"\[[ _-]+\]")
_WHITE: Final = r"\s\v\x{85}\x{a0}\x{2800}"
"""ASCII white space, what a plain copy leaves of the rest, and the blank of Braille, which looks like one."""


def with_blanks(pattern: str, blank: str = f"[{_WHITE}]+") -> str:
    """Let each blank of a pattern match any run of white space, so that no line break and no second blank hides a sign.

    In a character class a blank is any white space; a class of separators alone (``[- ]``) matches a run of them.

    Args:
        pattern: A regular expression in RE2's syntax.
        blank: What stands for a blank outside of character classes.

    Example:
        >>> Pattern(with_blanks("self[- ]harm is")).matches("self  harm\\n is")
        True
    """
    pieces = _CLASS.split(pattern)
    return "".join(_class(piece) if n % 2 else piece.replace(" ", f"(?:{blank})") for n, piece in enumerate(pieces))


def _class(piece: str) -> str:
    if " " not in piece:
        return piece
    wide = piece.replace(" ", _WHITE)
    return f"(?:{wide}+)" if _SEPARATING.fullmatch(piece) else wide


@dataclass(frozen=True, slots=True)
class Score:
    """What the clues near each other come to, for one kind."""

    kind: str
    score: float
    start: int
    end: int
    names: tuple[str, ...]


def weigh(sightings: Iterable[Sighting], *, window: int) -> list[Score]:
    """The strongest passage of a text, kind by kind.

    Signs count together when they stand within ``window`` characters of each other, as independent evidence does:
    ``1 - Π(1 - weight)``, each name once. The kind that leads a passage is given the passage's whole score; the others
    are given what their own signs come to.

    Args:
        sightings: What was seen.
        window: Characters; a long text does not add up what stands pages apart.

    Example:
        >>> a, b = Clue("spam", "free", 0.5, "free"), Clue("spam", "now", 0.5, "now")
        >>> weigh(ClueBook([a, b]).sightings("free, now"), window=100)
        [Score(kind='spam', score=0.75, start=0, end=9, names=('free', 'now'))]
    """
    half = max(1, window // 2)
    blocks: dict[int, dict[str, Sighting]] = {}
    for seen in sightings:
        block = blocks.setdefault(seen.start // half, {})
        best = block.get(seen.clue.name)
        if best is None or best.weight < seen.weight:
            block[seen.clue.name] = seen
    strongest: dict[str, Score] = {}
    for n, block in blocks.items():
        passage = dict(block)
        for name, seen in blocks.get(n + 1, _NOTHING).items():
            if name not in passage or passage[name].weight < seen.weight:
                passage[name] = seen
        for score in _scores(list(passage.values())):
            if score.kind not in strongest or strongest[score.kind].score < score.score:
                strongest[score.kind] = score
    return sorted(strongest.values(), key=lambda s: (-s.score, s.kind))


_NOTHING: Final[dict[str, Sighting]] = {}


def _scores(passage: Sequence[Sighting]) -> Iterator[Score]:
    by_kind: dict[str, list[Sighting]] = {}
    for seen in passage:
        by_kind.setdefault(seen.clue.kind, []).append(seen)
    own = {kind: _together(signs) for kind, signs in by_kind.items()}
    leader = max(own, key=lambda kind: (own[kind], kind))
    for kind, signs in by_kind.items():
        counted = passage if kind == leader else signs
        yield Score(
            kind,
            _together(counted),
            min(s.start for s in counted),
            max(s.end for s in counted),
            tuple(sorted(s.clue.name for s in counted)),
        )


def _together(passage: Iterable[Sighting]) -> float:
    doubt = 1.0
    for seen in passage:
        doubt *= 1.0 - seen.weight
    return round(1.0 - doubt, 4)

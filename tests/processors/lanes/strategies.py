"""Random texts, cuts and matchers for the laws of lanes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from hypothesis import strategies as st

from interlock.processors.lanes.bounded_pattern import BoundedPattern
from interlock.processors.lanes.lane import Decided, Lane
from interlock.processors.lanes.matcher import Match, Matcher

LETTERS = "ab1 .\n"

_ATOMS = st.sampled_from(["a", "b", "1", "[ab]", "[^a]", ".", r"\d", r"\w", r"\s", r"\b", r"\B", "^", "$", "ab", r"\."])


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    counts = st.tuples(st.integers(0, 3), st.integers(0, 2)).map(lambda c: (c[0], c[0] + c[1]))
    lazy = st.sampled_from(["", "?"])
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, counts, lazy).map(lambda x: f"(?:{x[0]}){{{x[1][0]},{x[1][1]}}}{x[2]}"),
    )


REGEXES = st.recursive(_ATOMS, _grown, max_leaves=6)
"""Regular expressions with a bound, over the letters."""


def _pattern(source: str, number: int = 0) -> BoundedPattern | None:
    try:
        return BoundedPattern(source, kind=f"kind-{number}")
    except Exception:  # of no width, or repeated out of RE2's reach
        return None


def _certain(made: BoundedPattern | None) -> BoundedPattern:
    assert made is not None
    return made


PATTERNS = REGEXES.map(_pattern).filter(lambda made: made is not None).map(_certain)


class FixedWords(Matcher):
    """Finds words, as somebody without regular expressions would: nothing but the bound is known of it."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = sorted(set(words), key=len, reverse=True)
        self.kind = "/".join(self.words)
        self.longest_match = max(map(len, self.words))

    def find(self, text: str, start: int, /) -> Iterable[Match]:
        at = start
        while at < len(text):
            word = next((word for word in self.words if text.startswith(word, at)), None)
            if word is None:
                at += 1
                continue
            yield Match(at, at + len(word), self.kind)
            at += len(word)


WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=4), min_size=1, max_size=3).map(FixedWords)
_MATCHER: st.SearchStrategy[Matcher] = st.one_of(PATTERNS, PATTERNS, WORDS)
MATCHERS: st.SearchStrategy[list[Matcher]] = st.lists(_MATCHER, min_size=1, max_size=4)
TEXTS = st.text(LETTERS, max_size=40)


@st.composite
def pieces_of(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS) -> list[str]:
    """A text in pieces, empty ones among them."""
    text = draw(texts)
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    if draw(st.booleans()):
        places = list(range(len(text) + 1))
    edges = [0, *places, len(text)]
    return [text[a:b] for a, b in pairwise(edges)]


def decided(lane: Lane, pieces: Sequence[str]) -> list[Decided]:
    """All that a lane says of a text in pieces, the end included."""
    return [*(lane.push(piece) for piece in pieces), lane.end()]


def by_hand(matchers: Sequence[Matcher], text: str) -> list[Match]:
    """What matchers find in a whole text, put together the slow way: character by character."""
    found = sorted(
        (m[0], -m[1], order, m if isinstance(m, Match) else Match(*m))
        for order, one in enumerate(matchers)
        for m in one.find(text, 0)
    )
    made: list[Match] = []
    owner: set[int] = set()
    for _, _, _, match in found:
        free = [n for n in range(match.start, match.end) if n not in owner]
        if free and free[0] == match.start:
            made.append(match)
        elif free:
            made.append(match._replace(start=free[0], replacement=""))
        owner.update(range(match.start, match.end))
    return made

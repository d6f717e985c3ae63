"""A regular expression as a matcher: in linear time, and nothing is held back where nothing can match."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol, cast

from interlock.errors import DefinitionError
from interlock.processors.lanes.matcher import Match, Matcher, Reading
from interlock.processors.lanes.prefix_closure import Closure, closure_of

__all__ = ["BoundedPattern", "JointPatterns"]

_re2 = cast("Any", importlib.import_module("re2"))  # the package has no type information of its own
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


class _Compiled(Protocol):
    def finditer(self, text: str, pos: int | None = None, /) -> Iterator[Any]: ...


class BoundedPattern(Matcher):
    """A regular expression whose matches have a longest length.

    Args:
        pattern: In Python's syntax, without look-around and back-references, which cannot be matched in linear time.
            ``\\d \\w \\s \\b`` are ASCII ones, ``$`` is the very end of the text.
        kind: What it finds.
        flags: As of :mod:`re`: ``IGNORECASE``, ``MULTILINE``, ``DOTALL``, ``VERBOSE``.
        reading: Which reading of a text it is given.
        replacement: What stands in the place of a match; None: that is for whoever acts on it to say.

    Raises:
        DefinitionError: It is no such expression, or it has no bound (``+``, ``*``, ``{3,}``), or matches nothing but
            the empty text.

    Example:
        >>> card = BoundedPattern(r"\\b\\d{4}(?: ?\\d{4}){3}\\b", kind="card")
        >>> [match[:3] for match in card.find("my card: 4111 1111 1111 1111", 0)]
        [(9, 28, 'card')]
        >>> card.longest_match, card.open_at("my card: 41", 0), card.open_at("my card: none", 0)
        (19, 9, 13)
    """

    def __init__(
        self,
        pattern: str,
        *,
        kind: str = "match",
        flags: int = 0,
        reading: Reading = "raw",
        replacement: str | None = None,
    ) -> None:
        if not isinstance(cast("object", pattern), str):
            raise DefinitionError(
                f"a pattern is a text, '[0-9]{{1,8}}', not a {type(pattern).__name__}; flags stand in it: '(?i)'",
                subject="pattern",
            )
        self.closure = closure_of(pattern, flags=flags)
        if self.closure.longest is None:
            raise DefinitionError(
                f"{pattern!r} has matches of any length, so a stream could never let go of anything: "
                "give each repetition a bound, such as {1,64}",
                subject="pattern",
            )
        if self.closure.longest == 0:
            raise DefinitionError(f"{pattern!r} matches nothing but the empty text", subject="pattern")
        self.source = pattern
        self.kind = kind
        self.reading = reading
        self.longest_match = self.closure.longest
        self.look_behind = self.look_ahead = int(self.closure.edges)
        self._replacement = replacement
        self._whole = _compiled(pattern, self.closure.source)
        self._open = _compiled(pattern, f"(?:{self.closure.prefixes})\\z", longest=True)

    def __repr__(self) -> str:
        return f"BoundedPattern({self.source!r}, kind={self.kind!r})"

    def find(self, text: str, start: int, /) -> Iterator[Match]:
        """The matches that begin at or after ``start``."""
        for found in self._whole.finditer(_encodable(text), start):
            low, high = found.span()
            if high > low:
                yield Match(low, high, self.kind, replacement=self._replacement)

    def open_at(self, text: str, start: int, /) -> int:
        """Where the leftmost beginning of a match begins that the end of the text cuts off."""
        for found in self._open.finditer(_encodable(text), start):
            place: int = found.start()
            return place
        return len(text)


class JointPatterns:
    """Several patterns asked at once: whether any matches at all, and from where on any may yet match.

    Args:
        patterns: Of one reading.
    """

    __slots__ = ("_any", "_open")

    def __init__(self, patterns: Sequence[BoundedPattern]) -> None:
        closures: list[Closure] = [pattern.closure for pattern in patterns]
        whole = "|".join(dict.fromkeys(f"(?:{one.source})" for one in closures))
        self._any = _compiled("these patterns together", whole, longest=True)  # else an empty match hides a longer one
        opens = "|".join(dict.fromkeys(one.prefixes for one in closures))
        self._open = _compiled("these patterns together", f"(?:{opens})\\z", longest=True)

    def occur(self, text: str, start: int) -> bool:
        """Whether any of them matches from ``start`` on."""
        return any(found.end() > found.start() for found in self._any.finditer(_encodable(text), start))

    def open_at(self, text: str, start: int) -> int:
        """The least of their :meth:`BoundedPattern.open_at`."""
        for found in self._open.finditer(_encodable(text), start):
            place: int = found.start()
            return place
        return len(text)


def _encodable(text: str) -> str:
    """The text without lone surrogates, which RE2 cannot take; of the same length."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def _compiled(pattern: str, source: str, *, longest: bool = False) -> _Compiled:
    options = _re2.Options()
    options.log_errors = False
    options.longest_match = longest
    options.max_mem = 64 << 20
    try:
        return cast("_Compiled", _re2.compile(source, options))
    except _re2.error as error:
        raise DefinitionError(f"{pattern!r} cannot be matched in linear time: {error}", subject="pattern") from error

"""Regular expressions in linear time: a typed door to google-re2.

RE2 has no look-around and no back-references, and in return never takes more than linear time, whatever the pattern and
the text (Russ Cox, "Regular Expression Matching Can Be Simple And Fast"). Its character classes ``\\d \\w \\s \\b`` are
ASCII ones; ``\\pL`` and ``\\pN`` are letters and digits of any script.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, cast

from interlock.errors import DefinitionError

__all__ = ["Match", "Pattern", "PatternSet"]


class Match(Protocol):
    """The part of a match that is used here; offsets are in characters."""

    def span(self, group: int = 0, /) -> tuple[int, int]: ...
    def group(self, group: int = 0, /) -> str | None: ...


class _Compiled(Protocol):
    def finditer(self, text: str, pos: int | None = None, /) -> Iterator[Match]: ...
    def search(self, text: str, pos: int | None = None, /) -> Match | None: ...
    def fullmatch(self, text: str, /) -> Match | None: ...


class _CompiledSet(Protocol):
    def Add(self, pattern: str, /) -> int: ...  # noqa: N802 - RE2's own name
    def Compile(self) -> None: ...  # noqa: N802
    def Match(self, text: str, /) -> list[int] | None: ...  # noqa: N802


_ALWAYS = ""
_re2 = cast("Any", importlib.import_module("re2"))  # the package has no type information of its own


def _options(*, ignore_case: bool) -> object:
    options = _re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    options.max_mem = 64 << 20
    return cast("object", options)


class Pattern:
    """One regular expression.

    Args:
        source: In RE2's syntax.
        ignore_case: Match letters of either case.

    Raises:
        DefinitionError: RE2 cannot take it: a mistake, look-around or a back-reference.

    Example:
        >>> [m.span() for m in Pattern(r"\\d+").find_all("a 12 b 345")]
        [(2, 4), (7, 10)]
    """

    __slots__ = ("_compiled", "source")

    def __init__(self, source: str, *, ignore_case: bool = False) -> None:
        self.source = source
        try:
            self._compiled = cast("_Compiled", _re2.compile(source, _options(ignore_case=ignore_case)))
        except _re2.error as error:
            raise DefinitionError(
                f"{source!r} cannot be matched in linear time: {_words(error)}; "
                "RE2 takes no look-around and no back-references",
                subject="pattern",
            ) from error

    def find_all(self, text: str, start: int = 0) -> Iterator[Match]:
        """The matches that begin at or after ``start``, from left to right, not overlapping."""
        return self._compiled.finditer(text, start)

    def find(self, text: str, start: int = 0) -> Match | None:
        """The first match that begins at or after ``start``."""
        return self._compiled.search(text, start)

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        return self._compiled.fullmatch(text) is not None

    def __repr__(self) -> str:
        return f"Pattern({self.source!r})"


class PatternSet:
    """Many expressions asked at once whether they occur at all: one pass over the text, however many they are.

    RE2's set answers "none" when it runs out of memory. So an expression that always matches is one of them: where it
    is missing from the answer, every expression is said to occur, and whoever then looks for each of them finds out.

    Args:
        sources: In RE2's syntax.
        ignore_case: Match letters of either case.

    Example:
        >>> PatternSet([r"\\bcat\\b", r"\\bdog\\b", r"\\bcow\\b"]).occurring("a cow and a cat")
        [0, 2]
    """

    __slots__ = ("_compiled", "_size")

    def __init__(self, sources: Sequence[str], *, ignore_case: bool = False) -> None:
        self._compiled = cast("_CompiledSet", _re2.Set.SearchSet(_options(ignore_case=ignore_case)))
        for source in sources:
            try:
                self._compiled.Add(source)
            except _re2.error as error:
                raise DefinitionError(f"{source!r}: {_words(error)}", subject="pattern set") from error
        self._size = len(sources)
        self._compiled.Add(_ALWAYS)
        self._compiled.Compile()

    def occurring(self, text: str) -> list[int]:
        """The indices of the expressions that occur in the text (or may occur, see above), ascending."""
        answer = self._compiled.Match(text) or ()
        if self._size not in answer:
            return list(range(self._size))
        return sorted(n for n in answer if n != self._size)


def _words(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)

"""Of a regular expression: how long its matches can be, and the expression of all beginnings of its matches.

A text that ends within a beginning of a match may yet become one. RE2 does not tell partial matches, but the set of the
proper prefixes of a regular language is regular: ``P(xy) = P(x) | x P(y)``, ``P(x|y) = P(x) | P(y)``,
``P(x{m,n}) = x{0,n-1} P(x)``, and nothing for one character. So it is one more expression, of a size linear in the
first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, cast

from interlock.errors import DefinitionError

__all__ = ["Closure", "closure_of"]

_parser = cast("Any", import_module("re._parser"))  # Python's own; it has no type information
_UNBOUNDED: Final = cast("Any", import_module("re._constants")).MAXREPEAT
_MOST_REPEATS: Final = 1000
"""RE2 takes no more."""
_REFUSED: Final = {
    "assert": "look-around",
    "assert_not": "look-around",
    "groupref": "a back-reference",
    "groupref_exists": "a back-reference",
    "atomic_group": "an atomic group",
    "possessive_repeat": "a possessive repetition",
}


@dataclass(frozen=True, slots=True)
class Closure:
    """What is known of an expression.

    Args:
        source: The expression, in RE2's syntax.
        prefixes: The expression of the proper prefixes of its matches, the empty one among them.
        longest: Characters of the longest match; None: there is no bound.
        edges: Whether it asks what stands at its edges (``\\b``, ``^``, ``$``, …): one character more on each side.
    """

    source: str
    prefixes: str
    longest: int | None
    edges: bool


def closure_of(pattern: str, *, flags: int = 0) -> Closure:
    """Look into an expression.

    Args:
        pattern: In Python's syntax, without look-around and back-references. ``\\d \\w \\s \\b`` are ASCII ones, and
            ``$`` is the very end of the text.
        flags: As of :mod:`re`: ``IGNORECASE``, ``MULTILINE``, ``DOTALL``, ``VERBOSE``.

    Raises:
        DefinitionError: It is no expression, or one that cannot be matched in linear time.

    Example:
        >>> closure_of("ab{1,2}c")
        Closure(source='a(?:b){1,2}c', prefixes='(?:|a(?:(?:b){0,1}|(?:b){1,2}))', longest=4, edges=False)
    """
    try:
        tree = _parser.parse(pattern, flags)
    except re.error as error:
        raise DefinitionError(f"{pattern!r} is no regular expression: {error}", subject="pattern") from error
    writer = _Writer(pattern, tree.state.flags)
    source, prefixes = writer.sequence(tree)
    longest = None if writer.unbounded else int(tree.getwidth()[1])
    return Closure(source, prefixes or "", longest, writer.edges)


_Pair = tuple[str, str | None]
"""An expression, and that of the proper prefixes of its matches; None: there are none."""


class _Writer:
    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern = pattern
        self._flags = flags
        self.unbounded = False
        self.edges = False

    def sequence(self, items: Iterable[tuple[Any, Any]]) -> _Pair:
        pairs = [self._item(op, argument) for op, argument in items]
        prefixes: str | None = None
        for one, before in reversed(pairs):
            ways = [] if before is None else [before]
            if prefixes is not None:
                ways.append(one + prefixes)
            prefixes = _either(ways)
        return "".join(one for one, _ in pairs), prefixes

    def _item(self, op: Any, argument: Any) -> _Pair:
        method: Callable[[Any], _Pair] | None = getattr(self, f"_{str(op).lower()}", None)
        if method is None:
            name = str(op).lower()
            uses = _REFUSED.get(name, name.replace("_", " "))
            raise self._refusal(
                f"it uses {uses}; write find(), and say look_behind and look_ahead, for what it cannot say"
            )
        return method(argument)

    def _refusal(self, why: str) -> DefinitionError:
        return DefinitionError(f"{self._pattern!r} cannot be matched in linear time: {why}", subject="pattern")

    # One character

    def _literal(self, code: int) -> _Pair:
        return self._cased(_escaped(code)), ""

    def _not_literal(self, code: int) -> _Pair:
        return self._cased(f"[^{_escaped(code)}]"), ""

    def _any(self, _: object) -> _Pair:
        return ("(?s:.)" if self._flags & re.DOTALL else "[^\\n]"), ""

    def _in(self, items: list[tuple[Any, Any]]) -> _Pair:
        negated, inside = "", ""
        for op, argument in items:
            match str(op):
                case "NEGATE":
                    negated = "^"
                case "LITERAL":
                    inside += _escaped(argument)
                case "RANGE":
                    inside += f"{_escaped(argument[0])}-{_escaped(argument[1])}"
                case "CATEGORY":
                    inside += self._category_of(argument)
                case _:
                    raise DefinitionError(f"{self._pattern!r}: {op} in a character class", subject="pattern")
        return self._cased(f"[{negated}{inside}]"), ""

    def _category(self, category: Any) -> _Pair:
        return f"[{self._category_of(category)}]", ""

    def _category_of(self, category: Any) -> str:
        """ASCII, as RE2 has it, so that what is matched does not depend on who matches."""
        return {
            "CATEGORY_DIGIT": "0-9",
            "CATEGORY_NOT_DIGIT": "\\D",
            "CATEGORY_SPACE": "\\t-\\r ",
            "CATEGORY_NOT_SPACE": "\\x00-\\x08\\x0e-\\x1f!-\\x{10ffff}",
            "CATEGORY_WORD": "0-9A-Za-z_",
            "CATEGORY_NOT_WORD": "\\W",
        }[str(category)]

    def _cased(self, source: str) -> str:
        return f"(?i:{source})" if self._flags & re.IGNORECASE else source

    # Of no width

    def _at(self, where: Any) -> _Pair:
        self.edges = True
        multiline = bool(self._flags & re.MULTILINE)
        match str(where):
            case "AT_BEGINNING":
                return "(?m:^)" if multiline else "\\A", ""
            case "AT_BEGINNING_STRING":
                return "\\A", ""
            case "AT_END":
                return "(?m:$)" if multiline else "\\z", ""
            case "AT_END_STRING":
                return "\\z", ""
            case "AT_BOUNDARY":
                return "\\b", ""
            case "AT_NON_BOUNDARY":
                return "\\B", ""
            case other:
                raise DefinitionError(f"{self._pattern!r}: {other} is not known", subject="pattern")

    # Several

    def _subpattern(self, argument: Any) -> _Pair:
        _, added, removed, items = argument
        before, self._flags = self._flags, (self._flags | added) & ~removed
        source, prefixes = self.sequence(items)
        self._flags = before
        return f"(?:{source})", prefixes

    def _branch(self, argument: Any) -> _Pair:
        pairs = [self.sequence(items) for items in argument[1]]
        return "(?:" + "|".join(one for one, _ in pairs) + ")", _either([b for _, b in pairs if b is not None])

    def _max_repeat(self, argument: Any) -> _Pair:
        return self._repeat(argument, "")

    def _min_repeat(self, argument: Any) -> _Pair:
        return self._repeat(argument, "?")

    def _repeat(self, argument: Any, lazy: str) -> _Pair:
        low, high, items = argument
        one, before = self.sequence(items)
        if high is _UNBOUNDED:
            self.unbounded = True
            if low > _MOST_REPEATS:
                raise self._refusal(f"it repeats something {low} times, where {_MOST_REPEATS} is the most")
            return f"(?:{one}){{{low},}}{lazy}", None if before is None else f"(?:{one})*{before}"
        if high > _MOST_REPEATS:
            raise self._refusal(f"it repeats something {high} times, where {_MOST_REPEATS} is the most")
        source = f"(?:{one}){{{low},{high}}}{lazy}" if high else ""
        if before is None or not high:
            return source, None
        return source, f"(?:{one}){{0,{high - 1}}}{before}" if high > 1 else before


def _either(ways: Sequence[str]) -> str | None:
    """One of several; None: there is none."""
    given = list(dict.fromkeys(ways))
    if len(given) < 2:
        return given[0] if given else None
    return f"(?:{'|'.join(given)})"


def _escaped(code: int) -> str:
    character = chr(code)
    if character.isascii() and character.isalnum():
        return character
    return f"\\x{{{code:x}}}"

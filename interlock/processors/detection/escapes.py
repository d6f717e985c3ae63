"""Texts that are JSON, for judges: as they came, and with what is escaped in them spelled out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from interlock.processors.detection.finding import Finding, Rules

__all__ = ["Spelled", "SpellingRules", "together"]

_ESCAPE: Final = re.compile(
    r'\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|["\\/bfnrt])'
)


@dataclass(frozen=True, slots=True)
class Spelled:
    """A text in which every escape of JSON is the character that it stands for.

    Args:
        text: That text.
        starts: Where each of its characters begins in the text as it came, and where that ends.

    Example:
        >>> spelled = Spelled.of("so\\\\nbad")
        >>> spelled.text, spelled.starts
        ('so\\nbad', [0, 1, 2, 4, 5, 6, 7])
    """

    text: str
    starts: Sequence[int]

    @classmethod
    def of(cls, text: str) -> Spelled | None:
        """None: nothing is escaped in it."""
        if "\\" not in text:
            return None
        pieces: list[str] = []
        starts: list[int] = []
        at = 0
        for escape in _ESCAPE.finditer(text):
            character: str = json.loads(f'"{escape[0]}"')
            pieces += text[at : escape.start()], character
            starts += range(at, escape.start() + 1)
            at = escape.end()
        if not pieces:
            return None
        return cls("".join([*pieces, text[at:]]), [*starts, *range(at, len(text) + 1)])

    def in_text(self, finding: Finding) -> Finding:
        """A finding in this text, in offsets of the text as it came."""
        return replace(finding, start=self.starts[finding.start], end=self.starts[finding.end])


class SpellingRules:
    """Rules that look at a text as it came and spelled out.

    Args:
        rules: What looks.

    Example:
        >>> class Rude:
        ...     def find(self, text: str) -> list[Finding]:
        ...         return [Finding("rude", m.start(), m.end()) for m in re.finditer(r"\\bidiot", text)]
        >>> len(Rude().find("so\\\\nidiot")), [(f.start, f.end) for f in SpellingRules(Rude()).find("so\\\\nidiot")]
        (0, [(4, 9)])
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def find(self, text: str) -> list[Finding]:
        """What is found in either."""
        found = self._rules.find(text)
        spelled = Spelled.of(text)
        return found if spelled is None else together(found, map(spelled.in_text, self._rules.find(spelled.text)))


def together(found: Sequence[Finding], spelled: Iterable[Finding]) -> list[Finding]:
    """What was found in a text as it came, and what was found in it spelled out and not seen as surely before."""
    surest: dict[str, float] = {}
    for one in found:
        surest[one.kind] = max(one.score, surest.get(one.kind, -1.0))
    return [*found, *(one for one in spelled if one.score > surest.get(one.kind, -1.0))]

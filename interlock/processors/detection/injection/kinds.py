"""The kinds of prompt injection, and how a row of a table becomes a clue.

The tables (``override_clues``, ``persona_clues``, ``leak_clues``) are written for casefolded text with look-alikes
folded. Weights are judgements: what alone is proof is near 0.9; what honest texts say too is below 0.5, so that it
takes two such signs and a bit. They were set looking at one half of the development data (docs/accuracy.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from interlock.processors.detection.clues import Clue, with_blanks

__all__ = ["INJECTION_KINDS", "InjectionKind", "clues_of"]

InjectionKind = Literal[
    "injection", "jailbreak", "tool-exfiltration", "data-exfiltration", "system-override", "role-manipulation"
]

INJECTION_KINDS: Final[tuple[InjectionKind, ...]] = (
    "injection",
    "jailbreak",
    "tool-exfiltration",
    "data-exfiltration",
    "system-override",
    "role-manipulation",
)

_WHITE: Final = r"\s\v\x{85}\x{a0}\x{2800}"
_BLANK: Final = rf"[{_WHITE}]*[{_WHITE}*_\"'`~,()\[\]-]{{1,4}}[{_WHITE}]*"


def clues_of(kind: InjectionKind, rows: Iterable[tuple[str, float, str]]) -> list[Clue]:
    """Clues from rows of ``(name, weight, pattern)``.

    A blank in a pattern (outside of character classes) stands for white space or the marks people put between words.
    """
    return [Clue(kind, name, weight, with_blanks(pattern, _BLANK)) for name, weight, pattern in rows]

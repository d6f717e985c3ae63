"""What the words around a sign do to it: attacks that are quoted, asked about, forbidden or described are not made."""

from __future__ import annotations

from typing import Final

from interlock.processors.detection.clues import Sighting, with_blanks
from interlock.processors.detection.patterns import Pattern

__all__ = ["discount"]

_BEFORE: Final = 90
_QUOTE_REACH: Final = 120

_NEGATED: Final = Pattern(
    with_blanks(
        r"\b(?:do not|don't|never|not to|mustn't|must not|should not|shouldn't|avoid|refuses? to|"
        r"cannot be (?:made|told) to|won't|will not|without|against|resist\w*|important not)\b[^.!?\n]{0,12}\z"
    )
)
_MENTIONED: Final = Pattern(
    with_blanks(
        r"\b(?:what (?:does|do|is|are|happens)|mean(?:s|ing)?|phrases?|the (?:words?|sentence|string|text|term)|"
        r"called|e\.g\.?|"
        r"such as|for example|examples?|known as|attacks?|attackers?|injections?|detect\w*|block\w*|prevent\w*|"
        r"defend\w*|protect\w*|classif\w+|explain\w*|why|how (?:can|do|does|could|would|to)|"
        r"someone|somebody|people|hackers?|malicious|"
        r"says?|said|wrote|writes?|asked|tries|tried|trying|attempts?|filter\w*|recogni[sz]\w+|titled?|headline|article|"
        r"paper|translate|test case|sample|vulnerab\w+|trick\w*|"
        r"(?:make|get|cause|force|convince)(?:s|ing)? (?:the |an |a |my |your )?"
        r"(?:model|llm|ai|bot|chatbot|assistant))\b"
        r"[^.!?\n]{0,70}\z"
    )
)
_MY_OWN: Final = Pattern(with_blanks(r"\bmy (?:previous|prior|earlier|last)\b"))
_JSON_VALUE: Final = Pattern(r"[:\[,{]\s*\z")


def discount(text: str, seen: Sighting) -> float:
    """What to multiply a sighting's weight by, from 0 to 1.

    Args:
        text: The text it was seen in, casefolded.
        seen: The sighting.
    """
    before = text[max(0, seen.start - _BEFORE) : seen.start]
    factor = 1.0
    if _NEGATED.find(before) is not None and seen.clue.name not in _NEGATIVE_THEMSELVES:
        factor *= 0.25
    if _MENTIONED.find(before) is not None:
        factor *= 0.55
    if _is_quoted(text, seen.start, seen.end):
        factor *= 0.5
    if seen.clue.kind == "injection" and _MY_OWN.find(text[seen.start : seen.end]) is not None:
        factor *= 0.45
    return factor


_NEGATIVE_THEMSELVES: Final = frozenset({"never-refuse", "never-say-cannot", "no-apology", "no-limits", "in-character"})
"""Signs that begin with, or live behind, a "never" of their own."""


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether quotation marks stand close around on one line. The marks of a JSON string do not count."""
    for mark in "\"'`":
        opening = text.rfind(mark, max(0, start - _QUOTE_REACH), start + 1)
        if opening < 0 or (opening > 0 and text[opening - 1].isalnum()):
            continue
        closing = text.find(mark, end - 1, end + _QUOTE_REACH)
        if closing < 0 or text[closing + 1 : closing + 2].isalnum() or "\n" in text[opening:closing]:
            continue
        if _JSON_VALUE.find(text[max(0, opening - 8) : opening]) is None:
            return True
    return False

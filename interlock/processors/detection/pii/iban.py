"""International bank account numbers (ISO 13616): the country's length and form, and the check digits (mod 97)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stdnum import iban

from interlock.processors.detection.finding import Finding
from interlock.processors.detection.patterns import Pattern
from interlock.processors.detection.pii.recogniser import PIIKind, begins_alone, ends_alone, found
from interlock.processors.detection.scan_copy import ScanCopy

__all__ = ["IBANRecogniser"]

_BEGINNING: Final = Pattern(r"\b[a-z]{2}[0-9]{2}[ -]?[a-z0-9]")

_COUNTRIES: Final[dict[int, str]] = {
    15: "no",
    16: "be",
    18: "dk fi fk fo gl nl sd",
    19: "mk si",
    20: "at ba ee kz lt lu mn xk",
    21: "ch hr li lv",
    22: "bg bh cr de gb ge ie me rs va",
    23: "ae gi il iq om so tl",
    24: "ad cz es md pk ro sa se sk tn vg",
    25: "ly pt st",
    26: "is tr",
    27: "bi dj fr gr it mc mr sm",
    28: "al az by cy do gt hn hu lb ni pl sv",
    29: "br eg ps qa ua",
    30: "jo kw mu ye",
    31: "mt sc",
    32: "lc",
    33: "ru",
}
"""Countries by the length of their account numbers, in characters (SWIFT, IBAN Registry)."""

_LENGTHS: Final = {country: length for length, countries in _COUNTRIES.items() for country in countries.split()}


class IBANRecogniser:
    """Account numbers in one piece or in groups."""

    kind: PIIKind = "iban"

    def find(self, copy: ScanCopy, /) -> Iterator[Finding]:
        layer = copy.folded
        for match in _BEGINNING.find_all(layer.text):
            start = match.span()[0]
            length = _LENGTHS.get(layer.text[start : start + 2])
            if length is None:
                continue
            end, number = _take(layer.text, start, length)
            alone = begins_alone(layer.text, start, separators="") and ends_alone(layer.text, end)
            if len(number) == length and alone and iban.is_valid(number.upper()):
                yield from found(layer, self.kind, start, end, 0.95, "length, form and check digits fit")


def _take(text: str, start: int, length: int) -> tuple[int, str]:
    """Read so many letters and digits; single blanks and hyphens may stand between them."""
    taken: list[str] = []
    at = start
    while len(taken) < length and at < len(text):
        character = text[at]
        if character.isascii() and character.isalnum():
            taken.append(character)
        elif character not in " -" or text[at - 1] in " -":
            break
        at += 1
    return at, "".join(taken)

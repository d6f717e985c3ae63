"""International bank account numbers (ISO 13616): the country's length and form, and the check digits (mod 97)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from stdnum import iban

from interlock.processors.detection.pii.recogniser import Candidate, NumberRecogniser, ends_alone

__all__ = ["IBANRecogniser"]

_OPEN: Final = re.compile(r"(?<![0-9a-z_])[a-z](?:[a-z](?:[0-9]?\Z|[0-9]{2})|\Z)")
"""The first four characters, or what there is of them at the end of a text."""
_ENDS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789 -.:")

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
_FIRST_LETTERS: Final = frozenset(country[0] for country in _LENGTHS)


class IBANRecogniser(NumberRecogniser):
    """Account numbers in one piece or in groups."""

    kind = "iban"
    longest_match = 2 * max(_COUNTRIES) - 1
    look_behind = 1
    look_ahead = 2
    begins = re.compile(r"(?<![0-9a-z_])[a-z]{2}[0-9]{2}[ \-]?[a-z0-9]")

    def candidates(self, text: str, start: int) -> Iterator[Candidate]:
        length = _LENGTHS.get(text[start : start + 2])
        if length is None:
            return
        end, number = _take(text, start, length)
        if len(number) == length and ends_alone(text, end) and iban.is_valid(number.upper()):
            yield Candidate(end, 0.95, "length, form and check digits fit")

    def open_at(self, text: str, start: int, /) -> int:
        length = len(text)
        if length == start or text[-1] not in _ENDS:
            return length
        for place in _OPEN.finditer(text, max(start, length - self.longest_match - self.look_ahead + 1)):
            if _may_become(text, place.start()):
                return place.start()
        return length


def _may_become(text: str, start: int) -> bool:
    """Whether what begins here may be the beginning of a number, or one whose end is not yet seen to be free."""
    beginning = text[start : start + 2]
    if len(beginning) < 2:
        return beginning in _FIRST_LETTERS
    length = _LENGTHS.get(beginning)
    if length is None:
        return False
    end, number = _take(text, start, length)
    if len(number) < length:
        return end == len(text)
    return len(text) - end < 2 and text[end:] in ("", "-", ".", ":")


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

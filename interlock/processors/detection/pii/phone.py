"""Phone numbers, checked against the numbering plans that ``phonenumbers`` (Google's libphonenumber) carries.

Without a region: international forms (``+49 170 1234567``, ``0041 …``), United States forms (``(415) 555-2671``,
``1-415-555-2671 x12``), national numbers in groups that begin with a trunk zero (``0791 264 33 18``), and any national
form right after words such as "phone:" or "call me at". With a region also that region's national forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import phonenumbers

from interlock.errors import DefinitionError
from interlock.processors.detection.patterns import Pattern
from interlock.processors.detection.pii.recogniser import Candidate, NumberRecogniser, first_open, is_word

__all__ = ["PhoneRecogniser"]

_NEXT: Final = r"[ ().\-/]{0,2}[0-9]"
_EXTENSION: Final = r"(?: ?(?:,|;)? ?(?:x|ext\.?|extension) ?[0-9]{1,6})?"
_INTERNATIONAL: Final = re.compile(rf"(?:\+ ?|00)[1-9](?:{_NEXT}){{6,15}}" + _EXTENSION)
_UNITED_STATES: Final = re.compile(
    r"(?:1[-. ]?)?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[-. ])[0-9]{3}[-. ][0-9]{4}" + _EXTENSION
)
_LABELLED: Final = re.compile(rf"[+(]?[0-9](?:{_NEXT}){{5,14}}" + _EXTENSION)
_LABEL: Final = Pattern(
    r"\b(?:(?:tele)?phones?|tel|mobile|cell(?:ular)?|fax|whats ?app|sms|desk|hotline|dial|"
    r"telefon(?:nummer)?|handy|movil|"
    r"(?:call|text|ring|reach|contact|message|phone)(?: (?:me|us|him|her|them|back|you)){0,3} (?:at|on|under))\b"
    r"(?:[\s:=#.,\-]|\b(?:number|no|nr|is|at|on|me|us|was|my|new)\b){0,12}\z"
)
_LABEL_SPAN: Final = 100
"""Characters before a number in which it may be called one: the longest such words, and twelve more words or signs."""
_TRUNK: Final = re.compile(r"0[1-9](?:[0-9]{1,3}(?: [0-9]{2,4}){2,3}|(?: [0-9]{2}){4})(?![0-9a-z_])")
_TRUNK_DIGITS: Final = range(9, 12)
_NATIONAL: Final = re.compile(rf"[(]?[0-9](?:{_NEXT}){{5,14}}" + _EXTENSION)
_TIME_OFFSET: Final = re.compile(r"\+ ?(?:0\d|1[0-4])(?:00|30|45)(?!\d)")
_GROUP_END: Final = re.compile(r"[0-9](?=[ ().\-/])")
_DATE: Final = re.compile(r"(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4})(?!\d)")

_BEGINS: Final = r"(?<![0-9a-z_$€£#])[+(0-9]"
_WORD_BEGUN: Final = r"(?:x|e(?:x(?:t(?:\.|e(?:n(?:s(?:i(?:on?)?)?)?)?)?)?)?)"
_EXTENSION_BEGUN: Final = rf" ?[,;]? ?(?:{_WORD_BEGUN} ?[0-9]{{0,6}}[-./]?)?"
_OPEN: Final = re.compile(rf"{_BEGINS}(?:(?:{_NEXT}){{0,16}}[ ().\-/]{{0,2}}|(?:{_NEXT}){{5,16}}{_EXTENSION_BEGUN})\Z")
_ENDS: Final = frozenset("0123456789+ ().-/,;extnsio")


class PhoneRecogniser(NumberRecogniser):
    """Phone numbers.

    Args:
        region: Whose national forms count too: two letters (``"DE"``). Default: none.
        threshold: Of candidates below this score it takes no notice.

    Raises:
        DefinitionError: No numbering plan is known for the region.
    """

    kind = "phone"
    longest_match = 2 + 1 + 15 * 3 + 19
    look_behind = _LABEL_SPAN
    look_ahead = 2
    begins = re.compile(rf"{_BEGINS}(?=(?:{_NEXT}){{5}})")

    def __init__(self, region: str | None = None, *, threshold: float = 0.0) -> None:
        super().__init__(threshold=threshold)
        if region is not None and region not in phonenumbers.SUPPORTED_REGIONS:
            raise DefinitionError(
                f"no numbering plan for region {region!r}; give two capital letters such as 'US' or 'DE'",
                subject="phone numbers",
            )
        self._region = region

    def candidates(self, text: str, start: int) -> Iterator[Candidate]:
        if _begins_free(text, start, " :/"):
            yield from _united_states(text, start)
        if not _begins_free(text, start):
            return
        yield from _international(text, start)
        yield from _labelled(text, start)
        yield from _trunk(text, start)
        if self._region is not None:
            yield from _national(text, start, self._region)

    def open_at(self, text: str, start: int, /) -> int:
        return first_open(
            text, max(start, len(text) - self.longest_match - self.look_ahead + 1), _ENDS, _OPEN, _may_begin
        )


def _may_begin(text: str, at: int) -> bool:
    return text[at] in "+(" or _begins_free(text, at, " :/")


def _international(text: str, start: int) -> Iterator[Candidate]:
    match = _INTERNATIONAL.match(text, start)
    if match is None:
        return
    plus = text[start] == "+"
    best: tuple[float, int] | None = None
    for cut in _cuts(text, start, match.end()):
        if not _ends_free(text, cut):
            continue
        sureness = _sureness(text[start:cut] if plus else "+" + text[start + 2 : cut], None)
        if sureness == 2:
            best = (0.9 if plus else 0.75, cut)
            break
        if sureness == 1 and best is None and plus:
            best = (0.75, cut)
    if best is not None:
        yield Candidate(best[1], best[0], "a number in international form")


def _united_states(text: str, start: int) -> Iterator[Candidate]:
    match = _UNITED_STATES.match(text, start)
    if match is None or not _ends_free(text, match.end()):
        return
    number = match.group()
    laid_out = "-" in number or "(" in number or "." in number
    if not laid_out and not _begins_free(text, start):
        return
    if _sureness(number, "US") == 2:
        yield Candidate(match.end(), 0.85, "a valid number in United States form")
    elif laid_out:
        yield Candidate(match.end(), 0.65, "a number laid out as in the United States")


def _labelled(text: str, start: int) -> Iterator[Candidate]:
    match = _LABELLED.match(text, start)
    if match is None or not _ends_free(text, match.end()) or _DATE.match(text, start):
        return
    if _LABEL.find(text[max(0, start - _LABEL_SPAN) : start]) is not None:
        yield Candidate(match.end(), 0.75, "a number, called a phone number")


def _trunk(text: str, start: int) -> Iterator[Candidate]:
    match = _TRUNK.match(text, start)
    if match is None or not _ends_free(text, match.end()):
        return
    if match.end() - start - text.count(" ", start, match.end()) in _TRUNK_DIGITS:
        yield Candidate(match.end(), 0.6, "grouped digits behind a trunk zero")


def _national(text: str, start: int, region: str) -> Iterator[Candidate]:
    match = _NATIONAL.match(text, start)
    if match is None or _DATE.match(text, start):
        return
    for cut in _cuts(text, start, match.end()):
        number = text[start:cut]
        if _ends_free(text, cut) and _sureness(number, region) == 2:
            sure = not number.isdigit() or number[0] == "0"
            yield Candidate(cut, 0.8 if sure else 0.55, f"a valid number in the form of {region}")
            return


def _sureness(number: str, region: str | None) -> int:
    """2: a number of a plan; 1: one by its length; 0: none."""
    try:
        parsed = phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException:
        return 0
    if phonenumbers.is_valid_number(parsed):
        return 2
    return 1 if phonenumbers.is_possible_number(parsed) else 0


def _cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Where the number may end: after the last group, or some groups earlier (a date or an amount may follow)."""
    yield end
    ends = [m.end() for m in _GROUP_END.finditer(text, start + 7, end)]
    yield from reversed(ends[-4:])


def _begins_free(text: str, start: int, separating: str = "") -> bool:
    """Whether what begins here continues no word, number or id.

    A plus sign or a bracket begins a number, whatever digits stand before it; what else begins one behind a digit are
    the signs of ``separating``.
    """
    before = text[max(0, start - 2) : start]
    if before and (is_word(before[-1]) or before[-1] in "$€£#"):
        return False
    if len(before) == 2 and before[-1] in "-./: " and before[0].isdigit():
        begins = text[start] in "+(" or before[-1] in separating
        return begins and not _TIME_OFFSET.match(text, start)
    return True


def _ends_free(text: str, end: int) -> bool:
    """Whether no word, number or id goes on here."""
    after = text[end : end + 2]
    return not (after and (is_word(after[0]) or (after[0] in "-./" and after[1:].isdigit())))

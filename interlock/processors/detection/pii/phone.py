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
from interlock.processors.detection.finding import Finding
from interlock.processors.detection.patterns import Pattern
from interlock.processors.detection.pii.recogniser import PIIKind, found
from interlock.processors.detection.scan_copy import Layer, ScanCopy

__all__ = ["PhoneRecogniser"]

_EXTENSION: Final = r"(?: ?(?:,|;)? ?(?:x|ext\.?|extension) ?[0-9]{1,6})?"
_INTERNATIONAL: Final = Pattern(r"(?:\+ ?|\b00)[1-9](?:[ ().\-/]{0,2}[0-9]){6,15}" + _EXTENSION)
_UNITED_STATES: Final = Pattern(
    r"(?:1[-. ]?)?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[-. ])[0-9]{3}[-. ][0-9]{4}" + _EXTENSION
)
_LONG_DISTANCE: Final = re.compile(r"1[-. ]?")
_LABELLED: Final = Pattern(
    r"\b(?:(?:tele)?phones?|tel|mobile|cell(?:ular)?|fax|whats ?app|sms|desk|hotline|dial|"
    r"telefon(?:nummer)?|handy|movil|"
    r"(?:call|text|ring|reach|contact|message|phone)(?: (?:me|us|him|her|them|back|you))* (?:at|on|under))\b"
    r"(?:[\s:=#.,\-]|\b(?:number|no|nr|is|at|on|me|us|was|my|new)\b){0,12}"
    r"([+(]?[0-9](?:[ ().\-/]{0,2}[0-9]){5,14}" + _EXTENSION + ")"
)
_TRUNK: Final = Pattern(r"\b0[1-9](?:[0-9]{1,3}(?: [0-9]{2,4}){2,3}|(?: [0-9]{2}){4})\b")
_TRUNK_DIGITS: Final = range(9, 12)
_NATIONAL: Final = Pattern(r"[(]?[0-9](?:[ ().\-/]{0,2}[0-9]){5,14}" + _EXTENSION)
_TIME_OFFSET: Final = re.compile(r"\+ ?(?:0\d|1[0-4])(?:00|30|45)(?!\d)")
_GROUP_END: Final = re.compile(r"[0-9](?=[ ().\-/])")
_DATE: Final = re.compile(r"(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4})(?!\d)")


class PhoneRecogniser:
    """Phone numbers.

    Args:
        region: Whose national forms count too: two letters (``"DE"``). Default: none.

    Raises:
        DefinitionError: No numbering plan is known for the region.
    """

    kind: PIIKind = "phone"

    def __init__(self, region: str | None = None) -> None:
        if region is not None and region not in phonenumbers.SUPPORTED_REGIONS:
            raise DefinitionError(
                f"no numbering plan for region {region!r}; give two capital letters such as 'US' or 'DE'",
                subject="phone numbers",
            )
        self._region = region

    def find(self, copy: ScanCopy, /) -> Iterator[Finding]:
        layer = copy.folded
        yield from self._international(layer)
        yield from self._united_states(layer)
        yield from self._labelled(layer)
        yield from self._trunk(layer)
        if self._region is not None:
            yield from self._national(layer, self._region)

    def _international(self, layer: Layer) -> Iterator[Finding]:
        for match in _INTERNATIONAL.find_all(layer.text):
            start, end = match.span()
            plus = layer.text[start] == "+"
            best: tuple[float, int] | None = None
            for cut in _cuts(layer.text, start, end):
                if not _is_free(layer.text, start, cut):
                    continue
                number = layer.text[start:cut] if plus else "+" + layer.text[start + 2 : cut]
                sureness = _sureness(number, None)
                if sureness == 2:
                    best = (0.9 if plus else 0.75, cut)
                    break
                if sureness == 1 and best is None and plus:
                    best = (0.75, cut)
            if best is not None:
                yield from found(layer, self.kind, start, best[1], best[0], "a number in international form")

    def _united_states(self, layer: Layer) -> Iterator[Finding]:
        for match in _UNITED_STATES.find_all(layer.text):
            start, end = match.span()
            if not _is_free(layer.text, start, end, " :/"):
                prefix = _LONG_DISTANCE.match(layer.text, start)
                start = start if prefix is None else prefix.end()
            text = layer.text[start:end]
            laid_out = "-" in text or "(" in text or "." in text
            if not _is_free(layer.text, start, end, " :/" if laid_out else ""):
                continue
            if _sureness(text, "US") == 2:
                yield from found(layer, self.kind, start, end, 0.85, "a valid number in United States form")
            elif laid_out:
                yield from found(layer, self.kind, start, end, 0.65, "a number laid out as in the United States")

    def _labelled(self, layer: Layer) -> Iterator[Finding]:
        for match in _LABELLED.find_all(layer.text):
            start, end = match.span(1)
            if _is_free(layer.text, start, end) and not _DATE.match(layer.text, start):
                yield from found(layer, self.kind, start, end, 0.75, "a number, called a phone number")

    def _trunk(self, layer: Layer) -> Iterator[Finding]:
        for match in _TRUNK.find_all(layer.text):
            start, end = match.span()
            if _is_free(layer.text, start, end) and end - start - layer.text.count(" ", start, end) in _TRUNK_DIGITS:
                yield from found(layer, self.kind, start, end, 0.6, "grouped digits behind a trunk zero")

    def _national(self, layer: Layer, region: str) -> Iterator[Finding]:
        for match in _NATIONAL.find_all(layer.text):
            start, end = match.span()
            if _DATE.match(layer.text, start):
                continue
            for cut in _cuts(layer.text, start, end):
                number = layer.text[start:cut]
                if _is_free(layer.text, start, cut) and _sureness(number, region) == 2:
                    sure = not number.isdigit() or number[0] == "0"
                    yield from found(
                        layer, self.kind, start, cut, 0.8 if sure else 0.55, f"a valid number in the form of {region}"
                    )
                    break


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


def _is_free(text: str, start: int, end: int, separating: str = "") -> bool:
    """Whether the number is no part of a longer word, number or id.

    A plus sign or a bracket begins a number, whatever digits stand before it; what else begins one behind a digit are
    the signs of ``separating``.
    """
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before and (_is_word(before[-1]) or before[-1] in "$€£#"):
        return False
    if len(before) == 2 and before[-1] in "-./: " and before[0].isdigit():
        begins = text[start] in "+(" or before[-1] in separating
        if not begins or _TIME_OFFSET.match(text, start):
            return False
    return not (after and (_is_word(after[0]) or (after[0] in "-./" and after[1:].isdigit())))


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")

"""Payment card numbers.

A number counts when its Luhn check digit is right (ISO/IEC 7812-1, annex B) and its first digits and length belong to
an issuer. Ranges as the schemes publish them: Visa 4; Mastercard 51-55 and 2221-2720; American Express 34, 37; Diners
300-305, 3095, 36, 38, 39; Discover 6011, 644-649, 65; JCB 3528-3589, 1800, 2131; UnionPay 62, 81; Maestro; Mir
2200-2204; RuPay 60, 508; Troy 9792. Rare lengths (Visa's old 13 digits, its new 19, which product codes and other ids
share) and ranges nobody issues count only right after a word such as "card".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from interlock.processors.detection.finding import Finding
from interlock.processors.detection.patterns import Pattern
from interlock.processors.detection.pii.recogniser import Label, PIIKind, Row, found
from interlock.processors.detection.scan_copy import ScanCopy

__all__ = ["CreditCardRecogniser", "has_issuer", "luhn"]

_RUN: Final = Pattern(r"[0-9](?:(?: ?[-.] ?| )?[0-9]){11,}")
_DIGITS: Final = re.compile(r"[0-9]+")
_LABEL: Final = Label(r"cards?|credit|debit|visa|master ?card|amex|american express|maestro|pan|karte|tarjeta|carte")

_ISSUERS: Final[tuple[tuple[int, int, tuple[int, ...]], ...]] = (  # first prefix, last prefix, numbers of digits
    (4, 4, (16,)),
    (51, 55, (16,)),
    (2221, 2720, (16,)),
    (34, 34, (15,)),
    (37, 37, (15,)),
    (300, 305, (14, 16)),
    (3095, 3095, (14, 16)),
    (36, 36, (14, 16)),
    (38, 39, (14, 16)),
    (6011, 6011, (16,)),
    (644, 649, (16,)),
    (65, 65, (16,)),
    (3528, 3589, (16,)),
    (1800, 1800, (15,)),
    (2131, 2131, (15,)),
    (62, 62, (16, 19)),
    (81, 81, (16, 19)),
    *((p, p, (12, 16, 19)) for p in (5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763)),
    (2200, 2204, (16,)),
    (60, 60, (16,)),
    (508, 508, (16,)),
    (9792, 9792, (16,)),
)


def luhn(digits: str) -> bool:
    """Whether the last digit is the Luhn check digit of those before it.

    Example:
        >>> luhn("4111111111111111"), luhn("4111111111111112")
        (True, False)
    """
    total = 0
    for place, character in enumerate(reversed(digits)):
        value = ord(character) - 48
        if place % 2:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return total % 10 == 0


def has_issuer(digits: str) -> bool:
    """Whether numbers of this length and beginning are issued in numbers.

    Example:
        >>> has_issuer("2221000000000009"), has_issuer("1748503543012")
        (True, False)
    """
    return any(
        len(digits) in lengths and first <= int(digits[: len(str(first))]) <= last for first, last, lengths in _ISSUERS
    )


class CreditCardRecogniser:
    """Card numbers, in one piece or in the groups they are printed in."""

    kind: PIIKind = "credit-card"

    def find(self, copy: ScanCopy, /) -> Iterator[Finding]:
        layer = copy.folded
        for run in _RUN.find_all(layer.text):
            judged = {span: _judge(layer.text, *span) for span in _candidates(layer.text, *run.span())}
            numbers = {span: verdict for span, verdict in judged.items() if verdict[0]}
            row = Row(layer.text, numbers, "-.")
            for (start, end), (score, explanation) in numbers.items():
                begins = not _continues(layer.text, start) or row.follows(start)
                if begins and (not _goes_on(layer.text, end) or row.goes_on(end)):
                    yield from found(layer, self.kind, start, end, score, explanation)


def _judge(text: str, start: int, end: int) -> tuple[float, str]:
    digits = "".join(_DIGITS.findall(text[start:end]))
    if not luhn(digits):
        return 0.0, ""
    if has_issuer(digits):
        return 0.95, "check digit and issuer range fit"
    if digits.strip("0") and _LABEL.before(text, start):
        return 0.75, "check digit fits, called a card"
    return 0.0, ""


def _candidates(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of a run of digits and separators that are laid out as card numbers are."""
    groups = [m.span() for m in _DIGITS.finditer(text, start, end)]
    if _is_inside_word(text, start, end):
        groups = groups[1:] if _touches(text, start - 1) else groups
        groups = groups[:-1] if groups and _touches(text, groups[-1][1]) else groups
    if 12 <= len(groups) <= 19 and all(b - a == 1 for a, b in groups):
        yield groups[0][0], groups[-1][1]
        return
    for n, (first, stop) in enumerate(groups):
        if 12 <= stop - first <= 19:
            yield first, stop
        if stop - first != 4:
            continue
        total, separator = 4, None
        for (_, previous), (at, last) in zip(groups[n : n + 4], groups[n + 1 : n + 5], strict=False):
            between = text[previous:at]
            if last - at > 7 or (separator is not None and between != separator):
                break
            separator = between
            total += last - at
            if 12 <= total <= 19:
                yield first, last
            if last - at < 4:
                break


def _continues(text: str, start: int) -> bool:
    """Whether a decimal point or a hyphen ties the number to digits before it."""
    return start >= 2 and text[start - 1] in ".-" and text[start - 2].isdigit()


def _goes_on(text: str, end: int) -> bool:
    """Whether a decimal point ties the number to digits after it."""
    return text[end : end + 1] == "." and text[end + 1 : end + 2].isdigit()


def _is_inside_word(text: str, start: int, end: int) -> bool:
    return _touches(text, start - 1) or _touches(text, end)


def _touches(text: str, at: int) -> bool:
    return 0 <= at < len(text) and text[at].isascii() and (text[at].isalnum() or text[at] == "_")

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
from itertools import pairwise
from typing import Final

from interlock.processors.detection.pii.recogniser import Candidate, Label, NumberRecogniser, is_word

__all__ = ["CreditCardRecogniser", "has_issuer", "luhn"]

_BETWEEN: Final = r"(?: ?[-.] ?| )"
_GROUP: Final = re.compile(rf"{_BETWEEN}([0-9]+)")
_DIGITS: Final = re.compile(r"[0-9]+")
_GROUP_BEGINS: Final = re.compile(r"(?<![0-9a-z_])[0-9]")
_SINGLE_BEFORE: Final = re.compile(rf"(?<![0-9])[0-9]{_BETWEEN}\Z")
_LABEL: Final = Label(r"cards?|credit|debit|visa|master ?card|amex|american express|maestro|pan|karte|tarjeta|carte")
_LONGEST: Final = 19 + 18 * 3
"""Nineteen digits, each by itself, with a separator between blanks."""
_MOST_GROUPS: Final = 20
_RUN_TO_END: Final = re.compile(rf"([0-9]+)(?:{_BETWEEN}[0-9]+)*(?: ?[-.]? ?)\Z")
_IN_RUN: Final = "0123456789 .-"

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


class CreditCardRecogniser(NumberRecogniser):
    """Card numbers, in one piece or in the groups they are printed in."""

    kind = "credit-card"
    longest_match = _LONGEST
    look_behind = _LONGEST + 1 + _LABEL.span
    look_ahead = _LONGEST + 1
    begins = re.compile(rf"(?<![0-9a-z_])[0-9](?=(?:{_BETWEEN}?[0-9]){{11}})")

    def candidates(self, text: str, start: int) -> Iterator[Candidate]:
        numbers = list(_numbers(text, start))
        if not numbers or (_continues(text, start) and not _follows(text, start)):
            return
        for number in numbers:
            if not _goes_on(text, number.end) or _has_next(text, number.end):
                yield number

    def open_at(self, text: str, start: int, /) -> int:
        length = len(text)
        if length == start or text[-1] not in _IN_RUN:
            return length
        low = max(start, length - self.longest_match - self.look_ahead + 1)
        for place in _GROUP_BEGINS.finditer(text, max(low, len(text.rstrip(_IN_RUN)))):
            at = place.start()
            run = _RUN_TO_END.match(text, at)
            if run is None or not _may_begin(run.end(1) - at, is_last=run.end(1) == length):
                continue
            if not _continues(text, at) or _follows(text, at):
                return at
        return length


def _numbers(text: str, start: int) -> Iterator[Candidate]:
    """The numbers that begin at ``start``, whatever stands around them."""
    for end in _ends(text, start):
        digits = "".join(_DIGITS.findall(text[start:end]))
        if not luhn(digits):
            continue
        if has_issuer(digits):
            yield Candidate(end, 0.95, "check digit and issuer range fit")
        elif digits.strip("0") and _LABEL.before(text, start):
            yield Candidate(end, 0.75, "check digit fits, called a card")


def _ends(text: str, start: int) -> Iterator[int]:
    """Where the digits and separators end that are laid out as card numbers are."""
    groups = _groups(text, start)
    if groups and _touches(text, groups[-1][1]):
        groups.pop()
    if all(b - a == 1 for a, b in groups):
        if 12 <= len(groups) <= 19 and _SINGLE_BEFORE.search(text, max(0, start - 5), start) is None:
            yield groups[-1][1]
        return
    first, stop = groups[0]
    if 12 <= stop - first <= 19:
        yield stop
    if stop - first != 4:
        return
    total, separator = 4, None
    for (_, previous), (at, last) in pairwise(groups[:5]):
        between = text[previous:at]
        if last - at > 7 or (separator is not None and between != separator):
            break
        separator = between
        total += last - at
        if 12 <= total <= 19:
            yield last
        if last - at < 4:
            break


def _groups(text: str, start: int) -> list[tuple[int, int]]:
    groups: list[tuple[int, int]] = []
    group = _DIGITS.match(text, start)
    at = start
    while group is not None and len(groups) < _MOST_GROUPS:
        groups.append(group.span(group.re.groups))
        at = group.end()
        group = _GROUP.match(text, at)
    return groups


def _may_begin(digits: int, *, is_last: bool) -> bool:
    """Whether a number may begin with a group of so many digits, or of that many so far."""
    return digits <= 19 if is_last else digits in (1, 4) or 12 <= digits <= 19


def _continues(text: str, start: int) -> bool:
    """Whether a decimal point or a hyphen ties the number to digits before it."""
    return start >= 2 and text[start - 1] in ".-" and text[start - 2].isdigit()


def _follows(text: str, start: int) -> bool:
    """Whether a card number ends just before the separator at ``start - 1``."""
    end = start - 1
    return any(
        number.end == end
        for place in _GROUP_BEGINS.finditer(text, max(0, end - _LONGEST), end)
        for number in _numbers(text, place.start())
    )


def _goes_on(text: str, end: int) -> bool:
    """Whether a decimal point ties the number to digits after it."""
    return text[end : end + 1] == "." and text[end + 1 : end + 2].isdigit()


def _has_next(text: str, end: int) -> bool:
    """Whether what stands behind the point is a card number itself."""
    return any(_numbers(text, end + 1))


def _touches(text: str, at: int) -> bool:
    return 0 <= at < len(text) and is_word(text[at])

"""United States social security numbers.

The rules are the Social Security Administration's: no area 000, 666 or 900-999, no group 00, no serial 0000, and not
the numbers that were printed in advertisements (checked by ``python-stdnum``). Hyphens make it one; with blanks, or
without separators, only right after words that say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from stdnum.us import ssn

from interlock.processors.detection.pii.recogniser import (
    Candidate,
    Label,
    NumberRecogniser,
    beginnings,
    begins_alone,
    ends_alone,
    first_open,
)

__all__ = ["SSNRecogniser"]

_FORMS: Final = (r"ddd-dd-dddd", r"ddd dd dddd", r"ddd\.dd\.dddd", r"ddddddddd")
_DIGIT: Final = "[0-9]"
_UNITS: Final = tuple(tuple(_DIGIT if u == "d" else u for u in re.findall(r"\\.|.", form)) for form in _FORMS)
_NUMBER: Final = "|".join("".join(units) for units in _UNITS)
_NUMBERS: Final = re.compile(_NUMBER)
_BEGUN: Final = "|".join(beginnings(units[:-1]) for units in _UNITS)
_ROW: Final = "-.:/"
"""What may stand between numbers in a row: they do not continue one another."""
_OPEN: Final = re.compile(rf"(?<![0-9a-z_])(?:(?:{_NUMBER})(?:[{_ROW}](?:{_BEGUN})?)?|{_BEGUN})\Z")
_ENDS: Final = frozenset("0123456789 " + _ROW)
_LABEL: Final = Label(r"ssns?|social security|soc(?:ial)? sec(?:urity)?|social insurance|tax ?payer id", reach=24)


class SSNRecogniser(NumberRecogniser):
    """Social security numbers."""

    kind = "ssn"
    longest_match = 11
    look_behind = _LABEL.span
    look_ahead = 12
    begins = re.compile(rf"(?<![0-9a-z_])(?:{_NUMBER})(?![0-9a-z_])")

    def candidates(self, text: str, start: int) -> Iterator[Candidate]:
        for match in (m for m in (_NUMBERS.match(text, start),) if m is not None and _is_valid(m.group())):
            number, end = match.group(), match.end()
            if not (begins_alone(text, start, "-." if "-" in number else _ROW) or _follows(text, start)):
                continue
            if not (ends_alone(text, end) or _goes_on(text, end)):
                continue
            if _LABEL.before(text, start):
                yield Candidate(end, 0.9, "a valid number, called a social security number")
            elif "-" in number:
                yield Candidate(end, 0.85, "a valid number in its printed form")

    def open_at(self, text: str, start: int, /) -> int:
        return first_open(
            text, max(start, len(text) - self.longest_match - self.look_ahead + 1), _ENDS, _OPEN, _may_begin
        )


def _may_begin(text: str, at: int) -> bool:
    return begins_alone(text, at, "-.") or _follows(text, at)


def _follows(text: str, start: int) -> bool:
    """Whether one of them ends just before the separator at ``start - 1``."""
    end = start - 1
    return (
        end > 0
        and text[end] in _ROW
        and any(at >= 0 and _NUMBERS.fullmatch(text, at, end) and _is_valid(text[at:end]) for at in (end - 11, end - 9))
    )


def _goes_on(text: str, end: int) -> bool:
    """Whether one of them begins just after the separator at ``end``."""
    following = _NUMBERS.match(text, end + 1)
    return text[end] in _ROW and following is not None and _is_valid(following.group())


def _is_valid(text: str) -> bool:
    return ssn.is_valid("".join(c for c in text if c.isdigit()))

"""United States social security numbers.

The rules are the Social Security Administration's: no area 000, 666 or 900-999, no group 00, no serial 0000, and not
the numbers that were printed in advertisements (checked by ``python-stdnum``). Hyphens make it one; with blanks, or
without separators, only right after words that say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stdnum.us import ssn

from interlock.processors.detection.finding import Finding
from interlock.processors.detection.patterns import Pattern
from interlock.processors.detection.pii.recogniser import Label, PIIKind, found, stands_alone
from interlock.processors.detection.scan_copy import ScanCopy

__all__ = ["SSNRecogniser"]

_CANDIDATE: Final = Pattern(
    r"[0-9]{3}-[0-9]{2}-[0-9]{4}|[0-9]{3} [0-9]{2} [0-9]{4}|[0-9]{3}\.[0-9]{2}\.[0-9]{4}|[0-9]{9}"
)
_LABEL: Final = Label(r"ssns?|social security|soc(?:ial)? sec(?:urity)?|social insurance|tax ?payer id", reach=24)


class SSNRecogniser:
    """Social security numbers."""

    kind: PIIKind = "ssn"

    def find(self, copy: ScanCopy, /) -> Iterator[Finding]:
        layer = copy.folded
        for match in _CANDIDATE.find_all(layer.text):
            start, end = match.span()
            text = layer.text[start:end]
            digits = "".join(c for c in text if c.isdigit())
            if not stands_alone(layer.text, start, end) or not ssn.is_valid(digits):
                continue
            if _LABEL.before(layer.text, start):
                yield from found(layer, self.kind, start, end, 0.9, "a valid number, called a social security number")
            elif "-" in text:
                yield from found(layer, self.kind, start, end, 0.85, "a valid number in its printed form")

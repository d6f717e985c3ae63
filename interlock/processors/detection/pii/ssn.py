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
from interlock.processors.detection.pii.recogniser import Label, PIIKind, Row, begins_alone, ends_alone, found
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
        spans = [m.span() for m in _CANDIDATE.find_all(layer.text)]
        spans = [(start, end) for start, end in spans if _is_valid(layer.text[start:end])]
        row = Row(layer.text, spans)
        for start, end in spans:
            text = layer.text[start:end]
            begins = begins_alone(layer.text, start, "-." if "-" in text else "-.:/") or row.follows(start)
            if not begins or not (ends_alone(layer.text, end) or row.goes_on(end)):
                continue
            if _LABEL.before(layer.text, start):
                yield from found(layer, self.kind, start, end, 0.9, "a valid number, called a social security number")
            elif "-" in text:
                yield from found(layer, self.kind, start, end, 0.85, "a valid number in its printed form")


def _is_valid(text: str) -> bool:
    return ssn.is_valid("".join(c for c in text if c.isdigit()))

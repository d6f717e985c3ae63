"""E-mail addresses: candidates by a pattern, each checked by ``email-validator`` (RFC 5321, 5322, 6531; no look-up)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from email_validator import EmailNotValidError, validate_email

from interlock.processors.detection.finding import Finding
from interlock.processors.detection.patterns import Pattern
from interlock.processors.detection.pii.recogniser import PIIKind, found
from interlock.processors.detection.scan_copy import ScanCopy

__all__ = ["EmailRecogniser"]

_CANDIDATE: Final = Pattern(
    r"[\pL\pM\pN!#$%&'*+/=?^_`{|}~.-]+@(?:[\pL\pM\pN](?:[\pL\pM\pN-]*[\pL\pM\pN])?\.)+[\pL][\pL\pM\pN-]*[\pL\pM\pN]"
)
_IDEOGRAPHIC_STOP: Final = re.compile(r"(?<=[A-Za-z0-9])\u3002(?=[A-Za-z0-9])")
"""Read as a dot in domain names (RFC 3490, 3.1); between other letters it ends a sentence."""
_LONGEST: Final = 254
"""Characters of an address that mail systems take (RFC 5321, 4.5.3.1.3, without the angle brackets)."""
_LONGEST_LOCAL: Final = 64
_FILE_ENDINGS: Final = frozenset(
    (
        "bmp",
        "css",
        "gif",
        "html",
        "jpeg",
        "jpg",
        "js",
        "json",
        "md",
        "pdf",
        "png",
        "py",
        "svg",
        "ts",
        "txt",
        "webp",
        "xml",
    )
)
"""``logo@2x.png`` is a file."""


class EmailRecogniser:
    """E-mail addresses. Reads the plain copy: an address in another script is one as it stands."""

    kind: PIIKind = "email"

    def find(self, copy: ScanCopy, /) -> Iterator[Finding]:
        layer = copy.plain
        if "@" not in layer.text:
            return
        text = _IDEOGRAPHIC_STOP.sub(".", layer.text)
        for match in _CANDIDATE.find_all(text):
            start, end = match.span()
            at = text.index("@", start)
            start = _local_start(text, max(start, at - _LONGEST_LOCAL), at)
            address = text[start:end]
            if len(address) <= _LONGEST and _is_address(address) and not _is_repository(text, start, end):
                yield from found(layer, self.kind, start, end, 0.95, "an address with a valid form")


def _local_start(text: str, start: int, at: int) -> int:
    """Where the local part begins, without quotes, brackets and signs that stand before it."""
    while start < at and text[start] in "'`{|}~*#=/?!.&^%$-+":
        start += 1
    for sign in "=`|/?&{}":
        start = max(start, text.rfind(sign, start, at) + 1)
    quote = text.rfind("'", start, at)
    return start if quote < 0 or text[quote - 1].isalnum() else quote + 1


def _is_address(address: str) -> bool:
    if address.rpartition(".")[2].lower() in _FILE_ENDINGS:
        return False
    try:
        validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        return "special-use" in str(error)  # a private network's address is somebody's address too
    return True


def _is_repository(text: str, start: int, end: int) -> bool:
    """``git@github.com:owner/name``."""
    return text.startswith("git@", start) and text[end : end + 1] in (":", "/")

"""E-mail addresses: candidates by a pattern, each checked by ``email-validator`` (RFC 5321, 5322, 6531; no look-up)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from email_validator import EmailNotValidError, validate_email

from interlock.processors.detection.finding import Finding
from interlock.processors.detection.patterns import Pattern
from interlock.processors.detection.pii.recogniser import PIIKind, found
from interlock.processors.detection.scan_copy import Layer, ScanCopy

__all__ = ["EmailRecogniser"]

_NAME: Final = r"[\pL\pM\pN!#$%&'*+/=?^_`{|}~.-]+"
_DOMAIN: Final = r"(?:[\pL\pM\pN](?:[\pL\pM\pN-]*[\pL\pM\pN])?\.)+[\pL][\pL\pM\pN-]*[\pL\pM\pN]"
_CANDIDATES: Final = Pattern(rf"{_NAME}(?:@{_NAME})*@{_DOMAIN}")
"""One address or a row of them without a blank between; the name of the next looks like more of a domain."""
_FIRST_DOMAIN: Final = Pattern(rf"\A{_DOMAIN}")
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
        for match in _CANDIDATES.find_all(text):
            yield from self._in_row(layer, text, *match.span())

    def _in_row(self, layer: Layer, text: str, start: int, end: int) -> Iterator[Finding]:
        for name, at, stop in _addresses(text, start, end):
            first = _local_start(text, max(name, at - _LONGEST_LOCAL), at)
            address = text[first:stop]
            if len(address) <= _LONGEST and _is_address(address) and not _is_repository(text, first, stop):
                yield from found(layer, self.kind, first, stop, 0.95, "an address with a valid form")


def _local_start(text: str, start: int, at: int) -> int:
    """Where the local part begins, without quotes, brackets and signs that stand before it."""
    while start < at and text[start] in "'`{|}~*#=/?!.&^%$-+":
        start += 1
    for sign in "=`|/?&{}":
        start = max(start, text.rfind(sign, start, at) + 1)
    quote = text.rfind("'", start, at)
    return start if quote < 0 or text[quote - 1].isalnum() else quote + 1


def _addresses(text: str, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Where the name, the sign and the end of each address of a row may be."""
    name, at = start, text.index("@", start)
    while at < end:
        following = text.find("@", at + 1, end)
        stop = end if following < 0 else following
        domain = _FIRST_DOMAIN.find(text[at + 1 : stop])
        if domain is None:
            name = at + 1
        else:
            close = at + 1 + domain.span()[1]
            if close == following:
                close = _without_next(text, at + 1, close)
            if name < at:
                yield name, at, close
            name = close
        at = stop


def _without_next(text: str, start: int, end: int) -> int:
    """Where a domain ends when the name of a next address was taken for a part of it: ``a@b.com-c@d.com``."""
    cut = max(text.rfind(".", start, end), text.rfind("-", start, end))
    hyphen = text.find("-", text.rfind(".", start, cut) + 1, cut)
    cut = cut if hyphen < 0 else hyphen
    return cut if "." in text[start:cut] else end


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

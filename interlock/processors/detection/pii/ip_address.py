"""IP addresses, version 4 and 6, in the text forms of RFC 4291 and RFC 5952.

Addresses that mean nobody are left out: unspecified, loopback, broadcast and net masks. So are version numbers.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Final

from interlock.processors.detection.finding import Finding
from interlock.processors.detection.patterns import Pattern
from interlock.processors.detection.pii.recogniser import Label, PIIKind, Row, found, stands_alone
from interlock.processors.detection.scan_copy import ScanCopy

__all__ = ["IPAddressRecogniser"]

_V4: Final = Pattern(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_V6: Final = Pattern(r"[0-9a-f:]*:[0-9a-f:]*:[0-9a-f:.]*[0-9a-f:]")
_LONG_V4: Final = 11
"""Characters of addresses that count with a dot between them; object identifiers have shorter parts."""
_LONGEST_V6: Final = 45
_VERSION: Final = Label(r"versions?|ver|v|release|build|firmware|sdk|upgrade(?:d)? to|section|chapter", reach=6)


class IPAddressRecogniser:
    """Addresses of single machines."""

    kind: PIIKind = "ip-address"

    def find(self, copy: ScanCopy, /) -> Iterator[Finding]:
        layer = copy.folded
        spans = [m.span() for m in _V4.find_all(layer.text)]
        spans = [(start, end) for start, end in spans if _is_somebody(layer.text[start:end])]
        row = Row(layer.text, spans, "-")
        long_row = Row(layer.text, [(a, b) for a, b in spans if b - a >= _LONG_V4], ".")
        for start, end in spans:
            begins = _begins_alone(layer.text, start) or row.follows(start)
            ends = _ends_alone(layer.text, end) or row.goes_on(end)
            if end - start >= _LONG_V4:
                begins, ends = begins or long_row.follows(start), ends or long_row.goes_on(end)
            if begins and ends and not _VERSION.before(layer.text, start):
                yield from found(layer, self.kind, start, end, 0.85, "an IPv4 address")
        if layer.text.count(":") < 2:
            return
        for match in _V6.find_all(layer.text):
            start, end = match.span()
            if end - start <= _LONGEST_V6 and stands_alone(layer.text, start, end) and _is_v6(layer.text[start:end]):
                yield from found(layer, self.kind, start, end, 0.9, "an IPv6 address")


def _begins_alone(text: str, start: int) -> bool:
    """As for other numbers, but a path or scheme may stand before."""
    before = text[start - 1 : start] if start else ""
    return not (before and (before in ".-" or (before.isascii() and (before.isalnum() or before == "_"))))


def _ends_alone(text: str, end: int) -> bool:
    """As for other numbers, but a port may follow."""
    after = text[end : end + 2]
    return not (after and (after[0].isalnum() or after[0] == "_" or (after[0] in ".-" and after[1:].isdigit())))


def _is_somebody(text: str) -> bool:
    octets = text.split(".")
    if any(int(o) > 255 or (len(o) > 1 and o[0] == "0") for o in octets):
        return False
    address = ipaddress.IPv4Address(text)
    return not (address.is_loopback or address.is_unspecified or octets[0] in ("0", "255"))


def _is_v6(text: str) -> bool:
    groups = [g for g in text.split(":") if g]
    if len(groups) < 2 or not any(c.isdigit() for c in text):  # C++ scopes such as "face::bed"
        return False
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)

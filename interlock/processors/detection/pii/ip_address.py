"""IP addresses, version 4 and 6, in the text forms of RFC 4291 and RFC 5952.

Addresses that mean nobody are left out: unspecified, loopback, broadcast and net masks. So are version numbers.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Final

from interlock.processors.detection.pii.recogniser import (
    Candidate,
    Label,
    NumberRecogniser,
    beginnings,
    begins_alone,
    ends_alone,
    first_open,
    is_word,
)

__all__ = ["IPAddressRecogniser"]

_V4: Final = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_V6: Final = re.compile(r"[0-9a-f:]*:[0-9a-f:]*:[0-9a-f:.]*[0-9a-f:]")
_LONGEST_V4: Final = 15
_LONG_V4: Final = 11
"""Characters of addresses that count with a dot between them; object identifiers have shorter parts."""
_LONGEST_V6: Final = 45
_VERSION: Final = Label(r"versions?|ver|v|release|build|firmware|sdk|upgrade(?:d)? to|section|chapter", reach=6)
_OCTET: Final = ("[0-9]", "[0-9]?", "[0-9]?")
_BEGUN: Final = beginnings((*_OCTET, r"\.", *_OCTET, r"\.", *_OCTET, r"\.", *_OCTET))
_OPEN: Final = re.compile(
    rf"(?<![0-9a-z_])(?:{_BEGUN}|{_V4.pattern}[-.](?:{_BEGUN})?|"
    rf"[0-9a-f]{{1,4}}|[0-9a-f]{{0,4}}:[0-9a-f:.]{{0,{_LONGEST_V6}}}-?)\Z"
)
_ENDS: Final = frozenset("0123456789abcdef:.-")


class IPAddressRecogniser(NumberRecogniser):
    """Addresses of single machines."""

    kind = "ip-address"
    longest_match = _LONGEST_V6
    look_behind = _VERSION.span
    look_ahead = 2  # the next of a row of short ones is seen all the same
    begins = re.compile(r"(?<![0-9a-z_])(?:[0-9]{1,3}\.[0-9]|[0-9a-f]{0,4}:)")

    def candidates(self, text: str, start: int) -> Iterator[Candidate]:
        v4 = _V4.match(text, start)
        if v4 is not None and _is_somebody(v4.group()):
            end = v4.end()
            begins = _begins_alone(text, start) or _follows(text, start, end)
            if begins and (_ends_alone(text, end) or _goes_on(text, start, end)) and not _VERSION.before(text, start):
                yield Candidate(end, 0.85, "an IPv4 address")
        v6 = _V6.match(text, start)
        if v6 is None or v6.end() - start > _LONGEST_V6 or text[start - 1 : start] == ":":
            return
        if begins_alone(text, start) and ends_alone(text, v6.end()) and _is_v6(v6.group()):
            yield Candidate(v6.end(), 0.9, "an IPv6 address")

    def open_at(self, text: str, start: int, /) -> int:
        return first_open(
            text, max(start, len(text) - self.longest_match - self.look_ahead + 1), _ENDS, _OPEN, _may_begin
        )


def _may_begin(text: str, at: int) -> bool:
    return _begins_alone(text, at) or begins_alone(text, at) or _follows(text, at, at + _LONG_V4)


def _follows(text: str, start: int, end: int) -> bool:
    """Whether one of them ends just before the separator at ``start - 1``: a hyphen, between long ones a dot."""
    before = start - 1
    if before < 0 or text[before] not in "-.":
        return False
    shortest = _LONG_V4 if text[before] == "." else 7
    if text[before] == "." and end - start < _LONG_V4:
        return False
    return any(
        at >= 0 and _V4.fullmatch(text, at, before) and _is_somebody(text[at:before])
        for at in range(before - _LONGEST_V4, before - shortest + 1)
    )


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether one of them begins just after the separator at ``end``."""
    following = _V4.match(text, end + 1)
    if text[end] not in "-." or following is None or not _is_somebody(following.group()):
        return False
    return text[end] == "-" or min(end - start, following.end() - end - 1) >= _LONG_V4


def _begins_alone(text: str, start: int) -> bool:
    """As for other numbers, but a path or scheme may stand before."""
    before = text[start - 1 : start] if start else ""
    return not (before and (before in ".-" or is_word(before)))


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

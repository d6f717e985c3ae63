"""E-mail addresses: candidates by a pattern, each checked by ``email-validator`` (RFC 5321, 5322, 6531; no look-up)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from email_validator import EmailNotValidError, validate_email

from interlock.processors.detection.patterns import Pattern
from interlock.processors.detection.pii.recogniser import Recogniser
from interlock.processors.lanes.matcher import Match, Reading

__all__ = ["EmailRecogniser"]

_ALPHANUMERIC: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_IN_DOMAIN: Final = _ALPHANUMERIC + ".-"
_IN_NAME: Final = _IN_DOMAIN + "!#$%&'*+/=?^_`{|}~"
_NO_BEGINNING: Final = frozenset("'`{|}~*#=/?!.&^%$-+")
"""Quotes, brackets and signs that stand before an address, though a name could begin with them."""
_CUTTING: Final = re.compile(r".*(?:[=`|/?&{}]|\.(?=\.)|(?<![^\W_])')", re.DOTALL)
"""The last sign that ends what stands before a name: one that nobody has in it, a doubled dot, a quote that opens."""
_DOMAIN: Final = Pattern(r"\A(?:[\pL\pM\pN](?:[\pL\pM\pN-]*[\pL\pM\pN])?\.)+[\pL][\pL\pM\pN-]*[\pL\pM\pN]")
_STOP: Final = "\u3002"
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


class EmailRecogniser(Recogniser):
    """E-mail addresses. Reads the plain copy: an address in another script is one as it stands."""

    kind = "email"
    reading: Reading = "plain"
    longest_match = _LONGEST
    look_behind = 4
    look_ahead = 2

    def find(self, text: str, start: int, /) -> Iterator[Match]:
        at = text.find("@", start)
        if at < 0 or self._threshold > _SCORE:
            return
        text = _with_dots(text)
        floor = start
        while at >= 0:
            span = _address_around(text, floor, at)
            if span is not None:
                yield Match(*span, self.kind, _SCORE, "an address with a valid form")
                floor = span[1]
            at = text.find("@", max(floor, at + 1))

    def open_at(self, text: str, start: int, /) -> int:
        length = len(text)
        low = max(start, length - _LONGEST - 1)
        domain = _run_start(text, low, length, _IN_DOMAIN)
        if domain > low and text[domain - 1] == "@":
            at = domain - 1
            name = _name_start(text, _run_start(text, max(low, at - _LONGEST_LOCAL), at, _IN_NAME), at)
            if name < at:
                return name
        return _name_start(text, _run_start(text, max(low, length - _LONGEST_LOCAL), length, _IN_NAME), length)


_SCORE: Final = 0.95


def _with_dots(text: str) -> str:
    return _IDEOGRAPHIC_STOP.sub(".", text) if _STOP in text else text


def _run_start(text: str, low: int, end: int, ascii_characters: str) -> int:
    """Where the run begins that ends at ``end``: of such characters, and letters, marks and digits of any script."""
    at = low + len(text[low:end].rstrip(ascii_characters))
    while at > low and (text[at - 1] == _STOP or _is_letter(text[at - 1])):
        at = low + len(text[low : at - 1].rstrip(ascii_characters))
    return at


@lru_cache(maxsize=65536)
def _is_letter(character: str) -> bool:
    """Whether it is a letter, mark or digit outside of ASCII."""
    return not character.isascii() and unicodedata.category(character)[0] in "LMN"


def _name_start(text: str, low: int, at: int) -> int:
    """The first place from ``low`` on at which a name may begin that reaches to ``at``; ``at`` where there is none."""
    cut = _CUTTING.match(text[low:at])
    start = low if cut is None else low + cut.end()
    while start < at and text[start] in _NO_BEGINNING:
        start += 1
    return start


def _address_around(text: str, floor: int, at: int) -> tuple[int, int] | None:
    """The address whose sign stands at ``at`` and which begins at ``floor`` or later."""
    name = _name_start(text, _run_start(text, max(floor, at - _LONGEST_LOCAL), at, _IN_NAME), at)
    if name == at or text[at - 1] == ".":
        return None
    run = _domain_end(text, at + 1)
    end = _address_end(text, at + 1, run)
    if end is None or _is_repository(text, at, end):
        return None
    name = max(name, run - _LONGEST)
    while name < at:
        if text[name] not in _NO_BEGINNING:
            if _is_address(text[name:end]):
                return name, end
            if not _is_address("a" + text[at:end]):
                return None
        name += 1
    return None


def _domain_end(text: str, start: int) -> int:
    """Where the run of a domain's characters ends; no further than one more than can count."""
    end = start
    stop = min(len(text), start + _LONGEST)
    while end < stop and (text[end] in _IN_DOMAIN or _is_letter(text[end])):
        end += 1
    return end


def _address_end(text: str, start: int, run: int) -> int | None:
    """Where the domain ends that begins at ``start``, in a run of its characters."""
    domain = _DOMAIN.find(text[start:run])
    if domain is None:
        return None
    end = start + domain.span()[1]
    if text[end : end + 1] == "@":
        return _without_next(text, start, end)
    last = text.rfind(".", start, end) + 1
    hyphen = -1 if text.startswith("xn--", last) else text.find("-", last, end)
    return end if hyphen <= last + 1 else hyphen  # no top-level domain has one: something follows the address


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


def _is_repository(text: str, at: int, end: int) -> bool:
    """``git@github.com:owner/name``."""
    if not text.startswith("git", max(0, at - 3)) or text[end : end + 1] not in (":", "/"):
        return False
    before = text[max(0, at - 4) : at - 3]
    return not before or not (before in _IN_NAME or _is_letter(before))

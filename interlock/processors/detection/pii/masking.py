"""What stands in the place of personal data."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import lru_cache
from typing import Final, Literal

from interlock.processors.detection.scan_copy import ScanCopy

__all__ = ["Masking", "PIIMethod"]

PIIMethod = Literal["mask", "hash", "remove", "placeholder"]
"""How a redaction looks: ``a*n@*******.com``, ``[EMAIL:qkjhfpom…]``, nothing at all, ``[EMAIL]``."""

_SHOWN: Final = 4
"""Letters and digits of a number that a mask leaves, as receipts do (PCI DSS 4.0, 3.4.1 allows the last four)."""
_HASH_LENGTH: Final = 16
_LONGEST_LEFT: Final = 3
"""Letters and digits in a row that may stand outside of what a mask means to show."""
_SEPARATORS: Final = frozenset(" \t\r\n.,:;-/()+@")
_DIGITS_AS_LETTERS: Final = str.maketrans("0123456789", "ghijklmnop")


class Masking:
    """Makes replacements, all by one method.

    Args:
        method: ``mask`` leaves a recognisable shape: of an e-mail address the first and last letter and the top-level
            domain, of a number the last four digits (of an IP address: the last group). Characters are taken for what
            they read as: a full-width digit is a digit. Where that hides nothing, the kind stands instead. ``hash``
            gives equal things an equal name under a secret key. ``remove`` leaves nothing, ``placeholder`` the kind.
        preserve_format: Masks keep length and separators; else they have one length, which tells less.
        key: The secret of ``hash``; default: random, so that names cannot be compared between detectors.

    Example:
        >>> Masking("mask").replace("credit-card", "4111 1111 1111 1111")
        '**** **** **** 1111'
        >>> Masking("mask").replace("email", "ann@example.com")
        'a*n@*******.com'
    """

    def __init__(self, method: PIIMethod, *, preserve_format: bool = True, key: bytes | None = None) -> None:
        self._method: PIIMethod = method
        self._preserve_format = preserve_format
        self._key = key if key is not None else secrets.token_bytes(32)

    def replace(self, kind: str, text: str) -> str:
        """What stands in the place of ``text``."""
        match self._method:
            case "mask":
                return self._mask(kind, text)
            case "hash":
                return f"[{_name(kind)}:{self._hash(kind, text)}]"
            case "remove":
                return ""
            case "placeholder":
                return f"[{_name(kind)}]"

    def _mask(self, kind: str, text: str) -> str:
        reading = [_read(c) for c in text]
        if kind == "email" and "@" in reading:
            masked, shown = _mask_email(text, reading, self._preserve_format)
        else:
            masked, shown = _mask_number(text, reading, _shown_from(kind, reading), self._preserve_format)
        return f"[{_name(kind)}]" if _tells_too_much(text, masked, shown) else masked

    def _hash(self, kind: str, text: str) -> str:
        """Keyed (a bare digest of a phone number is undone by trying all numbers); the same for any way of writing it.

        Letters only, so that no later guard takes it for a number.
        """
        copy = ScanCopy(text)
        bare = copy.plain.text.strip().casefold() if kind == "email" else _bare(copy.folded.text)
        digest = hmac.new(self._key, f"{kind}:{bare}".encode(errors="replace"), hashlib.sha256).hexdigest()
        return digest[:_HASH_LENGTH].translate(_DIGITS_AS_LETTERS)


def _name(kind: str) -> str:
    return kind.upper().replace("-", "_")


@lru_cache(maxsize=4096)
def _read(character: str) -> str:
    """What a raw character reads as: none, one or some characters."""
    return ScanCopy(character).folded.text


def _bare(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def _shown_from(kind: str, reading: list[str]) -> int:
    """Where the part of a number begins that a mask shows."""
    if kind == "ip-address":
        return 1 + max((n for n, c in enumerate(reading) if c in (".", ":")), default=len(reading))
    places = [n for n, c in enumerate(reading) if _is_shown(c)]
    shown = _SHOWN if len(places) > 2 * _SHOWN else len(places) // 4
    return places[-shown] if shown else len(reading)


def _mask_number(text: str, reading: list[str], shown_from: int, preserve_format: bool) -> tuple[str, str]:
    """The mask, and the end of it that is shown on purpose."""
    shown = _shown(text, reading, shown_from)
    if not preserve_format:
        return "****" + shown, shown
    return "".join(map(_hidden, text[:shown_from], reading)) + shown, shown


def _mask_email(text: str, reading: list[str], preserve_format: bool) -> tuple[str, str]:
    at = len(reading) - 1 - reading[::-1].index("@")
    dot = max((n for n in range(at + 1, len(reading)) if reading[n] == "."), default=len(reading))
    top = _shown(text, reading, dot + 1)
    first, last = (_shown(text[n], [reading[n]], 0) if at > 2 else "*" for n in (0, at - 1))
    if not preserve_format:
        return f"{first}***{last if at > 2 else ''}@***.{top}", top
    local = f"{first}{'*' * (at - 2)}{last}" if at > 1 else "*" * at
    name = "".join(text[n] if reading[n] == "." else "*" for n in range(at + 1, min(dot + 1, len(reading))))
    return f"{local}{text[at]}{name}{top}", top


def _shown(text: str, reading: list[str], start: int) -> str:
    """The raw characters that are shown on purpose; what is neither one letter or digit nor a separator never is."""
    return "".join(c if _is_shown(r) else _hidden(c, r) for c, r in zip(text[start:], reading[start:], strict=True))


def _is_shown(reading: str) -> bool:
    return len(reading) == 1 and reading.isalnum()


def _hidden(character: str, reading: str) -> str:
    return character if reading in _SEPARATORS else "*"


def _tells_too_much(text: str, masked: str, shown: str) -> bool:
    """A last look, which does not trust how the mask was made."""
    if masked == text:
        return True
    secret, rest = _bare(ScanCopy(text).folded.text), ScanCopy(masked.removesuffix(shown)).folded.text
    runs = "".join(c if c.isalnum() else " " for c in rest).split()
    length = _LONGEST_LEFT + 1
    return any(run[n : n + length] in secret for run in runs for n in range(len(run) - _LONGEST_LEFT))

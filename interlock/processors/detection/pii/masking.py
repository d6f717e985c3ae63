"""What stands in the place of personal data."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final, Literal

__all__ = ["Masking", "PIIMethod"]

PIIMethod = Literal["mask", "hash", "remove", "placeholder"]
"""How a redaction looks: ``a*n@*******.com``, ``[EMAIL:qkjhfpom…]``, nothing at all, ``[EMAIL]``."""

_SHOWN: Final = 4
"""Letters and digits of a number that a mask leaves, as receipts do (PCI DSS 4.0, 3.4.1 allows the last four)."""
_HASH_LENGTH: Final = 16
_DIGITS_AS_LETTERS: Final = str.maketrans("0123456789", "ghijklmnop")


class Masking:
    """Makes replacements, all by one method.

    Args:
        method: ``mask`` leaves a recognisable shape: of an e-mail address the first and last letter and the top-level
            domain, of a number the last four digits (of an IP address: the last group). ``hash`` gives equal things an
            equal name under a secret key. ``remove`` leaves nothing, ``placeholder`` the kind.
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
        if kind == "email" and "@" in text:
            return _mask_email(text, self._preserve_format)
        if kind == "ip-address":
            separator = max(text.rfind("."), text.rfind(":"))
            return _mask_before(text, separator + 1, self._preserve_format)
        places = [n for n, c in enumerate(text) if c.isalnum()]
        shown = _SHOWN if len(places) > 2 * _SHOWN else len(places) // 4
        return _mask_before(text, places[-shown] if shown else len(text), self._preserve_format)

    def _hash(self, kind: str, text: str) -> str:
        """Keyed (a bare digest of a phone number is undone by trying all numbers); the same for any way of writing it.

        Letters only, so that no later guard takes it for a number.
        """
        bare = text.strip().casefold() if kind == "email" else "".join(c for c in text.casefold() if c.isalnum())
        digest = hmac.new(self._key, f"{kind}:{bare}".encode(errors="replace"), hashlib.sha256).hexdigest()
        return digest[:_HASH_LENGTH].translate(_DIGITS_AS_LETTERS)


def _name(kind: str) -> str:
    return kind.upper().replace("-", "_")


def _mask_before(text: str, shown_from: int, preserve_format: bool) -> str:
    shown = text[shown_from:]
    if not preserve_format:
        return "****" + shown
    return "".join("*" if c.isalnum() else c for c in text[:shown_from]) + shown


def _mask_email(text: str, preserve_format: bool) -> str:
    local, _, domain = text.rpartition("@")
    name, _, top = domain.rpartition(".")
    first, last = (local[0], local[-1]) if len(local) > 2 else ("*", "")
    if preserve_format:
        hidden = "*" * (len(local) - len(first) - len(last))
        return f"{first}{hidden}{last}@{''.join('.' if c == '.' else '*' for c in name)}.{top}"
    return f"{first}***{last}@***.{top}"

"""Which invisible characters of a text are honest, so that the others can be taken out."""

from __future__ import annotations

import re
from typing import Final

from interlock.processors.detection.invisible import INVISIBLE, character_class

__all__ = ["hidden_spans", "is_emoji"]

_HIDDEN: Final = re.compile(f"[{character_class(INVISIBLE)}]")
_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")
"""A black flag with a region in tag characters: England, Scotland, Wales (UTS 51, annex C)."""

_JOINERS: Final = frozenset("\u200c\u200d")
_EMOJI_RANGES: Final = (
    (0x2190, 0x21FF),
    (0x2300, 0x23FF),
    (0x25A0, 0x27BF),
    (0x2900, 0x297F),
    (0x2B00, 0x2BFF),
    (0x1F000, 0x1FAFF),
)
_EMOJI: Final = frozenset("\xa9\xae\u203c\u2049\u2122\u2139\u24c2\u3030\u303d\u3297\u3299")
_KEYCAPS: Final = frozenset("#*0123456789")
_JOINING_SCRIPTS: Final = (  # scripts in which zero-width joiners choose between letter forms
    (0x0600, 0x08FF),  # Arabic, Syriac, N'Ko, Mandaic
    (0x0900, 0x0DFF),  # the scripts of India and Sri Lanka
    (0x0F00, 0x109F),  # Tibetan, Burmese
    (0x1780, 0x18AF),  # Khmer, Mongolian
    (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFC),  # Arabic presentation forms
)
_HAN: Final = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x20000, 0x323AF))
_MONGOLIAN: Final = ((0x1800, 0x18AF),)


def is_emoji(character: str) -> bool:
    """Whether a character can be shown as an emoji (Emoji property of UTS 51, by blocks)."""
    return character in _EMOJI or _lies_in(character, _EMOJI_RANGES)


def hidden_spans(text: str, *, keep_emojis: bool) -> list[tuple[int, int]]:
    """The ranges of invisible characters that mean nothing.

    What stays: joiners between letters of scripts that use them, selectors behind the character they select a form of,
    and, where emojis are kept, what holds an emoji together.

    Example:
        >>> hidden_spans("a\\u200bb \U0001f469\\u200d\U0001f680", keep_emojis=True)
        [(1, 2)]
    """
    flags = {n for m in _FLAG.finditer(text) for n in range(m.start() + 1, m.end())} if keep_emojis else set[int]()
    spans: list[tuple[int, int]] = []
    kept = ""
    """The nearest character before that stays."""
    at = 0
    for match in _HIDDEN.finditer(text):
        start, end = match.span()
        if start > at:
            kept = text[start - 1]
        at = end
        if start in flags or _means_something(text, start, kept, keep_emojis):
            kept = text[start]
        elif spans and spans[-1][1] == start:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _means_something(text: str, at: int, before: str, keep_emojis: bool) -> bool:
    character = text[at]
    after = text[at + 1 : at + 2]
    if not before:
        return False
    if character in _JOINERS and _lies_in(before, _JOINING_SCRIPTS):
        return bool(after) and after not in _JOINERS and not after.isspace()
    if character == "\u200d":
        return keep_emojis and bool(after) and is_emoji(after) and (is_emoji(before) or before == "\ufe0f")
    if character in "\ufe0e\ufe0f":
        return keep_emojis and (is_emoji(before) or before in _KEYCAPS)
    if "\U000e0100" <= character <= "\U000e01ef" or "\ufe00" <= character <= "\ufe02":
        return _lies_in(before, _HAN)
    return "\u180b" <= character <= "\u180f" and _lies_in(before, _MONGOLIAN)


def _lies_in(character: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= ord(character) <= high for low, high in ranges)

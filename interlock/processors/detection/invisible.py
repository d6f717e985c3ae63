"""Characters that are there and cannot be seen.

Sources: Unicode 16.0, properties Default_Ignorable_Code_Point and Bidi_Control (DerivedCoreProperties.txt,
PropList.txt); the tag block U+E0000-E007F (UTS 51, annex C); the C0 and C1 controls that are no white space.
"""

from __future__ import annotations

from typing import Final

__all__ = ["BIDI_CONTROLS", "CONTROLS", "INVISIBLE", "TAGS", "character_class"]

CONTROLS: Final = frozenset([*range(0x09), *range(0x0E, 0x20), *range(0x7F, 0x85), *range(0x86, 0xA0)])
"""C0 and C1 controls, without tab, line feed, vertical tab, form feed, carriage return and next line."""

BIDI_CONTROLS: Final = frozenset([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""They turn the direction of the text around them."""

TAGS: Final = frozenset(range(0xE0000, 0xE0080))
"""A second, invisible ASCII; in honest text only inside some flags."""

_IGNORABLE: Final = frozenset(
    [
        0x00AD,  # soft hyphen
        0x034F,  # combining grapheme joiner
        *range(0x115F, 0x1161),  # Hangul fillers
        *range(0x17B4, 0x17B6),  # Khmer inherent vowels
        *range(0x180B, 0x1810),  # Mongolian selectors and vowel separator
        *range(0x200B, 0x200E),  # zero-width space, non-joiner, joiner
        *range(0x2060, 0x2066),  # word joiner, invisible operators
        *range(0x206A, 0x2070),  # deprecated format characters
        0x3164,  # Hangul filler
        *range(0xFE00, 0xFE10),  # variation selectors
        0xFEFF,  # byte order mark, zero-width no-break space
        0xFFA0,  # halfwidth Hangul filler
        *range(0xFFF0, 0xFFFC),  # interlinear annotation
        *range(0x1BCA0, 0x1BCA4),  # shorthand format controls
        *range(0x1D173, 0x1D17B),  # musical format controls
        *range(0xE0080, 0xE0FFF + 1),  # variation selectors supplement and its neighbours
    ]
)

INVISIBLE: Final = _IGNORABLE | BIDI_CONTROLS | TAGS | CONTROLS
"""Everything a scan copy leaves out."""


def character_class(points: frozenset[int]) -> str:
    """The inside of a regular expression's character class for these code points, as ranges.

    Example:
        >>> character_class(frozenset({0x61, 0x62, 0x63, 0x7A}))
        '\\\\U00000061-\\\\U00000063\\\\U0000007a-\\\\U0000007a'
    """
    ranges: list[tuple[int, int]] = []
    for point in sorted(points):
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1] = (ranges[-1][0], point)
        else:
            ranges.append((point, point))
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)

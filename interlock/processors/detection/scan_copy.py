"""The copy of a text that detectors read, with a way back to the text as it came.

People who want to get past a guard write ``4111<zero width>1111``, full-width digits, or Cyrillic letters that look
Latin. A scan copy undoes that. What is passed on is always the raw text, edited only where a finding says so.

1. Invisible characters, bidi controls, tag characters and soft hyphens are left out.
2. What is left is cut into segments that Unicode's normalisation cannot join (UAX 15: before a character whose
   decomposition begins with combining class 0 and which is not the second of a composition), at most 32 characters
   each: reordering combining marks takes quadratic time in the length of a segment.
3. ``plain`` holds the segments in NFKC. ``folded`` holds them casefolded, in NFKC, look-alikes folded one by one.

A span that begins or ends inside what one raw segment became covers the whole segment.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from interlock.processors.detection.confusables import LOOKALIKES, OF_OTHER_SCRIPTS
from interlock.processors.detection.invisible import CONTROLS, INVISIBLE, character_class

__all__ = [
    "LONGEST_SEGMENT",
    "SECOND_OF_COMPOSITION",
    "Layer",
    "ScanCopy",
    "Segment",
    "joins_previous",
    "layer_of",
    "segments",
]

LONGEST_SEGMENT: Final = 32
"""Characters of a segment; a longer run of combining marks is cut."""

_REPLACEMENT: Final = "\ufffd"

SECOND_OF_COMPOSITION: Final = frozenset(
    map(
        chr,
        [
            *range(0x1161, 0x1176),  # Hangul vowels
            *range(0x11A8, 0x11C3),  # Hangul finals
            *(0x09BE, 0x09D7, 0x0B3E, 0x0B56, 0x0B57, 0x0BBE, 0x0BD7, 0x0CC2, 0x0CD5, 0x0CD6, 0x0D3E, 0x0D57),
            *(0x0DCF, 0x0DDF, 0x102E, 0x1B35, 0x11127, 0x1133E, 0x11357, 0x113B8, 0x113BB, 0x113C2, 0x113C5),
            *(0x113C7, 0x113C9, 0x114B0, 0x114BA, 0x114BD, 0x115AF, 0x1611E, 0x1611F, 0x16120, 0x16D67),
            0x11930,
        ],
    )
)
"""Characters of combining class 0 that canonical composition joins to the one before (Unicode 16.0)."""

_HIDDEN: Final = re.compile(f"[{character_class(INVISIBLE)}]+")
_ASCII_CONTROL: Final = re.compile(f"[{character_class(frozenset(c for c in CONTROLS if c < 0x80))}]")


class _Table(dict[int, str]):
    """For ``str.translate``: what a function makes of each character, worked out once a character."""

    def __init__(self, of_character: Callable[[str], str]) -> None:
        super().__init__()
        self._of_character = of_character

    def __missing__(self, point: int) -> str:
        made = self._of_character(chr(point))
        if len(self) < 65536:
            self[point] = made
        return made


def joins_previous(character: str) -> bool:
    """Whether normalisation may join this character to the one before it."""
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.combining(first) != 0 or first in SECOND_OF_COMPOSITION


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a text that can be normalised by itself.

    Args:
        start: Where it begins in the raw text.
        end: Where it ends, exclusive.
        text: Its characters without the invisible ones between them.
        joined: Its characters belong together; else each of them is a piece of its own.
    """

    start: int
    end: int
    text: str
    joined: bool


def segments(raw: str) -> Iterator[Segment]:
    """Cut a text where Unicode's normalisation cannot join; invisible characters are left out."""
    held, start, end = "", 0, 0
    for at, visible in _visible_runs(raw):
        joins = "" if visible.isascii() else visible.translate(_JOINS)
        i = 0
        while i < len(visible):
            j = joins.find("1", i)
            if j == i and 0 < len(held) < LONGEST_SEGMENT:
                held, end = held + visible[i], at + i + 1
                i += 1
                continue
            if held:
                yield Segment(start, end, held, len(held) > 1)
            stop = len(visible) if j < 0 else max(j, i + 1)
            if stop - i > 1:
                yield Segment(at + i, at + stop - 1, visible[i : stop - 1], joined=False)
            held, start, end = visible[stop - 1], at + stop - 1, at + stop
            i = stop
    if held:
        yield Segment(start, end, held, len(held) > 1)


def _visible_runs(raw: str) -> Iterator[tuple[int, str]]:
    at = 0
    for hidden in _HIDDEN.finditer(raw):
        if hidden.start() > at:
            yield at, raw[at : hidden.start()]
        at = hidden.end()
    if at < len(raw):
        yield at, raw[at:]


class Layer:
    """One reading of a text.

    Attributes:
        text: What detectors read. Never a lone surrogate, which RE2 cannot take.
    """

    __slots__ = ("_ends", "_foreign", "_starts", "text")

    def __init__(
        self, text: str, starts: array[int] | None = None, ends: array[int] | None = None, foreign: str = ""
    ) -> None:
        self.text = text
        self._starts = starts
        self._ends = ends
        self._foreign = foreign

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """The range of the raw text that became ``text[start:end]``, which must not be empty."""
        if self._starts is None or self._ends is None:
            return start, end
        return self._starts[start], self._ends[end - 1]

    def counts(self, start: int, end: int) -> bool:
        """Whether a finding here may count: it needed no letter of another script folded, or it mixes scripts."""
        if not self._foreign:
            return True
        flags = self._foreign[start:end]
        return "1" not in flags or any(
            f == "0" and "a" <= c <= "z" for f, c in zip(flags, self.text[start:end], strict=True)
        )


def layer_of(layer: Layer) -> tuple[array[int] | None, array[int] | None, str]:
    """What a layer is made of: where each character begins and ends in the raw text, which were of another script."""
    return layer._starts, layer._ends, layer._foreign


class ScanCopy:
    """A text and its two readings, each made when it is first asked for.

    Args:
        raw: The text as it came.

    Example:
        >>> copy = ScanCopy("№ ４１\\u200b１１")
        >>> copy.folded.text
        'no 4111'
        >>> copy.folded.raw_span(3, 7)
        (2, 7)
    """

    __slots__ = ("__dict__", "raw")

    def __init__(self, raw: str) -> None:
        self.raw = raw

    @cached_property
    def _is_plain_ascii(self) -> bool:
        return self.raw.isascii() and _ASCII_CONTROL.search(self.raw) is None

    @cached_property
    def _segments(self) -> list[Segment]:
        return list(segments(self.raw))

    @cached_property
    def plain(self) -> Layer:
        """NFKC without the invisible: for what depends on case, and for expressions that users write."""
        if self._is_plain_ascii:
            return Layer(self.raw)
        return self._layer(_PLAIN, _plain)

    @cached_property
    def folded(self) -> Layer:
        """The same in small letters, look-alikes folded."""
        if self._is_plain_ascii:
            return Layer(self.raw.lower())
        return self._layer(_CASEFOLDED, _casefolded, _FOREIGN)

    def _layer(self, table: _Table, of_joined: Callable[[str], str], foreign: _Table | None = None) -> Layer:
        pieces: list[str] = []
        starts, ends = array("L"), array("L")
        flags: list[str] = []
        for segment in self._segments:
            units = [segment.text] if segment.joined else segment.text
            made = of_joined(segment.text) if segment.joined else segment.text.translate(table)
            pieces.append(made)
            if foreign is not None:
                flags.append(made.translate(foreign))
            if len(made) == len(units) == segment.end - segment.start:
                starts.extend(range(segment.start, segment.end))
                ends.extend(range(segment.start + 1, segment.end + 1))
                continue
            width = (segment.end - segment.start) // len(units)
            for n, unit in enumerate(units):
                length = len(made) if segment.joined else len(table[ord(unit)])
                starts.extend([segment.start + n * width] * length)
                ends.extend([segment.start + (n + 1) * width] * length)
        text = "".join(pieces)
        if foreign is None:
            return Layer(text, starts, ends)
        marked = "".join(flags)
        return Layer(text.translate(_LATIN), starts, ends, marked if "1" in marked else "")


def _plain(text: str) -> str:
    if "\ud800" <= text[0] <= "\udfff":
        text = _REPLACEMENT + text[1:]
    return unicodedata.normalize("NFKC", text)


def _casefolded(text: str) -> str:
    """NFKC and casefold, each once more for what the other brought out ("ℌ" becomes "H" becomes "h")."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", _plain(text).casefold()).casefold())


def _latin(character: str) -> str:
    made = OF_OTHER_SCRIPTS.get(character) or LOOKALIKES.get(character)
    if made is not None:
        return made
    digit = unicodedata.decimal(character, -1)
    return character if digit < 0 else str(digit)


_JOINS: Final = _Table(lambda c: "1" if joins_previous(c) else "0")
_PLAIN: Final = _Table(_plain)
_CASEFOLDED: Final = _Table(_casefolded)
_FOREIGN: Final = _Table(lambda c: "1" if c in OF_OTHER_SCRIPTS else "0")
_LATIN: Final = _Table(_latin)

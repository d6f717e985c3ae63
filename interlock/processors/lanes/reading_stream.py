"""The scan copy of a text that comes in pieces: the readings of a whole text's copy, and the way back to the raw text.

Unicode's normalisation of a beginning is no beginning of the normalisation of the whole. So a text is read segment by
segment, cut where nothing joins; the last segment waits for what comes next. See :mod:`..detection.scan_copy`.
"""

from __future__ import annotations

from array import array
from typing import Final

from interlock.processors.detection.invisible import INVISIBLE
from interlock.processors.detection.scan_copy import ScanCopy, layer_of, segments
from interlock.processors.lanes.matcher import Match, Reading

__all__ = ["INVISIBLE_TEXT", "LONGEST_INVISIBLE", "ReadingStream"]

LONGEST_INVISIBLE: Final = 64
"""Invisible characters in a row that may stand in a text. More are a finding by themselves: nobody needs them, and text
could be held back behind them for ever. (Honest ones, in emoji and flags, come by the handful.)"""

INVISIBLE_TEXT: Final = "invisible-text"


class ReadingStream:
    """One reading of a text that comes in pieces.

    Args:
        reading: ``"raw"``, ``"plain"`` or ``"folded"``.

    """

    __slots__ = (
        "_base",
        "_ends",
        "_foreign",
        "_hidden",
        "_pending",
        "_pending_at",
        "_reading",
        "_run",
        "_starts",
        "_text",
    )

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._pending = ""  # raw, not read yet
        self._pending_at = 0
        self._base = 0  # of what is kept below, in characters of the reading
        self._text = ""
        self._starts = array("L")
        self._ends = array("L")
        self._foreign = ""
        self._run = 0  # invisible characters at the end of what has come
        self._hidden: list[Match] = []

    def push(self, raw: str, *, final: bool) -> str:
        """Take more raw text in; gives what can be read of it."""
        if self._reading == "raw":
            self._pending_at += len(raw)
            return raw
        if not raw and not final:
            return ""
        text = self._pending + raw
        at = self._pending_at
        self._count_invisible(text, len(self._pending), at)
        keep = len(text) if final or self._run > LONGEST_INVISIBLE else _last_segment(text)
        self._pending = text[keep:]
        self._pending_at = at + keep
        return self._read(text[:keep], at) if keep else ""

    def _count_invisible(self, text: str, seen: int, at: int) -> None:
        """Note runs of too many invisible characters as soon as they are too many, and then whatever follows."""
        run = self._run
        if not run and text.isascii() and text.isprintable():
            return
        for place in range(seen, len(text)):
            if ord(text[place]) not in INVISIBLE:
                run = 0
                continue
            run += 1
            if run <= LONGEST_INVISIBLE:
                continue
            low = at + place - (LONGEST_INVISIBLE if run == LONGEST_INVISIBLE + 1 else 0)
            last = self._hidden[-1] if self._hidden else None
            if run > LONGEST_INVISIBLE + 1 and last is not None and last.end == low:
                self._hidden[-1] = last._replace(end=low + 1)
            else:
                self._hidden.append(Match(low, at + place + 1, INVISIBLE_TEXT, 1.0, "more than can be meant", ""))
        self._run = run

    def _read(self, raw: str, at: int) -> str:
        copy = ScanCopy(raw)
        layer = copy.plain if self._reading == "plain" else copy.folded
        text = layer.text
        starts, ends, foreign = layer_of(layer)
        if starts is None or ends is None:
            self._starts.extend(range(at, at + len(text)))
            self._ends.extend(range(at + 1, at + len(text) + 1))
        else:
            self._starts.extend(array("L", [start + at for start in starts]))
            self._ends.extend(array("L", [end + at for end in ends]))
        if foreign or self._foreign:
            self._foreign = self._foreign.ljust(len(self._text), "0") + foreign.ljust(len(text), "0")
        self._text += text
        return text

    def found(self) -> list[Match]:
        """The runs of too many invisible characters since the last time, in raw offsets."""
        if not self._hidden:
            return self._hidden
        hidden, self._hidden = self._hidden, []
        return hidden

    def raw_at(self, place: int) -> int:
        """Where the character at a place of the reading begins in the raw text; of its end, what is not read yet."""
        if self._reading == "raw":
            return place
        index = place - self._base
        return self._starts[index] if index < len(self._starts) else self._pending_at

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """The raw range of a range of the reading, which must not be empty."""
        if self._reading == "raw":
            return start, end
        return self._starts[start - self._base], self._ends[end - 1 - self._base]

    def counts(self, start: int, end: int) -> bool:
        """Whether a finding may count: it needed no letter of another script folded, or it mixes scripts."""
        if not self._foreign:
            return True
        low, high = start - self._base, end - self._base
        flags = self._foreign[low:high]
        letters = zip(flags, self._text[low:high], strict=True)
        return "1" not in flags or any(flag == "0" and "a" <= letter <= "z" for flag, letter in letters)

    def forget(self, place: int) -> None:
        """What stands before a place of the reading will not be asked for any more."""
        surplus = place - self._base
        if self._reading != "raw" and surplus > 0:
            del self._starts[:surplus], self._ends[:surplus]
            self._text = self._text[surplus:]
            self._foreign = self._foreign[surplus:] if "1" in self._foreign[surplus:] else ""
            self._base = place


def _last_segment(text: str) -> int:
    """Where the last segment of some raw text begins: what comes next may join it."""
    if text[-1] < "\x80" and text[-1].isprintable():
        return len(text) - 1
    last = 0
    for segment in segments(text):
        last = segment.start if segment.joined else segment.end - 1
    return last

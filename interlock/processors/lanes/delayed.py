"""A text on its way through a processor that keeps its own counsel: what became of it, seen from what goes in and out.

What does not go on at once may yet come: whoever makes larger pieces of small ones keeps the first until the next come.
So text is dropped only once something behind it has gone on, or the text has ended.
"""

from __future__ import annotations

from typing import Final

from interlock.messages.diff import derive
from interlock.messages.myers import least_script
from interlock.processors.stream_context import Piece

__all__ = ["Delayed", "compared"]

_LETTERS: Final = 256
"""How many characters may be gone from a text that is compared character by character."""


class Delayed:
    """One text that goes through a processor.

    Example:
        >>> text = Delayed()
        >>> text.step("a first ", ""), text.step("and a second", "a first and ")
        ([], [Piece(start=0, end=12, text='a first and ', kept=True)])
        >>> text.end()
        [Piece(start=12, end=20, text='', kept=False)]
    """

    __slots__ = ("_at", "_text")

    def __init__(self) -> None:
        self._text: str = ""  # what has come, and may yet go on
        self._at: int = 0  # where that begins

    def step(self, came: str, gone: str) -> list[Piece]:
        """What is decided where a further piece has come and another has gone on."""
        text = self._text + came
        if not gone:
            self._text = text
            return []
        if text.startswith(gone):
            made = [Piece(self._at, self._at + len(gone), gone, True)]
        else:
            made = compared(self._at, text, gone)
            last = made.pop()
            if not last.kept:  # of what is shorter than before, the rest may yet come
                last = last._replace(end=min(last.end, last.start + len(last.text)))
            if last.text:
                made.append(last)
        if made:
            end = made[-1].end
            self._text, self._at = text[end - self._at :], end
        else:
            self._text = text
        return made

    def passed(self, came: str, before: str = "", after: str = "") -> list[Piece]:
        """What is decided where the piece that has come has itself gone on.

        Args:
            came: The piece.
            before: What has gone on right before it.
            after: What has gone on right behind it.
        """
        made = compared(self._at, self._text, before) if self._text or before else []
        start = self._at + len(self._text)
        end = start + len(came)
        if came:
            made.append(Piece(start, end, came, True))
        if after:
            made.append(Piece(end, end, after, False))
        self._text, self._at = "", end
        return made

    def end(self) -> list[Piece]:
        """The text is complete: what has not gone on is gone."""
        if not self._text:
            return []
        gone = Piece(self._at, self._at + len(self._text), "", False)
        self._text, self._at = "", gone.end
        return [gone]


def compared(start: int, before: str, after: str) -> list[Piece]:
    """A text that somebody has changed as a whole, as pieces: words that were not changed are kept.

    Where no more than characters are gone, that is exact.

    Args:
        start: Where the text begins.
        before: What it was.
        after: What it is.

    Example:
        >>> [tuple(piece) for piece in compared(10, "my card or yours", "My card or Yours")]
        [(10, 11, 'M', False), (11, 21, 'y card or ', True), (21, 22, 'Y', False), (22, 26, 'ours', True)]
    """
    made: list[Piece] = []
    at = 0
    for first, last, text in _changes(before, after):
        if first > at:
            made.append(Piece(start + at, start + first, before[at:first], True))
        made.append(Piece(start + first, start + last, text, False))
        at = last
    if at < len(before):
        made.append(Piece(start + at, start + len(before), before[at:], True))
    return made


def _changes(before: str, after: str) -> list[tuple[int, int, str]]:
    """Which ranges of a text have become what."""
    if before.endswith(after):
        return [(0, len(before) - len(after), "")] if len(before) > len(after) else []
    if len(before) > len(after):
        script = least_script(before, after, len(before) - len(after)) if len(before) - len(after) <= _LETTERS else None
        if script is not None:  # there is nothing new in it
            return [(start, end, "") for start, end, _, _ in script]
    return [
        change
        for edit in derive(before, after)
        for change in _refined(edit.start, before[edit.start : edit.end], edit.replacement)
    ]


def _refined(start: int, before: str, after: str) -> list[tuple[int, int, str]]:
    """A change of words character by character: what another branch removes of a word does not come back with it."""
    whole = [(start, start + len(before), after)]
    if min(len(before), len(after)) < 2 or len(before) + len(after) > 4 * _LETTERS:
        return whole
    script = least_script(before, after, _LETTERS)
    if script is None:
        return whole
    made: list[tuple[int, int, str]] = []
    for first, last, begin, end in script:
        text = after[begin:end]
        if first == last == 0:  # it belongs to what it stands beside: nobody has put it in by itself
            last, text = 1, text + before[0]
        elif first == last:
            first, text = first - 1, before[first - 1] + text
        if made and made[-1][1] > start + first:
            made[-1] = (made[-1][0], start + last, made[-1][2] + after[begin:end])
        else:
            made.append((start + first, start + last, text))
    return made

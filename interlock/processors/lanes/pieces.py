"""What became of a text on its way through several who edit it: ranges of the first text, and what they ended as."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from interlock.processors.stream_context import Piece

__all__ = ["Track", "difference"]


class Track:
    """One text on its way through a row of editors, each of which lets go in pieces of what it was given.

    An editor's pieces are ranges of what the one before let go. They are told as ranges of the first text: what was
    kept by all is exact; what one has replaced counts as a whole for those behind it, and is told when they have
    decided all of it.

    Args:
        editors: How many there are.
    """

    __slots__ = ("_between",)

    def __init__(self, editors: int) -> None:
        self._between = [_Between() for _ in range(editors - 1)]

    def through(self, told: Sequence[Sequence[Piece]]) -> list[Piece]:
        """Take a further step.

        Args:
            told: What each editor has let go since the last time.

        Returns:
            What has come out at the end.
        """
        out = list(told[0])
        for between, pieces in zip(self._between, told[1:], strict=True):
            out = between.through(out, pieces)
        return out


class _Between:
    """What one editor has let go and the next has not."""

    __slots__ = ("_end", "_open", "_queue", "_used")

    def __init__(self) -> None:
        self._queue: deque[Piece] = deque()
        self._used: int = 0  # characters that the next has taken of the first in the queue, where that was replaced
        self._open: Piece | None = None  # what has become of these so far
        self._end = 0  # where what has been told ends

    def through(self, came: Iterable[Piece], pieces: Iterable[Piece]) -> list[Piece]:
        """What the next editor made of it, as ranges of the first text."""
        self._queue += came
        out: list[Piece] = []
        for piece in pieces:
            if piece.kept:
                self._kept(len(piece.text), out)
            else:
                self._replaced(piece, out)
        while self._queue and not self._queue[0].text:  # what was removed before: nothing more is to be said of it
            out.append(self._queue.popleft())
        if out:
            self._end = out[-1].end
        return out

    def _kept(self, count: int, out: list[Piece]) -> None:
        queue = self._queue
        while queue and (count or not queue[0].text):
            piece = queue[0]
            size = min(count, len(piece.text) - self._used)
            count -= size
            if piece.kept:
                middle = piece.start + size
                out.append(Piece(piece.start, middle, piece.text[:size], True))
                if middle == piece.end:
                    queue.popleft()
                else:
                    queue[0] = Piece(middle, piece.end, piece.text[size:], True)
                continue
            self._grow(piece.start, piece.end, piece.text[self._used : self._used + size])
            self._used += size
            if self._used == len(piece.text):
                queue.popleft()
                self._used = 0
                self._close(out)

    def _replaced(self, made: Piece, out: list[Piece]) -> None:
        queue = self._queue
        count = made.end - made.start
        first = self._open.start if self._open is not None else queue[0].start if queue else None
        last = first if self._open is None else self._open.end
        done = True
        while queue and (count or not queue[0].text):
            piece = queue[0]
            size: int = min(count, len(piece.text) - self._used)
            count -= size
            last = piece.end
            done = self._used + size == len(piece.text)
            if done:
                queue.popleft()
                self._used = 0
            elif piece.kept:
                last = piece.start + size
                queue[0] = Piece(last, piece.end, piece.text[size:], True)
                done = True
            else:
                self._used += size
        if first is None:  # it has put something in behind all that has come
            first = out[-1].end if out else self._end
        self._grow(first, first if last is None else last, made.text)
        if done and not self._used:
            self._close(out)

    def _grow(self, start: int, end: int, text: str) -> None:
        before = self._open
        if before is None:
            self._open = Piece(start, end, text, False)
        else:
            self._open = Piece(before.start, max(before.end, end), before.text + text, False)

    def _close(self, out: list[Piece]) -> None:
        if self._open is not None:
            out.append(self._open)
            self._open = None


def difference(start: int, before: str, after: str) -> list[Piece]:
    """A text that somebody has changed at once, as pieces: the same beginning and end are kept.

    Args:
        start: Where the text begins.
        before: What it was.
        after: What it is.

    Example:
        >>> [tuple(piece) for piece in difference(10, "my card", "my ****")]
        [(10, 13, 'my ', True), (13, 17, '****', False)]
    """
    end = start + len(before)
    if before == after:
        return [Piece(start, end, before, True)] if before else []
    low = 0
    while low < min(len(before), len(after)) and before[low] == after[low]:
        low += 1
    high = 0
    while high < min(len(before), len(after)) - low and before[-1 - high] == after[-1 - high]:
        high += 1
    made = [Piece(start, start + low, before[:low], True)] if low else []
    made.append(Piece(start + low, end - high, after[low : len(after) - high], False))
    return [*made, Piece(end - high, end, before[len(before) - high :], True)] if high else made

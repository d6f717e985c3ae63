"""One text on its way through several branches at once: let go as far as every branch has decided it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from interlock.processors.lanes.moved import Removed
from interlock.processors.lanes.pieces import difference
from interlock.processors.stream_context import Piece

__all__ = ["LaneJoin"]


class _Edit(NamedTuple):
    """A range that a branch has edited.

    Args:
        start: Where it begins.
        end: Where it ends.
        text: What stands in its place.
        put: Whether the branch has put the text in and replaced nothing.
        branch: Which.
    """

    start: int
    end: int
    text: str
    put: bool
    branch: int


class LaneJoin:
    """Joins what branches make of one text that comes in pieces.

    The text is let go up to where the slowest branch has decided it. Of edits that overlap, the one that begins first
    keeps its replacement (of two, the longer; of equals, that of the branch that comes first); the others only remove.
    What an edit puts back as it was, at its beginning or end, it has not touched: a mask that shows the last characters
    of a number does not keep another branch from removing them. What a branch puts in, replacing nothing, goes on in
    any case, before what stands there; only where it has removed that before, what others have removed of it is not put
    in again.

    Args:
        branches: How many there are.
    """

    __slots__ = ("_at", "_covered", "_edits", "_removed", "_text", "_upto")

    def __init__(self, branches: int) -> None:
        self._text = ""  # what has come and was not let go
        self._at = 0  # where that begins
        self._upto = [0] * branches
        self._edits: list[deque[_Edit]] = [deque() for _ in range(branches)]
        self._covered = 0  # the end of what is being replaced
        self._removed = Removed(branches)

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return len(self._text)

    @property
    def complete(self) -> bool:
        """Whether every branch has decided all that has come."""
        return min(self._upto) >= self._at + len(self._text)

    @property
    def any_removed(self) -> bool:
        """Whether a branch may yet put in again what it has removed."""
        return self._removed.any

    def push(self, text: str) -> None:
        """More of the text has come."""
        self._text += text

    def decided(self, branch: int, pieces: Sequence[Piece]) -> None:
        """A branch has decided more of it.

        Args:
            branch: Which.
            pieces: What became of the text, from where it had decided it on.
        """
        for piece in pieces:
            if piece.start == piece.end:
                if piece.text:
                    self._edits[branch].append(_Edit(piece.start, piece.end, piece.text, True, branch))
            elif not piece.kept:
                before = self._text[piece.start - self._at : piece.end - self._at]
                for start, end, text, kept in difference(piece.start, before, piece.text):
                    if not kept:
                        self._edits[branch].append(_Edit(start, end, text, False, branch))
                        was = before[start - piece.start : end - piece.start]
                        self._removed.take(branch, start, was)
            self._upto[branch] = max(self._upto[branch], piece.end)

    def let_go(self, *, only: int | None = None, nobody: bool = False, final: bool = False) -> list[Piece]:
        """What may go out now.

        Args:
            only: The branch whose edits are made; None: those of all.
            nobody: No edits are made at all.
            final: The text is complete.
        """
        upto = min(self._upto)
        edits = self._due(upto, only=only, nobody=nobody, final=final)
        out: list[Piece] = []
        at = self._at
        if self._covered > at:
            stop = min(self._covered, upto)
            if stop > at:
                out.append(Piece(at, stop, "", False))
            at = max(at, stop)
        for start, end, text, put, branch in edits:
            stop = min(end, upto)
            if start > at:
                out.append(Piece(at, start, self._text[at - self._at : start - self._at], True))
                at = start
            if put:
                back = text if only is not None else self._removed.without(branch, text)
                out.append(Piece(at, at, back, False))
            elif start >= self._covered:
                out.append(Piece(at, max(at, stop), text, False))
            elif stop > at:
                out.append(Piece(at, stop, "", False))
            at = max(at, stop)
            self._covered = max(self._covered, end)
        if upto > at:
            out.append(Piece(at, upto, self._text[at - self._at : upto - self._at], True))
        self._text = self._text[upto - self._at :]
        self._at = upto
        return out

    def _due(self, upto: int, *, only: int | None, nobody: bool, final: bool) -> list[_Edit]:
        """The edits that begin before a place, in the order in which they are made; what is put in there, as well."""
        due: list[tuple[int, bool, int, int, _Edit]] = []
        for branch, edits in enumerate(self._edits):
            while edits and (final or edits[0].start < upto + edits[0].put):
                edit = edits.popleft()
                if not nobody and only in (None, branch):
                    due.append((edit.start, not edit.put, -edit.end, branch, edit))
        due.sort(key=_place)
        return [edit for *_, edit in due]


def _place(due: tuple[int, bool, int, int, _Edit]) -> tuple[int, bool, int, int]:
    return due[:4]

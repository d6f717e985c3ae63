"""One text that comes in pieces, edited as far as it is decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from interlock.processors.lanes.lane import Decided, Lane, LaneKind, whole
from interlock.processors.lanes.matcher import Match
from interlock.processors.stream_context import Piece

__all__ = ["Edit", "EditedLane", "Gone", "edits_of"]

Replace = Callable[[Match, str], str]
"""What stands in the place of a match, whose text is given as well."""


class Edit(NamedTuple):
    """A match, its text, and what stands in its place."""

    match: Match
    text: str
    replacement: str


class Gone(NamedTuple):
    """What a lane lets go.

    Args:
        text: The text, edited.
        edits: What was found since the last time.
        pieces: Which ranges of the incoming text became what.
        fixed: Those of the edits that cannot be made where they are.
    """

    text: str
    edits: Sequence[Edit]
    pieces: Sequence[Piece]
    fixed: Sequence[Edit] = ()


def edits_of(kind: LaneKind, text: str, replace: Replace) -> list[Edit]:
    """What is found in a whole text, and what stands in its place."""
    return [_edit(match, text[match.start : match.end], replace) for match in whole(kind, text)]


def _edit(match: Match, text: str, replace: Replace) -> Edit:
    return Edit(match, text, replace(match, text) if match.replacement is None else match.replacement)


class EditedLane:
    """One text while it comes.

    Args:
        lane: What decides it.
        replace: What stands in the place of a match.
        holds: Whether text is held back until it is decided, and edited; else it only is looked at.

    Attributes:
        edited: Whether anything was found.
    """

    __slots__ = ("_at", "_holds", "_lane", "_replace", "_skip", "_text", "edited")

    def __init__(self, lane: Lane, replace: Replace, *, holds: bool = True) -> None:
        self._lane = lane
        self._replace = replace
        self._holds = holds
        self._text = ""  # what is not decided
        self._at = 0  # where that begins
        self._skip = 0  # where what is being replaced ends
        self.edited = False

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return len(self._text) if self._holds else 0

    def give_up(self) -> tuple[str, Piece]:
        """What is held back, as it came: nobody will decide it."""
        at = max(self._at, self._skip)
        held = self._text[at - self._at :] if self._holds else ""
        return held, Piece(at, at + len(held), held, True)

    def push(self, text: str) -> Gone:
        """Take more of the text in."""
        self._text += text
        return self._gone(self._lane.push(text), text)

    def end(self) -> Gone:
        """The text is complete."""
        return self._gone(self._lane.end(), "")

    def _gone(self, decided: Decided, came: str) -> Gone:
        upto, found = decided
        at, text = self._at, self._text
        edits: Sequence[Edit] = ()
        if found:
            edits = [_edit(match, text[match.start - at : match.end - at], self._replace) for match in found]
            self.edited = True
        self._text = text[upto - at :]
        self._at = upto
        if not self._holds:
            place = upto + len(self._text)
            return Gone(came, edits, (Piece(place - len(came), place, came, True),) if came else ())
        if not edits and self._skip <= at:
            gone = text[: upto - at]
            return Gone(gone, edits, (Piece(at, upto, gone, True),) if gone else ())
        pieces = self._pieces(at, upto, text, edits)
        return Gone("".join(piece.text for piece in pieces), edits, pieces)

    def _pieces(self, start: int, upto: int, text: str, edits: Sequence[Edit]) -> list[Piece]:
        """The incoming text up to the place, kept and replaced; what is replaced, to its end."""
        pieces: list[Piece] = []
        at = max(start, self._skip)
        for match, _, replacement in edits:
            if match.start > at:
                pieces.append(Piece(at, match.start, text[at - start : match.start - start], True))
            pieces.append(Piece(match.start, match.end, replacement, False))
            at = self._skip = match.end
        if upto > at:
            pieces.append(Piece(at, upto, text[at - start : upto - start], True))
        return pieces

"""All that happened to a text since a given state of it, as one list of changes of that state.

A text may have been edited several times, exactly or in place. Each further edit speaks of the text as it was then;
here they are put together. What no edit touched is kept character by character; a piece that was replaced once and is
edited again counts as one piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from interlock.messages.diff import derive
from interlock.messages.parts import ReasoningPart, TextPart
from interlock.messages.rewriting import Change, Range, TextEdit, trimmed

__all__ = ["changes_between", "changes_since", "exact"]


def changes_since(base: TextPart | ReasoningPart, part: TextPart | ReasoningPart) -> list[Change]:
    """What happened to a text since it was that of ``base``, by its history and, where that is silent, by comparison.

    The changes are in order, do not overlap, and are as small as can be.
    """
    history = part.history
    chain = history.since(base.history) if history is not None else [] if base.history is None else None
    changes: Sequence[Change] = []
    text = base.text
    for node in chain or ():
        changes = _apply(base.text, changes, _derived(text, node.before))
        changes = _apply(base.text, changes, node.changes)
        text = node.after
    changes = _apply(base.text, changes, _derived(text, part.text))
    return _least(base.text, changes)


def changes_between(before: str, after: str) -> list[Change]:
    """What leads from one text to the other, by comparison."""
    return _least(before, _derived(before, after))


def _derived(before: str, after: str) -> list[Change]:
    if before == after:
        return []
    return [
        Change(e.start, e.end, e.replacement, "redaction", (e.start, e.end), derived=True, doubt=e.doubt)
        for e in derive(before, after)
    ]


def exact(edit: TextEdit) -> Change:
    """An edit as the change it makes."""
    return Change(edit.start, edit.end, edit.replacement, edit.kind, (edit.start, edit.end))


def _least(base: str, changes: Iterable[Change]) -> list[Change]:
    """The changes without what stays as it was, those that change nothing left out."""
    least: list[Change] = []
    for change in changes:
        start, end, text = trimmed(base, change.start, change.end, change.replacement)
        if start < end or text:
            least.append(Change(start, end, text, change.kind, change.span, change.derived, change.doubt))
    return least


def _apply(base: str, changes: Sequence[Change], edits: Sequence[Change]) -> Sequence[Change]:
    """Make further edits, in offsets of the text as ``changes`` left it; the result is in offsets of ``base``."""
    if not changes or not edits:
        return changes or edits
    pieces = _pieces(base, changes)
    for edit in reversed(edits):  # the last one first, so that the offsets of the others stay right
        pieces = _edited(pieces, edit, len(base))
    return [piece.change for piece in pieces if piece.change is not None]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of the old text: kept, or replaced by what a change says."""

    start: int
    end: int
    change: Change | None = None

    @property
    def length(self) -> int:
        """How many characters it has now."""
        return self.end - self.start if self.change is None else len(self.change.replacement)


def _pieces(base: str, changes: Sequence[Change]) -> list[_Piece]:
    pieces: list[_Piece] = []
    at = 0
    for change in changes:
        pieces += [_Piece(at, change.start), _Piece(change.start, change.end, change)]
        at = change.end
    return [*pieces, _Piece(at, len(base))]


def _edited(pieces: Sequence[_Piece], edit: Change, length: int) -> list[_Piece]:
    before: list[_Piece] = []
    touched: list[tuple[int, Change]] = []
    after: list[_Piece] = []
    at = 0
    for piece in pieces:
        reach = at + piece.length
        if piece.change is None:
            before.append(_Piece(piece.start, piece.start + max(0, min(reach, edit.start) - at)))
            after.append(_Piece(piece.end - max(0, reach - max(at, edit.end)), piece.end))
        elif _touches(edit, at, reach):
            touched.append((at, piece.change))
        elif reach <= edit.start:
            before.append(piece)
        else:
            after.append(piece)
        at = reach
    before = [piece for piece in before if piece.change is not None or piece.start < piece.end]
    after = [piece for piece in after if piece.change is not None or piece.start < piece.end]
    start = before[-1].end if before else 0
    end = after[0].start if after else length
    return [*before, _Piece(start, end, _joined(pieces, edit, touched, start, end)), *after]


def _touches(edit: Change, start: int, end: int) -> bool:
    """Whether an edit reaches into a replaced piece, or puts something where a piece was taken out."""
    if start == end:
        return edit.start < start < edit.end or edit.start == start == edit.end
    if edit.start == edit.end:
        return start < edit.start < end
    return start < edit.end and edit.start < end


def _joined(
    pieces: Sequence[_Piece], edit: Change, touched: Sequence[tuple[int, Change]], start: int, end: int
) -> Change:
    """The edit as a change of ``[start, end)`` of the old text, with what is left of the replaced pieces it touches."""
    text = edit.replacement
    if touched:
        (at, first), (last_at, last) = touched[0], touched[-1]
        text = first.replacement[: max(0, edit.start - at)] + text + last.replacement[max(0, edit.end - last_at) :]
    changes = [edit, *(change for _, change in touched)]
    doubt = [_back(pieces, low, high) for low, high in edit.doubt]
    return Change(
        start,
        end,
        text,
        "redaction" if any(change.kind == "redaction" for change in changes) else "rewrite",
        (start, end),
        any(change.derived for change in changes),
        (*doubt, *(found for _, change in touched for found in change.doubt)),
    )


def _back(pieces: Sequence[_Piece], low: int, high: int) -> Range:
    """The range of the old text that ``[low, high)`` of the new one came from, replaced pieces as a whole."""
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for piece in pieces:
        reach = at + piece.length
        if at < high and low < reach:
            whole = piece.change is not None
            starts.append(piece.start if whole else piece.start + max(0, low - at))
            ends.append(piece.end if whole else piece.end - max(0, reach - high))
        at = reach
    return (min(starts, default=0), max(ends, default=0))

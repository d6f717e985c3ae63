"""All that happened to a text since a given state of it, as one list of changes of that state.

A text may have been edited several times, exactly or in place. Each further edit speaks of the text as it was then;
here they are put together. What no edit touched is kept character by character; a piece that was replaced once and is
edited again counts as one piece.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from interlock.messages.parts import ReasoningPart, TextPart
from interlock.messages.rewriting import Change, Range, TextEdit, apply_edits, trimmed

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
    from interlock.messages.diff import derive  # of texts that were changed without saying where

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
    """Make further edits, in offsets of the text as ``changes`` left it; the result is in offsets of ``base``.

    One pass over both lists, which are sorted and free of overlaps: long texts have thousands of either.
    """
    if not changes or not edits:
        return changes or edits
    pieces = _Pieces(changes)
    now = apply_edits(base, changes)
    return [_together(group, pieces, now) for group in _groups(pieces, edits)]


class _Pieces:
    """Where the pieces that were replaced once lie in the text as it is now."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self.changes = changes
        self.starts: list[int] = []
        self.ends: list[int] = []
        moved = 0
        for change in changes:
            self.starts.append(change.start + moved)
            self.ends.append(self.starts[-1] + len(change.replacement))
            moved = self.ends[-1] - change.end

    def back(self, low: int, high: int) -> Range:
        """The range of the old text that ``[low, high)`` of the new one came from, replaced pieces as a whole."""
        first, last = bisect_right(self.starts, low) - 1, bisect_left(self.starts, high) - 1
        start = self.changes[first].start if first >= 0 and low < self.ends[first] else self.after(first, low)
        return start, self.after(last, high)

    def after(self, piece: int, at: int) -> int:
        """The place in the old text of ``at``, which lies in the piece, or after it and before the next."""
        return at if piece < 0 else self.changes[piece].end + max(0, at - self.ends[piece])


@dataclass(slots=True)
class _Group:
    """Edits and the replaced pieces they touch, in ``[start, end)`` of the text as it is now."""

    start: int
    end: int
    before: int
    """The last piece before the group; -1 if there is none."""
    edits: list[Change] = field(default_factory=list[Change])
    pieces: list[int] = field(default_factory=list[int])

    def takes(self, start: int, end: int, edit: bool) -> bool:
        """Whether what comes next overlaps the group, or puts something where a piece was taken out."""
        if start < self.end:
            return True
        return self.start == self.end == start == end and bool(self.pieces) and (edit or bool(self.edits))


def _groups(pieces: _Pieces, edits: Sequence[Change]) -> Iterator[_Group]:
    """Pieces and edits in the order of their place; at one place what is empty first, and there pieces first."""
    places = [(start, end, False, at) for at, (start, end) in enumerate(zip(pieces.starts, pieces.ends, strict=True))]
    places += [(edit.start, edit.end, True, at) for at, edit in enumerate(edits)]
    places.sort(key=lambda place: (place[0], place[0] < place[1], place[2], place[3]))
    group: _Group | None = None
    passed = -1
    for start, end, edit, at in places:
        if group is None or not group.takes(start, end, edit):
            if group is not None:
                yield group
            group = _Group(start, end, passed)
        if edit:
            group.edits.append(edits[at])
        else:
            group.pieces.append(at)
            passed = at
        group.end = max(group.end, end)
    if group is not None:
        yield group


def _together(group: _Group, pieces: _Pieces, now: str) -> Change:
    """The group as one change of the old text, with what is left of its pieces."""
    touched = [pieces.changes[at] for at in group.pieces]
    if not group.edits:
        return touched[0]
    first, last = (group.pieces[0], group.pieces[-1]) if touched else (group.before, group.before)
    begins = bool(touched) and pieces.starts[first] == group.start
    start = touched[0].start if begins else pieces.after(group.before, group.start)
    end = pieces.after(last, group.end)
    changes = [*group.edits, *touched]
    moved = [Change(e.start - group.start, e.end - group.start, e.replacement, e.kind, e.span) for e in group.edits]
    doubt = [pieces.back(low, high) for edit in group.edits for low, high in edit.doubt]
    return Change(
        start,
        end,
        apply_edits(now[group.start : group.end], moved),
        "redaction" if any(change.kind == "redaction" for change in changes) else "rewrite",
        (start, end),
        any(change.derived for change in changes),
        (*doubt, *(found for change in touched for found in change.doubt)),
    )

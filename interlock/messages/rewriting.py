"""Exact records of how a text was changed, so that edits made in different branches can be joined.

A text part remembers its edits as a :class:`History`: a chain that only grows at its end, shared by all copies of the
part. Two copies that went separate ways share the older end of their chains.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Self

__all__ = ["Change", "EditKind", "History", "Range", "TextEdit", "apply_edits", "checked_edits", "trimmed"]

EditKind = Literal["redaction", "rewrite"]
"""A redaction takes something away for safety; a rewrite says the same in other words, and yields to a redaction."""


Range = tuple[int, int]
"""Offsets of a text: the first character, and the one after the last."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replace the characters ``[start, end)`` of a text.

    Args:
        start: Offset of the first character, in characters (code points).
        end: Offset after the last; equal to ``start`` for an insertion.
        replacement: What comes in their place.
        kind: ``"redaction"`` or ``"rewrite"``.

    >>> from interlock.messages import TextEdit
    >>> from interlock.messages.rewriting import apply_edits
    >>> apply_edits("call 555-1234 now", [TextEdit(5, 13, "[PHONE]")])
    'call [PHONE] now'
    """

    start: int
    end: int
    replacement: str = ""
    kind: EditKind = "redaction"


@dataclass(frozen=True, slots=True)
class Change:
    """A piece of a text that was replaced.

    Args:
        start: Where it begins in the old text.
        end: Where it ends; equal to ``start`` where something was only put in.
        replacement: What came in its place.
        kind: A redaction, or a rewrite.
        span: The range that was edited, before what stayed the same was cut off at its ends.
        derived: Whether the change was found by comparing texts, rather than recorded.
        doubt: Ranges of the old text of which it cannot be told which characters were taken away.
    """

    start: int
    end: int
    replacement: str
    kind: EditKind
    span: Range
    derived: bool = False
    doubt: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """One call of ``edit_text``, or one merge, linked to those before it.

    Args:
        parent: The edits before; None where there were none.
        before: The text that was edited.
        changes: Sorted, without overlaps, in offsets of ``before``.
        after: The text that came of it.
    """

    parent: History | None
    before: str
    changes: tuple[Change, ...]
    after: str

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __copy__(self) -> Self:
        return self

    def since(self, ancestor: History | None) -> list[History] | None:
        """The edits after ``ancestor``, oldest first; None if this text does not descend from it."""
        chain: list[History] = []
        node: History | None = self
        while node is not ancestor:
            if node is None:
                return None
            chain.append(node)
            node = node.parent
        chain.reverse()
        return chain


def apply_edits(text: str, edits: Iterable[TextEdit | Change]) -> str:
    """The text with the edits made; they must be sorted and must not overlap (see :func:`checked_edits`)."""
    pieces: list[str] = []
    at = 0
    for edit in edits:
        pieces.append(text[at : edit.start])
        pieces.append(edit.replacement)
        at = edit.end
    pieces.append(text[at:])
    return "".join(pieces)


def checked_edits(text: str, edits: Sequence[TextEdit], where: str) -> tuple[TextEdit, ...]:
    """The edits sorted by their place; insertions at one point keep their order.

    Raises:
        ValueError: One lies outside the text or two overlap; the message names ``where``.
    """
    ordered = sorted(edits, key=lambda e: (e.start, e.end))
    at = 0
    previous: TextEdit | None = None
    for edit in ordered:
        if not 0 <= edit.start <= edit.end <= len(text):
            raise ValueError(
                f"{where}: the edit [{edit.start}, {edit.end}) lies outside the text, which has {len(text)} characters"
            )
        if edit.kind not in ("redaction", "rewrite"):
            raise ValueError(f"{where}: an edit's kind is 'redaction' or 'rewrite', not {edit.kind!r}")
        if edit.start < at and previous is not None:
            raise ValueError(
                f"{where}: the edits [{previous.start}, {previous.end}) and [{edit.start}, {edit.end}) overlap; "
                "give one edit that covers both"
            )
        at = edit.end
        previous = edit
    return tuple(ordered)


def trimmed(before: str, start: int, end: int, replacement: str) -> tuple[int, int, str]:
    """The same change in its least form: without the prefix and suffix that stay as they were."""
    old = before[start:end]
    head = common_prefix(old, replacement)
    tail = common_prefix(old[head:][::-1], replacement[head:][::-1])
    return start + head, end - tail, replacement[head : len(replacement) - tail]


def common_prefix(one: str, other: str) -> int:
    """How many characters two strings share at their beginning, found by halving slices."""
    limit = min(len(one), len(other))
    if one[:limit] == other[:limit]:
        return limit
    low, high = 0, limit - 1
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low

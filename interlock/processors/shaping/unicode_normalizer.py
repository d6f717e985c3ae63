"""One spelling for what looks the same: Unicode normalisation of what users write."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from interlock.messages import TextEdit, TextPart
from interlock.messages.rewriting import apply_edits
from interlock.processors.base import Processor
from interlock.processors.contexts import InputContext
from interlock.processors.detection.scan_copy import LONGEST_SEGMENT, joins_previous
from interlock.processors.shaping.invisible_text import hidden_spans
from interlock.verdict import Violation

__all__ = ["UnicodeNormalizer"]

_BLANKS: Final = re.compile(r"\r\n?|[^\S\r\n]+")
_EMPTY_LINES: Final = re.compile(r"\n(?: ?\n){2,}")
_EMOJI_THAT_DECOMPOSE: Final = frozenset(
    map(chr, [0x1F201, 0x1F202, 0x1F21A, 0x1F22F, *range(0x1F232, 0x1F23B), 0x1F250, 0x1F251])
)
"""Emojis without a selector that NFKC would turn into ideographs."""


class UnicodeNormalizer(Processor):
    """Rewrites the text of new messages in normalisation form NFKC.

    Full-width letters, ligatures, letters in circles and mathematical alphabets become plain ones, so that guards and
    models read one spelling. Each change is an exact edit: beside a guard that redacts, in a parallel block, both hold.

    Args:
        strip_control_chars: Take out control characters and what is invisible: zero-width characters, bidi controls,
            tag characters, soft hyphens. Joiners that Hindi, Arabic and others need stay.
        preserve_emojis: Keep emojis as they were written, and the invisible characters that hold them together.
        collapse_whitespace: Runs of blanks and tabs become one blank, more than one empty line one, line ends ``\\n``.
            Code loses its indentation.
        trim: Take white space from both ends of each text.
        id, on_violation: As in :class:`Processor`.

    Example:
        >>> ctx = InputContext("  Ｈｅｌｌｏ   ﬁne   world ")
        >>> UnicodeNormalizer().process_input(ctx)
        >>> ctx.messages[0].text
        'Hello fine world'
    """

    id = "unicode-normalizer"

    def __init__(
        self,
        *,
        strip_control_chars: bool = False,
        preserve_emojis: bool = True,
        collapse_whitespace: bool = True,
        trim: bool = True,
        id: str | None = None,  # noqa: A002
        on_violation: Callable[[Violation], object] | None = None,
    ) -> None:
        super().__init__(id=id, on_violation=on_violation)

        def strip(text: str) -> Iterator[TextEdit]:
            return (_rewrite(start, end) for start, end in hidden_spans(text, keep_emojis=preserve_emojis))

        def normalize(text: str) -> Iterator[TextEdit]:
            return _normalizing(text, keep_emojis=preserve_emojis)

        stages = (
            (strip_control_chars, strip),
            (True, normalize),
            (strip_control_chars, strip),  # a joiner whose emoji was a letter all along joins nothing any more
            (collapse_whitespace, _collapsing),
        )
        self._stages = [stage for wanted, stage in stages if wanted]
        if collapse_whitespace:
            self._stages.append(_joining_lines)
        if trim:
            self._stages.append(_trimming)

    def process_input(self, ctx: InputContext) -> None:
        """Rewrite the text parts of the new input messages."""
        for message in ctx.messages:
            for n, part in enumerate(message.parts):
                if isinstance(part, TextPart):
                    for edits in self._rewritings(part.text):
                        ctx.message_list.edit_text(message.id, n, edits)

    def _rewritings(self, text: str) -> Iterator[Sequence[TextEdit]]:
        """The edits of each stage, in offsets of what the stage before left."""
        for stage in self._stages:
            edits = list(stage(text))
            if edits:
                text = apply_edits(text, edits)
                yield edits


def _rewrite(start: int, end: int, replacement: str = "") -> TextEdit:
    return TextEdit(start, end, replacement, kind="rewrite")


def _normalizing(text: str, *, keep_emojis: bool) -> Iterator[TextEdit]:
    """NFKC, cluster by cluster: what normalisation may join belongs to one cluster."""
    if text.isascii():
        return
    start = 0
    for at in range(1, len(text) + 1):
        if at < len(text) and at - start < LONGEST_SEGMENT and not text[at].isascii() and joins_previous(text[at]):
            continue
        cluster = text[start:at]
        if not cluster.isascii() and not (keep_emojis and _is_kept(cluster, text[at : at + 1])):
            made = unicodedata.normalize("NFKC", cluster)
            if made != cluster:
                yield _rewrite(start, at, made)
        start = at


def _is_kept(cluster: str, after: str) -> bool:
    return after == "\ufe0f" or cluster in _EMOJI_THAT_DECOMPOSE


def _collapsing(text: str) -> Iterator[TextEdit]:
    for match in _BLANKS.finditer(text):
        replacement = "\n" if match.group()[0] == "\r" else " "
        if match.group() != replacement:
            yield _rewrite(*match.span(), replacement)


def _joining_lines(text: str) -> Iterator[TextEdit]:
    for match in _EMPTY_LINES.finditer(text):
        yield _rewrite(*match.span(), "\n\n")


def _trimming(text: str) -> Iterator[TextEdit]:
    left = len(text) - len(text.lstrip())
    if left:
        yield _rewrite(0, left)
    right = len(text.rstrip())
    if left < len(text) and right < len(text):
        yield _rewrite(right, len(text))

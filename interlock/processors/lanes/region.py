"""Regions without a bound, such as a private key: from an opener to its closer, however far that is."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.processors.lanes.bounded_pattern import BoundedPattern
from interlock.processors.lanes.matcher import Match, Matcher, Reading

__all__ = ["Region"]


class Region(Matcher):
    """What stands between an opener and a closer, both included; without a closer, up to the end of the text.

    No text could be held back until such a region ends. So it is replaced where it opens, and what follows is
    swallowed: it is told as further matches, whose replacement is empty.

    Args:
        opener: What it begins with.
        closer: What it ends with.
        kind: What it is.
        flags: Of both expressions; see :class:`BoundedPattern`.
        reading: Which reading of a text it is given.

    Raises:
        DefinitionError: An expression is none, or has no bound.

    Example:
        >>> key = Region("-----BEGIN KEY-----", "-----END KEY-----", kind="key")
        >>> [match[:2] for match in key.find("-----BEGIN KEY-----abc-----END KEY----- and on", 0)]
        [(0, 19), (19, 39)]
    """

    def __init__(
        self, opener: str, closer: str, *, kind: str = "region", flags: int = 0, reading: Reading = "raw"
    ) -> None:
        self.kind = kind
        self.reading = reading
        self.opener = BoundedPattern(opener, kind=kind, flags=flags, reading=reading)
        self.closer = BoundedPattern(closer, kind=kind, flags=flags, reading=reading, replacement="")
        self.longest_match = max(self.opener.longest_match, self.closer.longest_match)
        self.look_behind = max(self.opener.look_behind, self.closer.look_behind)
        self.look_ahead = max(self.opener.look_ahead, self.closer.look_ahead)

    def find(self, text: str, start: int, /) -> Iterator[Match]:
        """The regions that begin at or after ``start``, each as its opener and what it swallows."""
        at = start
        while (opened := next(self.opener.find(text, at), None)) is not None:
            yield opened
            closed = next(self.closer.find(text, opened.end), None)
            at = len(text) if closed is None else closed.end
            if at > opened.end:
                yield Match(opened.end, at, self.kind, replacement="")

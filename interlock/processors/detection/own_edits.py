"""The texts that a guard has edited, so that it does not edit at one point what it has let go at another.

An edit can put together what the guard looks for: where ``TICKET-1`` is taken out of ``TICKTICKET-1ET-2``, ``TICKET-2``
is left, and a client has read it. The first verdict on a text stands, as long as nobody else changes the text.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final, Self, cast

from interlock.processors.detection.scope import PartKind

__all__ = ["Digest", "OwnEdits"]

_EDITED: Final = "edited"
"""Where a processor's state keeps the digests."""


class Digest:
    """What stands for a text that comes in pieces."""

    __slots__ = ("_hash",)

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, text: str) -> Self:
        """Go on with the text."""
        self._hash.update(text.encode("utf-8", "surrogatepass"))
        return self

    def of(self, part: str) -> str:
        """What stands for it as a part of this kind."""
        return f"{part}:{self._hash.hexdigest()}"

    def __deepcopy__(self, memo: object) -> Self:
        del memo
        made = type(self)()
        made._hash = self._hash.copy()
        return made


class OwnEdits:
    """The texts that one guard has edited in one run.

    Args:
        state: The guard's own, of the run.

    Example:
        >>> edits = OwnEdits({})
        >>> edits.note("text", Digest().add("my ").add("[CARD]"))
        >>> edits.has("text", "my [CARD]"), edits.has("reasoning", "my [CARD]"), edits.has("text", "mine")
        (True, False, False)
    """

    __slots__ = ("_state",)

    def __init__(self, state: dict[str, Any]) -> None:
        self._state = state

    def note(self, part: PartKind, text: str | Digest) -> None:
        """Note a text as the guard has left it."""
        digest = (Digest().add(text) if isinstance(text, str) else text).of(part)
        known = cast("list[str]", self._state.setdefault(_EDITED, []))
        if digest not in known:
            known.append(digest)

    def has(self, part: PartKind, text: str) -> bool:
        """Whether the text stands as the guard has left it."""
        known = cast("list[str]", self._state.get(_EDITED, ()))
        return len(known) > 0 and Digest().add(text).of(part) in known

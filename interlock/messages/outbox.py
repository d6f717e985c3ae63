"""What hooks and tools have written for the client, until the run gives it out."""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

from interlock.messages.chunks import Chunk, DataChunk
from interlock.messages.json_text import plain_json
from interlock.messages.usage import Usage

if TYPE_CHECKING:
    import anyio

    from interlock.messages.message import Message

__all__ = ["Outbox", "written_chunk"]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def written_chunk(
    name: str,
    data: object,
    *,
    transient: bool = False,
    id: str | None = None,  # noqa: A002
    message_id: str | None = None,
) -> DataChunk:
    """The chunk for what a hook or tool writes. It shares nothing with ``data`` that could be changed.

    Args:
        name: Letters, digits, ``.``, ``_`` and ``-``; on the wire it stands behind ``data-``.
        data: Values that have a form in JSON.
        transient, id, message_id: As in :class:`DataChunk`.

    Raises:
        ValueError: The name is none, or something in the data has no JSON form; the message names the place.
    """
    if not isinstance(cast("object", name), str) or not _NAME.fullmatch(name):
        raise ValueError(f"what is written needs a name of letters, digits, '.', '_' and '-', not {name!r:.60}")
    try:
        plain = plain_json(data, f"the data written as {name!r}")
    except RecursionError:
        raise ValueError(f"the data written as {name!r} is nested too deep, or holds itself") from None
    return DataChunk(name, plain, id, message_id, transient)


class Outbox:
    """Chunks in the order they were written. Writing never waits.

    Attributes:
        signals: Messages to the model that belong behind the answer that is coming in.
        spent: Tokens that agents used which tools have asked.
    """

    __slots__ = ("_chunks", "_stirred", "_taken", "_thread", "signals", "spent")

    def __init__(self) -> None:
        self.signals: list[Message] = []
        self.spent = Usage()
        self._chunks: deque[Chunk] = deque()
        self._stirred: anyio.Event | None = None
        self._taken: anyio.Event | None = None
        self._thread: int | None = None

    def __bool__(self) -> bool:
        return bool(self._chunks)

    def put(self, chunk: Chunk) -> None:
        """Put a chunk behind the others, from any thread."""
        self._chunks.append(chunk)
        self.stir()

    def take(self) -> Sequence[Chunk]:
        """Take all that is there."""
        taken: list[Chunk] = []
        while self._chunks:
            taken.append(self._chunks.popleft())
        event, self._taken = self._taken, None
        if event is not None:
            event.set()
        return taken

    def take_spent(self) -> Usage:
        """Take the tokens that were noted; they are counted once."""
        spent, self.spent = self.spent, Usage()
        return spent

    def stir(self) -> None:
        """Wake whoever waits for something to happen."""
        event = self._stirred
        if event is None:
            return
        if threading.get_ident() == self._thread:
            event.set()
            return
        from anyio import from_thread

        try:
            from_thread.run_sync(event.set)
        except RuntimeError:  # no thread of anyio's: what was put goes out with whatever happens next
            return

    async def stirred(self) -> None:
        """Wait until there is something to take, or somebody stirs. One task at a time waits here."""
        import anyio

        event = anyio.Event()
        self._thread, self._stirred = threading.get_ident(), event
        try:
            if not self._chunks:
                await event.wait()
        finally:
            self._stirred = None

    async def taken(self) -> None:
        """Wait until all that was put has been taken: a slow reader slows whoever writes much."""
        import anyio

        while self._chunks:
            if self._taken is None:
                self._taken = anyio.Event()
            await self._taken.wait()

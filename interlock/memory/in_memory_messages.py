"""Messages kept in this process's memory: for tests, and for conversations that need not outlive the process."""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice

import anyio.lowlevel

from interlock.errors import ForeignThread
from interlock.memory.message_store import ThreadSummary
from interlock.messages import Message

__all__ = ["InMemoryMessageStore"]


class _Thread:
    __slots__ = ("created_at", "messages", "resource", "updated_at")

    def __init__(self, resource: str | None) -> None:
        self.resource = resource
        self.messages: dict[str, Message] = {}
        self.created_at = self.updated_at = datetime.now(UTC)


class InMemoryMessageStore:
    """Keeps messages in memory, as a database would: what is loaded is a copy, what is saved was copied.

    It may be used from several threads and event loops at once.

    Example:
        >>> import anyio
        >>> async def main() -> None:
        ...     store = InMemoryMessageStore()
        ...     said = [Message.user("Where is my parcel?"), Message.assistant("In Leipzig.")]
        ...     await store.save("t1", said, resource="ann")
        ...     print([message.text for message in await store.load("t1", resource="ann", last=1)])
        ...     print([thread.messages for thread in await store.threads("ann")])
        >>> anyio.run(main)
        ['In Leipzig.']
        [2]
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: dict[str, _Thread] = {}
        """The one saved to last stands last."""

    async def load(self, thread: str, *, resource: str | None = None, last: int | None = None) -> Sequence[Message]:
        """The newest messages of a thread, the oldest of them first; see :meth:`MessageStore.load`."""
        await anyio.lowlevel.checkpoint()
        with self._lock:
            found = self._own(thread, resource)
            kept = () if found is None else found.messages.values()
            newest = list(islice(reversed(kept), len(kept) if last is None else max(last, 0)))
        return [copy.deepcopy(message) for message in reversed(newest)]

    async def save(self, thread: str, messages: Sequence[Message], *, resource: str | None = None) -> None:
        """Put messages at the end of a thread, or where those of their ids are; see :meth:`MessageStore.save`."""
        copies = {message.id: copy.deepcopy(message) for message in messages}
        await anyio.lowlevel.checkpoint()
        with self._lock:
            found = self._own(thread, resource)
            if not copies:
                return
            if found is None:
                found = _Thread(resource)
            else:
                del self._threads[thread]
            self._threads[thread] = found
            found.messages.update(copies)
            found.updated_at = datetime.now(UTC)

    async def delete(self, thread: str, *, resource: str | None = None) -> bool:
        """Forget a thread; whether there was one."""
        await anyio.lowlevel.checkpoint()
        with self._lock:
            if self._own(thread, resource) is None:
                return False
            del self._threads[thread]
            return True

    async def threads(self, resource: str | None = None) -> Sequence[ThreadSummary]:
        """The threads of a resource, the one that was saved to last first."""
        await anyio.lowlevel.checkpoint()
        with self._lock:
            return [
                ThreadSummary(name, resource, len(kept.messages), kept.created_at, kept.updated_at)
                for name, kept in reversed(self._threads.items())
                if kept.resource == resource
            ]

    def _own(self, thread: str, resource: str | None) -> _Thread | None:
        found = self._threads.get(thread)
        if found is not None and found.resource != resource:
            raise ForeignThread(thread, resource)
        return found

    def __repr__(self) -> str:
        return f"<InMemoryMessageStore of {len(self._threads)} threads>"

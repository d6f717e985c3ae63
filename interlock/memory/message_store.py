"""What a store of messages must be able to do. It keeps threads: messages in the order in which they came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from interlock.messages import Message

__all__ = ["MessageStore", "ThreadSummary"]


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """A thread, at one glance.

    Args:
        thread: Its id.
        resource: Whose it is; None: nobody's.
        messages: How many there are.
        created_at, updated_at: When messages were first and last saved, in UTC.
    """

    thread: str
    resource: str | None
    messages: int
    created_at: datetime
    updated_at: datetime


@runtime_checkable
class MessageStore(Protocol):
    """Keeps the messages of threads. It may be used by several tasks and threads at once, on asyncio and trio.

    A thread belongs to the resource (a user, a customer, …) that its first message was saved for, for good. Every
    access names the resource, and one that names another than the owner is refused. A thread that was begun without a
    resource is nobody's: only accesses without one reach it.

    A message's id is unique in its thread; other threads may have a message of the same id.
    """

    async def load(self, thread: str, *, resource: str | None = None, last: int | None = None) -> Sequence[Message]:
        """The newest messages of a thread, the oldest of them first; none where there is no such thread.

        They are the caller's own.

        Args:
            thread: The thread.
            resource: Whose it is.
            last: How many at most; None: all.

        Raises:
            ForeignThread: It is another's.
            StorageError: It could not be read.
        """
        ...

    async def save(self, thread: str, messages: Sequence[Message], *, resource: str | None = None) -> None:
        """Put messages at the end of a thread, all of them or none; the thread begins with its first message.

        A message whose id the thread has already takes that one's place, so saving twice is saving once. What is kept
        are copies.

        Args:
            thread: The thread.
            messages: In order.
            resource: Whose it is.

        Raises:
            ForeignThread: It is another's; nothing was written.
            StorageError: It could not be written.
        """
        ...

    async def delete(self, thread: str, *, resource: str | None = None) -> bool:
        """Forget a thread with all its messages.

        Returns:
            Whether there was one.

        Raises:
            ForeignThread: It is another's; it is still there.
            StorageError: It could not be written.
        """
        ...

    async def threads(self, resource: str | None = None) -> Sequence[ThreadSummary]:
        """The threads of a resource, the one that was saved to last first; without a resource, those of nobody.

        Raises:
            StorageError: It could not be read.
        """
        ...

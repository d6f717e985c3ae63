"""Which messages of a thread are recalled: the newest ones, as far as they are whole turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from interlock.errors import StorageError
from interlock.memory.message_store import MessageStore
from interlock.messages import Message

__all__ = ["newest_turns"]


async def newest_turns(
    store: MessageStore, thread: str, *, resource: str | None = None, last: int | None = None
) -> list[Message]:
    """The newest messages of a thread that can stand at the beginning of a prompt.

    A turn begins with a message of role ``user``. Some providers refuse a conversation that begins with an answer, so
    what stands before the first such message is left out. A newest turn that is longer than ``last`` is given whole:
    the alternative is to remember nothing.

    Args:
        store: Where to look.
        thread: The thread.
        resource: Whose it is.
        last: How many messages at most; None: all, 0: none.

    Raises:
        StorageError: The store failed, or the thread is another's.
    """
    if last == 0:
        return []
    wanted = last
    while True:
        loaded = await _loaded(store, thread, resource, wanted)
        begins = [at for at, message in enumerate(loaded) if message.role == "user"]
        if begins:
            return loaded[begins[0 if wanted == last else -1] :]
        if wanted is None or len(loaded) < wanted:
            return []
        wanted *= 2


async def _loaded(store: MessageStore, thread: str, resource: str | None, last: int | None) -> list[Message]:
    try:
        loaded = cast("object", await store.load(thread, resource=resource, last=last))
    except StorageError:
        raise
    except Exception as error:
        raise StorageError(f"the store failed to load thread {thread!r}: {type(error).__name__}: {error}") from error
    if not isinstance(loaded, Sequence):
        raise StorageError(f"for thread {thread!r} the store gave a {type(loaded).__name__}, not a list of messages")
    messages = list(cast("Sequence[object]", loaded))
    for message in messages:
        if not isinstance(message, Message):
            raise StorageError(f"for thread {thread!r} the store gave a {type(message).__name__} among the messages")
    return cast("list[Message]", messages if last is None else messages[-last:])

"""What an agent remembers, as ``Agent(memory=…)`` is told. It holds configuration; processors recall and store."""

from __future__ import annotations

from interlock.errors import DefinitionError
from interlock.memory.message_store import MessageStore

__all__ = ["LAST_MESSAGES", "Memory", "faults_in_history"]

LAST_MESSAGES = 10
"""How many messages are recalled where nobody says."""


class Memory:
    """Lets an agent remember its conversations, thread by thread.

    A call with ``thread=`` is shown the newest messages of that thread before the turn, and at its end the user's turn
    and the accepted answer are stored. A call without a thread neither recalls nor stores anything.

    Args:
        store: Where messages are kept; default: in this process's memory.
        last_messages: How many messages are recalled at most; None: all, 0: none, they are only stored. Only whole
            turns are recalled: those at the beginning whose user's message is not among them are left out.

    Raises:
        DefinitionError: The store is none, or the figure.

    Example:
        >>> import anyio
        >>> from interlock.messages import Message
        >>> async def main() -> None:
        ...     memory = Memory(last_messages=20)
        ...     await memory.store.save("t1", [Message.user("Hello")], resource="ann")
        ...     print(len(await memory.store.load("t1", resource="ann")))
        >>> anyio.run(main)
        1
    """

    def __init__(self, store: MessageStore | None = None, *, last_messages: int | None = LAST_MESSAGES) -> None:
        if store is None:
            from interlock.memory.in_memory_messages import InMemoryMessageStore

            store = InMemoryMessageStore()
        faults = faults_in_history(store, last_messages)
        if faults:
            raise DefinitionError(faults, subject="Memory")
        self._store = store
        self._last_messages = last_messages

    @property
    def store(self) -> MessageStore:
        """Where messages are kept."""
        return self._store

    @property
    def last_messages(self) -> int | None:
        """How many messages are recalled at most; None: all."""
        return self._last_messages

    def __repr__(self) -> str:
        return f"Memory({self._store!r}, last_messages={self._last_messages})"


def faults_in_history(store: object, last_messages: object) -> list[str]:
    """What is wrong with a message history's configuration."""
    faults: list[str] = []
    if isinstance(store, type):
        faults.append(f"store is the class {store.__name__}: pass an instance, {store.__name__}(…)")
    elif not isinstance(store, MessageStore):
        faults.append(f"store is a MessageStore, with load, save, delete and threads, not {type(store).__name__}")
    if last_messages is not None and (
        not isinstance(last_messages, int) or isinstance(last_messages, bool) or last_messages < 0
    ):
        faults.append(f"last_messages is a whole number from 0, or None for all, not {last_messages!r}")
    return faults

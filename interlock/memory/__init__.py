"""Memory: what conversations leave behind, and where it is kept. Who recalls and stores it stands in ``processors``."""

from typing import TYPE_CHECKING

from interlock.lazy import lazily
from interlock.memory.memory import Memory
from interlock.memory.message_store import MessageStore, ThreadSummary

if TYPE_CHECKING:
    from interlock.memory.in_memory_messages import InMemoryMessageStore
else:  # who brings a store of their own needs none of ours
    __getattr__ = lazily(__name__, {"InMemoryMessageStore": "interlock.memory.in_memory_messages"})

__all__ = ["InMemoryMessageStore", "Memory", "MessageStore", "ThreadSummary"]

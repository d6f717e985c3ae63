"""Stores: where what must outlive a process is kept. What is kept is plain data; what it means, others know."""

from typing import TYPE_CHECKING

from interlock.lazy import lazily
from interlock.storage.run_store import JournalRow, RunStore, RunSummary
from interlock.storage.summing_up import has_ended, summed_up

if TYPE_CHECKING:
    from interlock.storage.memory_runs import MemoryRunStore
    from interlock.storage.sqlite_runs import SQLiteRunStore
else:  # a store's database is imported with that store
    __getattr__ = lazily(
        __name__,
        {
            "MemoryRunStore": "interlock.storage.memory_runs",
            "SQLiteRunStore": "interlock.storage.sqlite_runs",
        },
    )

__all__ = [
    "JournalRow",
    "MemoryRunStore",
    "RunStore",
    "RunSummary",
    "SQLiteRunStore",
    "has_ended",
    "summed_up",
]

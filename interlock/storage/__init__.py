"""Stores: where what must outlive a process is kept. What is kept is plain data; what it means, others know."""

from interlock.storage.run_store import JournalRow, RunStore, RunSummary

__all__ = ["JournalRow", "RunStore", "RunSummary"]

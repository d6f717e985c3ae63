"""What runs: the executor, runs, their journals and outcomes; the agent, its loop and its lifecycle."""

from typing import TYPE_CHECKING

from interlock.errors import AlreadyResumed, AlreadyStarted
from interlock.lazy import lazily
from interlock.storage import RunStore
from interlock.workflows.engine import Engine, set_default_engine_maker
from interlock.workflows.events import Event
from interlock.workflows.outcome import (
    Blocked,
    Canceled,
    Completed,
    Failed,
    Outcome,
    Paused,
    StepError,
    Suspended,
    Suspension,
)

if TYPE_CHECKING:
    from interlock.runtime.agent import Agent
    from interlock.runtime.local_engine import LocalEngine
    from interlock.runtime.options import CallOptions, Conversation, PrepareStep, ProcessorList
    from interlock.runtime.result import AgentResult
    from interlock.runtime.run_stream import RunStream
    from interlock.runtime.stored_cancel import CancelResult, cancel_run
    from interlock.runtime.stream import AgentStream
    from interlock.storage import MemoryRunStore, SQLiteRunStore
else:
    __getattr__ = lazily(
        __name__,
        {
            "Agent": "interlock.runtime.agent",
            "AgentResult": "interlock.runtime.result",
            "AgentStream": "interlock.runtime.stream",
            "CallOptions": "interlock.runtime.options",
            "CancelResult": "interlock.runtime.stored_cancel",
            "Conversation": "interlock.runtime.options",
            "LocalEngine": "interlock.runtime.local_engine",
            "MemoryRunStore": "interlock.storage.memory_runs",
            "PrepareStep": "interlock.runtime.options",
            "ProcessorList": "interlock.runtime.options",
            "RunStream": "interlock.runtime.run_stream",
            "SQLiteRunStore": "interlock.storage.sqlite_runs",
            "cancel_run": "interlock.runtime.stored_cancel",
        },
    )


def _local_engine() -> Engine:
    """The library's engine, whose modules are imported when something is first run."""
    from interlock.runtime.local_engine import LocalEngine

    return LocalEngine()


set_default_engine_maker(_local_engine)

__all__ = [
    "Agent",
    "AgentResult",
    "AgentStream",
    "AlreadyResumed",
    "AlreadyStarted",
    "Blocked",
    "CallOptions",
    "CancelResult",
    "Canceled",
    "Completed",
    "Conversation",
    "Event",
    "Failed",
    "LocalEngine",
    "MemoryRunStore",
    "Outcome",
    "Paused",
    "PrepareStep",
    "ProcessorList",
    "RunStore",
    "RunStream",
    "SQLiteRunStore",
    "StepError",
    "Suspended",
    "Suspension",
    "cancel_run",
]

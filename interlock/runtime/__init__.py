"""What runs: the executor, runs and their outcomes; the agent, its loop and its lifecycle."""

from interlock.errors import AlreadyStarted
from interlock.runtime.agent import Agent
from interlock.runtime.local_engine import LocalEngine
from interlock.runtime.options import CallOptions, Conversation, PrepareStep, ProcessorList
from interlock.runtime.result import AgentResult
from interlock.runtime.stream import AgentStream
from interlock.workflows import Blocked, Canceled, Completed, Failed, Outcome, set_default_engine

set_default_engine(LocalEngine())

__all__ = [
    "Agent",
    "AgentResult",
    "AgentStream",
    "AlreadyStarted",
    "Blocked",
    "CallOptions",
    "Canceled",
    "Completed",
    "Conversation",
    "Failed",
    "LocalEngine",
    "Outcome",
    "PrepareStep",
    "ProcessorList",
]

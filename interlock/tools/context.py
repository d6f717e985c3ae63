"""What a running tool may know of the run it is part of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from interlock.context import RequestContext
from interlock.messages import Message

__all__ = ["ToolContext"]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Handed to a tool whose function has a parameter annotated ``ToolContext``; never part of the tool's schema.

    Attributes:
        run_id: The agent's run.
        tool_call_id: This call.
        step_number: The step of the loop that made the call, from 0.
        messages: The conversation so far, without system messages.
        request_context: What the caller handed over.
    """

    run_id: str
    tool_call_id: str
    step_number: int
    messages: Sequence[Message]
    request_context: RequestContext

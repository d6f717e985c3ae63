"""What a run of an agent came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from interlock.errors import BlockedError
from interlock.messages import FinishReason, MessageList, ToolCall, ToolCallSuspended, Usage
from interlock.processors.progress import StepResult
from interlock.verdict import CheckRecord, Tripwire

if TYPE_CHECKING:
    from interlock.runtime.coverage import Coverage
    from interlock.runtime.occurred import Occurred
    from interlock.runtime.processor_lists import ProcessorLists

__all__ = ["AgentResult", "RunStatus"]

RunStatus = Literal["success", "tripwire", "suspended", "failed", "canceled"]


@dataclass(slots=True)
class AgentResult:
    """What a run came to, for ``generate`` and ``stream`` alike.

    Args:
        run_id: The run.
        status: How it ended.
        text: The answer. After a tripwire: what the client was already given (``""`` from ``generate``).
        finish_reason: ``"other"`` after a tripwire, ``"max-steps"`` where the model still wanted tools.
        usage: Tokens of all model calls.
        steps: The steps of the loop.
        messages: The conversation, as processors left it.
        checks: What each processor decided, in running order; the per-chunk point as one record a processor, last.
        tripwire: Who stopped it and why; None unless ``status == "tripwire"``.
        error: What made it fail; None unless ``status == "failed"``.
        output: The object made to an output schema; None without one.
        suspended: The tool calls that wait for an approval, and those that have asked something (with a ``payload``);
            ``agent.resume(result.run_id, …)`` goes on.
        lists: The processors as they ran, for drawings.
        occurred: What there was to look at, for the coverage.
        agent_id: The agent.
    """

    run_id: str
    status: RunStatus
    text: str
    finish_reason: FinishReason
    usage: Usage
    steps: Sequence[StepResult] = field(repr=False)
    messages: MessageList = field(repr=False)
    checks: Sequence[CheckRecord]
    tripwire: Tripwire | None = None
    error: Exception | None = field(default=None)
    output: object = None
    suspended: Sequence[ToolCall | ToolCallSuspended] = ()
    lists: ProcessorLists | None = field(default=None, repr=False, compare=False)
    occurred: Occurred | None = field(default=None, repr=False, compare=False)
    agent_id: str | None = None

    def coverage(self) -> Coverage:
        """Which roles and kinds of parts of this run which guard has read; what none has is *not checked*."""
        from interlock.runtime.coverage import coverage_of

        return coverage_of(self)

    def explain(self) -> str:
        """The run in words: what each point decided, and why it ended as it did. Never what was said."""
        from interlock.runtime.explain import explained

        return explained(self)

    def raise_if_blocked(self) -> None:
        """Raise where the run was stopped.

        Raises:
            BlockedError: With the tripwire.
        """
        if self.tripwire is not None:
            error = BlockedError(self.tripwire)
            error.result = self
            raise error

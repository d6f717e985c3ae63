"""One run of an agent: what it is about and how it stands. The loop, the turn and the tools work on this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from anyio.abc import TaskGroup

from interlock.ids import new_id
from interlock.messages import (
    Chunk,
    FinishReason,
    Message,
    MessageList,
    Part,
    StepStartPart,
    TextDelta,
    TextPart,
    ToolCall,
    ToolError,
    ToolInvocationPart,
    ToolResult,
    Usage,
)
from interlock.models import LanguageModel, ToolChoice
from interlock.processors.progress import RunResult, StepResult
from interlock.processors.seat import RunFacts
from interlock.runtime.points import Points
from interlock.runtime.result import AgentResult, RunStatus
from interlock.tools import Tool
from interlock.verdict import AbortSignal

__all__ = ["AgentRun", "CallSettings"]


@dataclass(frozen=True)
class CallSettings:
    """What a call is made with, the agent's own values filled in.

    Attributes:
        model, tools, tool_choice, active_tools, model_settings, provider_options: As in ``process_input_step``.
        max_steps: Model calls at most.
    """

    model: LanguageModel
    tools: Sequence[Tool]
    tool_choice: ToolChoice
    active_tools: Sequence[str] | None
    model_settings: dict[str, Any]
    provider_options: dict[str, Any]
    max_steps: int


@dataclass
class AgentRun:
    """The state of one run.

    Attributes:
        facts: Its ids, the request context and the latch.
        settings: What the call is made with.
        messages: The conversation.
        points: The ten points.
        group: Where tools run.
        message_id: Of the assistant message that the answer becomes.
        steps: The finished steps.
        status: How it ended; None while it runs.
        baseline: The untagged system messages as the input processors left them.
        waits: Whether it waits for the model or a tool right now: a verdict that comes from elsewhere interrupts that.
    """

    facts: RunFacts
    settings: CallSettings
    messages: MessageList
    points: Points
    group: TaskGroup
    message_id: str = field(default_factory=lambda: new_id("msg"))
    steps: list[StepResult] = field(default_factory=list[StepResult])
    status: RunStatus | None = None
    finish_reason: FinishReason = "other"
    error: Exception | None = None
    baseline: Sequence[str] = ()
    waits: bool = False
    _delivered: list[str] = field(default_factory=list[str])
    _call_ids: dict[str, str] = field(default_factory=dict[str, str])
    _used_ids: set[str] = field(default_factory=set[str])
    _accepted: MessageList | None = None

    def __post_init__(self) -> None:
        self._before = self.messages.fork()

    def with_own_id(self, chunk: Chunk) -> Chunk:
        """A tool call under an id of its own, where the model has used its id before; and its result under the same."""
        if isinstance(chunk, ToolCall):
            given = chunk.tool_call_id
            own, number = given, 1
            while own in self._used_ids:
                number += 1
                own = f"{given}-{number}"
            self._used_ids.add(own)
            self._call_ids[given] = own
        elif isinstance(chunk, ToolResult | ToolError):
            own = self._call_ids.get(chunk.tool_call_id, chunk.tool_call_id)
        else:
            return chunk
        return chunk if own == chunk.tool_call_id else chunk.replace(tool_call_id=own)

    def look_at_latch(self) -> None:
        """A verdict recorded by something that was left running counts as soon as anything moves.

        Raises:
            AbortSignal: There is one.
        """
        tripwire = self.facts.latch.tripwire
        if tripwire is not None:
            raise AbortSignal(tripwire)

    def is_waiting(self) -> bool:
        """Whether the run waits for a hook, the model or a tool right now."""
        return self.waits or self.points.is_waiting()

    def delivered(self, chunk: Chunk) -> None:
        """Note a chunk that goes to the client."""
        if type(chunk) is TextDelta:
            self._delivered.append(chunk.text)

    def commit_parts(self, parts: Sequence[Part]) -> None:
        """Take an accepted step's parts into the answer."""
        if not parts:
            return
        known = self.messages.get(self.message_id)
        if known is None:
            self.messages.add(Message("assistant", list(parts), id=self.message_id), source="response")
        else:
            known.parts.extend([StepStartPart(), *parts])

    def accept(self) -> None:
        """Say that what the conversation holds now has been accepted: what comes later may be taken back to here."""
        self._accepted = self.messages.fork()

    def _take_back(self) -> None:
        """Leave in the conversation what was accepted. After a tripwire nothing of the answer but its tool pairs."""
        if self._accepted is None:  # then this turn leaves nothing: what it was asked goes too
            accepted = self._before
            accepted.remove(accepted.input.ids())
        else:
            accepted = self._accepted
        self.messages.adopt(accepted)
        if self.facts.latch.tripwire is None:
            return
        for message in list(self.messages.response):
            pairs: list[Part] = [p for p in message.parts if isinstance(p, ToolInvocationPart) and p.state != "call"]
            if pairs:
                message.parts = pairs
            else:
                self.messages.remove(message.id)

    def step_text(self) -> str:
        """The newest step's text as it now stands in the conversation."""
        known = self.messages.get(self.message_id)
        text = ""
        for part in () if known is None else known.parts:
            if isinstance(part, StepStartPart):
                text = ""
            elif isinstance(part, TextPart):
                text += part.text
        return text

    @property
    def usage(self) -> Usage:
        """Tokens of all steps."""
        return sum((step.usage for step in self.steps), Usage())

    @property
    def text(self) -> str:
        """The answer as it now stands in the conversation."""
        return "".join(m.text for m in self.messages.response if m.role == "assistant")

    def so_far(self) -> RunResult:
        """The run as ``process_output_result`` sees it."""
        return RunResult(self.text, self.usage, self.finish_reason, tuple(self.steps))

    def end(self, status: RunStatus, *, error: Exception | None = None) -> None:
        """Say how it ended. The first word counts."""
        if self.status is not None:
            return
        self.status = status
        self.error = error
        if status != "success":
            self.finish_reason = "error" if status == "failed" else "other"
            self._take_back()
        self.points.finish()

    def result(self) -> AgentResult:
        """The result. What was not delivered to a client is not in the text of a run that did not end well."""
        status = self.status or "canceled"
        text = self.text if status == "success" else "".join(self._delivered)
        return AgentResult(
            self.facts.run_id,
            status,
            text,
            self.finish_reason,
            self.usage,
            tuple(self.steps),
            self.messages,
            tuple(self.points.checks),
            tripwire=self.facts.latch.tripwire if status == "tripwire" else None,
            error=self.error,
        )

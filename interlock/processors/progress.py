"""What a run has done so far: the finished steps, and at the end all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from interlock.messages import FinishReason, ToolCall, ToolError, ToolResult, Usage

__all__ = ["RunResult", "StepResult"]


@dataclass(slots=True)
class StepResult:
    """One step of the loop: a model call, and the tools it called.

    Args:
        step_number: From 0.
        text: The answer's text, as output processors left it.
        reasoning: The model's reasoning, likewise.
        tool_calls: What the model called.
        tool_results: What came of it, in the order of the calls.
        finish_reason: Why the answer ended; ``"retry"``: a processor did not accept it, and it was asked for again.
        usage: Tokens of this step's model call.
        provider_metadata: What the provider added.
        reason: Why a processor did not accept it, where ``finish_reason == "retry"``.
    """

    step_number: int
    text: str = ""
    reasoning: str = ""
    tool_calls: list[ToolCall] = field(default_factory=list[ToolCall])
    tool_results: list[ToolResult | ToolError] = field(default_factory=list["ToolResult | ToolError"])
    finish_reason: FinishReason = "stop"
    usage: Usage = Usage()
    provider_metadata: Mapping[str, object] | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """A whole run, as ``process_output_result`` sees it.

    Args:
        text: The answer's text, all steps.
        usage: Tokens of all steps.
        finish_reason: Of the last step.
        steps: All steps.
    """

    text: str
    usage: Usage
    finish_reason: FinishReason
    steps: Sequence[StepResult]

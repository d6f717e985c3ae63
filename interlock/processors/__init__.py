"""What a processor is, its ten contexts, and every processor that comes with the library."""

from interlock.processors.base import HOOKS, Processor, ProcessorStep
from interlock.processors.changes import (
    CachedResponse,
    Changes,
    Deny,
    RequestChanges,
    StepChanges,
    ToolCallChanges,
    ToolResultChanges,
)
from interlock.processors.contexts import (
    APIErrorContext,
    InputContext,
    InputStepContext,
    LLMRequestContext,
    LLMResponseContext,
    OutputResultContext,
    OutputStepContext,
    OutputStreamContext,
    PhaseContext,
    ProcessorStepSchema,
    ToolCallContext,
    ToolResultContext,
)
from interlock.processors.progress import RunResult, StepResult

__all__ = [
    "HOOKS",
    "APIErrorContext",
    "CachedResponse",
    "Changes",
    "Deny",
    "InputContext",
    "InputStepContext",
    "LLMRequestContext",
    "LLMResponseContext",
    "OutputResultContext",
    "OutputStepContext",
    "OutputStreamContext",
    "PhaseContext",
    "Processor",
    "ProcessorStep",
    "ProcessorStepSchema",
    "RequestChanges",
    "RunResult",
    "StepChanges",
    "StepResult",
    "ToolCallChanges",
    "ToolCallContext",
    "ToolResultChanges",
    "ToolResultContext",
]

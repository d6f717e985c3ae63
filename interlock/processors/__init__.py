"""What a processor is, its ten contexts, and every processor that comes with the library."""

from typing import TYPE_CHECKING

from interlock.lazy import lazily
from interlock.processors.base import HOOKS, Processor, ProcessorStep
from interlock.processors.changes import (
    CachedResponse,
    Changes,
    Deny,
    RequestChanges,
    Retry,
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

if TYPE_CHECKING:
    from interlock.processors.detection.finding import Finding
    from interlock.processors.detection.scope import Scope
    from interlock.processors.guards.moderation_processor import ModerationProcessor
    from interlock.processors.guards.pii_detector import PIIDetector
    from interlock.processors.guards.prompt_injection_detector import PromptInjectionDetector
    from interlock.processors.recall.keeps_turn import KeepsTurn
    from interlock.processors.recall.message_history import MessageHistory
    from interlock.processors.recovery.prefill_error_handler import PrefillErrorHandler
    from interlock.processors.recovery.stream_error_retry import StreamErrorRetryProcessor
    from interlock.processors.shaping.unicode_normalizer import UnicodeNormalizer
    from interlock.processors.text_guard import TextGuard
else:  # what only one processor needs is imported with that processor
    __getattr__ = lazily(
        __name__,
        {
            "Finding": "interlock.processors.detection.finding",
            "KeepsTurn": "interlock.processors.recall.keeps_turn",
            "MessageHistory": "interlock.processors.recall.message_history",
            "ModerationProcessor": "interlock.processors.guards.moderation_processor",
            "PIIDetector": "interlock.processors.guards.pii_detector",
            "PrefillErrorHandler": "interlock.processors.recovery.prefill_error_handler",
            "PromptInjectionDetector": "interlock.processors.guards.prompt_injection_detector",
            "Scope": "interlock.processors.detection.scope",
            "StreamErrorRetryProcessor": "interlock.processors.recovery.stream_error_retry",
            "TextGuard": "interlock.processors.text_guard",
            "UnicodeNormalizer": "interlock.processors.shaping.unicode_normalizer",
        },
    )

__all__ = [
    "HOOKS",
    "APIErrorContext",
    "CachedResponse",
    "Changes",
    "Deny",
    "Finding",
    "InputContext",
    "InputStepContext",
    "KeepsTurn",
    "LLMRequestContext",
    "LLMResponseContext",
    "MessageHistory",
    "ModerationProcessor",
    "OutputResultContext",
    "OutputStepContext",
    "OutputStreamContext",
    "PIIDetector",
    "PhaseContext",
    "PrefillErrorHandler",
    "Processor",
    "ProcessorStep",
    "ProcessorStepSchema",
    "PromptInjectionDetector",
    "RequestChanges",
    "Retry",
    "RunResult",
    "Scope",
    "StepChanges",
    "StepResult",
    "StreamErrorRetryProcessor",
    "TextGuard",
    "ToolCallChanges",
    "ToolCallContext",
    "ToolResultChanges",
    "ToolResultContext",
    "UnicodeNormalizer",
]

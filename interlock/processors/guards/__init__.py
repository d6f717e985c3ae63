"""Guards: processors that judge texts, and redact, block, filter or report. One guard, one file."""

from __future__ import annotations

from interlock.processors.guards.moderation_processor import ModerationProcessor
from interlock.processors.guards.pii_detector import PIIDetector
from interlock.processors.guards.prompt_injection_detector import PromptInjectionDetector

__all__ = ["ModerationProcessor", "PIIDetector", "PromptInjectionDetector"]

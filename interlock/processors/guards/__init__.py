"""Guards: processors that judge texts, and redact, block, filter or report."""

from __future__ import annotations

from interlock.processors.guards.finding import Detector, Finding
from interlock.processors.guards.moderation_processor import ModerationProcessor
from interlock.processors.guards.pii_detector import PIIDetector
from interlock.processors.guards.prompt_injection_detector import PromptInjectionDetector
from interlock.processors.guards.scope import Scope

__all__ = [
    "Detector",
    "Finding",
    "ModerationProcessor",
    "PIIDetector",
    "PromptInjectionDetector",
    "Scope",
]

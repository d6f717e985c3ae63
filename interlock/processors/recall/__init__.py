"""Recall: processors that show a model what was said before, and keep what was said now."""

from __future__ import annotations

from interlock.processors.recall.keeps_turn import KeepsTurn
from interlock.processors.recall.message_history import MessageHistory

__all__ = ["KeepsTurn", "MessageHistory"]

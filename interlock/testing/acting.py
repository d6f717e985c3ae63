"""Where a guard that is tested acts: what it does not look at says nothing about it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from interlock.verdict import Phase

__all__ = ["ACTS_ON_ANSWERS", "in_words"]

ACTS_ON_ANSWERS: Final = frozenset({Phase.OUTPUT_STREAM, Phase.LLM_RESPONSE, Phase.OUTPUT_STEP, Phase.OUTPUT_RESULT})
"""The points at which an answer is looked at."""


def in_words(phases: Collection[Phase]) -> str:
    """The points, for a sentence."""
    return ", ".join(str(phase) for phase in Phase if phase in phases) or "no point"

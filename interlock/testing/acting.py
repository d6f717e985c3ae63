"""Where a guard that is tested acts, and whether it does: what it does not look at says nothing about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from interlock.processors import Processor
from interlock.verdict import CheckRecord, Phase

__all__ = ["ACTS_ON_ANSWERS", "expect_finding", "in_words", "warned"]

ACTS_ON_ANSWERS: Final = frozenset({Phase.OUTPUT_STREAM, Phase.LLM_RESPONSE, Phase.OUTPUT_STEP, Phase.OUTPUT_RESULT})
"""The points at which an answer is looked at."""


def in_words(phases: Collection[Phase]) -> str:
    """The points, for a sentence."""
    return ", ".join(str(phase) for phase in Phase if phase in phases) or "no point"


def warned(guard: Processor, checks: Iterable[CheckRecord]) -> bool:
    """Whether the guard has reported something and gone on."""
    return any(check.verdict == "warned" and check.processor_id == guard.id for check in checks)


def expect_finding(guard: Processor, finds: bool | None, *, found: bool) -> None:
    """Hold what the guard did about the text against what the caller says of it.

    Args:
        guard: The guard.
        finds: What the caller says; None: nothing.
        found: Whether it changed the text, warned of it or stopped a run.

    Raises:
        AssertionError: They are not the same.
    """
    if finds is not None and finds is not found:
        did = "did something about" if found else "found nothing in"
        raise AssertionError(f"guard {guard.id!r} {did} the text, and the test says finds={finds}")

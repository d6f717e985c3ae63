"""What a detector says it saw, and what a detector is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

__all__ = ["Detector", "Finding", "Rules", "join_overlapping"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a detector saw in one text.

    Args:
        kind: What it is: ``"email"``, ``"jailbreak"``, ``"hate"``, …
        start: Where it begins, in characters of the text as it came.
        end: Where it ends, exclusive.
        score: How sure the detector is, from 0 to 1. A guard acts at its threshold.
        explanation: Why, in words. Never the matched text: explanations reach logs.

    Example:
        >>> Finding("email", 9, 24, 0.95, "an address with a valid domain").kind
        'email'
    """

    kind: str
    start: int
    end: int
    score: float = 1.0
    explanation: str = ""


class Rules(Protocol):
    """An offline detector."""

    def find(self, text: str, /) -> list[Finding]: ...


@runtime_checkable
class Detector(Protocol):
    """Something that judges texts and may take its time: a model, a service, your own code.

    A guard asks it once for all texts of a phase. The answer holds one list of findings for each text, in order.

    Example:
        >>> class Shouting:
        ...     async def detect(self, texts: Sequence[str]) -> list[list[Finding]]:
        ...         return [[Finding("harassment", 0, len(t), 0.6)] if t.isupper() else [] for t in texts]
        >>> isinstance(Shouting(), Detector)
        True
    """

    async def detect(self, texts: Sequence[str], /) -> list[list[Finding]]:
        """The findings of each text, in the order of the texts."""
        ...


def join_overlapping(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that do not overlap, in order of place; those that did are one, as wide as all of them together.

    A joined finding has the kind and explanation of the surest of its parts (ties: the longer, then the first), so that
    nothing either of them covered stays behind.

    Example:
        >>> join_overlapping([Finding("phone", 2, 9, 0.7), Finding("credit-card", 0, 8, 0.9)])
        [Finding(kind='credit-card', start=0, end=9, score=0.9, explanation='')]
    """
    joined: list[Finding] = []
    leader: Finding | None = None
    for finding in sorted(findings, key=lambda f: (f.start, -f.end, -f.score, f.kind)):
        if leader is not None and finding.start < joined[-1].end:
            if _weight(finding) > _weight(leader):
                leader = finding
            joined[-1] = replace(leader, start=joined[-1].start, end=max(joined[-1].end, finding.end))
        else:
            leader = finding
            joined.append(finding)
    return joined


def _weight(finding: Finding) -> tuple[float, int]:
    return finding.score, finding.end - finding.start

"""What each processor decided: noted while a point runs, told in list order when it has run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from interlock.processors.base import Processor
from interlock.processors.hook_context import HookContext
from interlock.verdict import CANCELED, GRAVITY, NOTHING_TO_READ, CheckRecord, Phase, Tripwire, Verdict

__all__ = ["Asked", "PointChecks", "joined", "why_stopped", "with_block"]


class Asked(Protocol):
    """A processor's place in a point's graph."""

    processor: Processor
    phase: Phase
    list: str
    path: str
    order: tuple[int, ...]


class PointChecks:
    """The verdicts of one point of a run, at one time it ran."""

    __slots__ = ("_records", "attempt", "step_number")

    def __init__(self, step_number: int | None = None, attempt: int = 1) -> None:
        self.step_number = step_number
        self.attempt = attempt
        self._records: dict[tuple[int, ...], CheckRecord] = {}

    def note(
        self,
        asked: Asked,
        verdict: Verdict,
        *,
        duration: float = 0.0,
        reason: str | None = None,
        runs: int = 1,
        kept: bool = True,
        metadata: Mapping[str, object] | None = None,
        looked_at: frozenset[tuple[str, str]] = frozenset(),
        failed: bool = False,
        denied: str | None = None,
    ) -> None:
        """Note what one processor decided."""
        self._records[asked.order] = CheckRecord(
            asked.processor.id,
            asked.phase,
            asked.list,
            verdict,
            kept=kept,
            duration=duration,
            reason=reason,
            path=asked.path,
            step_number=self.step_number,
            runs=runs,
            metadata=metadata,
            looked_at=looked_at,
            failed=failed,
            attempt=self.attempt,
            denied=denied,
        )

    def picked(self, order: tuple[int, ...], branches: Mapping[str, HookContext], chosen: object) -> None:
        """Note that a map took ``chosen`` from a block's branches: what the others changed was left behind.

        Where the map made something of its own, every branch counts as kept.
        """
        if not any(chosen is branch for branch in branches.values()):
            return
        for number, branch in enumerate(branches.values()):
            if branch is not chosen:
                self.leave_behind((*order, number))

    def leave_behind(self, prefix: tuple[int, ...]) -> None:
        """Note that nothing which a branch changed goes on."""
        for order, record in self._records.items():
            if order[: len(prefix)] == prefix and record.verdict == "changed":
                record.kept = False

    def stopped(self, asked: Iterable[Asked], why: str) -> None:
        """Note, for those that came to no verdict, that they did not check, and why."""
        for one in asked:
            if one.order not in self._records:
                self.note(one, "not-checked", reason=why)

    def records(self) -> list[CheckRecord]:
        """All verdicts, in list order."""
        return [self._records[order] for order in sorted(self._records)]


def why_stopped(tripwire: Tripwire | None, error: BaseException | None) -> str:
    """Why processors were not asked, or did not come to an end."""
    if tripwire is not None and tripwire is not CANCELED:
        return f"{tripwire.processor_id!r} blocked first"
    return "the run failed first" if isinstance(error, Exception) else "the run was canceled first"


def joined(earlier: Sequence[CheckRecord], later: Sequence[CheckRecord]) -> list[CheckRecord]:
    """Records of one point over two stretches of a run, one a processor: the gravest verdict counts.

    A stretch in which it had nothing to look at counts least. Of two equal verdicts the later one is told; where it
    warned in both, all that it warned of.
    """
    left = {(record.list, record.path): record for record in later}
    made: list[CheckRecord] = []
    for record in earlier:
        other = left.pop((record.list, record.path), None)
        if other is not None:
            graver, lighter = sorted((other, record), key=_gravity)
            record = replace(
                graver,
                reason=_warned_of(record, other) if record.verdict == other.verdict == "warned" else graver.reason,
                kept=graver.kept and lighter.kept,
                duration=record.duration + other.duration,
                runs=record.runs + other.runs,
                looked_at=record.looked_at | other.looked_at,
                failed=record.failed or other.failed,
            )
        made.append(record)
    return [*made, *left.values()]


def with_block(records: Sequence[CheckRecord], block: CheckRecord) -> list[CheckRecord]:
    """Records, and among them that somebody stopped what was done, who may have been noted as having passed it.

    Args:
        records: Of a run.
        block: The one that says so.
    """
    place = (block.phase, block.list, block.path, block.step_number, block.attempt)
    made = list(records)
    for n in range(len(made) - 1, -1, -1):
        one = made[n]
        if (one.phase, one.list, one.path, one.step_number, one.attempt) == place:
            if one.verdict != "blocked":
                made[n] = replace(one, verdict="blocked", kept=True, reason=block.reason, metadata=block.metadata)
            return made
    return [*made, block]


def _warned_of(*records: CheckRecord) -> str | None:
    words = [word for record in records for word in (record.reason or "").split("; ") if word]
    return "; ".join(dict.fromkeys(words)) or None


def _gravity(record: CheckRecord) -> int:
    idle = (
        record.verdict == "not-checked" and not record.failed and (not record.runs or record.reason == NOTHING_TO_READ)
    )
    return len(GRAVITY) if idle else GRAVITY.index(record.verdict)

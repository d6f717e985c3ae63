"""What one run made of each node of a graph: facts for drawings, which only show them."""

from __future__ import annotations

import reprlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from interlock.errors import RecordedError, StepFailed
from interlock.verdict import GRAVITY, CheckRecord, Verdict
from interlock.workflows.graph import (
    BodyCluster,
    BranchCluster,
    Edge,
    Graph,
    Member,
    ParallelCluster,
    Vertex,
    chains_of,
)
from interlock.workflows.labels import shortened
from interlock.workflows.node_labels import NONE_HOLDS, duration_label
from interlock.workflows.outcome import (
    Blocked,
    Canceled,
    Completed,
    Failed,
    Outcome,
    Paused,
    StepRecord,
    StepStatus,
    Suspended,
    Suspension,
)

__all__ = ["Mark", "MarkStatus", "Overlay", "Run", "is_taken", "overlay_of"]

Run: TypeAlias = Outcome[Any] | Paused
"""What can be laid over a drawing."""

MarkStatus = StepStatus | Literal["next", "not-run"]
"""A step's status, the worst where it ran several times; ``"next"``: a paused run stands before it."""

_WORST_FIRST: Final[Sequence[StepStatus]] = (
    "failed",
    "tripwire",
    "suspended",
    "unfinished",
    "canceled",
    "bailed",
    "success",
)
_DONE = "✓"
_WORDS: Final[Mapping[str, str]] = {
    "success": _DONE,
    "failed": "✗ failed",
    "tripwire": "✗ blocked",
    "suspended": "… waits",
    "unfinished": "… unfinished",
    "canceled": "canceled",
    "bailed": "bailed",
    "next": "▸ next",
    "not-run": "not run",
}
_ENDED: Final[Mapping[str, str]] = {
    "success": "✓ completed",
    "failed": "✗ failed",
    "tripwire": "✗ blocked",
    "suspended": "… suspended",
    "canceled": "canceled",
    "paused": "paused",
}
_NOT_ENDED = "… not ended"
"""Of a run that stands before nothing: it is under way elsewhere, or the process that ran it died."""
_FOREIGN: Final = "none of its steps is in this graph: a run of another workflow, or of another shape of this one"
_HAND_ON: Final = frozenset(("success", "failed", "bailed"))
"""With such a status something came out of a step; a failure that is collected goes on as a value."""
_NOTE_LENGTH = 160


@dataclass(frozen=True, slots=True)
class Mark:
    """What a run made of one node or cluster.

    Attributes:
        status: How it ended; of several times the worst.
        words: The status and what else there is to say in a word or two, for people; empty where there is nothing.
        note: Why it failed, blocked, warned or was not checked, or what it waits for.
        times: How often it ran.
        failed: How many of these failed.
        duration: Seconds, of all times together.
        attempts: Of the time that took the most.
        verdict: What a processor decided; the gravest.
        chosen: The arms that were taken, of a block that has some; None of others.
        passed: Whether a run went past the arms of a branch.
        stuck: Whether nothing came out of it, however often it ran.
    """

    status: MarkStatus
    words: tuple[str, ...] = ()
    note: str | None = None
    times: int = 0
    failed: int = 0
    duration: float = 0.0
    attempts: int = 0
    verdict: Verdict | None = None
    chosen: tuple[str, ...] | None = None
    passed: bool = False
    stuck: bool = False

    @property
    def line(self) -> str:
        """The words as one line."""
        return " · ".join(self.words).replace(f"{_DONE} · ", f"{_DONE} ", 1)

    @property
    def ran(self) -> bool:
        """Whether it began."""
        return self.attempts > 0

    @property
    def handed_on(self) -> bool:
        """Whether something came out of it, at least once where it ran several times."""
        return self.ran and not self.stuck and (self.status in _HAND_ON or self.times > 1)


@dataclass(frozen=True, slots=True)
class Overlay:
    """A run as drawings show it.

    Attributes:
        status: How it ended.
        heading: The same for people, with the run's id and duration, and why.
        run_id: The run.
        duration: Seconds.
        marks: By path, of every node that has something to do, and of the clusters that the run tells of.
        taken: The edges along which it went.
    """

    status: str
    heading: str
    run_id: str
    duration: float
    marks: Mapping[str, Mark]
    taken: frozenset[Edge]


def overlay_of(graph: Graph, run: Run) -> Overlay:
    """Lay a run over a graph.

    Where the run has records and the graph knows none of their paths, the heading says so: what was drawn as not run
    may well have run, under another name or in another workflow.

    Args:
        graph: Of the workflow that ran.
        run: How the run ended, or where it stands.

    Raises:
        TypeError: It is neither.
    """
    _check(run)
    tallies = _tallied(run)
    marks: dict[str, Mark] = {}
    _mark_chain(graph.chain.members, tallies, marks)
    foreign = bool(run.steps) and not {record.path for record in run.steps} & {m.path for m in graph.members()}
    return Overlay(
        run.status,
        f"{_heading(run)} · {_FOREIGN}" if foreign else _heading(run),
        run.run_id,
        run.duration,
        marks,
        frozenset(edge for edge in graph.edges if is_taken(edge, marks)),
    )


def _check(run: object) -> None:
    if not isinstance(run, Completed | Blocked | Suspended | Failed | Canceled | Paused):
        raise TypeError(
            f"run has to be an outcome of the workflow, what `await workflow.run(…)`, `await run.start(…)` or "
            f"`await run.next()` gives, and it is of type {type(run).__name__!r}"
        )


@dataclass(slots=True)
class _Tally:
    """All records of one path."""

    statuses: Counter[StepStatus] = field(default_factory=Counter[StepStatus])
    duration: float = 0.0
    attempts: int = 0
    verdicts: set[Verdict] = field(default_factory=set[Verdict])
    checked: set[Verdict] = field(default_factory=set[Verdict])
    chosen: dict[str, None] | None = None
    passed_by: bool = False
    note: str | None = None
    next: bool = False

    @property
    def times(self) -> int:
        return self.statuses.total()

    @property
    def status(self) -> MarkStatus:
        if self.next:
            return "next"
        for status in _WORST_FIRST:
            if self.statuses[status]:
                return status
        return "not-run"

    @property
    def verdict(self) -> Verdict | None:
        return next((v for v in GRAVITY if v in (self.verdicts or self.checked)), None)


def _tallied(run: Run) -> Mapping[str, _Tally]:
    tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
    for record in run.steps:
        _count(record, tallies[record.path])
    for check in run.checks:
        tally = tallies[check.path]
        tally.checked.add(check.verdict)
        tally.note = tally.note or _reason(check)
    if isinstance(run, Blocked):
        for tally in tallies.values():
            if tally.status == "tripwire":
                tally.note = tally.note or _said(run.tripwire.reason)
    if isinstance(run, Suspended):
        for suspension in run.suspensions:
            tally = tallies[suspension.path]
            tally.note = tally.note or _asked(suspension)
    if isinstance(run, Paused):
        for path in run.next:
            tallies[path].next = True
    return dict(tallies)


def _count(record: StepRecord, tally: _Tally) -> None:
    tally.statuses[record.status] += 1
    tally.duration += record.duration
    tally.attempts = max(tally.attempts, record.attempts)
    if record.verdict is not None:
        tally.verdicts.add(record.verdict)
    if record.chosen is not None:
        tally.chosen = {**(tally.chosen or {}), **dict.fromkeys(record.chosen)}
        tally.passed_by = tally.passed_by or not record.chosen
    if record.error is not None:
        tally.note = tally.note or _wrong(record.error)
    elif record.suspension is not None:
        tally.note = tally.note or _asked(record.suspension)


def _mark_chain(members: Sequence[Member], tallies: Mapping[str, _Tally], marks: dict[str, Mark]) -> set[MarkStatus]:
    """Mark what is in a chain; give the statuses that occur."""
    statuses: set[MarkStatus] = set()
    for member in members:
        if isinstance(member, Vertex):
            if member.kind in ("join", "idle"):
                continue
            mark = _mark(member, tallies.get(member.path, _Tally()), own_note=True)
        else:
            inside: set[MarkStatus] = set()
            for chain in chains_of(member):
                inside |= _mark_chain(chain.members, tallies, marks)
            statuses |= inside
            tally = tallies.get(member.path)
            if tally is None:
                if inside - {"not-run"} and not isinstance(member, BranchCluster):
                    continue  # something ran in it, but nobody tells of the cluster itself
                tally = _Tally()
            # A failure inside makes the cluster fail too, and is told there.
            mark = _mark(member, tally, own_note=tally.status not in inside, body=_body(member, tallies))
        marks[member.path] = mark
        statuses.add(mark.status)
    return statuses


def _body(member: Member, tallies: Mapping[str, _Tally]) -> _Tally | None:
    if isinstance(member, BodyCluster):
        return tallies.get(member.body.members[0].path, _Tally())
    return None


def _mark(member: Member, tally: _Tally, *, own_note: bool, body: _Tally | None = None) -> Mark:
    failed = tally.statuses["failed"]
    chosen = None if tally.chosen is None else tuple(tally.chosen)
    return Mark(
        tally.status,
        tuple(_words(member, tally, body)),
        tally.note if own_note else None,
        tally.times,
        failed,
        tally.duration,
        tally.attempts,
        tally.verdict,
        chosen,
        tally.passed_by,
    )


def _words(member: Member, tally: _Tally, body: _Tally | None) -> Iterator[str]:
    status = tally.status
    failed, times = tally.statuses["failed"], tally.times
    if failed and times > 1:
        yield f"✗ {failed} of {times} failed"
    else:
        if not (status == "success" and tally.verdict == "not-checked"):  # it ended, and has looked at nothing
            yield _WORDS[status]
        if times > 1:
            yield f"{times} times"
    if body is not None and times:
        yield from _rounds(member, body)
    if tally.duration:
        yield duration_label(tally.duration)
    if tally.attempts > 1:
        yield f"{tally.attempts} attempts"
    if tally.verdict is not None and not (status == "tripwire" and tally.verdict == "blocked"):
        yield tally.verdict
    if isinstance(member, BranchCluster) and tally.chosen is not None:
        taken = [*tally.chosen, *((NONE_HOLDS,) if tally.passed_by else ())]
        yield f"took {', '.join(taken)}"
    elif isinstance(member, ParallelCluster) and tally.chosen and len(tally.chosen) < len(member.arms):
        yield f"took {', '.join(tally.chosen)}"


def _rounds(member: Member, body: _Tally) -> Iterator[str]:
    """How often a body ran, and how many of these times failed where that is no failure of the whole."""
    times = body.times
    if isinstance(member, BodyCluster) and member.kind == "foreach":
        yield f"{times} item{'' if times == 1 else 's'}"
    else:
        yield "once" if times == 1 else f"{times} times"
    failed = body.statuses["failed"]
    if failed:
        yield f"{failed} of {times} failed"


def is_taken(edge: Edge, marks: Mapping[str, Mark]) -> bool:
    """Whether a run went along an edge, as far as the marks of its ends tell.

    Args:
        edge: The edge.
        marks: By path.
    """
    source, target = _end(edge.source, marks), _end(edge.target, marks)
    if source is not None and not source.handed_on:
        return False
    if target is not None and not target.ran:
        return False
    if edge.kind == "past":
        return source is not None and source.passed
    return edge.kind != "back" or target is None or target.times > 1


def _end(path: str, marks: Mapping[str, Mark]) -> Mark | None:
    """What tells of an end of an edge; of a join, what stands before it."""
    return marks.get(path.removesuffix(".join"))


def _heading(run: Run) -> str:
    words = [_NOT_ENDED if isinstance(run, Paused) and not run.next else _ENDED[run.status]]
    if run.duration:
        words.append(f"in {duration_label(run.duration)}")
    if run.run_id:
        words.append(f"· run {run.run_id}")
    why = _why(run)
    return shortened(" ".join(words), _NOTE_LENGTH) + (f" · {why}" if why else "")


def _why(run: Run) -> str | None:
    match run:
        case Failed(error=StepFailed(step_id=step_id) as error):
            return _said(f"{step_id}: {_wrong(error)}")
        case Failed(error=error):
            return _wrong(error)
        case Blocked(tripwire=tripwire):
            return shortened(f"{tripwire.processor_id}: {tripwire.reason}", _NOTE_LENGTH)
        case Suspended(suspensions=suspensions):
            return shortened("waits at " + ", ".join(suspension.path for suspension in suspensions), _NOTE_LENGTH)
        case Paused(next=paths) if paths:
            return shortened("next " + ", ".join(paths), _NOTE_LENGTH)
        case _:
            return None


def _wrong(error: BaseException) -> str:
    if isinstance(error, StepFailed):
        error = error.cause
    return _said(str(error) if isinstance(error, RecordedError) else f"{type(error).__name__}: {error}")


def _reason(check: CheckRecord) -> str | None:
    return None if check.reason is None else _said(check.reason)


def _asked(suspension: Suspension) -> str:
    payload = suspension.payload
    told = payload if isinstance(payload, str) else None if payload is None else reprlib.repr(payload)
    return _said(": ".join(word for word in (suspension.label, told) if word) or "an answer")


def _said(text: str) -> str:
    return shortened(text, _NOTE_LENGTH)

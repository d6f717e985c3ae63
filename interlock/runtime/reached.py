"""How far a point came that never ended: which of its nodes were come by before something stopped it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from interlock.runtime.checks import why_stopped
from interlock.verdict import CheckRecord, Phase, Tripwire
from interlock.workflows.graph import (
    BranchCluster,
    Chain,
    Cluster,
    DagCluster,
    Member,
    ParallelCluster,
    Vertex,
    chains_of,
)
from interlock.workflows.overlay import Mark

__all__ = ["NOT_RUN", "Reach", "was_cut_off", "went_through"]

NOT_RUN: Final = Mark("not-run", ("not run",))
"""Of what no run came to."""
_BLOCKED_FIRST: Final = why_stopped(Tripwire("", ""), None).removeprefix("''")
_ENDED_FIRST: Final = (why_stopped(None, Exception()), why_stopped(None, None))


def was_cut_off(check: CheckRecord) -> bool:
    """Whether a processor was not asked, or did not come to an end, because its run was stopped.

    Args:
        check: Its record.
    """
    if check.verdict != "not-checked" or check.failed or check.reason is None:
        return False
    return check.reason in _ENDED_FIRST or check.reason.endswith(_BLOCKED_FIRST)


def went_through(checks: Sequence[CheckRecord], *, stopped: bool) -> bool:
    """Whether a point came to its end at least once.

    Args:
        checks: All of the point.
        stopped: Whether the run ended there, other than well.
    """
    times: defaultdict[tuple[int | None, int], Counter[tuple[str, str]]] = defaultdict(Counter)
    blocks: Counter[tuple[int | None, int]] = Counter()
    last: tuple[int | None, int] = (None, 1)
    for check in checks:
        if check.phase is Phase.OUTPUT_STREAM:
            return True  # chunks before the last have gone through
        last = check.step_number, check.attempt
        times[last][check.list, check.path] += 1
        blocks[last] += check.verdict == "blocked"
    stops = {**blocks, last: max(blocks[last], int(stopped))}
    return any(max(counts.values()) > stops[at] for at, counts in times.items())


class Reach:
    """What was come by in a point that never came to its end.

    Args:
        told: The checks of the point, by path in the graph.
        marks: Of the processors among its nodes; those of the other nodes are put there.
        failed: The path of the node that failed, where one has.
    """

    def __init__(self, told: Mapping[str, Sequence[CheckRecord]], marks: dict[str, Mark], failed: str | None) -> None:
        self._told = told
        self._marks = marks
        self._failed = failed

    def follow(self, chain: Chain, *, came: bool = True) -> bool:
        """Go along a chain; gives whether the point went on behind it.

        Args:
            chain: What runs one after the other.
            came: Whether the point came to its beginning.
        """
        for member in chain.members:
            came = self._vertex(member, came) if isinstance(member, Vertex) else self._cluster(member, came)
        return came

    def _vertex(self, vertex: Vertex, came: bool) -> bool:
        checks = self._told.get(vertex.path)
        if checks:
            mark = self._marks[vertex.path]
            went = any(self._ended(check, vertex.path) for check in checks)
            begun = not all(was_cut_off(check) for check in checks)
            self._marks[vertex.path] = replace(mark, attempts=int(begun), stuck=not went)
            return went
        if vertex.path == self._failed:
            self._marks[vertex.path] = Mark("failed", ("✗ failed",), times=1, failed=1, attempts=1, stuck=True)
            return False
        if not came and vertex.kind != "join":
            self._marks[vertex.path] = NOT_RUN
        return came

    def _cluster(self, cluster: Cluster, came: bool) -> bool:
        if isinstance(cluster, BranchCluster):
            self._vertex(cluster.choice, came)
        went = [self.follow(chain, came=came) for chain in chains_of(cluster)]
        if not came and not isinstance(cluster, ParallelCluster | BranchCluster) and not self._begun_in(cluster):
            self._marks[cluster.path] = NOT_RUN
        if isinstance(cluster, BranchCluster):
            return came and not self._stuck_in(cluster)
        return all(went) if isinstance(cluster, ParallelCluster | DagCluster) else went[-1]

    def _ended(self, check: CheckRecord, path: str) -> bool:
        """Whether something went on behind a processor."""
        return check.verdict != "blocked" and not was_cut_off(check) and path != self._failed

    def _begun_in(self, cluster: Cluster) -> bool:
        return any(mark is not None and mark.ran for mark in self._marks_in(cluster))

    def _stuck_in(self, cluster: Cluster) -> bool:
        """Whether the point was stopped in it: something began there, and did not go on."""
        return any(mark is not None and mark.ran and mark.stuck for mark in self._marks_in(cluster))

    def _marks_in(self, member: Member) -> Sequence[Mark | None]:
        if isinstance(member, Vertex):
            return [self._marks.get(member.path)]
        return [mark for chain in chains_of(member) for one in chain.members for mark in self._marks_in(one)]

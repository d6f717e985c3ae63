"""Any acyclic graph: a node starts as soon as those it needs have ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, ClassVar

from interlock.runtime.operations.arms import Waiting, abandon_all, halt, run_all
from interlock.runtime.operations.fork import BranchOutputs, fork_value
from interlock.runtime.run_state import Site
from interlock.runtime.strand import Operation, Strand, advance, drive
from interlock.verdict import HaltSignal
from interlock.workflows import DagNode

__all__ = ["DagOp"]


class DagOp(Operation):
    """A graph run by counting down what each node still needs. A node that is ready goes on where its last need ended,
    so only what can run beside something else gets a task."""

    __slots__ = ("_dependents", "_needs", "_roots", "_sinks", "chains_", "keys", "order")
    kind: str = "dag"
    contains: ClassVar[bool] = True

    def __init__(
        self,
        node: DagNode,
        path: str,
        order: tuple[int, ...],
        chains: Sequence[Sequence[Operation]],
        site: Site = (),
    ) -> None:
        super().__init__(node.id, path, site)
        self.order = order
        self.chains_ = tuple(chains)
        self.keys = tuple(item.plan.id for item in node.items)
        self._needs = tuple(item.needs for item in node.items)
        self._sinks = node.sinks
        self._roots = tuple(number for number, needs in enumerate(self._needs) if not needs)
        dependents: list[list[int]] = [[] for _ in self._needs]
        for number, needs in enumerate(self._needs):
            for need in needs:
                dependents[need].append(number)
        self._dependents = tuple(map(tuple, dependents))

    def begin(self, strand: Strand) -> object:
        strand.enter(self)
        walk = _Walk(self, strand)
        waiting = walk.start()
        if not waiting:
            return walk.given()
        strand.note = [one for _, one in waiting]
        return self._rest(strand, walk, waiting)

    async def _rest(self, strand: Strand, walk: _Walk, waiting: Sequence[tuple[int, Waiting]]) -> object:
        if len(waiting) == 1 and len(self.keys) == 1:
            number, one = waiting[0]
            await walk.worker(number, *one)
        else:
            await run_all(strand, [walk.worker(number, *one) for number, one in waiting], growing=walk.grow)
        return walk.given()

    def replay(self, strand: Strand, output: Any) -> None:
        strand.value = output if len(self._sinks) == 1 else BranchOutputs(strand.value, self.order, output)

    def abandon(self, strand: Strand) -> None:
        abandon_all(strand.note)

    def chains(self) -> Sequence[Sequence[Operation]]:
        return self.chains_

    @property
    def needs(self) -> Sequence[Sequence[int]]:
        """What each node takes the outputs of."""
        return self._needs

    @property
    def dependents(self) -> Sequence[Sequence[int]]:
        """What takes each node's output."""
        return self._dependents

    @property
    def roots(self) -> Sequence[int]:
        """The nodes without needs."""
        return self._roots

    @property
    def sinks(self) -> Sequence[int]:
        """The nodes whose outputs nobody needs."""
        return self._sinks


class _Walk:
    """One time through a graph."""

    __slots__ = ("_add", "_left", "_op", "_outputs", "_strand", "_strands")

    def __init__(self, op: DagOp, strand: Strand) -> None:
        self._op = op
        self._strand = strand
        self._left = [len(needs) for needs in op.needs]
        self._outputs: list[Any] = [None] * len(op.keys)
        self._strands: list[Strand] = []
        self._add: Callable[[Coroutine[Any, Any, Any]], object] | None = None

    def grow(self, add: Callable[[Coroutine[Any, Any, Any]], object]) -> None:
        """Take what adds a job to those that run."""
        self._add = add

    def start(self) -> list[tuple[int, Waiting]]:
        """Go as far as nothing has to wait; gives the nodes that do."""
        waiting: list[tuple[int, Waiting]] = []
        ready = list(reversed(self._op.roots))
        try:
            while ready:
                number = ready.pop()
                one = self._strand_of(number)
                try:
                    awaitable = advance(one)
                except HaltSignal:
                    continue
                if awaitable is None:
                    ready += reversed(self._ended(number, one))
                else:
                    waiting.append((number, (one, awaitable)))
        except BaseException:
            abandon_all([one for _, one in waiting])
            raise
        return waiting

    async def worker(self, number: int, one: Strand, awaitable: Awaitable[object] | None) -> None:
        """Take a node to its end, then one that this made ready; the others of those get workers of their own."""
        while True:
            try:
                if awaitable is not None:
                    await drive(one, awaitable)
            except HaltSignal:
                return
            ready = self._ended(number, one)
            if not ready:
                return
            for further in ready[1:]:
                self._begin(further)
            number = ready[0]
            one = self._strand_of(number)
            try:
                awaitable = advance(one)
            except HaltSignal:
                return

    def _begin(self, number: int) -> None:
        assert self._add is not None  # only a graph of one node has no join around it
        self._add(self._begun(number))

    async def _begun(self, number: int) -> None:
        one = self._strand_of(number)
        try:
            awaitable = advance(one)
        except HaltSignal:
            return
        await self.worker(number, one, awaitable)

    def _ended(self, number: int, one: Strand) -> list[int]:
        """Note a node's output; gives the nodes that need nothing more."""
        self._outputs[number] = one.value
        left = self._left
        ready: list[int] = []
        for dependent in self._op.dependents[number]:
            left[dependent] -= 1
            if not left[dependent]:
                ready.append(dependent)
        return ready

    def _strand_of(self, number: int) -> Strand:
        op, outputs = self._op, self._outputs
        needs = op.needs[number]
        value: Any
        if not needs:
            value = self._copy(self._strand.value, number, len(op.roots))
        elif len(needs) == 1:
            value = self._copy(outputs[needs[0]], number, len(op.dependents[needs[0]]))
        else:
            value = BranchOutputs(
                self._strand.value,
                op.order,
                {op.keys[need]: self._copy(outputs[need], number, len(op.dependents[need])) for need in needs},
            )
        one = self._strand.inner(op.chains_[number], value)
        self._strands.append(one)
        return one

    def _copy(self, value: Any, number: int, takers: int) -> Any:
        """What flows along an edge: a copy of its own where others take it too."""
        return value if takers == 1 else fork_value(value, self._op.keys[number], self._op.path)

    def given(self) -> Any:
        """What the graph gives."""
        halt(self._strand, self._strands)
        op = self._op
        if len(op.sinks) == 1:
            return self._outputs[op.sinks[0]]
        outputs = {op.keys[sink]: self._outputs[sink] for sink in op.sinks}
        return BranchOutputs(self._strand.value, op.order, outputs)

"""Any acyclic graph: a node starts as soon as those it needs have ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, ClassVar

from interlock.runtime.operations.arms import Waiting, abandon_all, halt, run_all, stop_if_stopped
from interlock.runtime.operations.fork import BranchOutputs, fork_value
from interlock.runtime.run_state import Site
from interlock.runtime.strand import Operation, Strand, advance, drive, drop_if_blocked, fail, proceed
from interlock.verdict import HaltSignal
from interlock.workflows import DagNode

__all__ = ["DagOp"]


class DagOp(Operation):
    """A graph run by counting down what each node still needs. A node that is ready goes on where its last need ended,
    so only what can run beside something else gets a task.

    Attributes:
        chains_, keys: Of each node: its chain, and its id.
        needs, dependents: What each takes the outputs of, and what takes its output.
        shared: Whether several take its output.
        roots, sinks: The nodes without needs; those whose outputs nobody needs.
    """

    __slots__ = ("chains_", "dependents", "keys", "needs", "order", "roots", "shared", "sinks")
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
        self.needs = tuple(item.needs for item in node.items)
        self.sinks = node.sinks
        self.roots = tuple(number for number, needs in enumerate(self.needs) if not needs)
        dependents: list[list[int]] = [[] for _ in self.needs]
        for number, needs in enumerate(self.needs):
            for need in needs:
                dependents[need].append(number)
        self.dependents = tuple(map(tuple, dependents))
        self.shared = tuple(len(takers) > 1 for takers in dependents)

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
        strand.value = output if len(self.sinks) == 1 else BranchOutputs(strand.value, self.order, output)

    def arm_failed(self, strand: Strand) -> None:
        self.cut_off(strand)

    def abandon(self, strand: Strand) -> None:
        abandon_all(strand.note)

    def chains(self) -> Sequence[Sequence[Operation]]:
        return self.chains_


class _Walk:
    """One time through a graph."""

    __slots__ = ("_add", "_halted", "_left", "_op", "_outputs", "_strand")

    def __init__(self, op: DagOp, strand: Strand) -> None:
        self._op = op
        self._strand = strand
        self._left = [len(needs) for needs in op.needs]
        self._outputs: list[Any] = [None] * len(op.keys)
        self._halted = False
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
                    self._halted = True
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
        alone = not self._strand.execution.joins  # in the run's own task
        if awaitable is not None:
            drop_if_blocked(one, awaitable)
        try:
            while True:
                if alone and awaitable is not None:
                    await drive(one, awaitable)
                    awaitable = None
                while awaitable is not None:  # the same, without a coroutine for each node
                    try:
                        result = await awaitable
                    except BaseException as error:
                        fail(one, one.ops[one.index], error)
                    awaitable = proceed(one, result)
                ready = self._ended(number, one)
                if not ready:
                    return
                stop_if_stopped(self._strand)
                for further in ready[1:]:
                    self._begin(further)
                number = ready[0]
                one = self._strand_of(number)
                awaitable = advance(one)
        except HaltSignal:
            self._halted = True

    def _begin(self, number: int) -> None:
        assert self._add is not None  # only a graph of one node has no join around it
        self._add(self._begun(number))

    async def _begun(self, number: int) -> None:
        one = self._strand_of(number)
        try:
            awaitable = advance(one)
        except HaltSignal:
            self._halted = True
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
        """The strand of a node: it is given copies of its own of what others take too."""
        op, outputs = self._op, self._outputs
        needs, shared, keys = op.needs[number], op.shared, op.keys
        value: Any
        if len(needs) > 1:
            value = BranchOutputs(self._strand.value, op.order)
            for need in needs:
                output = outputs[need]
                value[keys[need]] = fork_value(output, keys[number], op.path) if shared[need] else output
        elif needs:
            value = outputs[needs[0]]
            if shared[needs[0]]:
                value = fork_value(value, keys[number], op.path)
        else:
            value = self._strand.value
            if len(op.roots) > 1:
                value = fork_value(value, keys[number], op.path)
        return self._strand.inner(op.chains_[number], value)

    def given(self) -> Any:
        """What the graph gives."""
        if self._halted:
            halt(self._strand)
        op = self._op
        if len(op.sinks) == 1:
            return self._outputs[op.sinks[0]]
        outputs = {op.keys[sink]: self._outputs[sink] for sink in op.sinks}
        return BranchOutputs(self._strand.value, op.order, outputs)

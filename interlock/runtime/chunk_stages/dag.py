"""Any acyclic graph: a node starts as soon as those it needs have ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NoReturn, cast

from interlock.runtime.chunk_chain import ChunkChain, Halt
from interlock.runtime.chunk_stages.arm import Arm
from interlock.runtime.chunk_stages.gathered import stop_if_stopped
from interlock.runtime.chunk_stages.scope import Scope
from interlock.runtime.chunk_stages.values import CARRYING, Keyed, Value, Values, forked, own
from interlock.runtime.chunk_stages.woven import Work, WovenStage
from interlock.runtime.join import Job, join
from interlock.runtime.strand import close, is_awaitable
from interlock.workflows import DagNode

__all__ = ["DagStage"]


class DagStage(WovenStage):
    """A graph of nodes, each of which takes the chunk, another's output, or several outputs by id.

    Args:
        path: Where it stands.
        scope: The workflow it stands in.
        node: The graph.
        arms: One a node, in its order.
        halt: Why nodes are stopped.
    """

    def __init__(self, path: str, scope: Scope, node: DagNode, arms: Sequence[Arm], halt: Halt) -> None:
        super().__init__(path, scope.execution)
        self.scope = scope
        self.arms = tuple(arms)
        self.needs = [item.needs for item in node.items]
        self.sinks = node.sinks
        self.dependents = [
            [number for number, needs in enumerate(self.needs) if one in needs] for one in range(len(self.needs))
        ]
        self.witnesses = {arm.key: arm.hooks for arm in arms}
        self.halt = halt

    def chains(self) -> Sequence[ChunkChain]:
        """Those of the nodes."""
        return [arm.chain for arm in self.arms]

    def work(self, value: Value) -> Work:
        """Walk through the graph."""
        self.halt.why = None
        walk = _Walk(self, value)
        try:
            walk.advance([number for number, needs in enumerate(self.needs) if not needs])
            while walk.running:
                if len(walk.running) > 1:
                    yield walk.joined()
                    break
                ((number, awaitable),) = walk.running.items()
                flow = yield awaitable
                walk.advance(walk.ended(number, flow))
        except BaseException as error:
            walk.drop(self.cause(error))
            raise
        return walk.given()


class _Walk:
    """One time through a graph.

    Attributes:
        running: What those nodes wait for that have begun.
    """

    __slots__ = ("_add", "_flows", "_left", "_stage", "_todo", "_value", "running")

    def __init__(self, stage: DagStage, value: Value) -> None:
        self._stage = stage
        self._value = value
        self._add: Callable[[Job], object] = _no_join
        self._left = [len(needs) for needs in stage.needs]
        self._flows: dict[int, Values] = {}
        self._todo = set(range(len(stage.needs)))
        self.running: dict[int, Awaitable[Values]] = {}

    def advance(self, ready: Sequence[int]) -> list[int]:
        """Begin nodes, and those that this makes ready, as far as nothing has to wait; gives those that do."""
        stack = list(reversed(ready))
        waiting: list[int] = []
        while stack:
            number = stack.pop()
            self._todo.discard(number)
            flow = self._begin(number)
            if is_awaitable(flow):
                self.running[number] = cast("Awaitable[Values]", flow)
                waiting.append(number)
            else:
                stack += reversed(self.ended(number, cast("Values", flow)))
        return waiting

    def _begin(self, number: int) -> Values | Awaitable[Values]:
        arm = self._stage.arms[number]
        flow = self._given_to(number)
        chunk = self._value.chunk if isinstance(self._value, Keyed) else self._value
        arm.begin(chunk)
        return arm.chain.take(flow)

    def _given_to(self, number: int) -> Values:
        """What a node takes: a copy of its own."""
        needs = self._stage.needs[number]
        if not needs:
            return own(self._value)
        if len(needs) == 1:
            flow = self._flows[needs[0]]
            return tuple([own(one) for one in flow]) if isinstance(flow, tuple) else own(flow)
        arms = [self._stage.arms[need] for need in needs]
        return Keyed(self._value, {arm.key: forked(arm.output) for arm in arms}, self._stage.witnesses)

    def ended(self, number: int, flow: Values) -> list[int]:
        """Take in what a node gave; gives the nodes that need nothing more."""
        self.running.pop(number, None)
        if isinstance(self._value, CARRYING) and flow == self._value:
            flow = self._value
        self._flows[number] = flow
        self._stage.arms[number].end(self._value, flow)
        ready: list[int] = []
        for dependent in self._stage.dependents[number]:
            self._left[dependent] -= 1
            if not self._left[dependent]:
                ready.append(dependent)
        return ready

    async def joined(self) -> None:
        """Take those that wait to their ends, and all behind them."""
        stage = self._stage
        stage.execution.joins += 1
        try:
            await join([self._job(number) for number in self.running], stage.scope.run, growing=self._grow)
        finally:
            stage.execution.joins -= 1
        stop_if_stopped(stage.scope)

    def _grow(self, add: Callable[[Job], object]) -> None:
        self._add = add

    async def _job(self, number: int) -> None:
        """A node from where it waits, then one that waits behind it; the others of those get jobs of their own."""
        while True:
            flow = await self.running[number]
            waiting = self.advance(self.ended(number, flow))
            if not waiting:
                return
            number = waiting.pop(0)
            for further in waiting:
                self._add(self._job(further))

    def drop(self, error: BaseException) -> None:
        """Let go of all that have not ended."""
        for number, awaitable in self.running.items():
            close(awaitable)
            self._stage.arms[number].chain.abandon(error)
        for number in self._todo:
            self._stage.arms[number].chain.missed(error)

    def given(self) -> Values:
        """What the graph gives."""
        stage = self._stage
        if len(stage.sinks) == 1:
            return self._flows[stage.sinks[0]]
        outputs = {stage.arms[sink].key: stage.arms[sink].output for sink in stage.sinks}
        return Keyed(self._value, outputs, stage.witnesses)


def _no_join(job: Job) -> NoReturn:
    """Stands where no join runs."""
    job.close()
    raise RuntimeError("a node was begun beside others, but no join runs")

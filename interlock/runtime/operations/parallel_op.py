"""All arms at once, each on a fork of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from interlock.runtime.operations.arms import (
    Gathering,
    Waiting,
    abandon_all,
    halt,
    halt_with,
    joined,
    run_all,
    start_all,
    stop_if_stopped,
)
from interlock.runtime.operations.fork import BranchOutputs, fork_value, is_plain
from interlock.runtime.operations.hooks_in import hooks_in
from interlock.runtime.run_state import Site
from interlock.runtime.strand import Operation, Strand, advance
from interlock.verdict import HaltSignal
from interlock.workflows import ParallelNode
from interlock.workflows.nodes import ErrorMode
from interlock.workflows.outcome import StepError

__all__ = ["Arm", "ParallelOp", "SelectiveParallelOp"]

Arm = tuple[str, Sequence[Operation]]
"""The id that an arm's output is keyed by, and its chain."""


class ParallelOp(Operation):
    """All arms at once; the first to fail stops the others."""

    __slots__ = ("arms", "order", "share")
    kind: str = "parallel"
    contains: ClassVar[bool] = True

    def __init__(
        self, node: ParallelNode, path: str, order: tuple[int, ...], arms: Sequence[Arm], site: Site = ()
    ) -> None:
        super().__init__(node.id, path, site)
        self.order = order
        self.arms = arms
        self.share = node.share

    def begin(self, strand: Strand) -> object:
        strand.enter(self)
        inner = self._forked(strand)
        waiting = start_all(inner)
        if not waiting:
            return self._keyed(strand, inner)
        strand.note = waiting
        return self._joined(strand, inner, waiting)

    def replay(self, strand: Strand, output: Any) -> None:
        strand.value = BranchOutputs(strand.value, self.order, output)

    def abandon(self, strand: Strand) -> None:
        abandon_all(strand.note)

    def arm_failed(self, strand: Strand) -> None:
        self.cut_off(strand)

    def chains(self) -> Sequence[Sequence[Operation]]:
        return [ops for _, ops in self.arms]

    def _forked(self, strand: Strand) -> list[Strand]:
        value, share, path = strand.value, self.share, self.path
        execution, run, at = strand.execution, strand.run, strand.at
        if is_plain(value):
            return [Strand(ops, value, execution, run, at, strand) for _, ops in self.arms]
        return [
            Strand(ops, fork_value(value, key, path, share=share), execution, run, at, strand) for key, ops in self.arms
        ]

    async def _joined(self, strand: Strand, inner: Sequence[Strand], waiting: Sequence[Waiting]) -> BranchOutputs:
        await joined(strand, waiting)
        return self._keyed(strand, inner)

    def _keyed(self, strand: Strand, inner: Sequence[Strand]) -> BranchOutputs:
        outputs = BranchOutputs(strand.value, self.order)
        for (key, ops), one in zip(self.arms, inner, strict=True):
            if one.index < len(ops):
                halt(strand)
            outputs[key] = one.value
        return outputs


class SelectiveParallelOp(ParallelOp):
    """Arms of which some are enough, or may fail, or run only so many at once."""

    __slots__ = ("_concurrency", "_join", "_on_error")

    def __init__(
        self, node: ParallelNode, path: str, order: tuple[int, ...], arms: Sequence[Arm], site: Site = ()
    ) -> None:
        super().__init__(node, path, order, arms, site)
        self._join = node.join
        self._on_error: ErrorMode = node.on_error
        self._concurrency = node.concurrency if node.concurrency is not None else len(arms)

    def arm_failed(self, strand: Strand) -> None:
        """Nothing yet: whether that stops the others, what gathers them says."""

    def begin(self, strand: Strand) -> object:
        strand.enter(self)
        inner = self._forked(strand)
        gathering = Gathering(len(inner), self._join, self._on_error, lambda: self.cut_off(strand))
        arms = iter(enumerate(inner))
        waiting: list[tuple[int, Waiting]] = []
        try:
            for index, one in arms:
                try:
                    awaitable = advance(one)
                except HaltSignal:
                    continue
                except Exception as error:
                    gathering.take(index, error, ended_at=one.ended_at)
                    continue
                if awaitable is None:
                    gathering.take(index)
                    if gathering.enough:
                        break
                else:
                    waiting.append((index, (one, awaitable)))
                    if len(waiting) == self._concurrency:
                        break
        except BaseException:
            abandon_all([one for _, one in waiting])
            raise
        if not waiting or gathering.enough:
            abandon_all([one for _, one in waiting])
            return self._selected(strand, inner, gathering)
        strand.note = [one for _, one in waiting]
        return self._rest(strand, inner, gathering, waiting, arms)

    async def _rest(
        self,
        strand: Strand,
        inner: Sequence[Strand],
        gathering: Gathering,
        waiting: Sequence[tuple[int, Waiting]],
        arms: Iterator[tuple[int, Strand]],
    ) -> BranchOutputs:
        async def worker(index: int, one: Waiting) -> None:
            await gathering.arm(index, *one)
            for further, arm in arms:
                stop_if_stopped(strand)
                await gathering.arm(further, arm, None)

        await run_all(strand, [worker(index, one) for index, one in waiting])
        return self._selected(strand, inner, gathering)

    def _selected(self, strand: Strand, inner: Sequence[Strand], gathering: Gathering) -> BranchOutputs:
        keys = [key for key, _ in self.arms]
        given = [*gathering.succeeded, *(gathering.failures if self._on_error == "collect" else ())]
        if not gathering.enough:
            halt_with(strand, [one for index, one in enumerate(inner) if index not in gathering.failures])
            gathering.settle()
        outputs: dict[str, Any] = {}
        for index in sorted(given):
            failure = gathering.failures.get(index)
            outputs[keys[index]] = inner[index].value if failure is None else StepError(keys[index], failure)
        strand.entry.noted().chosen = tuple(outputs)
        if strand.execution.phase is not None:
            left = [ops for key, ops in self.arms if key not in outputs]
            strand.execution.checks.stopped(
                (hook for ops in left for hook in hooks_in(ops)), f"enough branches of {self.path!r} ended before it"
            )
        return BranchOutputs(strand.value, self.order, outputs)

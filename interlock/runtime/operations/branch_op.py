"""The arms whose conditions hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, cast

from interlock.errors import StepFailed
from interlock.runtime.operations.arms import Waiting, abandon_noted, halt_with, heard, joined, start_all
from interlock.runtime.operations.fork import BranchOutputs, fork_value
from interlock.runtime.operations.parallel_op import Arm
from interlock.runtime.run_state import Site
from interlock.runtime.strand import Operation, Strand, is_awaitable, part_failed
from interlock.steps import StepContext
from interlock.workflows import BranchNode

__all__ = ["BranchOp"]


class BranchOp(Operation):
    """Conditions asked in order, then the arms they choose, at once."""

    __slots__ = ("arms", "conditions", "first_only", "order", "otherwise")
    kind: str = "branch"
    waits_in_hook: ClassVar[bool] = False
    contains: ClassVar[bool] = True

    def __init__(
        self,
        node: BranchNode,
        path: str,
        order: tuple[int, ...],
        arms: Sequence[Arm],
        otherwise: Arm | None,
        site: Site = (),
    ) -> None:
        super().__init__(node.id, path, site)
        self.order = order
        self.conditions: Sequence[Callable[[StepContext[Any]], object]] = node.conditions
        self.arms = arms
        self.otherwise = otherwise
        self.first_only = node.mode == "first"

    def begin(self, strand: Strand) -> object:
        entry = strand.enter(self)
        if entry.notes is not None and entry.notes.chosen is not None:
            return self._run(strand, self._known(entry.notes.chosen))
        chosen: list[int] = []
        context = StepContext(strand.value, strand.run, entry)
        for number, condition in enumerate(self.conditions):
            try:
                answer = condition(context)
            except Exception as error:
                raise self._failed(strand, number, error) from error
            if is_awaitable(answer):
                strand.note = answer
                return self._asked(strand, context, chosen, number, cast("Awaitable[object]", answer))
            if answer:
                chosen.append(number)
                if self.first_only:
                    break
        return self._run(strand, self._taken(strand, chosen))

    async def _asked(
        self,
        strand: Strand,
        context: StepContext[Any],
        chosen: list[int],
        number: int,
        awaitable: Awaitable[object],
    ) -> object:
        """The same from a condition that waits."""
        execution = strand.execution
        answer: object = awaitable
        while True:
            try:
                if is_awaitable(answer):
                    answer = await execution.in_hook(answer)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
                if answer:
                    chosen.append(number)
                if (answer and self.first_only) or number + 1 == len(self.conditions) or strand.run.stopped:
                    break
                number += 1
                answer = self.conditions[number](context)
            except Exception as error:
                raise self._failed(strand, number, error) from error
        result = self._run(strand, self._taken(strand, chosen))
        return await cast("Awaitable[object]", result) if is_awaitable(result) else result

    def arm_failed(self, strand: Strand) -> None:
        self.cut_off(strand)

    def _failed(self, strand: Strand, number: int, error: Exception) -> StepFailed:
        """What the error of a condition is told as."""
        return part_failed(strand, error, f"the condition of {self.arms[number][0]!r} raised")

    def _taken(self, strand: Strand, chosen: Sequence[int]) -> list[Arm]:
        """The arms that were chosen; noted, so that nobody asks again."""
        heard(strand)
        arms = [self.arms[number] for number in chosen]
        if not arms and self.otherwise is not None:
            arms = [self.otherwise]
        keys = tuple(key for key, _ in arms)
        strand.entry.noted().chosen = keys
        tape = strand.execution.tape
        if tape is not None:
            tape.branch_chosen(strand.entry, keys)
        return arms

    def _known(self, chosen: Sequence[str]) -> list[Arm]:
        every = [*self.arms, *([self.otherwise] if self.otherwise is not None else [])]
        return [arm for arm in every if arm[0] in chosen]

    def _run(self, strand: Strand, arms: Sequence[Arm]) -> object:
        value = strand.value
        if len(arms) == 1:
            inner = [strand.inner(arms[0][1], value)]
        else:
            inner = [strand.inner(ops, fork_value(value, key, self.path)) for key, ops in arms]
        waiting = start_all(inner)
        if not waiting:
            return self._keyed(strand, arms, inner)
        strand.note = waiting
        return self._joined(strand, arms, inner, waiting)

    async def _joined(
        self, strand: Strand, arms: Sequence[Arm], inner: Sequence[Strand], waiting: Sequence[Waiting]
    ) -> BranchOutputs:
        await joined(strand, waiting)
        return self._keyed(strand, arms, inner)

    def _keyed(self, strand: Strand, arms: Sequence[Arm], inner: Sequence[Strand]) -> BranchOutputs:
        halt_with(strand, inner)
        outputs = {key: one.value for (key, _), one in zip(arms, inner, strict=True)}
        return BranchOutputs(strand.value, self.order, outputs)

    def replay(self, strand: Strand, output: Any) -> None:
        strand.value = BranchOutputs(strand.value, self.order, output)

    def abandon(self, strand: Strand) -> None:
        abandon_noted(strand.note)

    def chains(self) -> Sequence[Sequence[Operation]]:
        return [ops for _, ops in (*self.arms, *([self.otherwise] if self.otherwise is not None else []))]

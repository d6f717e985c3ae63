"""The branches whose conditions hold."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, cast

from interlock.runtime.chunk_chain import Halt
from interlock.runtime.chunk_stages.arm import Arm
from interlock.runtime.chunk_stages.call import Call
from interlock.runtime.chunk_stages.gathered import GatheringStage
from interlock.runtime.chunk_stages.scope import Scope
from interlock.runtime.chunk_stages.values import Keyed, Value, Values
from interlock.runtime.chunk_stages.woven import Hooked, Work
from interlock.runtime.operations.arms import Gathering
from interlock.runtime.strand import is_awaitable

__all__ = ["BranchStage"]


class BranchStage(GatheringStage):
    """Conditions asked about each chunk, in order, then the branches they choose; gives their keyed output.

    Args:
        path: Where it stands.
        scope: The workflow it stands in.
        conditions: One a branch.
        arms: The branches.
        halt: Why they are stopped.
        otherwise: What runs where no condition holds.
        first_only: Whether the first condition that holds is the last that is asked.
    """

    def __init__(
        self,
        path: str,
        scope: Scope,
        conditions: Sequence[Call],
        arms: Sequence[Arm],
        halt: Halt,
        *,
        otherwise: Arm | None,
        first_only: bool,
    ) -> None:
        super().__init__(path, scope, arms if otherwise is None else (*arms, otherwise), halt)
        self._conditions = tuple(conditions)
        self._otherwise = otherwise
        self._first_only = first_only
        self._witnesses = {arm.key: arm.hooks for arm in self.arms}

    def work(self, value: Value) -> Work:
        """Ask, and run what was chosen."""
        taken = yield from self._chosen(value)
        for arm in self.arms:
            if arm not in taken:
                arm.chain.also(-1)
        if len(taken) == 1:
            yield from self._alone(taken[0], value)
        elif taken:
            gathering = Gathering(len(taken), None, "fail_fast")
            yield from self.gathered(value, taken, gathering)
        return Keyed(value, {arm.key: arm.output for arm in taken}, self._witnesses)

    def _alone(self, arm: Arm, value: Value) -> Generator[Any, Any, None]:
        """One branch, which needs no copy of what the block was given."""
        flow = arm.push(value, share=True)
        if flow is not value and is_awaitable(flow):
            flow = yield flow
        arm.end(value, cast("Values", flow))

    def _chosen(self, value: Value) -> Generator[Any, Any, list[Arm]]:
        taken: list[Arm] = []
        try:
            for condition, arm in zip(self._conditions, self.arms, strict=False):
                answer = condition.answer(value)
                if answer.__class__ is Hooked:
                    answer = yield from condition.waited(cast("Hooked", answer))
                if answer:
                    taken.append(arm)
                    if self._first_only:
                        break
        except BaseException as error:
            self.missed(self.cause(error))
            raise
        if not taken and self._otherwise is not None:
            taken.append(self._otherwise)
        return taken

"""The branches whose conditions hold."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, cast

from interlock.messages import Chunk
from interlock.runtime.chunk_chain import Halt
from interlock.runtime.chunk_stages.arm import Arm
from interlock.runtime.chunk_stages.call import Call
from interlock.runtime.chunk_stages.gathered import GatheringStage
from interlock.runtime.chunk_stages.lane_texts import end_of
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
        self._keepers = [arm for arm in self.arms if any(hook.processor.keeps_lanes for hook in arm.hooks)]

    def work(self, value: Value) -> Work:
        """Ask, and run what was chosen."""
        taken = yield from self._chosen(value)
        for arm in self.arms:
            if arm not in taken:
                arm.chain.also(-1)
        past = (yield from self._past(value, taken)) if self._keepers else ()
        if len(taken) == 1:
            yield from self._alone(taken[0], value)
        elif taken:
            gathering = Gathering(len(taken), None, "fail_fast")
            yield from self.gathered(value, taken, gathering)
        made = Keyed(value, {arm.key: arm.output for arm in taken}, self._witnesses)
        return (*past, made) if past else made

    def _past(self, value: Value, taken: Sequence[Arm]) -> Generator[Any, Any, tuple[Keyed, ...]]:
        """What branches hold back of the text that the chunk is of, which goes past them: that comes before it."""
        end = end_of(value)
        made: list[Keyed] = []
        try:
            for arm in self._keepers:
                if end is not None and arm not in taken and any(hook.holds for hook in arm.hooks):
                    flow: tuple[Chunk, ...] = yield arm.chain.flush(end)
                    made += self._alone_gave(arm, flow)
        except BaseException as error:
            for arm in taken:
                arm.chain.missed(self.cause(error))
            raise
        return tuple(made)

    def _alone_gave(self, arm: Arm, flow: tuple[Chunk, ...]) -> list[Keyed]:
        """What one branch let go, as the output of that branch alone."""
        if not flow:
            return []
        arm.context.chunk, arm.context.out = flow[0], flow
        return [Keyed(flow[0], {arm.key: arm.context}, self._witnesses)]

    async def flush(self, end: Chunk) -> tuple[Keyed, ...]:
        """What guards in the branches hold back of a text whose end does not come to them."""
        made: list[Keyed] = []
        for arm in self._keepers:
            made += self._alone_gave(arm, await arm.chain.flush(end))
        return tuple(made)

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

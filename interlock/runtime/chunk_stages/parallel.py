"""Parallel branches of which some may be enough, fail, or have to wait their turn, or whose output is not made one."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.chunk_chain import Halt
from interlock.runtime.chunk_stages.arm import Arm
from interlock.runtime.chunk_stages.gathered import GatheringStage
from interlock.runtime.chunk_stages.scope import Scope
from interlock.runtime.chunk_stages.values import Keyed, Value
from interlock.runtime.chunk_stages.woven import Work
from interlock.runtime.operations.arms import Gathering
from interlock.workflows import ParallelNode
from interlock.workflows.nodes import ErrorMode
from interlock.workflows.outcome import StepError

__all__ = ["ParallelStage"]


class ParallelStage(GatheringStage):
    """All branches at once, each on its own copy; gives their keyed output.

    Args:
        path: Where it stands.
        scope: The workflow it stands in.
        node: How many are enough, and what a failure means.
        arms: The branches.
        halt: Why they are stopped.
    """

    def __init__(self, path: str, scope: Scope, node: ParallelNode, arms: Sequence[Arm], halt: Halt) -> None:
        super().__init__(path, scope, arms, halt, concurrency=node.concurrency)
        self._enough = node.join
        self._on_error: ErrorMode = node.on_error
        for arm in self.arms:
            arm.watched = node.join is not None or node.on_error == "collect"
        self._witnesses = {arm.key: arm.hooks for arm in self.arms}

    def work(self, value: Value) -> Work:
        """Run them; key what those gave that count."""
        gathering = Gathering(len(self.arms), self._enough, self._on_error)
        yield from self.gathered(value, self.arms, gathering)
        if not gathering.enough:
            gathering.settle()
        outputs: dict[str, object] = {}
        for number, arm in enumerate(self.arms):
            failure = gathering.failures.get(number)
            if number in gathering.succeeded:
                outputs[arm.key] = arm.output
            elif failure is not None and self._on_error == "collect":
                outputs[arm.key] = StepError(arm.key, failure)
        return Keyed(value, outputs, self._witnesses)

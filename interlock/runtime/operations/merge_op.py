"""One value from the branches of the block before."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from interlock.errors import RunError
from interlock.runtime.operations.fork import BranchOutputs
from interlock.runtime.operations.step_op import checked_context
from interlock.runtime.run_state import Site
from interlock.runtime.strand import Operation, Strand
from interlock.workflows import MergeNode
from interlock.workflows.outcome import StepError

__all__ = ["MergeOp"]


class MergeOp(Operation):
    """Forks joined three-way; or what a function makes of the branches' outputs."""

    __slots__ = ("_prefer", "_with")
    kind: str = "merge"
    waits_in_hook: ClassVar[bool] = True

    def __init__(self, node: MergeNode, path: str, site: Site = ()) -> None:
        super().__init__(node.id, path, site)
        self._prefer = node.prefer
        self._with = node.with_

    def begin(self, strand: Strand) -> object:
        strand.enter(self)
        outputs: BranchOutputs = strand.value
        if not outputs:  # no arm of a branch was taken
            return outputs.base
        if self._with is not None and len(outputs) > 1:
            return self._with(outputs)
        failed = next((value for value in outputs.values() if isinstance(value, StepError)), None)
        if failed is not None:
            raise RunError(
                f"{self.path!r} has nothing to join of {failed.step_id!r}, which failed: {failed.error}; use .map(…) "
                "to say what is to become of collected failures"
            ) from failed.error
        if len(outputs) == 1:
            return next(iter(outputs.values()))
        base = outputs.base
        if not hasattr(base, "merge_forks"):
            raise RunError(
                f"{self.path!r} cannot join plain values ({', '.join(map(repr, outputs))}): pass with_=, a function of "
                "{id: output}, or use .map(…) to say what continues"
            )
        return cast("Any", base).merge_forks(outputs, self._prefer)

    def end(self, strand: Strand, result: Any) -> None:
        phase = strand.execution.phase
        if phase is not None:
            checked_context(self.path, phase, result)
        super().end(strand, result)

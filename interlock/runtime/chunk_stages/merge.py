"""One flow from the branches of the block before, where they are not one stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from interlock.errors import RunError
from interlock.messages import Chunk
from interlock.processors.stream_context import OutputStreamContext, merge_outs
from interlock.runtime.chunk_stages.failures import failure_of
from interlock.runtime.chunk_stages.values import Keyed, Value, Values, flow_of
from interlock.runtime.execution import Execution
from interlock.workflows import MergeNode
from interlock.workflows.outcome import StepError

__all__ = ["MergeStage"]


class MergeStage:
    """The branches' edits joined three-way; or what a function makes of their contexts."""

    __slots__ = ("_asked", "_execution", "_id", "_path", "_prefer", "_with", "chunk")
    waits_in_hook = True

    def __init__(self, node: MergeNode, path: str, execution: Execution) -> None:
        self._id = node.id
        self._path = path
        self._execution = execution
        self._prefer = node.prefer
        self._with: Callable[[Mapping[str, Any]], object] | None = node.with_
        self._asked = False
        self.chunk: Any = None

    def row(self) -> tuple[Callable[[Any], object], Any]:
        """The merge, and this stage."""
        return self._merged, self

    def _merged(self, _: object) -> object:
        outputs: Value = self.chunk
        self._asked = False
        if not isinstance(outputs, Keyed):
            raise RunError(f"{self._path!r} joins the output of a block, but a chunk flows there")
        if not outputs:  # no condition held
            return outputs.base
        if self._with is not None and len(outputs) > 1:
            self._asked = True
            return self._with(outputs.shown())
        failed = next((value for value in outputs.values() if isinstance(value, StepError)), None)
        if failed is not None:
            raise RunError(
                f"{self._path!r} has nothing to join of {failed.step_id!r}, which failed: {failed.error}; use .map(…) "
                "to say what is to become of collected failures"
            ) from failed.error
        if len(outputs) == 1:
            (only,) = outputs.values()
            return only.out if isinstance(only, OutputStreamContext) else only
        base: Value = outputs.base
        if isinstance(base, Keyed) or not all(isinstance(value, OutputStreamContext) for value in outputs.values()):
            raise RunError(
                f"{self._path!r} cannot join the outputs of blocks ({', '.join(map(repr, outputs))}): use .map(…) to "
                "say what continues"
            )
        contexts = cast("Mapping[str, OutputStreamContext]", outputs)
        return merge_outs((base,), {key: context.out for key, context in contexts.items()}, self._prefer)

    def settle(self, chunk: Value, out: Any) -> Values:
        """What goes on."""
        if self._asked:
            flow = flow_of(out, self._id)
            cast("Keyed", chunk).picked(out)
            return flow
        if isinstance(out, tuple):
            chunks = cast("tuple[Chunk, ...]", out)
            return chunks[0] if len(chunks) == 1 else chunks
        return cast("Value", out)

    def failed(self, error: BaseException) -> BaseException:
        """What is raised for a conflict, or an error of the function."""
        return failure_of(self._execution.latch, self._path, error)

    def also(self, runs: int) -> None:
        """A merge keeps no record."""

    def missed(self, error: BaseException) -> None:
        """A merge keeps no record."""

    def abandon(self, error: BaseException) -> None:
        """It waits for nothing but the function."""

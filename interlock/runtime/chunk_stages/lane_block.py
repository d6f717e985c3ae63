"""A block in whose branches guards hold text back: what goes on is what all branches have decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from interlock.errors import InvalidProcessorReturn
from interlock.messages import Chunk
from interlock.processors.stream_context import OutputStreamContext
from interlock.runtime.chunk_stages.block import BlockStage
from interlock.runtime.chunk_stages.lane_guards import Editor
from interlock.runtime.chunk_stages.lanes import BlockLanes
from interlock.runtime.chunk_stages.values import Values, flow_of
from interlock.verdict import Phase

__all__ = ["LaneBlockStage"]


class LaneBlockStage(BlockStage):
    """Parallel branches and the map or merge behind them, where texts are held back.

    A map picks whose edits go on, never when: a branch that has not decided still holds, and its block still comes
    first.
    """

    __slots__ = ("_editors",)

    def watch(self, editors: Sequence[Sequence[Editor] | None]) -> None:
        """Take note of the processors of each branch; None of a branch without a guard that holds text back."""
        self._editors = editors

    def _reduced(self, chunk: Chunk, same: tuple[Chunk, ...]) -> object:
        if self._reducer is not None:
            return self._reducer.called()
        made = self._lanes().step(chunk, self._outs(), prefer=self._prefer)
        return chunk if len(made) == 1 and made[0] is chunk else made

    def settle(self, chunk: Chunk, out: object) -> Values:
        """What goes on: a merge's chunks, or what the branch says that a map has picked."""
        reducer = self._reducer
        if reducer is None:
            made = cast("tuple[Chunk, ...]", out)
        else:
            reducer.ended()
            flow_of(out, reducer.asked.path)
            context = cast("OutputStreamContext", out)
            picked = [number for number, arm in enumerate(self._arms) if arm.context is context]
            if not picked and context.out != (chunk,):
                raise InvalidProcessorReturn(
                    reducer.asked.step_id,
                    str(Phase.OUTPUT_STREAM),
                    out,
                    "the context of one of the block's branches, or what the block was given",
                    hint="Guards in these branches hold text back, so nothing else can go on in its place",
                )
            only = picked[0] if picked else None
            made = self._lanes().step(chunk, self._outs(), only=only, nobody=not picked)
            for number, arm in enumerate(self._arms):
                if picked and number != only and any(hook.changes for hook in arm.hooks):
                    for hook in arm.hooks:
                        hook.leave_behind()
        return made[0] if len(made) == 1 else made

    async def flush(self, end: Chunk) -> tuple[Chunk, ...]:
        """What is held back of a text whose end does not come to the block: with the edits of all branches."""
        outs = {arm.key: (*await arm.chain.flush(end), end) for arm in self._arms}
        return tuple([one for one in self._lanes().step(end, outs, prefer=self._prefer) if one is not end])

    def _outs(self) -> dict[str, tuple[Chunk, ...]]:
        return {arm.key: arm.context.out for arm in self._arms}

    def _lanes(self) -> BlockLanes:
        """The lanes of this step: kept where they are forgotten when the next one begins."""
        context: Any = self._arms[0].context
        if context.held is None:
            context.held = BlockLanes(self._editors)
        lanes: BlockLanes = context.held
        return lanes

"""One branch of a block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from interlock.errors import RunError
from interlock.messages import Chunk
from interlock.processors.stream_context import OutputStreamContext
from interlock.runtime.chunk_chain import ChunkChain
from interlock.runtime.chunk_stages.hook import HookStage
from interlock.runtime.chunk_stages.values import CARRYING, Keyed, MaybeValues, Value, Values, own

__all__ = ["Arm"]


class Arm:
    """One branch of a block.

    Args:
        key: What its output is keyed by.
        chain: Its stages; empty where it does not act.
        context: What a map sees of it: ``chunk`` came in, ``out`` goes on.
        hooks: The processors in it, for records.

    Attributes:
        watched: Whether it may be left behind although it has begun, so that its changes are counted.
        output: What it gave last: the context, or the keyed output of a block at its end.
    """

    __slots__ = ("_changes", "chain", "context", "hooks", "key", "output", "watched")

    def __init__(self, key: str, chain: ChunkChain, context: OutputStreamContext, hooks: Sequence[HookStage]) -> None:
        self.key = key
        self.chain = chain
        self.context = context
        self.hooks = hooks
        self.output: object = context
        self.watched = False
        self._changes = 0

    def push(self, value: Value, *, share: bool = False) -> MaybeValues:
        """Take what a block was given through the branch.

        Args:
            value: What the block was given.
            share: Whether nobody else is given it, so that it needs no copy.
        """
        mine = value if share else own(value)
        self.begin(mine.chunk if isinstance(mine, Keyed) else mine)
        return self.chain.push(mine)

    def begin(self, chunk: Chunk) -> None:
        """A chunk is about to come in."""
        self.context.chunk = chunk
        if self.watched:
            self._changes = self._changed()

    def end(self, value: Value, flow: Values) -> None:
        """Take in what it gave for ``value``.

        Raises:
            RunError: It split the chunk, and gives the keyed output of a block for each part.
        """
        if isinstance(flow, Keyed):
            self.output = flow
            return
        self.output = self.context
        if not isinstance(flow, tuple):
            if flow is not value and isinstance(value, CARRYING) and flow == value:
                flow = value
            self.context.out = (flow,)
            return
        if any(isinstance(one, Keyed) for one in flow):
            raise RunError(
                f"branch {self.key!r} made several chunks of one and ends with a block, whose keyed output is that of "
                "one chunk: put .map(…) or .merge() behind the block"
            )
        self.context.out = cast("tuple[Chunk, ...]", flow)

    def leave_behind(self) -> None:
        """Note that what its processors have changed since it began did not go on."""
        if self.watched and self._changed() != self._changes:
            for hook in self.hooks:
                hook.leave_behind()

    def _changed(self) -> int:
        return sum([hook.changes for hook in self.hooks])

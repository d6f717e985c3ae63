"""What flows on a chunk's path: chunks, and behind a block what its branches made of one, by branch."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol, cast, overload

from interlock.errors import InvalidProcessorReturn
from interlock.messages import Chunk, ToolCall, ToolError, ToolResult
from interlock.processors.hook_context import own_copy
from interlock.processors.returns import allowed_in
from interlock.processors.stream_context import OutputStreamContext
from interlock.runtime.operations.fork import BranchOutputs
from interlock.verdict import Phase

__all__ = ["CARRYING", "Keyed", "MaybeValues", "Value", "Values", "Witness", "as_tuple", "flow_of", "no_context", "own"]

CARRYING = (ToolCall, ToolResult, ToolError)
"""Chunks that carry what could be changed in place: each branch looks at a copy."""


class Witness(Protocol):
    """A processor in a branch, as far as a block knows of it."""

    def leave_behind(self) -> None:
        """Note that what it changed did not go on."""
        ...


class Keyed(BranchOutputs):
    """What branches made of one chunk: by branch a context, whose ``chunk`` came in and whose ``out`` goes on.

    Args:
        base: What the branches were given.
        outputs: By branch, in list order: a context, or what a block at the branch's end gives, or a ``StepError``.
        witnesses: The processors in each branch.
    """

    __slots__ = ("_witnesses",)
    base: Value

    def __init__(
        self, base: Value, outputs: Mapping[str, Any], witnesses: Mapping[str, Sequence[Witness]] | None = None
    ) -> None:
        super().__init__(base, (), outputs)
        self._witnesses: Mapping[str, Sequence[Witness]] = witnesses or {}

    @property
    def chunk(self) -> Chunk:
        """The chunk that all began with."""
        return self.base.chunk if isinstance(self.base, Keyed) else self.base

    def shown(self) -> BranchOutputs:
        """What a function is given: the same outputs, in a dict that is not this one."""
        return BranchOutputs(self.base, (), self)

    def fork(self) -> Keyed:
        """The same with contexts of its own, for a branch of a block behind."""
        return Keyed(self.base, {key: forked(output) for key, output in self.items()}, self._witnesses)

    def picked(self, chosen: object) -> None:
        """Note that a function went on with ``chosen``: what the others changed was left behind.

        Where it made something of its own of them, every branch counts as kept.
        """
        if not any(chosen is output for output in self.values()):
            return
        for key, output in self.items():
            if output is not chosen and isinstance(output, OutputStreamContext) and output.out != (output.chunk,):
                for witness in self._witnesses.get(key, ()):
                    witness.leave_behind()


Value = Chunk | Keyed
"""What one stage is given."""

Values = Value | tuple[Value, ...]
"""What one stage gives: a tuple where it made none or several of what it was given."""

MaybeValues = Values | Awaitable[Values]


def forked(output: object) -> object:
    """A branch's output for somebody who may change it."""
    if isinstance(output, Keyed):
        return output.fork()
    if isinstance(output, OutputStreamContext):
        made = output.fork()
        made.out = tuple(cast("Any", own(chunk)) for chunk in output.out)
        return made
    return output


def own(value: Value) -> Value:
    """A copy of what a branch could change in place; what cannot be changed is shared."""
    if isinstance(value, Keyed):
        return value.fork()
    return cast("Chunk", own_copy(value)) if isinstance(value, CARRYING) else value


@overload
def as_tuple(flow: Chunk | tuple[Chunk, ...]) -> tuple[Chunk, ...]: ...
@overload
def as_tuple(flow: Values) -> tuple[Value, ...]: ...
def as_tuple(flow: Values) -> tuple[Value, ...]:
    """A flow as a tuple."""
    return flow if isinstance(flow, tuple) else (flow,)


def flow_of(returned: object, path: str) -> Values:
    """The chunks that a returned context lets go on.

    Raises:
        InvalidProcessorReturn: It is no context of this phase.
    """
    if not isinstance(returned, OutputStreamContext):
        raise InvalidProcessorReturn(
            path,
            str(Phase.OUTPUT_STREAM),
            returned,
            "the context of this phase, as it came in ctx.input or from one of its branches",
        )
    out = returned.out
    return out[0] if len(out) == 1 else out


def no_context(path: str, found: object) -> InvalidProcessorReturn:
    """The failure where the keyed output of a block comes to what takes chunks."""
    return InvalidProcessorReturn(
        path,
        str(Phase.OUTPUT_STREAM),
        found,
        allowed_in(Phase.OUTPUT_STREAM),
        hint="The keyed output of a block needs .map(…) or .merge() behind it",
    )

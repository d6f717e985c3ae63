"""The context of the per-chunk point. One is made per processor and stream, and used again for every chunk."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any, ClassVar, NamedTuple, Self, cast

from interlock.errors import MergeConflict
from interlock.messages import (
    Chunk,
    ChunkBase,
    Message,
    MessageList,
    ReasoningDelta,
    Source,
    TextDelta,
    ToolCall,
    ToolCallApproval,
    ToolCallSuspended,
    ToolError,
    ToolOutput,
    ToolResult,
)
from interlock.processors.hook_context import HookContext
from interlock.processors.seat import RunFacts, Seat
from interlock.verdict import Phase

__all__ = ["LaneKey", "OutputStreamContext", "Piece", "StreamSoFar"]

LaneKey = tuple[str, str]
"""A text of a stream: the kind of its part (``"text"``, ``"reasoning"``, ``"tool-arguments"``), and the part's id."""


class Piece(NamedTuple):
    """A range of a lane's incoming text, and what became of it.

    Args:
        start: Where the range begins.
        end: Where it ends, exclusive.
        text: What was let go in its place.
        kept: Whether that is the incoming text itself.
    """

    start: int
    end: int
    text: str
    kept: bool


KEPT_PARTS = 256


class StreamSoFar:
    """What has come in during this step, shared by all contexts of the stream.

    Args:
        step_number: The step of the loop.
        keep_parts: Whether all chunks are kept.
        inside: Of an agent that a tool has asked, the calls around it.
        parts, text: What has come in already.

    Attributes:
        parts: The last 256 chunks, or all.
        step_number: The step of the loop.
        inside: See above.
    """

    __slots__ = ("_joined", "_written", "inside", "parts", "step_number")

    def __init__(
        self,
        step_number: int = 0,
        *,
        keep_parts: bool = False,
        inside: tuple[str, ...] = (),
        parts: Iterable[Chunk] = (),
        text: str = "",
    ) -> None:
        self.inside = inside
        self.parts: deque[Chunk] = deque(parts, maxlen=None if keep_parts else KEPT_PARTS)
        self.step_number = step_number
        self._written = StringIO()
        self._written.write(text)
        self._joined: str | None = text

    def add(self, chunk: Chunk) -> None:
        """Note a chunk that has come in."""
        self.parts.append(chunk)
        if type(chunk) is TextDelta:
            self._written.write(chunk.text)
            self._joined = None

    @property
    def text(self) -> str:
        """The step's text so far."""
        if self._joined is None:
            self._joined = self._written.getvalue()
        return self._joined


class OutputStreamContext(HookContext):
    """4. ``process_output_stream``: every chunk, before anybody sees it.

    The object is used again for the next chunk, so a hook does not keep it; chunks themselves may be kept.

    May return: the chunk, another chunk (``ctx.chunk.replace(text=…)``), a sequence of chunks, or None to drop it.

    Args:
        chunk: What comes in.
        so_far: What came in before; default: nothing.

    Attributes:
        out: What goes on: a tuple of chunks; empty: dropped.
        held: What a processor keeps for this step alone, such as text that it holds back; None when a step begins.
        edited: Whether what the processor let go differs in more than its cuts from what came in; None: it does where
            the chunks differ.
        pieces: Which ranges of the incoming text of a lane became what, for whoever joins branches; None: nobody does.
    """

    phase: ClassVar[Phase] = Phase.OUTPUT_STREAM
    source: ClassVar[Source] = "response"
    __slots__ = ("chunk", "edited", "held", "out", "pieces", "so_far")

    def __init__(
        self,
        messages: MessageList | Message | Sequence[Message] | str = (),
        *,
        chunk: Chunk,
        so_far: StreamSoFar | None = None,
        run: RunFacts | None = None,
    ) -> None:
        super().__init__(messages, run=run)
        self.chunk = chunk
        self.out: tuple[Chunk, ...] = (chunk,)
        self.so_far = so_far if so_far is not None else StreamSoFar()
        self.held: Any = None
        self.edited: bool | None = None
        self.pieces: list[tuple[LaneKey, Piece]] | None = None

    @property
    def text(self) -> str:
        """The step's text so far, as it came in, this chunk included."""
        return self.so_far.text

    @property
    def parts(self) -> Sequence[Chunk]:
        """The last 256 chunks of this step, as they came in, this one included.

        All of them where a processor of the run has the class flag ``keep_parts``.
        """
        return self.so_far.parts

    @property
    def step_number(self) -> int:
        """The step of the loop, from 0."""
        return self.so_far.step_number

    @property
    def inside(self) -> tuple[str, ...]:
        """The ids of the tool calls in which the agent runs that the chunk comes from, from the outermost in.

        Empty for what the run's own model and tools give. The chunks of each such agent have texts and parts of their
        own; the client gets what goes on of them as ``tool-output`` chunks.
        """
        return self.so_far.inside

    def _put_signal(self, signal: Message) -> None:
        """Behind the answer that is coming in: there is nothing that a branch could carry it in."""
        self._seat.send(signal, self.chunk)

    def fork(self) -> Self:
        """Another context over the same chunk. Chunks are immutable, so nothing else is copied."""
        made = type(self).__new__(type(self))
        made.message_list = self.message_list
        made._seat = self._seat
        made._values = self._values
        made._borrowed = self._borrowed
        made.chunk = self.chunk
        made.out = self.out
        made.so_far = self.so_far
        made.held = made.edited = made.pieces = None
        return made

    def seated(self, seat: Seat) -> Self:
        """A context for one processor; it looks at the conversation through a fork of its own."""
        made = self.fork()
        made.message_list = self.message_list.fork()
        made._seat = seat
        return made

    def changed_from(self, base: HookContext) -> bool:
        """Whether something else goes on."""
        return isinstance(base, OutputStreamContext) and self.out is not base.out and self.out != base.out

    def merge_forks(self, forks: Mapping[str, HookContext], prefer: str | None = None) -> Self:
        """Join what the branches made of one chunk: dropped by any is dropped, text edits are joined.

        Raises:
            MergeConflict: Two branches made different things of it, and none is preferred.
        """
        merged = self.fork()
        outs = {name: cast("OutputStreamContext", fork).out for name, fork in forks.items()}
        merged.out = merge_outs(self.out, outs, prefer)
        return merged


def merge_outs(base: tuple[Chunk, ...], outs: Mapping[str, tuple[Chunk, ...]], prefer: str | None) -> tuple[Chunk, ...]:
    """What goes on where several branches looked at the same chunks."""
    changed = {name: out for name, out in outs.items() if out is not base and out != base}
    if not changed:
        return base
    first = next(iter(changed.values()))
    if not all(changed.values()):
        return ()
    if all(out == first for out in changed.values()):
        return first
    joined = _joined_text(base, changed, prefer) or _joined_values(base, changed, prefer)
    if joined is not None:
        return joined
    if prefer is not None and prefer in changed:
        return changed[prefer]
    raise MergeConflict(f"a {base[0].type!r} chunk" if base else "a chunk", list(changed))


def _joined_text(
    base: tuple[Chunk, ...], changed: Mapping[str, tuple[Chunk, ...]], prefer: str | None
) -> tuple[Chunk, ...] | None:
    """The three-way joined text, where every branch made one delta of the same part out of one delta."""
    if len(base) != 1 or not isinstance(base[0], TextDelta | ReasoningDelta):
        return None
    from interlock.messages import merge_values

    origin = base[0]
    texts: dict[str, str] = {}
    for name, out in changed.items():
        if len(out) != 1:
            return None
        one = out[0]
        if not isinstance(one, TextDelta | ReasoningDelta) or type(one) is not type(origin) or one.id != origin.id:
            return None
        texts[name] = one.text
    return (origin.replace(text=merge_values(origin.text, texts, prefer, f"the text of a {origin.type!r} chunk")),)


_CARRYING = (ToolCall, ToolCallApproval, ToolCallSuspended, ToolError, ToolOutput, ToolResult)
_CARRIED = ("args", "result", "error", "payload", "output")


def _joined_values(
    base: tuple[Chunk, ...], changed: Mapping[str, tuple[Chunk, ...]], prefer: str | None
) -> tuple[Chunk, ...] | None:
    """The three-way joined values of a tool's chunk, where every branch made one like it."""
    if len(base) != 1 or not isinstance(base[0], _CARRYING):
        return None
    from interlock.messages import merge_values

    origin = base[0]
    if isinstance(origin, ToolOutput) and isinstance(origin.output, ChunkBase):
        return None
    made = origin
    for out in changed.values():
        if len(out) != 1 or type(out[0]) is not type(origin):
            return None
    for name in _CARRIED:
        values = {branch: getattr(out[0], name, None) for branch, out in changed.items()}
        value = getattr(origin, name, None)
        others = {branch: other for branch, other in values.items() if other != value}
        if others:
            what = f"the {name} of a {origin.type!r} chunk"
            made = made.replace(**{name: merge_values(value, others, prefer, what)})
    plain = {name: getattr(made, name) for name in _CARRIED if hasattr(made, name)}
    if any(out[0].replace(**plain) != made for out in changed.values()):  # it differs in something else
        return None
    return (made,)

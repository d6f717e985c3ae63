"""How tests let a guard look at a stream by itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import anyio

from interlock.messages import Chunk, StepFinish, StepStart, TextDelta, TextEnd, TextStart
from interlock.processors import OutputStreamContext, Processor
from interlock.processors.seat import RunFacts, Seat
from interlock.verdict import AbortSignal, Tripwire, Violation


@dataclass
class Streamed:
    """What came of a stream."""

    chunks: list[Chunk] = field(default_factory=list[Chunk])
    tripwire: Tripwire | None = None
    warnings: list[Violation] = field(default_factory=list[Violation])
    most_held: int = 0
    looked_at: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    state: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def text(self) -> str:
        """What a client has read."""
        return "".join(chunk.text for chunk in self.chunks if isinstance(chunk, TextDelta))


def streamed(guard: Processor, *chunks: Chunk) -> Streamed:
    """Let a guard look at chunks, one after the other."""
    told = Streamed()
    seat = Seat(guard.id, RunFacts(), told.state)
    ctx = OutputStreamContext(chunk=StepStart()).seated(seat)
    came = 0
    for chunk in chunks:
        ctx.chunk = chunk
        came += len(chunk.text) if isinstance(chunk, TextDelta) else 0
        try:
            out = guard.process_output_stream(ctx)
            if inspect.isawaitable(out):
                out = anyio.run(_awaited, out)
        except AbortSignal as stopped:
            told.tripwire = stopped.tripwire
            break
        told.chunks += [] if out is None else cast("Sequence[Chunk]", out) if isinstance(out, Sequence) else [out]
        told.most_held = max(told.most_held, came - len(told.text))
    told.warnings, told.looked_at = seat.warnings, seat.looked_at
    return told


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


def text_streamed(guard: Processor, pieces: Iterable[str]) -> Streamed:
    """Let a guard look at a text that comes in pieces."""
    return streamed(guard, TextStart(), *map(TextDelta, pieces), TextEnd(), StepFinish())

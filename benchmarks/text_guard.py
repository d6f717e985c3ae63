"""One streamed chunk through guards on text, and what a long stream keeps."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import cast

from benchmarks.harness import Effort, Measured, Row, measure_cost, measure_memory
from interlock.messages import Chunk, MessageList, StepFinish, TextDelta
from interlock.models import ModelRequest
from interlock.models.base import LanguageModel
from interlock.processors import PIIDetector, Processor, TextGuard
from interlock.processors.compose import compose
from interlock.processors.seat import RunFacts
from interlock.runtime import Agent
from interlock.runtime.chunk_path import ChunkPath
from interlock.runtime.execution import Execution
from interlock.runtime.strand import is_awaitable
from interlock.verdict import Phase

__all__ = ["ROWS"]

CHUNKS = 4_000
LONG = 200_000

_PROSE = (
    "the quick brown fox jumps over a lazy dog and we meet at noon in the city with some friends to talk about three "
    "things before the train leaves for the coast"
)

KINDS = {
    "card": r"\b[0-9]{4}(?: ?[0-9]{4}){3}\b",
    "phone": r"\+[0-9]{2} ?[0-9]{3} ?[0-9]{4,8}\b",
    "email": r"[a-z0-9._]{1,32}@[a-z0-9-]{1,32}\.[a-z]{2,6}",
    "key": r"sk-[a-z0-9]{8,24}",
    "ssn": r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b",
    "ip": r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b",
    "iban": r"\b[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}\b",
    "token": r"ghp_[A-Za-z0-9]{20,36}",
}


class Patterns(TextGuard):
    """Looks for some kinds."""

    id = "patterns"


def _deltas(count: int) -> list[Chunk]:
    """Prose in chunks of five characters, the same each time."""
    chosen = random.Random(1)
    words = _PROSE.split()
    text = " ".join(chosen.choice(words) for _ in range(count))[: 5 * count]
    return [TextDelta(text[n : n + 5]) for n in range(0, len(text), 5)]


def _through(guard: Callable[[], Processor]) -> Callable[[], Awaitable[int]]:
    """All chunks through a path as the agent makes it; all text must come out."""
    composed = compose("output", [guard()])
    plan = None if composed is None else composed.plan_for(Phase.OUTPUT_STREAM)
    assert plan is not None
    messages = MessageList(["hello"])
    path = ChunkPath([("output", plan)], Execution(RunFacts(), Phase.OUTPUT_STREAM), messages)
    chunks = [*_deltas(CHUNKS), StepFinish()]
    size = sum(len(chunk.text) for chunk in chunks if isinstance(chunk, TextDelta))

    async def run() -> int:
        path.begin_step(0, messages)
        came = 0
        for chunk in chunks:
            out: object = path.feed(chunk)
            if is_awaitable(out):  # the end of an answer
                out = await cast("Awaitable[object]", out)
            for one in cast("Sequence[Chunk]", out) if isinstance(out, tuple | list) else (out,):
                if isinstance(one, TextDelta):
                    came += len(one.text)
        if came != size:
            raise RuntimeError(f"{came} of {size} characters came out")
        return came

    return run


def _guard(*kinds: str) -> Callable[[], Processor]:
    return lambda: Patterns(patterns={kind: KINDS[kind] for kind in kinds or KINDS})


def _one(effort: Effort) -> Measured:
    return measure_cost(_through(_guard("card")), effort, unit="µs", units=CHUNKS)


def _eight(effort: Effort) -> Measured:
    return measure_cost(_through(_guard()), effort, unit="µs", units=CHUNKS)


def _personal(effort: Effort) -> Measured:
    return measure_cost(_through(PIIDetector), effort, unit="µs", units=CHUNKS)


class _Talking(LanguageModel):
    """Says one word so many times, and keeps nothing."""

    provider = "talking"
    name = "talking"

    def __init__(self, count: int) -> None:
        self._count = count

    def stream(self, request: ModelRequest) -> _Talk:
        del request
        return _Talk(self._count)


class _Talk:
    def __init__(self, count: int) -> None:
        self._left: Iterator[Chunk] = (TextDelta("word ") for _ in range(count))

    async def __aenter__(self) -> _Talk:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing is open."""

    def __aiter__(self) -> _Talk:
        return self

    async def __anext__(self) -> Chunk:
        chunk = next(self._left, None)
        if chunk is None:
            raise StopAsyncIteration
        return chunk


def _long(effort: Effort) -> Measured:
    """Of a stream of 200,000 chunks (1 MB of text) through a guard that holds text back; in a hurry, of a fiftieth."""
    count = LONG if effort.seconds >= Effort().seconds else LONG // 50
    agent = Agent(id="talking", model=_Talking(count), output_processors=[Patterns(patterns=KINDS)])

    async def run() -> int:
        size = 0
        async with agent.stream("go on") as stream:
            async for chunk in stream:
                if isinstance(chunk, TextDelta):
                    size += len(chunk.text)
        if size != 5 * count:
            raise RuntimeError(f"{size} of {5 * count} characters came out")
        return size

    return measure_memory(run)


ROWS: Sequence[Row] = (
    Row("chunk through a text guard, one pattern", 15, 8, "µs", _one),
    Row("chunk through a text guard, eight kinds", 25, 12, "µs", _eight),
    Row("chunk through PIIDetector, all kinds", 30, 20, "µs", _personal),
    Row("stream of 200,000 chunks through a text guard: memory", 12, 8, "MB", _long),
)

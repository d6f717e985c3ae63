"""One streamed chunk through a list of processors, against the same guards called by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, cast

from benchmarks.harness import Effort, Measured, Row, measure_cost, measure_ratio
from interlock.messages import Chunk, MessageList, TextDelta
from interlock.models import ScriptedModel
from interlock.processors import OutputResultContext, OutputStreamContext, Processor, ProcessorStepSchema
from interlock.processors.compose import ProcessorLike, compose
from interlock.processors.seat import RunFacts
from interlock.runtime import Agent
from interlock.runtime.chunk_path import ChunkPath
from interlock.runtime.execution import Execution
from interlock.verdict import Phase
from interlock.workflows import Workflow, WorkflowBuilder, create_workflow

__all__ = ["ROWS"]

CHUNKS = 2_000
GUARDS = 5


class Plain(Processor):
    """Looks at each chunk and lets it pass."""

    def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        return ctx.chunk


class Immediate(Processor):
    """The same, as a coroutine that never waits; it has a time-out."""

    timeout = 30.0

    async def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        return ctx.chunk


class Waiting(Processor):
    """The same, as a coroutine that waits for one turn of the loop, as a guard that asks a server does."""

    timeout = 30.0

    async def process_output_stream(self, ctx: OutputStreamContext) -> Chunk:
        await asyncio.sleep(0)
        return ctx.chunk


def _five(kind: type[Processor]) -> list[Processor]:
    return [kind(id=f"guard-{number}") for number in range(GUARDS)]


def _parallel(kind: type[Processor]) -> WorkflowBuilder[Any, Any, Any]:
    builder = create_workflow(id="guards", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
    return builder.parallel(_five(kind))


def mapped(kind: type[Processor]) -> Workflow[Any, Any]:
    """Five guards at once, and a map that goes on with the first one's."""
    return _parallel(kind).map(lambda ctx: ctx.input["processor:guard-0"]).commit()


def merged(kind: type[Processor]) -> Workflow[Any, Any]:
    """Five guards at once, and whatever they changed joined."""
    return _parallel(kind).merge().commit()


async def _source(chunks: Sequence[Chunk]) -> AsyncIterator[Chunk]:
    """A stream that is there already."""
    for chunk in chunks:
        yield chunk


def _deltas() -> list[Chunk]:
    return [TextDelta("tok ") for _ in range(CHUNKS)]


def _all_of_them(same: int) -> int:
    if same != CHUNKS:
        raise RuntimeError(f"only {same} of {CHUNKS} chunks came out as the same object")
    return same


def _engine(processors: Sequence[ProcessorLike]) -> Callable[[], Awaitable[int]]:
    """All chunks through a path as the agent makes it; each must come out as the same object."""
    composed = compose("output", processors)
    plan = None if composed is None else composed.plan_for(Phase.OUTPUT_STREAM)
    assert plan is not None
    messages = MessageList(["hello"])
    path = ChunkPath([("output", plan)], Execution(RunFacts(), Phase.OUTPUT_STREAM), messages)
    chunks = _deltas()

    async def run() -> int:
        same = 0
        path.begin_step(0, messages)
        async for chunk in _source(chunks):
            out: object = path.feed(chunk)
            if out is not chunk:
                out = await cast("Awaitable[object]", out)
            same += out is chunk
        return _all_of_them(same)

    return run


def _loop() -> Callable[[], Awaitable[int]]:
    """Five functions called one after the other."""

    def make() -> Callable[[Chunk], Chunk | None]:
        def guard(chunk: Chunk) -> Chunk | None:
            return chunk

        return guard

    guards = [make() for _ in range(GUARDS)]
    chunks = _deltas()

    async def run() -> int:
        same = 0
        async for chunk in _source(chunks):
            current = chunk
            for guard in guards:
                out = guard(current)
                if out is None:
                    break
                current = out
            else:
                same += current is chunk
        return same

    return run


def _task_group(*, waiting: bool) -> Callable[[], Awaitable[int]]:
    """Five coroutine functions at once, each in a task of its own."""

    def make() -> Callable[[Chunk], Awaitable[Chunk | None]]:
        async def immediate(chunk: Chunk) -> Chunk | None:
            return chunk

        async def wait(chunk: Chunk) -> Chunk | None:
            await asyncio.sleep(0)
            return chunk

        return wait if waiting else immediate

    guards = [make() for _ in range(GUARDS)]
    chunks = _deltas()

    async def at_once(chunk: Chunk) -> list[Chunk | None]:
        outs: list[Chunk | None] = [None] * GUARDS

        async def one(number: int, guard: Callable[[Chunk], Awaitable[Chunk | None]]) -> None:
            outs[number] = await guard(chunk)

        async with asyncio.TaskGroup() as group:
            for number, guard in enumerate(guards):
                group.create_task(one(number, guard))
        return outs

    async def run() -> int:
        same = 0
        async for chunk in _source(chunks):
            same += all(out is chunk for out in await at_once(chunk))
        return same

    return run


def _against_the_loop(effort: Effort) -> Measured:
    return measure_ratio(_engine(_five(Plain)), _loop(), effort, units=CHUNKS)


def _against_a_task_group(kind: type[Processor]) -> Callable[[Effort], Measured]:
    hand = _task_group(waiting=kind is Waiting)
    return lambda effort: measure_ratio(_engine([merged(kind)]), hand, effort, units=CHUNKS)


def _each(make: Callable[[type[Processor]], Workflow[Any, Any]]) -> Callable[[Effort], Measured]:
    return lambda effort: measure_cost(_engine([make(Plain)]), effort, unit="µs", units=CHUNKS)


class Elsewhere(Processor):
    """Acts when the whole answer is there, and looks at no chunk."""

    def process_output_result(self, ctx: OutputResultContext) -> None:
        """Lets it pass."""


def _agent(processors: Sequence[Processor]) -> Callable[[], Awaitable[int]]:
    """All chunks through an agent's stream; each must come out as the same object."""
    chunks = _deltas()
    model = ScriptedModel(lambda _: chunks)
    agent = Agent(id="streaming", model=model, output_processors=processors)
    sent = {id(chunk) for chunk in chunks}

    async def run() -> int:
        same = 0
        async with agent.stream("hello") as stream:
            async for chunk in stream:
                same += id(chunk) in sent
        model.requests.clear()
        return _all_of_them(same)

    return run


def _nobody_looks(effort: Effort) -> Measured:
    """Against an agent without processors."""
    return measure_ratio(_agent(_five(Elsewhere)), _agent([]), effort, units=CHUNKS)


ROWS: Sequence[Row] = (
    Row("chunk through five plain processors", 4, 2, "×", _against_the_loop),
    Row("chunk through five parallel async guards", 1.2, 0.8, "×", _against_a_task_group(Immediate)),
    Row("chunk through five parallel async guards that wait", 1.2, 0.8, "×", _against_a_task_group(Waiting)),
    Row("chunk that none of five processors looks at", 1.15, 1.05, "×", _nobody_looks),
    Row("chunk through five parallel def guards and a map", 10, 3, "µs", _each(mapped)),
    Row("chunk through five parallel def guards and a merge", 10, 3, "µs", _each(merged)),
)

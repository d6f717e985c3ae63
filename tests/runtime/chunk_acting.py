"""What tests of a chunk's path are made of: a path without an agent, processors that look at chunks, what they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from interlock import MessageList, Phase, Processor, create_workflow
from interlock.messages import Chunk, TextDelta
from interlock.processors import OutputStreamContext, ProcessorStepSchema
from interlock.processors.compose import ProcessorLike
from interlock.processors.seat import RunFacts
from interlock.runtime.checks import PointChecks
from interlock.runtime.chunk_chain import as_tuple
from interlock.runtime.chunk_path import ChunkPath
from interlock.runtime.execution import Execution
from interlock.runtime.processor_lists import ProcessorLists
from interlock.runtime.strand import is_awaitable
from interlock.verdict import CheckRecord
from interlock.workflows import WorkflowBuilder
from tests.lifecycle.acting import Everywhere, Patient

__all__ = ["Act", "Entry", "Path", "drop", "flow", "guard", "redact", "shout", "split", "star", "text_of", "twice"]

Act = Callable[[OutputStreamContext], object]
Entry = ProcessorLike


def guard(name: str, act: Act | None = None, *, turns: int = 0, log: list[str] | None = None) -> Processor:
    """A processor of the per-chunk point; with ``turns``, an ``async`` one that lets others run so often."""
    acts = {} if act is None else {Phase.OUTPUT_STREAM: act}
    return Patient(name, acts, turns=turns, log=log) if turns else Everywhere(name, acts, log=log)


class Path:
    """A chunk path of its own, without an agent."""

    def __init__(self, *entries: Entry) -> None:
        self.facts = RunFacts()
        plans = ProcessorLists({"output": entries}).plans(Phase.OUTPUT_STREAM)
        self.path = ChunkPath(plans, Execution(self.facts, Phase.OUTPUT_STREAM), MessageList())
        self.path.begin_step(0, MessageList())

    async def feed(self, chunk: Chunk) -> Any:
        """What comes out of it: the chunk itself, or a tuple."""
        out: Any = self.path.feed(chunk)
        return await out if is_awaitable(out) else out

    async def texts(self, *texts: str) -> list[str]:
        """The texts that go on for these, fed one after the other."""
        return [
            c.text for text in texts for c in as_tuple(await self.feed(TextDelta(text))) if isinstance(c, TextDelta)
        ]

    def checks(self) -> list[CheckRecord]:
        """What the processors decided."""
        told = PointChecks()
        self.path.note_checks(told)
        return told.records()


def flow(name: str = "flow") -> WorkflowBuilder[Any, Any, Any]:
    """The beginning of a workflow of processors, whose functions are known to look at chunks."""
    return create_workflow(id=name, input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)


def shout(ctx: OutputStreamContext) -> Chunk:
    return ctx.chunk.replace(text=ctx.chunk.text.upper()) if ctx.chunk.type == "text-delta" else ctx.chunk


def star(ctx: OutputStreamContext) -> Chunk:
    return ctx.chunk.replace(text=f"*{ctx.chunk.text}") if ctx.chunk.type == "text-delta" else ctx.chunk


def text_of(chunk: Chunk) -> str:
    """A chunk's text; of what has none, nothing."""
    return chunk.text if isinstance(chunk, TextDelta) else ""


def drop(ctx: OutputStreamContext) -> None:
    return None


def split(ctx: OutputStreamContext) -> Sequence[Chunk]:
    """One chunk for each character."""
    return [ctx.chunk.replace(text=c) for c in ctx.chunk.text] if isinstance(ctx.chunk, TextDelta) else [ctx.chunk]


def redact(word: str) -> Act:
    def act(ctx: OutputStreamContext) -> Chunk:
        chunk = ctx.chunk
        return chunk.replace(text=chunk.text.replace(word, "[X]")) if isinstance(chunk, TextDelta) else chunk

    return act


def twice(ctx: OutputStreamContext) -> list[Chunk]:
    return [ctx.chunk, ctx.chunk]

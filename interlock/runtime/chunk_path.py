"""The path of a chunk: the per-chunk point's plans, bound to one run, with everything made beforehand.

It is taken once per streamed chunk, so nothing is built there: each processor has one context, used again for every
chunk. A list of plain processors and a workflow of the user's take the same path.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from time import perf_counter
from typing import cast

from interlock.messages import Chunk, DataChunk, MessageList, StepFinish, StepStart
from interlock.processors.base import ProcessorStep
from interlock.processors.stream_context import OutputStreamContext, StreamSoFar
from interlock.runtime.checks import PointChecks
from interlock.runtime.chunk_binding import Binding, Laid
from interlock.runtime.chunk_chain import Flow, MaybeFlow, as_tuple
from interlock.runtime.chunk_stages.hook import HookStage
from interlock.runtime.execution import Execution
from interlock.runtime.policy import detail_of
from interlock.runtime.strand import is_awaitable
from interlock.steps import RetryPolicy
from interlock.verdict import NOTHING_TO_READ
from interlock.workflows import Plan, acting_steps

__all__ = ["ChunkPath"]


class ChunkPath:
    """What every chunk of a run's streams goes through.

    Args:
        plans: By the agent's list they stand in, specialised for the per-chunk point.
        execution: The run's.
        messages: The conversation that hooks see.
        retry: The policy of steps that have none, nor a workflow around them that has.
        inside: Where the chunks are those of an agent that a tool has asked: the calls around it.

    Attributes:
        execution: The run's.
        looks_at_data: Whether a processor is asked about data chunks.
    """

    def __init__(
        self,
        plans: Sequence[tuple[str, Plan]],
        execution: Execution,
        messages: MessageList,
        *,
        retry: RetryPolicy | None = None,
        inside: tuple[str, ...] = (),
    ) -> None:
        self.execution = execution
        self._inside = inside
        self._base = OutputStreamContext(messages, chunk=StepStart(), run=execution.facts)
        self._contexts: list[OutputStreamContext] = []
        self._hooks: list[HookStage] = []
        processors = [
            step.processor for _, plan in plans for step in acting_steps(plan) if isinstance(step, ProcessorStep)
        ]
        self.looks_at_data = any(processor.process_data_parts for processor in processors)
        self._keep_parts = any(processor.keep_parts for processor in processors)
        laid = Laid()
        for number, (name, plan) in enumerate(plans):
            Binding(self, name).lay(plan, number, retry, laid)
        self._chain = laid.chain(execution)
        self._keepers = [hook for hook in self._hooks if hook.processor.keeps_lanes]
        self._so_far = StreamSoFar(keep_parts=self._keep_parts, inside=inside)
        self._count = 0
        self._seconds = 0.0

    def begin_step(self, step_number: int, messages: MessageList) -> None:
        """A new model call begins: hooks see its text and parts only."""
        self._so_far = StreamSoFar(step_number, keep_parts=self._keep_parts, inside=self._inside)
        self.renew()
        for context in self._contexts:
            context.so_far = self._so_far
            context.held = None
            context.message_list = messages.fork()

    def renew(self) -> None:
        """A verdict was taken back: verdicts of hooks count for what is done from now on."""
        for hook in self._hooks:
            hook.renew()

    def feed(self, chunk: Chunk) -> MaybeFlow:
        """Take a chunk through; what comes out is what may be emitted."""
        if type(chunk) is DataChunk and not self.looks_at_data:
            return chunk
        self._so_far.add(chunk)
        self._count += 1
        began = perf_counter()
        out = cast("MaybeFlow", self._chain.push(chunk))  # the chain's last stage is one that gives chunks
        if self._keepers and type(chunk) is StepFinish:
            out = self._ended(chunk, out)
        if out is not chunk and is_awaitable(out):
            return self._timed(cast("Awaitable[Flow]", out), began)
        self._seconds += perf_counter() - began
        return out

    @property
    def keeps_lanes(self) -> bool:
        """Whether a guard may hold text back."""
        return bool(self._keepers)

    async def flush(self, end: Chunk) -> tuple[Chunk, ...]:
        """What guards hold back of texts whose end has not come to them, because of what stands before them."""
        return await self._chain.flush(end) if any(hook.holds for hook in self._keepers) else ()

    async def _ended(self, end: StepFinish, out: MaybeFlow) -> Flow:
        """What goes on for the end of an answer: nothing is held back behind it."""
        flow = as_tuple(await cast("Awaitable[Flow]", out) if is_awaitable(out) else cast("Flow", out))
        held = await self.flush(end)
        if held:
            at = next((n for n, one in enumerate(flow) if type(one) is StepFinish), len(flow))
            flow = (*flow[:at], *held, *flow[at:])
        return flow[0] if len(flow) == 1 else flow

    async def _timed(self, awaitable: Awaitable[Flow], began: float) -> Flow:
        try:
            return await awaitable
        finally:
            self._seconds += perf_counter() - began

    def abandon(self, error: BaseException) -> None:
        """Drop what ``feed`` gave to be awaited, because of ``error`` nobody will await it."""
        self._chain.abandon(error)

    def note_checks(self, told: PointChecks) -> None:
        """Note what each processor decided over all chunks: one record each."""
        share = self._seconds / len(self._hooks) if self._hooks else 0.0
        tripwire = self.execution.latch.tripwire
        for hook in self._hooks:
            warnings = hook.warnings()
            verdict, reason = hook.verdict, hook.reason
            runs = self._count + hook.extra_runs
            if verdict != "blocked" and hook.not_checked is not None:
                verdict, reason = "not-checked", hook.not_checked
            elif verdict == "passed" and runs == 0:
                verdict, reason = "not-checked", "no chunk came to it"
            elif verdict == "passed" and hook.processor.keeps_lanes and not hook.seat.looked_at:
                verdict, reason = "not-checked", NOTHING_TO_READ
            if warnings and verdict in ("passed", "changed", "shadow-changed"):
                verdict, reason = "warned", "; ".join(dict.fromkeys(warnings))
            metadata = tripwire.metadata if tripwire is not None and verdict == "blocked" else None
            if verdict == "warned":
                metadata = detail_of(hook.seat.warnings)
            told.note(
                hook,
                verdict,
                duration=share,
                reason=reason,
                runs=runs,
                kept=not hook.left_behind,
                looked_at=frozenset(hook.seat.looked_at),
                failed=hook.seat.undecided,
                metadata=metadata,
            )

    @property
    def count(self) -> int:
        """How many chunks have come in."""
        return self._count

    def context(self) -> OutputStreamContext:
        """A context of this path's run, kept up with its steps."""
        made = self._base.fork()
        self._contexts.append(made)
        return made

    def note(self, stage: HookStage) -> None:
        """Take a processor's stage into the records."""
        self._contexts.append(stage.target)
        self._hooks.append(stage)

    def hook_count(self) -> int:
        """How many processors' stages there are so far."""
        return len(self._hooks)

    def hooks_since(self, count: int) -> Sequence[HookStage]:
        """The processors' stages noted after the first ``count``."""
        return self._hooks[count:]

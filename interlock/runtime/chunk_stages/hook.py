"""A processor's hook as a stage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from interlock.messages import Chunk, DataChunk
from interlock.processors.base import Processor, ProcessorStep
from interlock.processors.returns import chunks_returned
from interlock.processors.seat import Seat
from interlock.processors.stream_context import OutputStreamContext
from interlock.runtime.checks import why_stopped
from interlock.runtime.chunk_chain import Flow, Halt
from interlock.runtime.chunk_stages.failures import failure_of
from interlock.runtime.chunk_stages.values import Keyed, Value, no_context
from interlock.runtime.execution import Execution
from interlock.runtime.policy import Policy, shadow_seat, why_failed, would_have
from interlock.runtime.strand import is_awaitable
from interlock.verdict import GRAVITY, Phase, Verdict

__all__ = ["ChunkOnly", "HookStage"]


class HookStage:
    """A processor's ``process_output_stream``, with the one context it is given for every chunk.

    Args:
        step: The processor's.
        context: One of the path's run.
        execution: The run's.
        path, list, order: Its place, for records.
        halts: Of the blocks around, from the innermost out.

    Attributes:
        call: The hook.
        verdict: What it has decided so far, over all chunks.
        left_behind: Whether something it changed did not go on.
        changes: How many chunks it has changed so far.
        extra_runs: How many chunks more (or fewer) came to it than to the path: earlier stages split and drop.
    """

    __slots__ = (
        "_execution",
        "_halts",
        "_seat",
        "call",
        "changes",
        "extra_runs",
        "left_behind",
        "list",
        "order",
        "path",
        "phase",
        "policy",
        "processor",
        "reason",
        "target",
        "verdict",
    )
    waits_in_hook = True

    def __init__(
        self,
        step: ProcessorStep,
        context: OutputStreamContext,
        execution: Execution,
        path: str,
        list: str,  # noqa: A002
        order: tuple[int, ...],
        halts: Sequence[Halt] = (),
    ) -> None:
        self.processor: Processor = step.processor
        self.phase = Phase.OUTPUT_STREAM
        self.path = path
        self.list = list
        self.order = order
        self._execution = execution
        self._halts = halts
        self.policy = Policy(step)
        shadow = self.policy.shadow
        self._seat = shadow_seat(execution, step.processor) if shadow else execution.seat(step.processor)
        self.call: Callable[[Any], object] = step.processor.process_output_stream
        self.target = context.seated(self._seat)
        self.forget()
        self.verdict: Verdict = "passed"
        self.reason: str | None = None
        self.left_behind = False
        self.changes = 0
        self.extra_runs = 0

    @property
    def seat(self) -> Seat:
        """The processor's place in the run."""
        return self._seat

    def grave(self, verdict: Verdict, reason: str | None = None) -> None:
        """Note what it has decided of a chunk, unless it has decided something graver of another."""
        if GRAVITY.index(verdict) < GRAVITY.index(self.verdict):
            self.verdict, self.reason = verdict, reason

    def shadow_blocked(self) -> bool:
        """Note what it would have stopped the run for, where it only shadows; False: for nothing."""
        latch = self._seat.own_latch
        if latch is None or latch.tripwire is None:
            return False
        self.grave("shadow-blocked", would_have(latch.tripwire))
        latch.renew()
        self._seat.renew()
        return True

    def shadow_changed(self) -> None:
        """Note that it would have changed a chunk."""
        self.grave("shadow-changed")

    def passed_over(self, error: BaseException) -> None:
        """Note that it is passed over for a chunk, because of its failure."""
        self._seat.undecided = True
        self._seat.take_signals_back(self.target.chunk)
        self.grave("not-checked", why_failed(error))

    def renew(self) -> None:
        """A new step begins, or the same one again."""
        self._seat.renew()

    def row(self) -> tuple[Callable[[Any], object], Any]:
        """The hook, and its context."""
        return self.call, self.target

    @property
    def holds(self) -> bool:
        """Whether it holds text back."""
        return bool(getattr(self.target.held, "held", 0))

    async def flush(self, end: Chunk) -> tuple[Chunk, ...]:
        """What it holds back of a text whose end does not come to it: it is asked about that by itself."""
        if not self.holds:
            return ()
        self.target.chunk = end
        out = self.call(self.target)
        flow = self.settle(end, await cast("Awaitable[object]", out) if is_awaitable(out) else out)
        return tuple([one for one in (flow if isinstance(flow, tuple) else (flow,)) if one != end])

    def past_data(self, call: Callable[[Any], object]) -> Callable[[Any], object]:
        """The same call, which data chunks go past: the processor does not look at them."""

        def asked(target: Any) -> object:
            if type(target.chunk) is not DataChunk:
                return call(target)
            self.extra_runs -= 1
            return target.chunk

        return asked

    def settle(self, chunk: Chunk, out: object) -> Flow:
        """What goes on for what the hook returned."""
        flow = chunks_returned(self.target, out)
        if flow == (chunk,) and not self.target.edited:
            return chunk
        self.target.out = flow
        if self.target.edited is False:  # only cut in other places
            return flow[0] if len(flow) == 1 else flow
        self.changes += 1
        if self.verdict == "passed":
            self.verdict = "changed"
        return flow[0] if len(flow) == 1 else flow

    def failed(self, error: BaseException) -> BaseException:
        """Note a block or a failure."""
        self.forget()
        latch = self._execution.latch
        told = failure_of(latch, self.path, error)
        if latch.tripwire is not None and latch.tripwire.processor_id == self.processor.id:
            self.verdict, self.reason = "blocked", latch.tripwire.reason
        elif latch.tripwire is None and isinstance(told, Exception):
            self._seat.undecided = True
            self.verdict, self.reason = "not-checked", f"failed: {type(told.__cause__ or error).__name__}"
        else:
            self._not_checked(error)
        return told

    def also(self, runs: int) -> None:
        """Count the chunks that came to it."""
        self.extra_runs += runs

    def missed(self, error: BaseException) -> None:
        """Note that a chunk did not come to it that was to."""
        self.forget()
        self.extra_runs -= 1
        self._not_checked(error)

    def abandon(self, error: BaseException) -> None:
        """Note that it was not asked after all."""
        self.missed(error)

    def given(self) -> OutputStreamContext | None:
        """What it gave for the last chunk; None where it has not looked at one since :meth:`forget`."""
        target: Any = self.target
        if target.chunk is None:
            return None
        if target.out is None:
            target.out = (target.chunk,)
        made: OutputStreamContext = target
        return made

    def forget(self) -> None:
        """Forget the last chunk."""
        target: Any = self.target
        target.chunk = target.out = None

    def leave_behind(self) -> None:
        """Note that what it changed did not go on."""
        if self.verdict == "changed":
            self.left_behind = True

    def _not_checked(self, error: BaseException) -> None:
        """Note that it came to no verdict on a chunk."""
        if self.verdict not in ("blocked", "not-checked"):
            self.verdict, self.reason = "not-checked", self._why(error)

    def _why(self, error: BaseException) -> str:
        tripwire = self._execution.latch.tripwire
        if tripwire is None:
            for halt in self._halts:
                if halt.why is not None:
                    return halt.why
            if isinstance(error, Exception) and not all(halt.at_failure for halt in self._halts):
                return "its branch failed first"
        return why_stopped(tripwire, error)

    @property
    def not_checked(self) -> str | None:
        """Why it did not look at something, where it has said so."""
        return self._seat.not_checked

    def warnings(self) -> Sequence[str]:
        """What it warned of so far."""
        return [violation.message for violation in self._seat.warnings]


class ChunkOnly:
    """Stands before what takes chunks, where the keyed output of a block might come: that is a failure."""

    __slots__ = ("_path", "chunk")
    waits_in_hook = False

    def __init__(self, path: str) -> None:
        self._path = path
        self.chunk: Any = None

    def row(self) -> tuple[Callable[[Any], object], Any]:
        """The look at what comes, and this stage."""
        return self._looked, self

    def _looked(self, _: object) -> object:
        if isinstance(self.chunk, Keyed):
            raise no_context(self._path, self.chunk)
        return self.chunk

    def settle(self, chunk: Value, out: Value) -> Value:
        """What came."""
        return out

    def failed(self, error: BaseException) -> BaseException:
        """The error itself: it says all."""
        return error

    def also(self, runs: int) -> None:
        """It keeps no record."""

    def missed(self, error: BaseException) -> None:
        """It keeps no record."""

    def abandon(self, error: BaseException) -> None:
        """It waits for nothing."""

"""Who is being asked, in which run: what a context needs to know besides what it shows."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any, NoReturn

from interlock.context import RequestContext
from interlock.ids import new_id
from interlock.messages import Message
from interlock.messages.outbox import Outbox
from interlock.tracing import warn
from interlock.verdict import AbortSignal, Latch, Phase, Tripwire, Violation

__all__ = ["RunFacts", "Seat"]


class RunFacts:
    """What all hooks of one run share.

    Args:
        run_id: Default: a fresh one.
        request_context: The caller's.
        agent_id: The agent, or None outside one.
        latch: Where the first tripwire is written.
        thread: The conversation that the call names.
        resource: Whose conversation that is.

    Attributes:
        outbox: What hooks and tools have written for the client; None: nobody has written yet.
        attempt: Which attempt at a step is being made, from 1.
        asks_for_object: Whether the newest step's answer is to be an object, and so its text JSON.
    """

    __slots__ = (
        "agent_id",
        "asks_for_object",
        "attempt",
        "latch",
        "outbox",
        "request_context",
        "resource",
        "retry_count",
        "run_id",
        "thread",
    )

    def __init__(
        self,
        run_id: str | None = None,
        request_context: RequestContext | None = None,
        *,
        agent_id: str | None = None,
        latch: Latch | None = None,
        thread: str | None = None,
        resource: str | None = None,
    ) -> None:
        self.run_id = run_id if run_id is not None else new_id("run")
        self.agent_id = agent_id
        self.thread = thread
        self.resource = resource
        self.request_context = request_context if request_context is not None else RequestContext()
        self.latch = latch if latch is not None else Latch()
        self.retry_count = 0
        self.attempt = 1
        self.asks_for_object = False
        self.outbox: Outbox | None = None

    def open_outbox(self) -> Outbox:
        """Where what is written for the client is put."""
        if self.outbox is None:
            self.outbox = Outbox()
        return self.outbox


class Seat:
    """One processor's place at one point of a run.

    Args:
        processor_id: The processor.
        run: The run.
        state: The processor's own dict for this run.
        on_violation: Called on every abort and warning; what it raises is logged and dropped.
        own_latch: Where its verdicts are written, of one that only shadows; None: in the run's latch.

    Attributes:
        warnings: What it has warned of.
        not_checked: Why it did not look, where it has said so.
        looked_at: What it says it has read: roles and part kinds.
        undecided: Whether it has failed at something, so that it could not decide.
        retired: Whether it is asked no more: what it tells now comes too late.
        signals: What it has sent into a stream, each with the chunk it was asked about.
    """

    __slots__ = (
        "_slot",
        "looked_at",
        "not_checked",
        "on_violation",
        "own_latch",
        "processor_id",
        "retired",
        "run",
        "signals",
        "state",
        "undecided",
        "warnings",
    )

    def __init__(
        self,
        processor_id: str,
        run: RunFacts,
        state: dict[str, Any],
        on_violation: Callable[[Violation], object] | None = None,
        own_latch: Latch | None = None,
    ) -> None:
        self.own_latch = own_latch
        self.processor_id = processor_id
        self.run = run
        self.state = state
        self.on_violation = on_violation
        self.warnings: list[Violation] = []
        self.not_checked: str | None = None
        self.looked_at: set[tuple[str, str]] = set()
        self.undecided = False
        self.retired = False
        self.signals: list[tuple[object, Message]] = []
        self._slot = run.latch.slot if own_latch is None else own_latch.slot

    def renew(self) -> None:
        """Go on with another attempt at what the run does: a verdict counts for that one from now on."""
        self._slot = (self.own_latch or self.run.latch).slot

    def twin(self) -> Seat:
        """The same place for one call alone, which can be retired by itself; what it tells of is told of both."""
        return copy.copy(self)

    def retire(self) -> None:
        """It is asked no more: what something that it has left running decides comes too late."""
        self._slot = {}
        self.retired = True

    def send(self, signal: Message, chunk: object) -> None:
        """Put a signal behind the answer that is coming in; one that only shadows says nothing to the model."""
        if self.own_latch is None and not self.retired:
            self.signals.append((chunk, signal))
            self.run.open_outbox().signals.append(signal)

    def take_signals_back(self, chunk: object) -> None:
        """What it has sent for a chunk counts for nothing: it has failed at that."""
        outbox = self.run.outbox
        for sent in [sent for sent in self.signals if sent[0] is chunk]:
            self.signals.remove(sent)
            if outbox is not None:
                outbox.signals[:] = [signal for signal in outbox.signals if signal is not sent[1]]

    def abort(self, tripwire: Tripwire, phase: Phase) -> NoReturn:
        """Record the tripwire, tell who listens, unwind."""
        stands = (self.own_latch or self.run.latch).trip(tripwire, self._slot)
        self._tell(Violation(self.processor_id, phase, tripwire.reason, tripwire.metadata))
        raise AbortSignal(stands)

    def warn(self, violation: Violation) -> None:
        """Record a warning and tell who listens."""
        self.warnings.append(violation)
        self._tell(violation)

    def _tell(self, violation: Violation) -> None:
        if self.on_violation is None:
            return
        try:
            given = self.on_violation(violation)
            if inspect.iscoroutine(given):
                given.close()
                raise TypeError("on_violation is a plain function: it cannot be awaited")
        except Exception as error:
            warn(
                "on_violation failed",
                processor_id=self.processor_id,
                run_id=self.run.run_id,
                error=type(error).__name__,
            )

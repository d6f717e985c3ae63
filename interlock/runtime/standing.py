"""Where a run of a workflow stands: what it was given, what is known of it, and the leg that goes on from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import time
from typing import Any

from interlock.context import RequestContext
from interlock.errors import AlreadyStarted
from interlock.processors.hook_context import HookContext
from interlock.processors.seat import RunFacts
from interlock.runtime.entry import Entry
from interlock.runtime.execution import Execution
from interlock.runtime.journal.history import History
from interlock.runtime.journal.past import Past
from interlock.runtime.journal.reader import EventBuffer
from interlock.runtime.journal.tape import Tape
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.leg import Leg
from interlock.runtime.prepared import Prepared, given_input
from interlock.runtime.run_state import RunState
from interlock.runtime.stored_run import StoredRun
from interlock.runtime.suspended import Wanted, chosen_suspension
from interlock.runtime.turnstile import Turnstile, turnstile_lock
from interlock.schema import UNSET, validate
from interlock.storage import RunStore
from interlock.tracing import warn
from interlock.workflows import Workflow
from interlock.workflows.events import Event
from interlock.workflows.outcome import Outcome, Paused, Suspended, Suspension

__all__ = ["Standing"]


class Standing:
    """Where a run of a workflow stands, between two legs or in one.

    Args:
        workflow: The workflow.
        run_id: Its id.
        prepared: What is made once of the workflow.
        store: Where its journal is kept; None: nowhere.
        turnstile: Lets one leg go at a time; None: one is made when somebody has to wait.

    Attributes:
        run_id: Its id.
        outcome: How the last leg ended; None: there was none here.
        started: Whether it has been started.
    """

    __slots__ = (
        "_alone",
        "_answered",
        "_canceled",
        "_context",
        "_entries",
        "_leg",
        "_past",
        "_prepared",
        "_seq",
        "_state",
        "_store",
        "_turnstile",
        "_value",
        "_waiting",
        "_workflow",
        "outcome",
        "run_id",
        "started",
    )

    def __init__(
        self,
        workflow: Workflow[Any, Any],
        run_id: str,
        prepared: Prepared,
        *,
        store: RunStore | None = None,
        turnstile: Turnstile | None = None,
    ) -> None:
        self.run_id = run_id
        self.started = False
        self.outcome: Outcome[Any] | Paused | None = None
        self._workflow = workflow
        self._prepared = prepared
        self._store = store
        self._turnstile = turnstile
        self._canceled = False
        self._alone = False
        self._value: Any = None
        self._context: RequestContext | None = None
        self._answered: Mapping[str, Suspension] | None = None
        self._leg: Leg | None = None
        self._entries: Sequence[Entry] = ()
        self._waiting: Sequence[Suspension] = ()
        self._past: Past | None = None
        self._state: RunState | None = None
        self._seq = 0

    @property
    def turnstile(self) -> Turnstile:
        """Lets one leg go at a time."""
        with turnstile_lock:
            if self._turnstile is None:
                self._turnstile = Turnstile(self.run_id, key=self, busy=self._leg is not None)
            return self._turnstile

    def cancel(self) -> None:
        """Stop it, whichever object runs it in this process; it ends as ``Canceled``. Does nothing once it has ended.

        A run that waits to be resumed ends when it is resumed on this object; a stored one is ended for everybody by
        ``await cancel_run(store, run_id)``.
        """
        self._canceled = True
        leg, turnstile = self._leg, self._turnstile
        stop = leg.cancel if leg is not None else turnstile.stop if turnstile is not None else None
        if stop is not None:
            stop()
        elif isinstance(self.outcome, Suspended) and self._store is not None:
            warn(
                "a run that waits in a store was cancelled on one object of it, and ends when that is resumed; to end "
                "it for everybody, await cancel_run(store, run_id) of interlock.runtime",
                run_id=self.run_id,
            )

    def begin(self, value: object, state: object, request_context: Mapping[str, object] | None) -> None:
        """Check a call that starts the run, and take in what it says.

        Raises:
            pydantic.ValidationError: The input or the state does not fit the workflow's schema.
            DefinitionError: A workflow of processors was given something else than a context.
            AlreadyStarted: It was started before.
            TypeError: The request context is no mapping.
        """
        if self.started:
            raise AlreadyStarted(self.run_id)
        workflow = self._workflow
        checked = given_input(workflow, value) if workflow.input_schema is not UNSET else value
        context = RequestContext.of(request_context)
        begins = None
        if state is not None or not self._prepared.stateless:
            begins = self._prepared.state(workflow, state)
        with turnstile_lock:  # whoever validates at the same time in another thread has not started it either
            if self.started:
                raise AlreadyStarted(self.run_id)
            self.started = True
        self._value = checked
        self._state = begins
        self._context = context

    def take(self, history: History, request_context: Mapping[str, object] | None) -> None:
        """Take in where a stored run stands."""
        self.started = True
        self._value = history.input
        self._context = RequestContext.of(history.request_context if request_context is None else request_context)
        state = self._prepared.state(self._workflow, dict(history.state) or None)
        if state is None and history.deltas:
            state = RunState()
        if state is not None:
            state.restore(history.deltas)
        self._state, self._past, self._seq = state, history.past(), history.seq

    def told_to_start(self, buffer: EventBuffer, state: object) -> None:
        """Tell a reader that the run begins, where no store is told."""
        told: dict[str, Any] = {"workflow": self._workflow.id, "input": self._value, "state": state or {}}
        Tape(self.run_id, buffer=buffer).note("workflow-start", told)
        self._seq = 1

    async def written_to_start(self, stored: StoredRun, buffer: EventBuffer | None = None) -> None:
        """Write the run's first row, which claims it.

        Raises:
            AlreadyStarted: There is a run of that id.
            StorageError: The store failed.
            UnrecordableValue: The input cannot be recorded.
        """
        values = {} if self._state is None else self._state.values
        self._seq = await stored.begin(self._value, values, self._context, buffer=buffer)

    def answer(self, waiting: Sequence[Suspension], data: object, wanted: Wanted, status: str) -> tuple[str, object]:
        """Which suspension is meant, by its token, and the answer as its step's schema has it.

        Raises:
            NothingSuspended: Nothing waits that fits, or several do.
            AlreadyResumed: It was answered already.
            pydantic.ValidationError: The data does not fit.
        """
        steps = self._prepared.steps(self._workflow)
        which = chosen_suspension(self.run_id, wanted, waiting, self._answered or {}, steps, status)
        step = steps.get(which.path)
        if step is None:
            return which.token, data
        try:
            return which.token, validate(step.resume_schema, data)
        except ValueError as error:
            error.add_note(f"This was the answer to {which.path!r}, which still waits.")
            raise

    def answer_here(
        self,
        data: object,
        wanted: Wanted,
        request_context: Mapping[str, object] | None,
        buffer: EventBuffer | None = None,
    ) -> None:
        """Take in an answer to a run that has ended a leg here, and tell a reader; raises what :meth:`answer` does."""
        assert self.outcome is not None
        answered = self._answered or {}
        waiting = self._waiting if isinstance(self.outcome, Suspended | Paused) else ()
        waiting = [one for one in waiting if one.token not in answered]  # of a leg that was interrupted
        token, answer = self.answer(waiting, data, wanted, self.outcome.status)
        self._answered = {**answered, token: next(one for one in waiting if one.token == token)}
        self._known_past().answer(token, answer)
        self._seq += 1
        if buffer is not None:
            told = {"token": token, "resume_data": answer}
            buffer.add(Event(self._seq, "workflow-resume", self.run_id, time(), data=told))
        if request_context is not None:
            self._context = RequestContext.of(request_context)

    def _known_past(self) -> Past:
        """What is known from the legs before."""
        if self._past is None:
            self._past = Past(self._entries)
        return self._past

    def next_leg(
        self,
        *,
        steps: int | None = None,
        buffer: EventBuffer | None = None,
        first: bool = False,
        untouched: bool = False,
    ) -> Leg:
        """The leg that goes on from here.

        Args:
            steps: How many steps it may take; None: any number.
            buffer: Where a reader takes events from.
            first: Whether it is the first.
            untouched: Whether those before came to nothing, so that it begins as if it were the first.

        Raises:
            DefinitionError: The workflow cannot run.
        """
        value, store = self._value, self._store
        phase = value.phase if isinstance(value, HookContext) else None
        ops = self._prepared.ready.get(phase)
        if ops is None:
            ops = self._prepared.operations(self._workflow, phase)
        facts = RunFacts(self.run_id, self._context)
        writer = None if store is None else self._writer(store)
        tape: Tape | None = None
        if not first or store is not None or buffer is not None or steps is not None:
            past = None if first else self._known_past()
            tape = Tape(self.run_id, seq=self._seq, past=past, writer=writer, buffer=buffer, steps=steps)
            if past is not None and past.tripwire is not None:
                facts.latch.trip(past.tripwire)
        turnstile = self._turnstile
        key = self if store is None else turnstile
        leg = Leg(
            self._workflow,
            ops,
            Execution(facts, phase, tape, self._state),
            value,
            writer,
            first or untouched,
            key,
            self.left,
        )
        self._leg = leg
        if turnstile is not None:
            turnstile.stop = leg.cancel
        self._alone = first and store is None  # nobody else can be in before the run has started
        if self._canceled:
            leg.cancel()
        return leg

    def left(self, leg: Leg, outcome: Outcome[Any] | Paused | None) -> None:
        """Note that a leg runs no more; the outcome is None where it was interrupted."""
        if outcome is not None:
            execution = leg.execution
            self.outcome, self._past, self._state = outcome, None, execution.known_state
            if execution.tape is not None:
                self._seq = execution.tape.seq
            if leg.halted:
                self._entries, self._waiting = execution.entries, execution.suspensions
            else:  # nothing comes back to it, and it and its entries need not hold one another
                execution.entries = []
        with turnstile_lock:
            self._leg = None
            turnstile = self._turnstile
        if turnstile is not None:
            turnstile.stop = None
            if self._alone:  # somebody waits
                turnstile.leave()
        self._alone = False

    def _writer(self, store: RunStore) -> JournalWriter:
        """What writes the journal of the leg that begins."""

        def stop() -> None:
            leg = self._leg
            if leg is not None:
                leg.cancel()

        return JournalWriter(
            store,
            self.run_id,
            after=self._seq,
            form=self._prepared.form(self._workflow),
            on_cancel=self.cancel,
            on_error=stop,
        )

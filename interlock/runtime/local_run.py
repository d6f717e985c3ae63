"""One run of one workflow in this process: started once, resumed as often as it suspends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, Literal, TypeVar, cast, overload

from interlock.context import RequestContext
from interlock.errors import (
    AlreadyStarted,
    DefinitionError,
    JournalConflict,
    NothingSuspended,
    RunBusy,
    RunError,
    StorageError,
    UnrecordableValue,
)
from interlock.processors.contexts import ProcessorStepSchema
from interlock.processors.hook_context import HookContext
from interlock.processors.seat import RunFacts
from interlock.runtime.entry import Entry
from interlock.runtime.journal.history import History
from interlock.runtime.journal.past import Past
from interlock.runtime.journal.reader import EventBuffer
from interlock.runtime.journal.tape import Tape
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.leg import Leg
from interlock.runtime.prepared import Prepared
from interlock.runtime.run_state import RunState
from interlock.runtime.run_stream import RunStream
from interlock.runtime.stored_run import StoredRun
from interlock.runtime.suspended import Wanted, chosen_suspension
from interlock.runtime.turnstile import Turnstile
from interlock.schema import validate
from interlock.storage import RunStore
from interlock.verdict import Phase
from interlock.workflows import Workflow
from interlock.workflows.outcome import Failed, Outcome, Paused, Suspended, Suspension

__all__ = ["LocalRun"]

I_contra = TypeVar("I_contra", contravariant=True)
O_co = TypeVar("O_co", covariant=True)


class LocalRun(Generic[I_contra, O_co]):
    """One run of one workflow in this process; see :class:`interlock.workflows.WorkflowRun`.

    Args:
        workflow: The workflow.
        run_id: Its id.
        prepared: What is made once of the workflow.
        store: Where its journal is kept; None: nowhere.
        turnstile: Lets one leg go at a time.

    Attributes:
        run_id: Its id.
    """

    __slots__ = (
        "_answered",
        "_canceled",
        "_context",
        "_leg",
        "_prepared",
        "_started",
        "_stood",
        "_store",
        "_turnstile",
        "_value",
        "_workflow",
        "run_id",
    )

    def __init__(
        self,
        workflow: Workflow[I_contra, O_co],
        run_id: str,
        prepared: Prepared,
        *,
        store: RunStore | None = None,
        turnstile: Turnstile | None = None,
    ) -> None:
        self.run_id = run_id
        self._workflow = workflow
        self._prepared = prepared
        self._store = store
        self._turnstile = turnstile if turnstile is not None else Turnstile()
        self._started = False
        self._canceled = False
        self._leg: Leg | None = None
        self._value: Any = None
        self._context: RequestContext | None = None
        self._stood: _Stood | None = None
        self._answered: dict[str, Suspension] = {}

    @overload
    async def start(
        self,
        value: I_contra,
        /,
        *,
        state: object = None,
        request_context: RequestContext | None = None,
        pause: Literal[False] = False,
    ) -> Outcome[O_co]: ...
    @overload
    async def start(
        self, value: I_contra, /, *, state: object = None, request_context: RequestContext | None = None, pause: bool
    ) -> Outcome[O_co] | Paused: ...
    async def start(
        self,
        value: I_contra,
        /,
        *,
        state: object = None,
        request_context: RequestContext | None = None,
        pause: bool = False,
    ) -> Outcome[O_co] | Paused:
        """Run it to its end; see :meth:`interlock.workflows.WorkflowRun.start`.

        A workflow of processors takes the context of any phase, and runs what acts there.

        Raises:
            pydantic.ValidationError: The input or the state does not fit the workflow's schema.
            DefinitionError: A workflow of processors was given something else than a context.
            AlreadyStarted: It was started before, here or in its store.
        """
        stood = self._begin(value, state, request_context)
        steps = 0 if pause else None
        if self._store is not None:
            return await self._claimed(self._store, stood, steps=steps)
        return await self._continue(stood, steps=steps, first=True)

    def stream(
        self, value: I_contra, /, *, state: object = None, request_context: RequestContext | None = None
    ) -> RunStream[O_co]:
        """Run it and read its events along; see :meth:`interlock.workflows.WorkflowRun.stream`."""

        async def opened(buffer: EventBuffer) -> Callable[[], Awaitable[Outcome[Any]]]:
            return await self._opened(self._begin(value, state, request_context), state, buffer)

        return RunStream(opened, self.cancel)

    async def resume(
        self,
        data: object = None,
        /,
        *,
        step: object = None,
        label: str | None = None,
        token: str | None = None,
        index: int | None = None,
        request_context: RequestContext | None = None,
    ) -> Outcome[O_co]:
        """Answer a step that waits and run on; see :meth:`interlock.workflows.WorkflowRun.resume`.

        Raises:
            NothingSuspended: Nothing waits that fits, or several do.
            AlreadyResumed: It was answered already.
            pydantic.ValidationError: The data does not fit the step's ``resume_schema``; the run still waits.
            UnknownRun: The store has no such run.
            GraphChanged: The workflow's shape is another than the stored run's.
            RunBusy: Another process is running it right now.
        """
        wanted = Wanted(step=step, label=label, token=token, index=index)
        async with self._turnstile:
            if self._store is not None:
                outcome = await self._resume_stored(self._store, data, wanted, request_context)
            else:
                outcome = await self._resume_here(data, wanted, request_context)
        assert not isinstance(outcome, Paused)
        return outcome

    async def next(self) -> Outcome[O_co] | Paused:
        """Of a run started with ``pause=True``: take one step.

        Raises:
            RunError: It does not stand before a step.
        """
        async with self._turnstile:
            if self._stood is None or not isinstance(self._stood.outcome, Paused):
                raise RunError(
                    f"run {self.run_id!r} does not stand before a step: start it with pause=True, and take steps as "
                    "long as the result is Paused"
                )
            return await self._continue(self._stood, steps=1)

    def cancel(self) -> None:
        """Stop it; the outcome is ``Canceled``. Does nothing once it has ended.

        A run that waits to be resumed ends when it is resumed. (A stored one can be ended at once, by anybody:
        ``await store.ask_to_cancel(run_id)``.)
        """
        self._canceled = True
        if self._leg is not None:
            self._leg.cancel()

    async def continue_stored(
        self,
        store: RunStore,
        history: History,
        *,
        request_context: RequestContext | None = None,
    ) -> Outcome[O_co]:
        """Go on with a run that did not come to its end.

        Args:
            store: Where it is kept.
            history: What its journal tells, up to the row that claims it for this process.
            request_context: What steps may read; default: what could be recorded.
        """
        self._started = True
        self._canceled = self._canceled or await store.cancel_asked(self.run_id)
        outcome = await self._continue(self._from(history, request_context))
        assert not isinstance(outcome, Paused)
        return outcome

    def _begin(self, value: object, state: object, request_context: RequestContext | None) -> _Stood:
        """Check the call; gives where the run stands."""
        if self._started:
            raise AlreadyStarted(self.run_id)
        self._value = self._checked(value)
        begun = self._prepared.state(self._workflow, state)
        self._context = request_context
        self._started = True
        return _Stood(state=begun)

    async def _opened(self, stood: _Stood, state: object, buffer: EventBuffer) -> Callable[[], Awaitable[Outcome[Any]]]:
        """Claim a run that is read along; gives what runs it."""
        failed: Exception | None = None
        if self._store is not None:
            await self._turnstile.enter()
            try:
                failed = await self._claim(self._store, stood, buffer)
            except BaseException:
                self._turnstile.leave()
                raise
        else:
            told: dict[str, Any] = {"workflow": self._workflow.id, "input": self._value, "state": state or {}}
            Tape(self.run_id, buffer=buffer).note("workflow-start", told)
            stood.seq = 1

        async def go() -> Outcome[Any]:
            try:
                if failed is None:
                    return cast("Outcome[Any]", await self._continue(stood, buffer=buffer, first=True))
                outcome = Failed(failed, run_id=self.run_id)
                Tape(self.run_id, buffer=buffer).note("workflow-finish", {"outcome": outcome})
                return outcome
            finally:
                if self._store is not None:
                    self._turnstile.leave()

        return go

    async def _claimed(self, store: RunStore, stood: _Stood, *, steps: int | None) -> Outcome[O_co] | Paused:
        """Claim the run in its store, and run it."""
        async with self._turnstile:
            failed = await self._claim(store, stood)
            if failed is not None:
                return Failed(failed, run_id=self.run_id)
            return await self._continue(stood, steps=steps, first=True)

    async def _claim(
        self, store: RunStore, stood: _Stood, buffer: EventBuffer | None = None
    ) -> StorageError | UnrecordableValue | None:
        """Write the run's first row; gives what failed in the store, or of what it was to keep."""
        stored = StoredRun(store, self.run_id, self._workflow, self._prepared.form(self._workflow))
        try:
            values = {} if stood.state is None else stood.state.values
            stood.seq = await stored.begin(self._value, values, self._context, buffer=buffer)
        except (StorageError, UnrecordableValue) as error:
            return error
        return None

    def _checked(self, value: object) -> Any:
        """The input, validated."""
        schema = self._workflow.input_schema
        if schema is ProcessorStepSchema and not isinstance(value, HookContext):
            raise DefinitionError(
                f"it takes the context of a phase, not a {type(value).__name__}: "
                'make one with InputContext("text"), from interlock.processors',
                subject=f"workflow {self._workflow.id!r}",
            )
        return validate(schema, value)

    async def _resume_here(
        self, data: object, wanted: Wanted, request_context: RequestContext | None
    ) -> Outcome[O_co] | Paused:
        stood = self._stood
        if stood is None:
            raise NothingSuspended(self.run_id, "it has not been started here, and has no store")
        waiting = stood.outcome.suspensions if isinstance(stood.outcome, Suspended) else ()
        which, answer = self._answer(waiting, data, wanted)
        self._answered[which.token] = which
        stood.past.answer(which.token, answer)
        if request_context is not None:
            self._context = request_context
        return await self._continue(stood)

    async def _resume_stored(
        self, store: RunStore, data: object, wanted: Wanted, request_context: RequestContext | None
    ) -> Outcome[O_co] | Paused:
        stored = StoredRun(store, self.run_id, self._workflow, self._prepared.form(self._workflow))
        while True:
            history = await stored.read()
            stored.check_graph(history)
            self._answered = dict(history.answered)
            if history.status == "running":
                raise RunBusy(self.run_id)
            which, answer = self._answer(history.suspensions, data, wanted)
            try:
                await stored.claim_resume(history, which.token, answer)
            except JournalConflict:
                continue  # somebody was quicker; what it did shows when the journal is read again
            break
        self._started = True
        return await self._continue(self._from(await stored.read(), request_context))

    def _answer(self, waiting: Sequence[Suspension], data: object, wanted: Wanted) -> tuple[Suspension, object]:
        """Which suspension is meant, and the answer as its step's schema has it."""
        steps = self._prepared.steps(self._workflow)
        which = chosen_suspension(self.run_id, wanted, waiting, self._answered, steps)
        step = steps.get(which.path)
        return which, data if step is None else validate(step.resume_schema, data)

    def _from(self, history: History, request_context: RequestContext | None) -> _Stood:
        """Where a stored run stands."""
        self._value = history.input
        self._context = request_context if request_context is not None else RequestContext(history.request_context)
        state = self._prepared.state(self._workflow, dict(history.state) or None)
        if state is None and history.deltas:
            state = RunState()
        if state is not None:
            state.restore(history.deltas)
        return _Stood(state=state, past=history.past(), seq=history.seq)

    async def _continue(
        self,
        stood: _Stood,
        *,
        steps: int | None = None,
        buffer: EventBuffer | None = None,
        first: bool = False,
    ) -> Outcome[O_co] | Paused:
        """One leg, from where the run stands."""
        value = self._value
        phase: Phase | None = value.phase if isinstance(value, HookContext) else None
        facts = RunFacts(run_id=self.run_id, request_context=self._context)
        try:
            ops = self._prepared.operations(self._workflow, phase)
        except DefinitionError as error:
            return Failed(error, run_id=self.run_id)
        tape: Tape | None = None
        writer: JournalWriter | None = None
        if not first or self._store is not None or buffer is not None or steps is not None:
            if self._store is not None:
                form = self._prepared.form(self._workflow)
                writer = JournalWriter(
                    self._store,
                    self.run_id,
                    after=stood.seq,
                    form=form,
                    on_cancel=self.cancel,
                    on_error=lambda: leg.cancel(),
                )
            past = None if first else stood.past
            tape = Tape(self.run_id, seq=stood.seq, past=past, writer=writer, buffer=buffer, steps=steps)
            if past is not None and past.tripwire is not None:
                facts.latch.trip(past.tripwire)
        leg = self._leg = Leg(
            self._workflow, ops, facts, value, phase, state=stood.state, tape=tape, writer=writer, first=first
        )
        if self._canceled:
            leg.cancel()
        alone = first and self._store is None  # nobody else can be in before a run has started
        if alone:
            self._turnstile.busy = True
        try:
            outcome = await leg.run() if writer is None else await leg.run_recorded(writer)
        finally:
            self._leg = None
            if alone:
                self._turnstile.leave()
        self._stood = _Stood(outcome, leg.entries, leg.state, stood.seq if tape is None else tape.seq)
        return outcome


class _Stood:
    """Where a run stands between two legs.

    Args:
        outcome: How the last leg ended; None before the first.
        entries: What each step did so far.
        state: The run's state.
        seq: The number of the last event.
        past: What is known from before, where that is not of ``entries``.
    """

    __slots__ = ("_entries", "_past", "outcome", "seq", "state")

    def __init__(
        self,
        outcome: Outcome[Any] | Paused | None = None,
        entries: Sequence[Entry] = (),
        state: RunState | None = None,
        seq: int = 0,
        *,
        past: Past | None = None,
    ) -> None:
        self.outcome = outcome
        self.state = state
        self.seq = seq
        self._entries = entries
        self._past = past

    @property
    def past(self) -> Past:
        """What is known from before."""
        if self._past is None:
            self._past = Past(self._entries)
        return self._past

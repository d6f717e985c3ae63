"""One run of one workflow in this process: started once, resumed as often as it suspends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar, cast, overload

from interlock.context import RequestContext
from interlock.errors import (
    AlreadyResumed,
    AlreadyStarted,
    DefinitionError,
    JournalConflict,
    NothingSuspended,
    RunBusy,
    RunError,
    StorageError,
    UnrecordableValue,
)
from interlock.processors.hook_context import HookContext
from interlock.processors.seat import RunFacts
from interlock.runtime.journal.history import History
from interlock.runtime.journal.past import Past
from interlock.runtime.journal.reader import EventBuffer
from interlock.runtime.journal.tape import Tape
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.leg import Leg
from interlock.runtime.prepared import Prepared, given_input
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
        "_ended_leg",
        "_leg",
        "_outcome",
        "_past",
        "_prepared",
        "_seq",
        "_started",
        "_state",
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
        self._turnstile = turnstile if turnstile is not None else Turnstile(run_id)
        self._started = False
        self._canceled = False
        self._value: Any = None
        self._context: RequestContext | None = None
        self._answered: dict[str, Suspension] = {}
        self._leg: Leg | None = None
        # Where it stands between two legs:
        self._ended_leg: Leg | None = None
        self._outcome: Outcome[Any] | Paused | None = None
        self._past: Past | None = None
        self._state: RunState | None = None
        self._seq = 0

    @overload
    async def start(
        self,
        value: I_contra,
        /,
        *,
        state: object = None,
        request_context: Mapping[str, object] | None = None,
        pause: Literal[False] = False,
    ) -> Outcome[O_co]: ...
    @overload
    async def start(
        self,
        value: I_contra,
        /,
        *,
        state: object = None,
        request_context: Mapping[str, object] | None = None,
        pause: bool,
    ) -> Outcome[O_co] | Paused: ...
    async def start(
        self,
        value: I_contra,
        /,
        *,
        state: object = None,
        request_context: Mapping[str, object] | None = None,
        pause: bool = False,
    ) -> Outcome[O_co] | Paused:
        """Run it to its end; see :meth:`interlock.workflows.WorkflowRun.start`.

        A workflow of processors takes the context of any phase, and runs what acts there.

        Raises:
            pydantic.ValidationError: The input or the state does not fit the workflow's schema.
            DefinitionError: A workflow of processors was given something else than a context.
            AlreadyStarted: It was started before, here or in its store.
        """
        self._begin(value, state, request_context)
        steps = 0 if pause else None
        if self._store is not None:
            return await self._claimed(self._store, steps=steps)
        return await self._continue(steps=steps, first=True)

    def stream(
        self, value: I_contra, /, *, state: object = None, request_context: Mapping[str, object] | None = None
    ) -> RunStream[O_co]:
        """Run it and read its events along; see :meth:`interlock.workflows.WorkflowRun.stream`."""

        async def opened(buffer: EventBuffer) -> Callable[[], Awaitable[Outcome[Any]]]:
            self._begin(value, state, request_context)
            return await self._opened(state, buffer)

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
        request_context: Mapping[str, object] | None = None,
    ) -> Outcome[O_co]:
        """Answer a step that waits and run on; see :meth:`interlock.workflows.WorkflowRun.resume`.

        Raises:
            NothingSuspended: Nothing waits that fits, or several do.
            AlreadyResumed: It was answered already.
            pydantic.ValidationError: The data does not fit the step's ``resume_schema``; the run still waits.
            UnrecordableValue, StorageError: The answer cannot be recorded, or the store failed; the run still waits.
            UnknownRun: The store has no such run.
            GraphChanged: The workflow's shape is another than the stored run's.
            RunBusy: Another process is running it right now.
        """
        wanted = Wanted(step=step, label=label, token=token, index=index)
        async with self._turnstile:
            await self._answered_by(data, wanted, request_context)
            outcome = await self._continue()
        assert not isinstance(outcome, Paused)
        return outcome

    def resume_stream(
        self,
        data: object = None,
        /,
        *,
        step: object = None,
        label: str | None = None,
        token: str | None = None,
        index: int | None = None,
        request_context: Mapping[str, object] | None = None,
    ) -> RunStream[O_co]:
        """:meth:`resume`, read along; see :meth:`interlock.workflows.WorkflowRun.resume_stream`."""
        wanted = Wanted(step=step, label=label, token=token, index=index)

        async def opened(buffer: EventBuffer) -> Callable[[], Awaitable[Outcome[Any]]]:
            await self._turnstile.enter()
            try:
                await self._answered_by(data, wanted, request_context)
            except BaseException:
                self._turnstile.leave()
                raise

            async def go() -> Outcome[Any]:
                try:
                    return cast("Outcome[Any]", await self._continue(buffer=buffer))
                finally:
                    self._turnstile.leave()

            return go

        return RunStream(opened, self.cancel)

    async def next(self) -> Outcome[O_co] | Paused:
        """Of a run started with ``pause=True``: take one step.

        Raises:
            RunError: It does not stand before a step.
        """
        async with self._turnstile:
            if not isinstance(self._outcome, Paused):
                await self._take_paused()
            return await self._continue(steps=1)

    async def _take_paused(self) -> None:
        """Take in a stored run that another process has left standing before a step.

        Raises:
            RunError: There is none.
        """
        if self._store is not None and not self._started:
            stored = self._stored(self._store)
            history = await stored.read()
            stored.check_graph(history)
            if history.status == "paused":
                await stored.claim_recover(history)
                self._started = True
                self._take(history, None)
                return
        raise RunError(
            f"run {self.run_id!r} does not stand before a step: start it with pause=True, and take steps as long as "
            "the result is Paused"
        )

    def cancel(self) -> None:
        """Stop it; the outcome is ``Canceled``. Does nothing once it has ended.

        A run that waits to be resumed ends when it is resumed. (Of a stored one, whoever has the store can ask for
        the end: ``await store.ask_to_cancel(run_id)``.)
        """
        self._canceled = True
        if self._leg is not None:
            self._leg.cancel()

    async def continue_stored(
        self,
        store: RunStore,
        history: History,
        *,
        request_context: Mapping[str, object] | None = None,
    ) -> Outcome[O_co]:
        """Go on with a run that did not come to its end.

        Args:
            store: Where it is kept.
            history: What its journal tells, up to the row that claims it for this process.
            request_context: What steps may read; default: what could be recorded.
        """
        self._started = True
        self._canceled = self._canceled or await store.cancel_asked(self.run_id)
        self._take(history, request_context)
        outcome = await self._continue(untouched=history.untouched)
        assert not isinstance(outcome, Paused)
        return outcome

    def _begin(self, value: object, state: object, request_context: Mapping[str, object] | None) -> None:
        """Check the call, and take in what it says."""
        if self._started:
            raise AlreadyStarted(self.run_id)
        self._value = given_input(self._workflow, value)
        self._state = self._prepared.state(self._workflow, state)
        self._context = RequestContext.of(request_context)
        self._started = True

    async def _opened(self, state: object, buffer: EventBuffer) -> Callable[[], Awaitable[Outcome[Any]]]:
        """Claim a run that is read along; gives what runs it."""
        failed: Exception | None = None
        entered = False
        if self._store is not None:
            failed = await self._enter_to_start(self._store)
            entered = failed is None
            try:
                failed = failed or await self._claim(self._store, buffer)
            except BaseException:
                self._turnstile.leave()
                raise
        else:
            told: dict[str, Any] = {"workflow": self._workflow.id, "input": self._value, "state": state or {}}
            Tape(self.run_id, buffer=buffer).note("workflow-start", told)
            self._seq = 1

        async def go() -> Outcome[Any]:
            try:
                if failed is None:
                    return cast("Outcome[Any]", await self._continue(buffer=buffer, first=True))
                outcome = Failed(failed, run_id=self.run_id)
                Tape(self.run_id, buffer=buffer).note("workflow-finish", {"outcome": outcome})
                return outcome
            finally:
                if entered:
                    self._turnstile.leave()

        return go

    async def _claimed(self, store: RunStore, *, steps: int | None) -> Outcome[O_co] | Paused:
        """Claim the run in its store, and run it."""
        failed: Exception | None = await self._enter_to_start(store)
        if failed is not None:
            return Failed(failed, run_id=self.run_id)
        try:
            failed = await self._claim(store)
            if failed is not None:
                return Failed(failed, run_id=self.run_id)
            return await self._continue(steps=steps, first=True)
        finally:
            self._turnstile.leave()

    async def _enter_to_start(self, store: RunStore) -> StorageError | None:
        """Wait until nobody else is about to do something with the run; gives what failed in the store.

        Raises:
            AlreadyStarted: There is such a run, so that whoever is in may be in for long.
        """
        if self._turnstile.busy:
            try:
                exists = await self._stored(store).exists()
            except StorageError as error:
                return error
            if exists:
                raise AlreadyStarted(self.run_id)
        await self._turnstile.enter()
        return None

    async def _claim(
        self, store: RunStore, buffer: EventBuffer | None = None
    ) -> StorageError | UnrecordableValue | None:
        """Write the run's first row; gives what failed in the store, or of what it was to keep."""
        stored = self._stored(store)
        try:
            values = {} if self._state is None else self._state.values
            self._seq = await stored.begin(self._value, values, self._context, buffer=buffer)
        except (StorageError, UnrecordableValue) as error:
            return error
        return None

    def _answer_here(self, data: object, wanted: Wanted, request_context: Mapping[str, object] | None) -> None:
        """Take in an answer to a run without a store."""
        if self._outcome is None:
            raise NothingSuspended(self.run_id, "it has not been started here, and has no store")
        leg = self._ended_leg
        waiting = leg.suspensions if leg is not None and isinstance(self._outcome, Suspended | Paused) else ()
        which, answer = self._answer(waiting, data, wanted, self._outcome.status)
        self._answered[which.token] = which
        self._known_past().answer(which.token, answer)
        if request_context is not None:
            self._context = RequestContext.of(request_context)

    async def _answer_stored(
        self, store: RunStore, data: object, wanted: Wanted, request_context: Mapping[str, object] | None
    ) -> None:
        """Write an answer into a run's journal, and take in where the run stands."""
        stored = self._stored(store)
        while True:
            history = await stored.read()
            stored.check_graph(history)
            self._answered = dict(history.answered)
            if history.status == "running":
                if wanted.token in history.answered:
                    raise AlreadyResumed(self.run_id, repr(history.answered[wanted.token].path))
                raise RunBusy(self.run_id)
            waiting = history.suspensions if history.status in ("suspended", "paused") else ()
            which, answer = self._answer(waiting, data, wanted, history.status)
            try:
                await stored.claim_resume(history, which.token, answer)
            except JournalConflict:
                continue  # somebody was quicker; what it did shows when the journal is read again
            break
        self._started = True
        self._take(history, request_context)

    async def _answered_by(self, data: object, wanted: Wanted, request_context: Mapping[str, object] | None) -> None:
        """Take in an answer; from here on the run can go on."""
        if self._store is None:
            self._answer_here(data, wanted, request_context)
        else:
            await self._answer_stored(self._store, data, wanted, request_context)

    def _answer(
        self, waiting: Sequence[Suspension], data: object, wanted: Wanted, status: str
    ) -> tuple[Suspension, object]:
        """Which suspension is meant, and the answer as its step's schema has it."""
        steps = self._prepared.steps(self._workflow)
        which = chosen_suspension(self.run_id, wanted, waiting, self._answered, steps, status)
        step = steps.get(which.path)
        return which, data if step is None else validate(step.resume_schema, data)

    def _known_past(self) -> Past:
        """What is known from the legs before."""
        if self._past is None:
            self._past = Past(() if self._ended_leg is None else self._ended_leg.entries)
        return self._past

    def _take(self, history: History, request_context: Mapping[str, object] | None) -> None:
        """Take in where a stored run stands."""
        self._value = history.input
        self._context = RequestContext.of(history.request_context if request_context is None else request_context)
        state = self._prepared.state(self._workflow, dict(history.state) or None)
        if state is None and history.deltas:
            state = RunState()
        if state is not None:
            state.restore(history.deltas)
        self._state, self._past, self._seq = state, history.past(), history.seq

    async def _continue(
        self,
        *,
        steps: int | None = None,
        buffer: EventBuffer | None = None,
        first: bool = False,
        untouched: bool = False,
    ) -> Outcome[O_co] | Paused:
        """One leg, from where the run stands.

        Args:
            steps: How many steps it may take; None: any number.
            buffer: Where a reader takes events from.
            first: Whether it is the first.
            untouched: Whether those before came to nothing, so that it begins as if it were the first.
        """
        value = self._value
        phase: Phase | None = value.phase if isinstance(value, HookContext) else None
        facts = RunFacts(run_id=self.run_id, request_context=self._context)
        try:
            ops = self._prepared.operations(self._workflow, phase)
        except DefinitionError as error:
            return Failed(error, run_id=self.run_id)
        writer = None if self._store is None else self._writer(self._store)
        tape: Tape | None = None
        if not first or writer is not None or buffer is not None or steps is not None:
            past = None if first else self._known_past()
            tape = Tape(self.run_id, seq=self._seq, past=past, writer=writer, buffer=buffer, steps=steps)
            if past is not None and past.tripwire is not None:
                facts.latch.trip(past.tripwire)
        leg = self._leg = Leg(
            self._workflow, ops, facts, value, phase, self._state, tape, writer, first=first or untouched
        )
        if self._canceled:
            leg.cancel()
        alone = first and writer is None  # nobody else can be in before a run has started
        if alone:
            self._turnstile.busy = True
        inside = self._turnstile.begin_inside()
        try:
            self._outcome = await leg.run() if writer is None else await leg.run_recorded(writer)
        finally:
            self._leg = None
            self._turnstile.end_inside(inside)
            if alone:
                self._turnstile.leave()
        self._ended_leg, self._past, self._state = leg, None, leg.state
        if tape is not None:
            self._seq = tape.seq
        return self._outcome

    def _stored(self, store: RunStore) -> StoredRun:
        return StoredRun(store, self.run_id, self._workflow, self._prepared.form(self._workflow))

    def _writer(self, store: RunStore) -> JournalWriter:
        """What writes the journal of the leg that begins."""

        def stop() -> None:
            if self._leg is not None:
                self._leg.cancel()

        return JournalWriter(
            store,
            self.run_id,
            after=self._seq,
            form=self._prepared.form(self._workflow),
            on_cancel=self.cancel,
            on_error=stop,
        )

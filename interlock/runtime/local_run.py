"""One run of one workflow in this process: started once, resumed as often as it suspends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
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
from interlock.runtime.journal.history import History
from interlock.runtime.journal.reader import EventBuffer
from interlock.runtime.journal.tape import Tape
from interlock.runtime.run_stream import RunStream
from interlock.runtime.standing import Standing
from interlock.runtime.stored_run import StoredRun
from interlock.runtime.suspended import Wanted
from interlock.storage import RunStore
from interlock.workflows.outcome import Failed, Outcome, Paused, Suspended

__all__ = ["LocalRun"]

I_contra = TypeVar("I_contra", contravariant=True)
O_co = TypeVar("O_co", covariant=True)


class LocalRun(Standing, Generic[I_contra, O_co]):
    """One run of one workflow in this process; see :class:`interlock.workflows.WorkflowRun`."""

    __slots__ = ()

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
        self.begin(value, state, request_context)
        steps = 0 if pause else None
        if self._store is not None:
            return await self._claimed(self._store, steps=steps)
        try:
            leg = self.next_leg(steps=steps, first=True)
        except DefinitionError as error:
            return Failed(error, run_id=self.run_id)
        return await leg.run()

    def stream(
        self, value: I_contra, /, *, state: object = None, request_context: Mapping[str, object] | None = None
    ) -> RunStream[O_co]:
        """Run it and read its events along; see :meth:`interlock.workflows.WorkflowRun.stream`."""

        async def opened(buffer: EventBuffer) -> Callable[[], Awaitable[Outcome[Any]]]:
            self.begin(value, state, request_context)
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
        if request_context is not None:
            request_context = RequestContext.of(request_context)
        async with self.turnstile:
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
        if request_context is not None:
            request_context = RequestContext.of(request_context)

        async def opened(buffer: EventBuffer) -> Callable[[], Awaitable[Outcome[Any]]]:
            await self.turnstile.enter()
            try:
                await self._answered_by(data, wanted, request_context, buffer)
            except BaseException:
                self.turnstile.leave()
                raise

            async def go() -> Outcome[Any]:
                try:
                    return cast("Outcome[Any]", await self._continue(buffer=buffer))
                finally:
                    self.turnstile.leave()

            return go

        return RunStream(opened, self.cancel)

    async def next(self) -> Outcome[O_co] | Paused:
        """Of a run started with ``pause=True``: take one step.

        Raises:
            RunError: It does not stand before a step.
            RunBusy: Somebody else takes it right now.
        """
        async with self.turnstile:
            if not isinstance(self.outcome, Paused):
                await self._take_paused()
            return await self._continue(steps=1)

    async def _take_paused(self) -> None:
        """Take in a stored run that another process has left standing before a step.

        Raises:
            RunError: There is none.
            RunBusy: Somebody else takes the step right now.
        """
        if self._store is not None and not self.started:
            stored = self._stored(self._store)
            history = await stored.read()
            stored.check_graph(history)
            if history.status == "paused":
                try:
                    await stored.claim_recover(history)
                except JournalConflict:
                    raise RunBusy(self.run_id) from None
                self.take(history, None)
                return
        raise RunError(
            f"run {self.run_id!r} does not stand before a step: start it with pause=True, and take steps as long as "
            "the result is Paused"
        )

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
        self._canceled = self._canceled or await store.cancel_asked(self.run_id)
        self.take(history, request_context)
        outcome = await self._continue(untouched=history.untouched)
        assert not isinstance(outcome, Paused)
        return outcome

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
                self.turnstile.leave()
                raise
        else:
            self.told_to_start(buffer, state)

        async def go() -> Outcome[Any]:
            try:
                if failed is None:
                    return cast("Outcome[Any]", await self._continue(buffer=buffer, first=True))
                outcome = Failed(failed, run_id=self.run_id)
                Tape(self.run_id, buffer=buffer).note("workflow-finish", {"outcome": outcome})
                return outcome
            finally:
                if entered:
                    self.turnstile.leave()

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
            self.turnstile.leave()

    async def _enter_to_start(self, store: RunStore) -> StorageError | None:
        """Wait until nobody else is about to do something with the run; gives what failed in the store.

        Raises:
            AlreadyStarted: There is such a run, so that whoever is in may be in for long.
        """
        if self.turnstile.busy:
            try:
                exists = await self._stored(store).exists()
            except StorageError as error:
                return error
            if exists:
                raise AlreadyStarted(self.run_id)
        await self.turnstile.enter()
        return None

    async def _claim(
        self, store: RunStore, buffer: EventBuffer | None = None
    ) -> StorageError | UnrecordableValue | DefinitionError | None:
        """Write the run's first row; gives what failed in the store, of what it was to keep, or of the workflow."""
        try:
            await self.written_to_start(self._stored(store), buffer)
        except (StorageError, UnrecordableValue, DefinitionError) as error:
            return error
        return None

    async def _answer_stored(
        self,
        store: RunStore,
        data: object,
        wanted: Wanted,
        request_context: Mapping[str, object] | None,
        buffer: EventBuffer | None,
    ) -> None:
        """Write an answer into a run's journal, and take in where the run stands."""
        stored = self._stored(store)
        before = -1
        while True:
            history = await stored.read()
            stored.check_graph(history)
            self._answered = history.answered
            if history.status == "running":
                last = history.last_answered
                if last is not None and (wanted.token is None or wanted.token in history.answered):
                    meant = last if wanted.token is None else history.answered[wanted.token]
                    if wanted.means(meant, self._prepared.steps(self._workflow)):
                        raise AlreadyResumed(self.run_id, repr(meant.path), running=True)
                raise RunBusy(self.run_id)
            waiting = history.suspensions if history.status in ("suspended", "paused") else ()
            token, answer = self.answer(waiting, data, wanted, history.status)
            try:
                await stored.claim_resume(history, token, answer, buffer)
            except JournalConflict:
                if history.seq == before:  # nobody has written anything: the store contradicts itself
                    raise
                before = history.seq
                continue  # somebody was quicker; what it did shows when the journal is read again
            break
        self.take(history, request_context)

    async def _answered_by(
        self,
        data: object,
        wanted: Wanted,
        request_context: Mapping[str, object] | None,
        buffer: EventBuffer | None = None,
    ) -> None:
        """Take in an answer; from here on the run can go on."""
        if self._store is not None:
            await self._answer_stored(self._store, data, wanted, request_context, buffer)
        elif self.outcome is None:
            raise NothingSuspended(self.run_id, "it has not been started here, and has no store")
        else:
            self.answer_here(data, wanted, request_context, buffer)

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
        while True:
            try:
                leg = self.next_leg(steps=steps, buffer=buffer, first=first, untouched=untouched)
            except DefinitionError as error:
                return Failed(error, run_id=self.run_id)
            writer = leg.writer
            outcome = await (leg.run() if writer is None else leg.run_recorded(writer))
            if not self._canceled or not isinstance(outcome, Suspended | Paused):
                return outcome
            first = untouched = False  # it was cancelled while it wrote that it waits

    def _stored(self, store: RunStore) -> StoredRun:
        return StoredRun(store, self.run_id, self._workflow, self._prepared.form(self._workflow))

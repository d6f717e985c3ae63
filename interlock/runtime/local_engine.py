"""The library's own engine: runs a committed workflow in this process, and makes an outcome of whatever happens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary, ref

from interlock.context import RequestContext
from interlock.errors import DefinitionError, JournalConflict, RunBusy
from interlock.ids import new_id
from interlock.runtime.local_run import LocalRun
from interlock.runtime.prepared import Prepared
from interlock.runtime.stored_run import StoredRun
from interlock.runtime.turnstile import Turnstile
from interlock.storage import RunStore
from interlock.workflows import Workflow
from interlock.workflows.outcome import Outcome, Paused, Suspended

__all__ = ["LocalEngine"]


class LocalEngine:
    """Runs workflows in the event loop of whoever awaits them."""

    def __init__(self) -> None:
        self._prepared: dict[int, tuple[ref[Workflow[Any, Any]], Prepared]] = {}
        self._turnstiles: WeakValueDictionary[tuple[int, str], Turnstile] = WeakValueDictionary()

    def create_run(
        self, workflow: Workflow[Any, Any], run_id: str | None = None, *, store: RunStore | None = None
    ) -> LocalRun[Any, Any]:
        """A run that has not started, or that the store has."""
        if run_id is None:
            run_id = new_id("run")
        else:
            _check_id(run_id)
        if store is None:
            known = self._prepared.get(id(workflow))  # a call less for a short run
            return LocalRun(workflow, run_id, known[1] if known is not None else self._of(workflow))
        _check_store(store)
        return LocalRun(workflow, run_id, self._of(workflow), store=store, turnstile=self._turnstile(store, run_id))

    async def recover(
        self,
        workflow: Workflow[Any, Any],
        run_id: str,
        *,
        store: RunStore,
        allow_changed_graph: bool = False,
        request_context: Mapping[str, object] | None = None,
    ) -> Outcome[Any]:
        """Go on with a stored run that did not come to its end; see :meth:`Workflow.recover`."""
        _check_store(store)
        _check_id(run_id)
        if request_context is not None:
            request_context = RequestContext.of(request_context)
        turnstile = self._turnstile(store, run_id)
        if turnstile.busy:
            raise RunBusy(run_id)
        async with turnstile:
            stored = StoredRun(store, run_id, workflow, self._of(workflow).form(workflow))
            while True:
                history = await stored.read()
                stored.check_workflow(history)
                outcome = history.outcome()
                adopts = allow_changed_graph and isinstance(outcome, Suspended) and not stored.same_graph(history)
                if outcome is not None and not isinstance(outcome, Paused) and not adopts:
                    return outcome
                if not allow_changed_graph:
                    stored.check_graph(history)
                try:
                    await stored.claim_recover(history)
                except JournalConflict:
                    continue
                break
            run = LocalRun[Any, Any](workflow, run_id, self._of(workflow), store=store, turnstile=turnstile)
            return await run.continue_stored(store, history, request_context=request_context)

    async def time_travel(
        self,
        workflow: Workflow[Any, Any],
        run_id: str,
        step: object,
        *,
        store: RunStore,
        new_run_id: str | None = None,
        value: object,
        state: object = None,
        request_context: Mapping[str, object] | None = None,
        allow_changed_graph: bool = False,
    ) -> Outcome[Any]:
        """Run a stored run anew from one of its steps on; see :meth:`Workflow.time_travel`."""
        from interlock.runtime.journal.travel import forked

        _check_store(store)
        made = new_run_id if new_run_id is not None else new_id("run")
        _check_id(run_id)
        _check_id(made, "new_run_id")
        if request_context is not None:
            request_context = RequestContext.of(request_context)
        turnstile = self._turnstile(store, made)
        async with turnstile:
            history = await forked(
                workflow,
                self._of(workflow),
                store,
                run_id,
                step,
                new_run_id=made,
                value=value,
                state=state,
                request_context=request_context,
                allow_changed_graph=allow_changed_graph,
            )
            run = LocalRun[Any, Any](workflow, made, self._of(workflow), store=store, turnstile=turnstile)
            return await run.continue_stored(store, history, request_context=request_context)

    def _of(self, workflow: Workflow[Any, Any]) -> Prepared:
        key = id(workflow)
        known = self._prepared.get(key)
        if known is None:
            gone = self._prepared.pop
            known = self._prepared[key] = ref(workflow, lambda _: gone(key, None)), Prepared(workflow)
        return known[1]

    def _turnstile(self, store: RunStore, run_id: str) -> Turnstile:
        key = (id(store), run_id)
        known = self._turnstiles.get(key)
        if known is None:
            known = self._turnstiles[key] = Turnstile(run_id, store)
        return known


def _check_id(run_id: object, name: str = "run_id") -> None:
    if not isinstance(run_id, str) or not run_id:
        raise DefinitionError(f"a run's id is a text, and not an empty one: {run_id!r}", subject=name)


def _check_store(store: object) -> None:
    if isinstance(store, type) or not isinstance(store, RunStore):
        raise DefinitionError(
            f'a store of runs is wanted, such as SQLiteRunStore("runs.db"), not {store!r}', subject="store"
        )

"""What all lines of one execution of one plan share."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from interlock.ids import new_id
from interlock.processors.base import Processor
from interlock.processors.seat import RunFacts, Seat
from interlock.runtime.checks import PointChecks
from interlock.runtime.run_state import RunState
from interlock.schema import UNSET, is_set
from interlock.steps import Step, StepRun, Turn
from interlock.verdict import CheckRecord, Latch, Phase, SuspendSignal
from interlock.workflows.outcome import Suspension

if TYPE_CHECKING:
    from interlock.runtime.entry import Entry
    from interlock.runtime.journal.tape import Tape
    from interlock.runtime.strand import Operation
    from interlock.runtime.timekeeper import Timekeeper
    from interlock.runtime.workflow_states import WorkflowStates
    from interlock.workflows import Workflow

__all__ = ["Execution"]


class Execution:
    """What all strands of one execution of one plan share.

    Args:
        facts: The run.
        phase: The lifecycle phase; None for a typed workflow.
        tape: Who is told what happens, and knows what has happened before; None: nobody watches.
        state: The run's state; None: an empty one is made when a step first asks.
        states: Processor states of the run, by ``id()`` of the processor.
        workflow_states: The states of an agent's workflows; None: one workflow runs by itself.
        checks: Where processors' verdicts are noted.

    Attributes:
        entries: What each step did, in the order in which steps started.
        any_checks: Whether there may be verdicts.
        cuts: Whether anything was ever cut off.
        joins: How many joins are running. While there is one, steps and hooks wait in tasks of their own.
        waiting: Whether the task that runs the execution is itself waiting for a step or hook right now.
        suspensions: What waits to be resumed, as far as it has been come by in this leg.
        waiting_turns: The turns of the steps that wait, also of those that have not been come by.
        known_state: The run's state, where somebody had to do with it.
    """

    __slots__ = (
        "_checks",
        "_steps_check",
        "_timekeeper",
        "_workflow_states",
        "any_checks",
        "cuts",
        "entries",
        "facts",
        "joins",
        "known_state",
        "latch",
        "phase",
        "states",
        "suspensions",
        "tape",
        "waiting",
        "waiting_turns",
    )

    def __init__(
        self,
        facts: RunFacts,
        phase: Phase | None = None,
        tape: Tape | None = None,
        state: RunState | None = None,
        *,
        states: dict[int, dict[str, object]] | None = None,
        workflow_states: WorkflowStates | None = None,
        checks: PointChecks | None = None,
    ) -> None:
        self.facts = facts
        self.latch: Latch = facts.latch
        self.phase = phase
        self._workflow_states = workflow_states
        self.states = states  # most runs have no processors
        self._checks = checks
        self.tape = tape
        self.any_checks = checks is not None
        self._steps_check = False  # whether steps have guards of their own, in this leg or one before
        self.entries: list[Entry] = []
        if tape is not None:
            self.entries = tape.entries_before()
            self._steps_check = any(entry.notes is not None and entry.notes.checks for entry in self.entries)
            self.any_checks = self.any_checks or self._steps_check
        self.cuts = False
        self.joins = 0
        self._timekeeper: Timekeeper | None = None
        self.waiting = False
        self.suspensions: Sequence[Suspension] = ()
        self.waiting_turns: Sequence[Turn] = ()
        if self.entries:
            self.waiting_turns = [
                entry
                for entry in self.entries
                if entry.status == "suspended" and entry.notes is not None and entry.notes.suspension is not None
            ]
        self.known_state = state

    async def in_hook(self, awaitable: Awaitable[object]) -> object:
        """Wait for the user's own code, in the task that runs the execution."""
        self.waiting = True
        try:
            return await awaitable
        finally:
            self.waiting = False

    @property
    def timekeeper(self) -> Timekeeper:
        """Who keeps the time of hooks that have only so much; on asyncio."""
        if self._timekeeper is None:
            from interlock.runtime.timekeeper import Timekeeper

            self._timekeeper = Timekeeper()
        return self._timekeeper

    def is_waiting(self) -> bool:
        """Whether the task that runs the execution is itself waiting for a step or hook right now."""
        return self.waiting

    def seat(self, processor: Processor, *, own_latch: Latch | None = None) -> Seat:
        """A processor's place in this run; with a latch of its own, one from which nothing can be stopped."""
        if self.states is None:
            self.states = {}
        state = self.states.setdefault(id(processor), {})
        return Seat(processor.id, self.facts, state, processor.on_violation, own_latch)

    def scope(self, value: object) -> StepRun:
        """What the steps of one workflow share; a nested workflow has one of its own."""
        return StepRun(self.facts.run_id, value, self.facts.request_context, self.latch, self.phase, self)

    @property
    def state(self) -> RunState:
        """The run's state."""
        if self.known_state is None:
            self.known_state = RunState()
        return self.known_state

    @property
    def checks(self) -> PointChecks:
        """Where processors' verdicts are noted."""
        if self._checks is None:
            self._checks = PointChecks()
            self.any_checks = True
        return self._checks

    @property
    def known_checks(self) -> list[CheckRecord]:
        """The verdicts so far, in list order; then those of the guards that steps have of their own."""
        found = [] if self._checks is None else self._checks.records()
        if self._steps_check:
            found += [check for entry in self.entries if entry.notes is not None for check in entry.notes.checks]
        return found

    def state_of(self, run: StepRun) -> RunState:
        """The state of a workflow's run: of an agent's workflows each has its own."""
        if self._workflow_states is None:
            return self.state
        return self._workflow_states.of(cast("Workflow[Any, Any] | None", run.state_of))

    def state_view(self, turn: Turn, run: StepRun) -> Any:
        """The state, as the step's schema has it, or that of the workflow around it."""
        step = turn.op.step
        own = UNSET if step is None else step.state_schema
        return self.state_of(run).view(own if is_set(own) else run.state_schema)

    def nested_scope(self, around: StepRun, step: Step[Any, Any], value: object) -> StepRun:
        """What the steps of a nested workflow share.

        Args:
            around: What those of the workflow around it share.
            step: What the nested workflow is made into.
            value: Its input.
        """
        run = self.scope(value)
        run.state_schema = step.state_schema if is_set(step.state_schema) else around.state_schema
        run.state_of = around.state_of
        if run.state_of is None and self._workflow_states is not None:
            run.state_of = step.subject
        return run

    def written(self, turn: Turn, name: str, value: object) -> None:
        """A step wrote something for whoever reads along."""
        if self.tape is not None:
            self.tape.written(turn, name, value)

    def cut_off(self, op: Operation, at: tuple[int, ...], entry: Entry) -> None:
        """Note that what still runs inside of an operation is being stopped, so that nothing it does counts any more.

        Args:
            op: The operation.
            at: The iterations around it.
            entry: What is noted of it.
        """
        self.cuts = True
        paths = set(_paths_in(op))
        for one in reversed(self.entries):
            if one is entry:
                return
            if not one.over and one.op.path in paths and one.at[: len(at)] == at:
                one.noted().cut = True

    def stop_waiting(self, op: Operation, at: tuple[int, ...]) -> None:
        """Note that what still waits inside of an operation need not, because the operation has ended without it."""
        paths = set(_paths_in(op))
        if any(turn.op.path in paths and turn.at[: len(at)] == at for turn in self.waiting_turns):
            self._stop_waiting(lambda entry: entry.op.path in paths and entry.at[: len(at)] == at)

    def over(self) -> None:
        """Note that the run has ended, so that nothing in it waits any more."""
        if self.suspensions or self.tape is not None:
            self._stop_waiting(lambda _: True)

    def _stop_waiting(self, applies: Callable[[Entry], bool]) -> None:
        for place, entry in enumerate(self.entries):
            if entry.status not in ("suspended", "unfinished") or not applies(entry):
                continue
            waits = entry.notes.suspension if entry.notes is not None else None
            if waits is not None:
                self.suspensions = [one for one in self.suspensions if one.token != waits.token]
                self.waiting_turns = [one for one in self.waiting_turns if one is not entry]
            ended = self.entries[place] = copy.copy(entry)  # what was told of it before stays as it was told
            ended.status = "canceled"
            if self.tape is not None:
                self.tape.stopped_waiting(ended)

    def checked(self, turn: Turn, checks: Sequence[CheckRecord]) -> None:
        """A step had guards of its own, which decided this."""
        self._steps_check = self.any_checks = True
        turn.noted().checks += [replace(check, path=f"{turn.op.path}/{check.path}") for check in checks]

    def suspend(self, turn: Turn, signal: SuspendSignal) -> None:
        """Note that a step waits to be resumed."""
        index = turn.at[-1] - 1 if turn.at else None
        made = Suspension(turn.op.step_id, turn.op.path, signal.label, signal.payload, new_id("wait"), index)
        turn.noted().suspension = made
        self.waits(turn, made)

    def waits(self, turn: Turn, suspension: Suspension) -> None:
        """Note that a turn of a step waits to be resumed, from now on or from before."""
        if not isinstance(self.suspensions, list):
            self.suspensions = [*self.suspensions]
        if not isinstance(self.waiting_turns, list):
            self.waiting_turns = [*self.waiting_turns]
        self.suspensions.append(suspension)
        self.waiting_turns.append(turn)


def _paths_in(op: Operation) -> Iterator[str]:
    for chain in op.chains():
        for inner in chain:
            yield inner.path
            yield from _paths_in(inner)

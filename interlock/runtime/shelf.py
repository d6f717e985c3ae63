"""Where an agent's suspended runs wait for somebody's answer: in this process, and in a store where it has one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, cast

import anyio

from interlock.errors import DefinitionError, NothingSuspended
from interlock.storage import RunStore
from interlock.tracing import warn

if TYPE_CHECKING:
    from interlock.runtime.agent_journal import AgentJournal, Told
    from interlock.runtime.agent_run import AgentRun
    from interlock.runtime.result import RunStatus

__all__ = ["Answer", "Shelf", "check_answer"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody answers to a run that waits.

    Args:
        approve: Whether the tools may run; None: that follows from ``data``. Nothing is approved of by silence.
        reason: Why not; the model is told.
        tool_call_id: The call that is meant; None: all that wait.
        data: What a tool that has asked something is told; None: nothing.

    Raises:
        DefinitionError: One of these is of another type: what is not exactly True approves of nothing.
    """

    approve: bool | None = None
    reason: str | None = None
    tool_call_id: str | None = None
    data: object = None

    def __post_init__(self) -> None:
        faults: list[str] = []
        if self.approve is None and self.data is None:
            faults.append("say approve=True or approve=False; or data=…, where a tool has asked something")
        elif not isinstance(cast("object", self.approve), bool | NoneType):
            faults.append(f"approve is True or False, not {self.approve!r}")
        for name, text in (("reason", self.reason), ("tool_call_id", self.tool_call_id)):
            if not isinstance(cast("object", text), str | NoneType):
                faults.append(f"{name} is a text or None, not {text!r}")
        if self.data is not None and self.approve is False:
            faults.append("data is for a tool that goes on, and approve=False stops it: pass one of the two")
        if faults:
            raise DefinitionError(faults, subject="resume")


class Shelf:
    """The suspended runs of one agent.

    Args:
        agent_id: The agent.
        store: Where they are kept beyond this process; None: nowhere.
    """

    def __init__(self, agent_id: str, store: RunStore | None = None) -> None:
        self._agent_id = agent_id
        self._store = store
        self._journal: AgentJournal | None = None
        self._runs: dict[str, AgentRun] = {}

    @property
    def stored(self) -> bool:
        """Whether a store keeps them, so that another process can go on with them."""
        return self._store is not None

    async def put(self, run: AgentRun) -> None:
        """Keep a run until it is resumed.

        Raises:
            StorageError: The store failed.
            UnrecordableValue: Something of the run cannot be written to the store.
        """
        journal = self._kept()
        if journal is not None:
            await journal.suspend(run)
        if journal is None or run.brought_along():
            self._runs[run.facts.run_id] = run

    async def take(self, run_id: str, answer: Answer, restored: Callable[[Told, int], Awaitable[AgentRun]]) -> AgentRun:
        """Take a run to go on with it; nobody else can then.

        Args:
            run_id: The run.
            answer: What it is answered.
            restored: Makes the run of what the store knows of it, and of how many rows its journal has. Where that
                fails the run waits on.

        Raises:
            NothingSuspended: No such run of this agent waits, or it does not wait for that call.
            RunError: In the store stands another's run, or none, or one that somebody else goes on with.
            StorageError: The store failed.

        Who is cancelled before this returns has not taken it: it waits on.
        """
        journal = self._kept()
        run = self._runs.get(run_id)
        if journal is not None:
            told, rows = await journal.waiting(run_id, answer, here=run is not None)
            if run is None:
                run = await restored(told, rows)
            await self._claim(journal, run)
        elif run is None:
            why = f"agent {self._agent_id!r} has no run of that id that waits; it may have been resumed already"
            raise NothingSuspended(run_id, why)
        assert run.waiting is not None  # only runs that wait are put here
        check_answer(run_id, run.waiting.asking(), answer)
        self._runs.pop(run_id, None)
        return run

    async def ended(self, run: AgentRun, status: RunStatus) -> None:
        """Note how a run has ended, where the store knows of it. What is noted stands, whatever comes then.

        Raises:
            StorageError: The store failed.
        """
        before = run.journal_rows
        if self._journal is None or not before:
            return
        try:
            await self._journal.finish(run, status)
        finally:
            if run.journal_rows > before:
                run.end(status)

    async def _claim(self, journal: AgentJournal, run: AgentRun) -> None:
        """Claim a run. Whoever is cancelled meanwhile does not go on with it: then it waits again."""
        before = run.journal_rows
        try:
            await journal.claim(run)
        except anyio.get_cancelled_exc_class():
            if run.journal_rows > before:
                try:
                    await journal.suspend(run)
                except Exception as error:
                    told = f"{type(error).__name__}: {error}"
                    warn("a run could not be given back to its store", run_id=run.facts.run_id, error=told)
            raise

    def _kept(self) -> AgentJournal | None:
        if self._store is not None and self._journal is None:
            from interlock.runtime.agent_journal import AgentJournal

            self._journal = AgentJournal(self._store, self._agent_id)
        return self._journal


def check_answer(run_id: str, asking: Mapping[str, bool], answer: Answer) -> None:
    """Refuse an answer to a call that does not wait, or that waits for another answer.

    Args:
        run_id: The run.
        asking: The calls that wait, and whether it is data that they wait for.
        answer: The answer.

    Raises:
        NothingSuspended: It names another, has data for a call that is to be approved, or none for one that needs it.
    """
    if answer.tool_call_id is not None and answer.tool_call_id not in asking:
        waits = ", ".join(map(repr, asking))
        raise NothingSuspended(run_id, f"it does not wait for tool call {answer.tool_call_id!r}, but for {waits}")
    for call_id, wants_data in asking.items():
        if answer.tool_call_id not in (None, call_id):
            continue
        if wants_data and answer.data is None and answer.approve is not False:
            raise NothingSuspended(
                run_id, f"tool call {call_id!r} has asked something: answer with data=…, or approve=False to stop it"
            )
        if not wants_data and answer.data is not None:
            raise NothingSuspended(run_id, f"tool call {call_id!r} waits for an approval, not for data: approve=True")

"""A suspended run of an agent in a store: written when it begins to wait, claimed by whoever goes on with it.

Its journal has one row each time it waits, with all that is needed to go on; one each time somebody goes on; and one at
its end. What a run is made of that is no data (model, tools, processors) is the agent's own: whoever goes on has it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from time import time
from typing import TYPE_CHECKING, Any

from interlock.errors import AlreadyResumed, JournalConflict, NothingSuspended, RunError, StorageError, UnknownRun
from interlock.runtime.agent_run import SETTINGS
from interlock.runtime.shelf import Answer, check_answer
from interlock.runtime.shielded import shielded
from interlock.runtime.tool_calls import Call, Waiting
from interlock.storage import JournalRow, RunStore

if TYPE_CHECKING:
    from interlock.runtime.agent_run import AgentRun
    from interlock.runtime.journal.values import ValueCodec
    from interlock.runtime.result import RunStatus

__all__ = ["AgentJournal", "Told", "readable", "restore"]

Told = Mapping[str, Any]
"""What a row says of a run that waits."""

_OWN_OBJECTS = "which no store keeps: resume it in the process that made it"


class AgentJournal:
    """The suspended runs of an agent in a store.

    Args:
        store: The store.
        agent_id: The agent.
    """

    def __init__(self, store: RunStore, agent_id: str) -> None:
        self._store = store
        self._agent_id = agent_id
        self._codec: ValueCodec | None = None

    async def suspend(self, run: AgentRun) -> None:
        """Write that a run waits.

        Raises:
            StorageError: The store failed.
            UnrecordableValue: Something of the run cannot be written, such as an object that a processor keeps in its
                state; it names what.
        """
        await self._append(run, "agent-suspend", {"agent": self._agent_id, **self._encoded(_told(run))})

    async def waiting(self, run_id: str, answer: Answer, *, here: bool) -> tuple[Told, int]:
        """What is known of a run that waits, for the one who wants to go on with it.

        Args:
            run_id: The run.
            answer: What it is answered.
            here: Whether the run itself is at hand.

        Returns:
            That, and how many rows its journal has.

        Raises:
            UnknownRun: The store has none of that id.
            RunError: It is another agent's, or a workflow's.
            NothingSuspended: It has ended, or does not wait for that call.
            AlreadyResumed: Somebody goes on with it.
            StorageError: The store failed.
        """
        rows = await self._read(run_id)
        with readable(run_id):
            last = rows[-1]
            waits = next((row for row in reversed(rows) if row.type == "agent-suspend"), None)
            if waits is None or waits.data.get("agent") != self._agent_id:
                raise RunError(f"run {run_id!r} is none of agent {self._agent_id!r}")
            if last.type == "agent-finish":
                raise NothingSuspended(run_id, f"it has ended: {last.data.get('status')}")
            if last is not waits:
                raise AlreadyResumed(run_id, "what it waited for")
            told = {name: self._decoded(value) for name, value in waits.data.items() if name != "agent"}
            check_answer(run_id, _asking(told), answer)
            given = told["of_the_call"]
            if given and not here:
                raise RunError(f"run {run_id!r} was made with {', '.join(given)} of its own, {_OWN_OBJECTS}")
            return told, last.seq

    async def claim(self, run: AgentRun) -> None:
        """Write that somebody goes on with a run; nobody else can then.

        Raises:
            AlreadyResumed: Somebody else does.
            StorageError: The store failed.
        """
        try:
            await self._append(run, "agent-resume", {})
        except JournalConflict:
            raise AlreadyResumed(run.facts.run_id, "what it waited for") from None

    async def finish(self, run: AgentRun, status: RunStatus) -> None:
        """Write how a run has ended of which the journal knows.

        Raises:
            StorageError: The store failed.
        """
        await self._append(run, "agent-finish", {"status": status})

    async def _read(self, run_id: str) -> Sequence[JournalRow]:
        try:
            rows = await self._store.read(run_id)
        except StorageError:
            raise
        except Exception as error:
            raise StorageError(f"the store failed to read run {run_id!r}: {error}") from error
        if not rows:
            raise UnknownRun(run_id)
        return rows

    async def _append(self, run: AgentRun, kind: str, data: Mapping[str, Any]) -> None:
        """Write a row. Where the caller is cancelled meanwhile, ``run.journal_rows`` says whether it is there."""
        run_id, after = run.facts.run_id, run.journal_rows

        async def write() -> None:
            await self._store.append(run_id, after, [JournalRow(after + 1, kind, time(), data=data)])
            run.journal_rows = after + 1

        try:
            await shielded(write)
        except StorageError:
            raise
        except Exception as error:
            raise StorageError(f"the store failed to write the journal of run {run_id!r}: {error}") from error

    def _encoded(self, told: Told) -> dict[str, Any]:
        codec = self._values()
        return {name: codec.encode(value, place=f"{name!r} of the run") for name, value in told.items()}

    def _decoded(self, value: Any) -> Any:
        return self._values().decode(value)

    def _values(self) -> ValueCodec:
        if self._codec is None:
            from interlock.runtime.journal.values import ValueCodec

            self._codec = ValueCodec()
        return self._codec


def _told(run: AgentRun) -> dict[str, Any]:
    waiting = run.waiting
    assert waiting is not None  # only a run that waits is written
    settings = run.settings
    return {
        "stands": run.stands(),
        "waiting": [
            {
                "chunk": call.chunk,
                "error": call.error,
                "asks": call.asks,
                "approved": call.approved,
                "question": None if call.question is None else list(call.question),
                "answer": call.answer,
                "done": call.done,
            }
            for call in waiting.calls
        ],
        "offered": list(waiting.calls[0].known),
        "retry_count": run.facts.retry_count,
        "thread": run.facts.thread,
        "resource": run.facts.resource,
        "request_context": _recordable(run.facts.request_context),
        "settings": {name: getattr(settings, name) for name in SETTINGS},
        "of_the_call": run.brought_along(),
        "checks": run.points.records(),
        "states": run.points.states(),
        "signals": [] if run.facts.outbox is None else list(run.facts.outbox.signals),
    }


def _recordable(values: Mapping[str, object]) -> dict[str, object]:
    """What of a caller's values can be written; the rest is left out."""
    from interlock.runtime.journal.rows import RowForm
    from interlock.runtime.journal.values import ValueCodec

    return RowForm(ValueCodec()).request_context(values)


def _asking(told: Told) -> dict[str, bool]:
    return {
        call["chunk"].tool_call_id: call["question"] is not None
        for call in told["waiting"]
        if call["question"] is not None or (call["asks"] and call["approved"] is None)
    }


@contextmanager
def readable(run_id: str) -> Generator[None]:
    """Tell of a journal that another hand, or another version, has written in a way that cannot be read.

    Raises:
        StorageError: Something is not there, or is something else.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise StorageError(f"the journal of run {run_id!r} cannot be read: {type(error).__name__}: {error}") from error


def restore(run: AgentRun, told: Told) -> None:
    """Have a fresh run stand where another stood when it was written.

    Args:
        run: Of the same agent, with the settings that were written.
        told: What the journal says.

    Raises:
        RunError: The agent has not all tools that were called.
    """
    tools = {tool.name: tool for tool in run.settings.tools}
    called = {call["chunk"].tool_name for call in told["waiting"] if not call["done"]}
    gone = sorted((called & set(told["offered"])) - set(tools))
    if gone:
        raise RunError(
            f"run {run.facts.run_id!r} waits with calls of {', '.join(map(repr, gone))}, which agent "
            f"{run.facts.agent_id!r} has not (any more): it waits on until an agent that has them resumes it"
        )
    run.stand_at(told["stands"])
    run.facts.retry_count = told["retry_count"]
    run.points.restore(told["checks"], told["states"])
    if told.get("signals"):  # which not every version has written
        run.facts.open_outbox().signals.extend(told["signals"])
    offered = {name: tool for name, tool in tools.items() if name in told["offered"]}
    calls: list[Call] = []
    for one in told["waiting"]:
        call = Call(one["chunk"], offered)
        call.error, call.asks, call.approved = one["error"], one["asks"], one["approved"]
        call.question = None if one["question"] is None else (one["question"][0],)
        call.answer, call.done = one["answer"], one["done"]
        calls.append(call)
    run.open_step = run.steps[-1]
    run.waiting = Waiting(run.open_step, calls)

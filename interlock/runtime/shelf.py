"""Where an agent's suspended runs wait for somebody's answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.errors import NothingSuspended

if TYPE_CHECKING:
    from interlock.runtime.agent_run import AgentRun

__all__ = ["Answer", "Shelf"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody answers to a run that waits.

    Args:
        approve: Whether the tools may run.
        reason: Why not; the model is told.
        tool_call_id: The call that is meant; None: all that wait.
    """

    approve: bool = True
    reason: str | None = None
    tool_call_id: str | None = None


@dataclass(slots=True)
class Shelf:
    """The suspended runs of one agent, in this process.

    Args:
        agent_id: The agent, for errors.
    """

    agent_id: str
    _runs: dict[str, AgentRun] = field(default_factory=dict[str, "AgentRun"])

    def put(self, run: AgentRun) -> None:
        """Keep a run until it is resumed."""
        self._runs[run.facts.run_id] = run

    def take(self, run_id: str, answer: Answer) -> AgentRun:
        """Take a run to go on with it; nobody else can then.

        Raises:
            NothingSuspended: No such run of this agent waits in this process, or it does not wait for that call.
        """
        run = self._runs.get(run_id)
        if run is None:
            why = f"agent {self.agent_id!r} has no run of that id that waits; it may have been resumed already"
            raise NothingSuspended(run_id, why)
        waiting = run.waiting
        assert waiting is not None  # only runs that wait are put here
        if answer.tool_call_id is not None and answer.tool_call_id not in waiting.asking():
            waits = ", ".join(map(repr, waiting.asking()))
            raise NothingSuspended(run_id, f"it does not wait for tool call {answer.tool_call_id!r}, but for {waits}")
        waiting.decide(answer)
        del self._runs[run_id]
        return run

"""Calls that are stopped for what their tools give while they run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from interlock.messages import ToolOutput
from interlock.runtime.repeating import reason_sent_back
from interlock.verdict import Phase

if TYPE_CHECKING:
    from interlock.runtime.agent_run import AgentRun
    from interlock.runtime.tool_calls import Call

__all__ = ["RefusedCalls"]


class RefusedCalls:
    """The calls of a step of which a guard has refused what came while they ran, and asks for another try.

    Such a tool does not run twice: it is stopped, and the model is told why, as the tool's error.

    Args:
        run: The run.
        calls: The step's.
    """

    def __init__(self, run: AgentRun, calls: Sequence[Call]) -> None:
        self._run = run
        self._calls = calls

    def __contains__(self, chunk: object) -> bool:
        """Whether a chunk comes of a call that was refused before."""
        call = self._call_of(chunk)
        return call is not None and call.refused is not None

    def refuse(self, chunk: object) -> bool:
        """Refuse the call that a chunk comes of, for the verdict that stands.

        Returns:
            Whether that is done; False where the chunk is none of a call that runs, or the verdict asks for no other
            try, or the budget is used up.
        """
        call = self._call_of(chunk)
        if call is None or call.done:
            return False
        reason = reason_sent_back(self._run, Phase.OUTPUT_STREAM)
        if reason is None:
            return False
        call.refused = reason
        call.scope.cancel()
        return True

    def _call_of(self, chunk: object) -> Call | None:
        if type(chunk) is not ToolOutput:
            return None
        return next((call for call in self._calls if call.chunk.tool_call_id == chunk.tool_call_id), None)

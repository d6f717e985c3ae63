"""An agent as a step of a workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from interlock.messages import Message, MessageList
from interlock.steps import FunctionStep, StepContext

if TYPE_CHECKING:
    from interlock.runtime.agent import Agent

__all__ = ["AgentStep", "Asked"]

Asked = str | Message | list[Message] | MessageList
"""What an agent is asked."""


class AgentStep(FunctionStep[Asked, Any]):
    """An agent as a step: it takes a text or messages, and gives the answer's text, or the object it was asked for.

    The agent's tripwire is the run's: the outcome is ``Blocked``. Where the agent fails, the step does. What the caller
    of the run handed over as ``request_context``, the agent's processors and tools are given too.
    """

    kind: ClassVar[str] = "agent"

    def __init__(self, agent: Agent) -> None:
        async def run(ctx: StepContext[Asked]) -> object:
            result = await agent.generate(ctx.input, request_context=ctx.request_context)
            if result.tripwire is not None:
                ctx._run.latch.abort(result.tripwire)
            return result.text if result.output is None else result.output

        super().__init__(agent.id, run, input_schema=Asked, description=agent.description)
        self.subject = agent

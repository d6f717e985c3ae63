"""An agent as a step of a workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from interlock.messages import Message, MessageList
from interlock.steps import FunctionStep, StepContext

if TYPE_CHECKING:
    from interlock.runtime.agent import Agent

__all__ = ["AgentStep", "Asked"]

Asked = str | Message | list[Message] | MessageList
"""What an agent is asked."""

_NOBODY: Final = "nobody can approve of it here: this agent is a step of a workflow"


class AgentStep(FunctionStep[Asked, str]):
    """An agent as a step: it takes a text or messages, and gives the text of the answer.

    The agent's tripwire is the run's: the outcome is ``Blocked``. Where the agent fails, the step does. What the caller
    of the run handed over as ``request_context``, the agent's processors and tools are given too. What its guards
    decided stands in the outcome's ``checks``. Tools of the agent that need an approval do not run, and its model is
    told so: nobody can be asked there.
    """

    kind: ClassVar[str] = "agent"

    def __init__(self, agent: Agent) -> None:
        async def run(ctx: StepContext[Asked]) -> str:
            result = await agent.generate(ctx.input, request_context=ctx.request_context)
            while result.status == "suspended":
                result = await agent.resume(result.run_id, approve=False, reason=_NOBODY)
            if ctx._run.host is not None:
                ctx._run.host.checked(ctx, result.checks)
            if result.tripwire is not None:
                ctx._run.latch.abort(result.tripwire)
            return result.text

        super().__init__(agent.id, run, input_schema=Asked, output_schema=str, description=agent.description)
        self.subject = agent

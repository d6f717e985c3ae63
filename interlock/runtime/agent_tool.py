"""An agent as a tool of another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from interlock.errors import ToolError
from interlock.messages import ErrorChunk, Finish, Start, ToolCallApproval, ToolCallSuspended, TripwireChunk
from interlock.tools import Tool, ToolContext

if TYPE_CHECKING:
    from interlock.runtime.agent import Agent
    from interlock.runtime.result import AgentResult
    from interlock.runtime.stream import AgentStream

__all__ = ["agent_tool"]

_OWN: Final = (Start, Finish, TripwireChunk, ErrorChunk, ToolCallApproval, ToolCallSuspended)
"""Chunks that say how the inner run begins, waits and ends: the outer run's client is told by the call."""

_NOBODY: Final = "nobody can be asked here: this agent is a tool of another"

_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME: Final = 64


def agent_tool(agent: Agent, *, name: str | None = None, description: str | None = None) -> Tool:
    """The tool by which another agent asks this one.

    Its one argument is the text that the agent is asked. What the agent streams goes out as ``tool-output`` chunks
    while it runs, and through the guards of the agent that asks; the text of its answer is the tool's result. Its
    tokens are counted to the step that called it. It is cancelled with the run it is part of. Tools of its own that
    need an approval do not run, and its model is told so: nobody can be asked there.

    Args:
        agent: The agent that is asked.
        name: Default: its id, with what no tool's name may have replaced by ``_``.
        description: What the model is told of it. Default: the agent's own, or else that it answers.

    Raises:
        DefinitionError: The name is none.
    """

    async def ask(prompt: str, ctx: ToolContext) -> str:
        result = await _streamed(agent.stream(prompt, request_context=ctx.request_context), ctx)
        while result.status == "suspended":
            result = await _streamed(agent.resume_stream(result.run_id, approve=False, reason=_NOBODY), ctx)
        ctx.add_usage(result.usage)
        return _answer(made.name, agent.id, result)

    ask.__doc__ = "Args:\n    prompt: What it is asked, with all that it needs to know."
    said = description if description is not None else agent.description
    made = Tool(
        ask,
        name=name if name is not None else _NO_NAME.sub("_", agent.id)[:_LONGEST_NAME],
        description=said if said is not None else f"Ask the agent {agent.id!r}, which answers with a text.",
    )
    return made


async def _streamed(opened: AgentStream, ctx: ToolContext) -> AgentResult:
    """The result of the agent, whose chunks go out while it runs."""
    async with opened as stream:
        async for chunk in stream:
            if not isinstance(chunk, _OWN):
                ctx.stream(chunk)
                await ctx.delivered()
        return await stream.result()


def _answer(tool: str, agent_id: str, result: AgentResult) -> str:
    """The answer's text.

    Raises:
        ToolError: The agent did not come to one; it says why.
    """
    if result.status == "success":
        return result.text
    if result.tripwire is not None:
        tripwire = result.tripwire
        what = f"was stopped by {tripwire.processor_id!r}: {tripwire.reason}"
    else:
        what = "was cancelled" if result.error is None else f"failed: {type(result.error).__name__}: {result.error}"
    raise ToolError(tool, f"agent {agent_id!r} {what}")

"""Asking an agent, and answering what a run of one waits for: what it says goes out as it comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import anyio

from interlock.cli.ending import Ending, ExitCode, WrongCall, blocked, failed
from interlock.cli.stored_runs import command_line
from interlock.cli.terminal import AnswerOutput
from interlock.errors import AlreadyResumed, NothingSuspended, StorageError, UnknownRun
from interlock.messages import StepStart, TextDelta, ToolCall, ToolCallSuspended
from interlock.runtime import Agent, AgentResult
from interlock.runtime.stream import AgentStream

__all__ = ["answer_agent", "run_agent"]

_CUT_SHORT: Final = {
    "max-steps": "the answer is unfinished: the model still called tools when its steps were used up (max_steps)",
    "length": "the answer is unfinished: the model reached its limit of tokens",
    "content-filter": "the answer is unfinished: the provider's own filter stopped it",
}
"""What is said where a run ended well and the answer may not have, by finish reason."""


def run_agent(agent: Agent, text: str, output: AnswerOutput, *, target: str = "FILE:NAME") -> Ending:
    """Ask an agent, writing its answer as it comes. The texts of two steps are kept apart by a line end.

    Args:
        agent: Whom to ask.
        text: What to ask.
        output: Where the answer goes.
        target: How the agent was named, for the commands that are said.
    """
    return _ending(agent, lambda: agent.stream(text), output, target)


def answer_agent(
    agent: Agent,
    run_id: str,
    output: AnswerOutput,
    *,
    target: str,
    approve: bool | None,
    reason: str | None = None,
    call: str | None = None,
    data: str | None = None,
) -> Ending:
    """Answer a run of an agent that waits, and run on with it.

    Args:
        agent: The run's agent; it has a ``run_store``.
        run_id: The run.
        output: Where the answer goes.
        target: How the agent was named.
        approve: Whether its tools may run; None: that is not what it is answered.
        reason: Why not.
        call: The tool call that is meant, where several wait.
        data: What a tool is answered that has asked something, as JSON.

    Raises:
        WrongCall: The agent keeps its runs nowhere, or the run does not take the answer. Nothing has happened.
    """
    if not agent.shelf.stored:
        raise WrongCall(
            f"{target} keeps its runs in its own process only, so there is nothing to answer: give the agent a "
            "run_store, such as SQLiteRunStore(…)"
        )
    value: object = None
    if data is not None:
        try:
            value = json.loads(data)
        except ValueError as error:
            raise WrongCall(
                f"--data has to be JSON, and it is none: {error}. A text stands in double quotes: --data '\"yes\"'"
            ) from None
    return _ending(
        agent,
        lambda: agent.resume_stream(run_id, approve=approve, reason=reason, tool_call_id=call, data=value),
        output,
        target,
    )


def _ending(agent: Agent, begun: Callable[[], AgentStream], output: AnswerOutput, target: str) -> Ending:
    async def read() -> AgentResult:
        async with begun() as stream:
            async for chunk in stream:
                if isinstance(chunk, TextDelta):
                    goes_on = output.write(chunk.text)
                else:
                    goes_on = output.end_line() if isinstance(chunk, StepStart) else True
                if not goes_on:
                    stream.cancel()
            return await stream.result()

    try:
        result = anyio.run(read)
    except (NothingSuspended, AlreadyResumed, UnknownRun) as error:
        raise WrongCall(str(error)) from None
    except StorageError:
        raise
    except Exception as error:  # before the run had begun: a list or the instructions given as a function
        return failed(error, ())
    return replace(_ending_of(result, agent, target), coverage=result.coverage())


def _ending_of(result: AgentResult, agent: Agent, target: str) -> Ending:
    if result.tripwire is not None:
        return blocked(result.tripwire, result.checks)
    if result.error is not None:
        return failed(result.error, result.checks)
    if result.status == "canceled":
        return Ending(ExitCode.FAILED, "the run was canceled", result.checks)
    if result.status == "suspended":
        return Ending(ExitCode.SUSPENDED, "\n".join(_suspended(result, agent, target)), result.checks)
    return Ending(ExitCode.SUCCESS, _CUT_SHORT.get(result.finish_reason), result.checks)


def _suspended(result: AgentResult, agent: Agent, target: str) -> list[str]:
    asks = [isinstance(call, ToolCallSuspended) for call in result.suspended]
    lines = [f"suspended: {'a tool has asked something' if any(asks) else 'an approval is asked for'}"]
    several = len(result.suspended) > 1
    for call, has_asked in zip(result.suspended, asks, strict=True):
        lines.append(f"  {call.tool_name} {json.dumps(_asked(call))} ({call.tool_call_id})")
        if agent.shelf.stored:
            which = ("--call", call.tool_call_id) if several else ()
            command = command_line("runs", "approve", target, result.run_id, *which)
            lines.append(f"    answer it with: {command}{' --data JSON' if has_asked else ''}")
            if not has_asked:
                lines.append(f"    refuse it with: {command} --deny")
    if not agent.shelf.stored:
        lines.append("  nobody can answer: the agent keeps its runs in this process only; give it a run_store")
    return lines


def _asked(call: ToolCall | ToolCallSuspended) -> object:
    return call.payload if isinstance(call, ToolCallSuspended) else call.args

"""Running an agent or a workflow on a text, its answer on standard output."""

from __future__ import annotations

import json
from typing import Any, Final, assert_never

import anyio

from interlock.cli.ending import Ending, ExitCode, WrongCall, blocked, failed
from interlock.cli.terminal import AnswerOutput
from interlock.messages import StepStart, TextDelta
from interlock.processors import InputContext
from interlock.processors.base import ProcessorStep
from interlock.processors.hook_context import HookContext
from interlock.runtime import Agent, AgentResult
from interlock.schema import is_set, schema_name, validate
from interlock.workflows import Blocked, Canceled, Completed, Failed, Outcome, Workflow, acting_steps

__all__ = ["run_agent", "run_workflow"]

_CUT_SHORT: Final = {
    "max-steps": "the answer is unfinished: the model still called tools when its steps were used up (max_steps)",
    "length": "the answer is unfinished: the model reached its limit of tokens",
    "content-filter": "the answer is unfinished: the provider's own filter stopped it",
}
"""What is said where a run ended well and the answer may not have, by finish reason."""


def run_agent(agent: Agent, text: str, output: AnswerOutput) -> Ending:
    """Ask an agent, writing its answer as it comes. The texts of two steps are kept apart by a line end.

    Args:
        agent: Whom to ask.
        text: What to ask.
        output: Where the answer goes.
    """

    async def ask() -> AgentResult:
        async with agent.stream(text) as stream:
            async for chunk in stream:
                if isinstance(chunk, TextDelta):
                    goes_on = output.write(chunk.text)
                else:
                    goes_on = output.end_line() if isinstance(chunk, StepStart) else True
                if not goes_on:
                    stream.cancel()
            return await stream.result()

    try:
        result = anyio.run(ask)
    except Exception as error:  # before the run had begun: a list or the instructions given as a function
        return failed(error, ())
    return _ending_of(result)


def _ending_of(result: AgentResult) -> Ending:
    if result.tripwire is not None:
        return blocked(result.tripwire, result.checks)
    if result.error is not None:
        return failed(result.error, result.checks)
    if result.status == "canceled":
        return Ending(ExitCode.FAILED, "the run was canceled", result.checks)
    return Ending(ExitCode.SUCCESS, _CUT_SHORT.get(result.finish_reason), result.checks)


def run_workflow(workflow: Workflow[Any, Any], text: str, output: AnswerOutput) -> Ending:
    """Run a workflow on a text, writing what it gives. A workflow of processors judges it as a user's message.

    Args:
        workflow: What to run.
        text: Its input; see :func:`workflow_input`.
        output: Where what continues goes.

    Raises:
        WrongCall: The text is no input of the workflow.
    """
    value = workflow_input(workflow, text)

    async def run() -> Outcome[Any]:
        return await workflow.run(value)

    outcome = anyio.run(run)
    match outcome:
        case Completed(output=given, checks=checks):
            shown = _shown(given)
            if shown:
                output.write(shown)
            emptied = isinstance(given, HookContext) and not shown
            return Ending(ExitCode.SUCCESS, "nothing of the text continues" if emptied else None, checks)
        case Blocked(tripwire=tripwire, checks=checks):
            return blocked(tripwire, checks)
        case Failed(error=error, checks=checks):
            return failed(error, checks)
        case Canceled(checks=checks):
            return Ending(ExitCode.FAILED, "the run was canceled", checks)
        case _:
            assert_never(outcome)


def workflow_input(workflow: Workflow[Any, Any], text: str) -> object:
    """What a workflow is given for a text.

    A workflow of processors gets an :class:`InputContext`. Any other gets the text where its input schema takes one,
    and otherwise what the text says as JSON.

    Raises:
        WrongCall: It is none of these.
    """
    schema = workflow.input_schema
    if not is_set(schema):
        guards = any(isinstance(step, ProcessorStep) for step in acting_steps(workflow.plan))
        return InputContext(text) if guards else text
    for candidate in (text, InputContext(text)):
        if _fault(schema, candidate) is None:
            return candidate
    try:
        value: object = json.loads(text)
    except ValueError as error:
        raise WrongCall(
            f"workflow {workflow.id!r} takes {schema_name(schema)}, so TEXT has to be JSON, and it is none: {error}"
        ) from None
    fault = _fault(schema, value)
    if fault is not None:
        raise WrongCall(f"TEXT does not fit what workflow {workflow.id!r} takes, {schema_name(schema)}: {fault}")
    return value


def _fault(schema: object, value: object) -> str | None:
    from pydantic import ValidationError

    try:
        validate(schema, value)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}".removeprefix(": ") for one in faults)
    return None


def _shown(value: object) -> str:
    """What is printed of a workflow's output: the texts that continue, a text, or JSON."""
    if isinstance(value, HookContext):
        return "\n".join(message.text for message in value.messages)
    if isinstance(value, str):
        return value
    from pydantic_core import to_json

    return to_json(value, indent=2, fallback=str).decode()

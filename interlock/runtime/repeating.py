"""Doing a step again: because a processor did not accept it, or because the model call failed and one knows better."""

from __future__ import annotations

from typing import Final

import anyio

from interlock.messages import StepStartPart, TextPart, ToolError, ToolResult
from interlock.processors.contexts import APIErrorContext
from interlock.processors.progress import StepResult
from interlock.runtime.agent_run import FEEDBACK, AgentRun
from interlock.verdict import Phase, Tripwire

__all__ = ["ERROR_RETRIES", "reason_sent_back", "recover", "reject", "repeats", "sent_back", "spend_retry"]

ERROR_RETRIES: Final = 10
"""How often a run recovers from failed model calls where ``max_processor_retries`` says nothing."""

_HONOURED: Final = frozenset(Phase) - {Phase.INPUT, Phase.API_ERROR, Phase.TOOL_RESULT}
"""Where ``abort(retry=True)`` has the step done again. Before the loop there is none; a failed call is tried again by
``Retry``; a tool does not run twice, so of its result the model is told only why it was not accepted."""


def repeats(run: AgentRun) -> bool:
    """Whether the verdict that stands asks for the step again, where that can be had and the budget is not used up."""
    tripwire = run.facts.latch.tripwire
    if tripwire is None or tripwire.phase not in _HONOURED or not _has_budget(run, tripwire):
        return False
    return tripwire.phase is Phase.OUTPUT_RESULT or not _tools_have_begun(run)


def spend_retry(run: AgentRun) -> Tripwire | None:
    """Take the verdict that stands back, where it asks for another try and the budget is not used up.

    Returns:
        The verdict; None where it stands.
    """
    tripwire = run.facts.latch.tripwire
    if tripwire is None or not _has_budget(run, tripwire):
        return None
    run.points.note_block(tripwire)
    run.facts.retry_count += 1
    run.facts.latch.renew()
    run.points.renew_paths()
    return tripwire


def _tools_have_begun(run: AgentRun) -> bool:
    """Whether a tool was run for the step that is being taken: doing that again would run it twice."""
    step = run.open_step
    return step is not None and any(call.tool_call_id in run.tool_progress for call in step.tool_calls)


def _has_budget(run: AgentRun, tripwire: Tripwire) -> bool:
    return tripwire.retry and run.facts.retry_count < (run.settings.max_retries or 0)


def reason_sent_back(run: AgentRun, phase: Phase) -> str | None:
    """What the model is to be told of a tool whose outcome was refused, where the verdict asks for another try.

    A tool does not run twice: the model goes on from there, with one step more.

    Args:
        run: The run.
        phase: Where it was looked at.

    Returns:
        The reason; None where the verdict that stands is another's, or stands because the budget is used up.
    """
    tripwire = run.facts.latch.tripwire
    if tripwire is None or tripwire.phase is not phase or spend_retry(run) is None:
        return None
    run.more_steps += 1
    return tripwire.reason


def sent_back(run: AgentRun, came: ToolResult | ToolError, phase: Phase) -> ToolError | None:
    """That reason, as the error that stands in the place of the outcome."""
    reason = reason_sent_back(run, phase)
    if reason is None:
        return None
    return ToolError(came.tool_call_id, came.tool_name, came.args, reason, came.provider_executed)


def reject(run: AgentRun) -> None:
    """Take the newest step back, and have the model told why: what it said leaves the conversation.

    The step stays in the run's steps, with the finish reason ``"retry"``. A step whose tools have run keeps their pairs
    where only the final result was not accepted: the model is asked once more then.
    """
    tripwire = spend_retry(run)
    assert tripwire is not None  # whoever calls has asked repeats()
    run.takes_back = tripwire.phase is not Phase.OUTPUT_RESULT or not run.steps[-1].tool_results
    if not run.takes_back:
        run.more_steps += 1
        run.drop_held(texts_only=True)
        _take_texts_back(run)
    else:
        run.drop_held()
        _take_step_back(run, tripwire)
    run.messages.clear_system(FEEDBACK)
    reason = tripwire.reason if tripwire.reason.endswith((".", "!", "?", "…")) else f"{tripwire.reason}."
    run.messages.add_system(f"Your last answer was not accepted: {reason} Answer again.", tag=FEEDBACK)


def _take_step_back(run: AgentRun, tripwire: Tripwire) -> None:
    if run.before_answer is not None:
        run.messages.adopt(run.before_answer)
    step = run.steps[-1] if tripwire.phase is Phase.OUTPUT_RESULT else run.open_step
    if step is None:
        step = StepResult(run.number) if run.answer is None else run.answer.step(run.number)
        run.steps.append(step)
    step.finish_reason = "retry"
    step.reason = tripwire.reason
    if run.number == 0:
        run.begin_again()


def _take_texts_back(run: AgentRun) -> None:
    """Take what the newest step said out of the answer; its tool calls have run and stay."""
    known = run.messages.get(run.message_id)
    if known is None:
        return
    parts = known.parts
    begins = max((n for n, part in enumerate(parts) if isinstance(part, StepStartPart)), default=-1) + 1
    parts[begins:] = [part for part in parts[begins:] if not isinstance(part, TextPart)]


async def recover(run: AgentRun, error: Exception) -> None:
    """Ask what handles failed model calls, and wait as long as it says before the step is done again.

    Raises:
        Exception: The error itself: nobody can handle it, or the budget is used up.
        AbortSignal: A handler stopped the run.
    """
    if not run.points.acts(Phase.API_ERROR):
        raise error
    number = run.number
    context = APIErrorContext(run.messages, error=error, step_number=number, steps=run.steps, run=run.facts)
    context = await run.points.run(context, step_number=number)
    retry = context.retry
    limit = run.settings.max_retries if run.settings.max_retries is not None else ERROR_RETRIES
    if retry is None or run.facts.retry_count >= limit:
        raise error
    run.facts.retry_count += 1
    run.takes_back = True
    run.drop_held()
    if retry.delay > 0:
        run.waits = True
        try:
            await anyio.sleep(retry.delay)
        finally:
            run.waits = False
    run.look_at_latch()
    if number == 0:
        run.begin_again()

"""A run of an agent told in words: what each point decided, and why the run ended as it did. Never what was said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from interlock.messages import ToolCall, ToolCallSuspended, ToolError, ToolResult
from interlock.runtime.coverage import Coverage, has_read
from interlock.runtime.laid_over import ending
from interlock.runtime.occurred import Spot
from interlock.verdict import CheckRecord, Phase

if TYPE_CHECKING:
    from interlock.processors.progress import StepResult
    from interlock.runtime.result import AgentResult

__all__ = ["explained"]

_DID: Final = {
    "passed": "let it pass",
    "changed": "changed it",
    "warned": "warned",
    "blocked": "stopped the run",
    "not-checked": "did not check",
    "shadow-blocked": "would have stopped the run, and only shadows",
    "shadow-changed": "would have changed it, and only shadows",
}
_ORDER: Final = tuple(Phase)
_UNHONOURED: Final = {
    Phase.INPUT: "it asked for another try, which is not honoured at input: there is no step yet to do again",
    Phase.API_ERROR: "it asked for another try, which is not honoured at api_error: a handler returns Retry instead",
    Phase.TOOL_RESULT: "it asked for another try, which is not honoured at tool_result: the tool does not run twice",
}


def explained(result: AgentResult) -> str:
    """The run in words.

    Args:
        result: The run's.
    """
    return "\n".join(_lines(result))


def _lines(result: AgentResult) -> Iterator[str]:
    yield f"run {result.run_id}: {ending(result)}"
    tripwire = result.tripwire
    if tripwire is not None and tripwire.metadata:
        yield f"  it adds values under: {', '.join(map(str, tripwire.metadata))}"
    if tripwire is not None and tripwire.retry:
        spent = "it asked for another try, and the budget (max_processor_retries) had none left"
        yield f"  {_UNHONOURED.get(tripwire.phase, spent) if tripwire.phase is not None else spent}"
    if result.occurred is not None:
        yield f"came in: {_counted(result.occurred.asked()) or 'nothing'}"
        remembered = result.occurred.remembered()
        if remembered:
            yield f"remembered: {_counted(remembered)}"
    yield from _told(result, [check for check in result.checks if check.phase is Phase.INPUT], 0)
    yield from _steps(result)
    yield from _told(result, [check for check in result.checks if check.phase is Phase.OUTPUT_RESULT], 0)
    for call in result.suspended:
        what = "an answer to" if isinstance(call, ToolCallSuspended) else "an approval of"
        yield f"waits for {what} {call.tool_name} ({call.tool_call_id})"
    yield from _unchecked(result.coverage())


def _unchecked(coverage: Coverage) -> Iterator[str]:
    unread: dict[Sequence[str], list[str]] = {}
    for spot in coverage.unchecked:
        unread.setdefault(tuple(coverage.unsaid.get(spot, ())), []).append(f"{spot[1]} of {spot[0]}")
    for silent, spots in sorted(unread.items()):
        if not silent:
            yield f"looked at by no guard: {', '.join(spots)}"
        else:
            who = f"{', '.join(silent)} did not say what {'it reads' if len(silent) == 1 else 'they read'}"
            yield f"no guard said that it read: {', '.join(spots)} ({who})"


def _steps(result: AgentResult) -> Iterator[str]:
    checks = [check for check in result.checks if check.step_number is not None]
    numbers = {check.step_number for check in checks if check.step_number is not None}
    numbers |= {step.step_number for step in result.steps}
    stream = [check for check in result.checks if check.phase is Phase.OUTPUT_STREAM]
    if stream and not numbers:
        numbers = {0}
    for number in sorted(numbers):
        tries = [step for step in result.steps if step.step_number == number]
        own = [check for check in checks if check.step_number == number]
        told_steps = "; then again: ".join(_step(result, step, own) for step in tries)
        yield f"step {number}: {told_steps or 'the model has not answered'}"
        attempts = max((check.attempt for check in own), default=1)
        several = max(attempts, len(tries)) > 1
        last = number == max(numbers)
        for attempt in range(1, attempts + 1):
            told = [check for check in own if check.attempt == attempt]
            if last and attempt == attempts:  # over all chunks of the run there is one record a processor
                told += stream
                told.sort(key=_stands)
            yield from _told(result, told, attempts, several=several, over=len(numbers) > 1 or several)


def _stands(check: CheckRecord) -> int:
    """Where a check stands in an attempt: what its tools were asked and gave keeps its order."""
    return min(_ORDER.index(check.phase), _ORDER.index(Phase.TOOL_CALL))


def _told(
    result: AgentResult, checks: Sequence[CheckRecord], attempts: int, *, several: bool = False, over: bool = False
) -> Iterator[str]:
    places = {(check.phase, check.processor_id, check.list) for check in checks}
    seen = Counter((phase, processor_id) for phase, processor_id, _ in places)
    for check in checks:
        streamed = check.phase is Phase.OUTPUT_STREAM
        who = check.processor_id + (f" of the {check.list} list" if seen[check.phase, check.processor_id] > 1 else "")
        where = (
            f" (attempt {check.attempt})" if several and not streamed else " (all steps)" if streamed and over else ""
        )
        reason = f": {check.reason}" if check.reason else ""
        kept = "" if check.kept else ", and it was left behind"
        read = [f"{part} of {role}" for role, part in sorted(check.looked_at)] if has_read(check) else []
        looked = f" [read {', '.join(read)}]" if read else ""
        yield f"  {check.phase}{where}: {who} {_did(result, check, attempts)}{reason}{kept}{looked}"


def _did(result: AgentResult, check: CheckRecord, attempts: int) -> str:
    if check.denied is not None:
        denied = f"denied the call of {_tool_name(result, check.denied)}"
        return f"warned, and {denied}" if check.verdict == "warned" else denied
    if check.verdict != "blocked":
        return _DID[check.verdict]
    tripwire = result.tripwire
    if check.failed:
        return "could not decide, and stopped the run"
    ended = tripwire is not None and (tripwire.processor_id, tripwire.phase) == (check.processor_id, check.phase)
    if check.phase is Phase.OUTPUT_STREAM:
        return _DID["blocked"] if ended else "rejected an attempt"
    if ended and check.attempt >= attempts and check is _last_block(result, check):
        return _DID["blocked"]
    if check.phase is Phase.TOOL_RESULT:
        return "did not accept what the tool gave"
    if check.step_number is None:
        return "rejected the answer"
    return f"rejected attempt {check.attempt} of step {check.step_number}"


def _last_block(result: AgentResult, check: CheckRecord) -> CheckRecord:
    """The newest block of a processor at a point: only that one can have stopped the run."""
    same = (check.processor_id, check.phase, "blocked")
    return next(one for one in reversed(result.checks) if (one.processor_id, one.phase, one.verdict) == same)


def _counted(spots: Mapping[Spot, int]) -> str:
    return ", ".join(f"{part} of {role}" + (f" ×{count}" if count > 1 else "") for (role, part), count in spots.items())


def _tool_name(result: AgentResult, tool_call_id: str) -> str:
    calls = (call for step in result.steps for call in step.tool_calls)
    return next((call.tool_name for call in calls if call.tool_call_id == tool_call_id), "a tool")


def _step(result: AgentResult, step: StepResult, checks: Sequence[CheckRecord]) -> str:
    if step.finish_reason == "retry":
        return f"the answer was not accepted ({step.reason})"
    said = f"the model ended with {step.finish_reason}"
    if not step.tool_calls:
        return said
    came = {one.tool_call_id: one for one in step.tool_results}
    became = [_call(result, call, came.get(call.tool_call_id), checks) for call in step.tool_calls]
    calls = zip(step.tool_calls, became, strict=True)
    return f"{said} and called {', '.join(f'{call.tool_name} ({told})' for call, told in calls)}"


def _call(
    result: AgentResult, call: ToolCall, came: ToolResult | ToolError | None, checks: Sequence[CheckRecord]
) -> str:
    """What became of a call: whether the tool was started and came to an end, and what it waits for."""
    if isinstance(came, ToolResult):
        return "ran"
    id_ = call.tool_call_id
    progress = None if result.occurred is None else result.occurred.tools.get(id_)
    if any(one.tool_call_id == id_ for one in result.suspended):
        return "waits for an approval" if progress is None else "asked something, and waits"
    if progress == "started":
        return "started, and did not end" if came is not None else "started, and was cancelled before it ended"
    if progress is not None and came is None:
        return "nothing of it went on"
    if progress == "returned":
        return "ran, and the model was told an error"
    if progress == "raised" or (came is not None and call.provider_executed):
        return "failed"
    if call.provider_executed:
        return "run by the provider, and nothing of it went on"
    denials = [check for check in checks if check.denied == id_ and check.kept]
    if denials:
        return "; ".join(f"denied: {check.reason}, by {check.processor_id}" for check in denials)
    return "did not run"

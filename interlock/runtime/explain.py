"""A run of an agent told in words: what each point decided, and why the run ended as it did. Never what was said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from interlock.messages import ToolError
from interlock.runtime.laid_over import ending
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
_ONCE_BEFORE: Final = (Phase.INPUT,)
_ONCE_BEHIND: Final = (Phase.OUTPUT_STREAM, Phase.OUTPUT_RESULT)


def explained(result: AgentResult) -> str:
    """The run in words.

    Args:
        result: The run's.
    """
    return "\n".join(_lines(result))


def _lines(result: AgentResult) -> Iterator[str]:
    yield f"run {result.run_id}: {ending(result)}"
    if result.tripwire is not None and result.tripwire.metadata:
        told = ", ".join(f"{name}: {value}" for name, value in result.tripwire.metadata.items())
        yield f"  it adds {told}"
    if result.tripwire is not None and result.tripwire.retry:
        yield "  it asked for another try, and the budget (max_processor_retries) had none left"
    yield from _points(result.checks, _ONCE_BEFORE, None)
    numbers = sorted({check.step_number for check in result.checks if check.step_number is not None})
    for number in sorted({*numbers, *(step.step_number for step in result.steps)}):
        tries = [step for step in result.steps if step.step_number == number]
        yield f"step {number}: {'; then again: '.join(map(_step, tries)) or 'the model was not asked'}"
        yield from _points(result.checks, tuple(Phase), number)
    yield from _points(result.checks, _ONCE_BEHIND, None)
    for call in result.suspended:
        yield f"waits for an approval of {call.tool_name} ({call.tool_call_id})"
    unchecked = result.coverage().unchecked
    if unchecked:
        told = ", ".join(f"{part} of {role}" for role, part in unchecked)
        yield f"looked at by no guard: {told}"


def _step(step: StepResult) -> str:
    if step.finish_reason == "retry":
        return f"the answer was not accepted ({step.reason})"
    said = f"the model ended with {step.finish_reason}"
    if not step.tool_calls:
        return said
    failed = {one.tool_call_id for one in step.tool_results if isinstance(one, ToolError)}
    ran = {one.tool_call_id for one in step.tool_results}
    calls = [
        f"{call.tool_name} {_came(call.tool_call_id in ran, call.tool_call_id in failed)}" for call in step.tool_calls
    ]
    return f"{said} and called {', '.join(calls)}"


def _came(ran: bool, failed: bool) -> str:
    return "(failed)" if failed else "(ran)" if ran else "(did not run)"


def _points(checks: Sequence[CheckRecord], phases: Sequence[Phase], number: int | None) -> Iterator[str]:
    for check in checks:
        if check.phase in phases and check.step_number == number:
            reason = f": {check.reason}" if check.reason else ""
            kept = "" if check.kept else ", and it was left behind"
            yield f"  {check.phase}: {check.processor_id} {_DID[check.verdict]}{reason}{kept}"

"""From how a workflow's run ended to what is printed, said, and exited with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, assert_never

from interlock.cli.ending import Ending, ExitCode, blocked, failed
from interlock.cli.terminal import AnswerOutput
from interlock.processors.hook_context import HookContext
from interlock.workflows import Blocked, Canceled, Completed, Failed, Outcome, Suspended, Suspension

__all__ = ["ending_of", "json_text", "waiting"]


def ending_of(
    outcome: Outcome[Any],
    output: AnswerOutput,
    *,
    answer: Callable[[Suspension | None], str] | None = None,
    said: str | None = None,
) -> Ending:
    """Write what a run gave, and say how it ended.

    Args:
        outcome: How.
        output: Where what continues goes.
        answer: Gives the command that answers a suspension (None: the only one); without it nothing can.
        said: What to say of a run that ended well.
    """
    match outcome:
        case Completed(output=given, checks=checks):
            shown = _shown(given)
            if shown:
                output.write(shown)
            if isinstance(given, HookContext) and not shown:
                said = "nothing of the text continues"
            return Ending(ExitCode.SUCCESS, said, checks)
        case Blocked(tripwire=tripwire, checks=checks):
            return blocked(tripwire, checks)
        case Failed(error=error, checks=checks):
            return failed(error, checks)
        case Canceled(checks=checks):
            return Ending(ExitCode.FAILED, "the run was canceled", checks)
        case Suspended(checks=checks):
            return Ending(ExitCode.SUSPENDED, "\n".join(_suspended(outcome, answer)), checks)
        case _:
            assert_never(outcome)


def waiting(suspension: Suspension) -> str:
    """What waits, and for what, in a line.

    Example:
        >>> waiting(Suspension("approve", "approve", "refund", {"amount": 900}, "wait_1"))
        '\\'approve\\' waits (label refund): {"amount":900}'
    """
    index = "" if suspension.index is None else f" index {suspension.index}"
    label = "" if suspension.label is None else f" (label {suspension.label})"
    payload = "" if suspension.payload is None else f": {json_text(suspension.payload)}"
    return f"{suspension.path!r}{index} waits{label}{payload}"


def json_text(value: object, *, indent: int | None = None) -> str:
    """A value as JSON; what has no such form is written as Python says it."""
    from pydantic_core import to_json

    return to_json(value, indent=indent, fallback=str).decode()


def _suspended(outcome: Suspended, answer: Callable[[Suspension | None], str] | None) -> Iterator[str]:
    yield "suspended"
    several = len(outcome.suspensions) > 1
    for suspension in outcome.suspensions:
        yield f"  {waiting(suspension)}"
        if answer is not None:
            yield f"    answer it with: {answer(suspension if several else None)}"
    if answer is None:
        yield "  nothing can answer it, for the run is kept nowhere: run it with --store FILE"


def _shown(value: object) -> str:
    """What is printed of a workflow's output: the texts that continue, a text, or JSON."""
    if isinstance(value, HookContext):
        return "\n".join(message.text for message in value.messages)
    return value if isinstance(value, str) else json_text(value, indent=2)

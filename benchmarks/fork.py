"""Forks of a long conversation, one per branch."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.harness import Effort, Measured, Row, measure_cost
from interlock.messages import Message, MessageList, TextPart, ToolInvocationPart

__all__ = ["ROWS"]

MESSAGES = 1_000
BRANCHES = 5


def history() -> MessageList:
    """A conversation in which every fourth message carries a tool call with its result."""
    messages: list[Message] = []
    for number in range(MESSAGES):
        text = TextPart(f"message number {number}, with a few words in it")
        if number % 4 == 3:
            call = ToolInvocationPart(
                f"call-{number}", "lookup", {"key": number}, state="result", result={"found": True}
            )
            messages.append(Message.assistant([text, call]))
        else:
            messages.append(Message.user([text]) if number % 2 == 0 else Message.assistant([text]))
    return MessageList(messages)


def _forks_that_read(effort: Effort) -> Measured:
    base = history()

    def work() -> list[str]:
        return [base.fork().all[-1].text for _ in range(BRANCHES)]

    assert work() == [base.all[-1].text] * BRANCHES
    return measure_cost(work, effort, unit="µs")


ROWS: Sequence[Row] = (
    Row("fork of 1,000 messages for five branches that read the last", 10, 5, "µs", _forks_that_read),
)

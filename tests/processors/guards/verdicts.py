"""How tests ask a guard by itself."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import cast

from interlock.messages import Message, MessageList
from interlock.processors import InputContext, ModerationProcessor, PIIDetector, PromptInjectionDetector
from interlock.processors.seat import RunFacts, Seat
from interlock.verdict import AbortSignal, Tripwire, Violation

Guard = PIIDetector | PromptInjectionDetector | ModerationProcessor


@dataclass(frozen=True)
class Seen:
    """What a guard made of some input."""

    texts: list[str]
    tripwire: Tripwire | None = None
    warnings: list[Violation] = field(default_factory=list[Violation])
    messages: list[Message] = field(default_factory=list[Message])


def ask(guard: Guard, *messages: str | Message) -> Seen:
    """Let a guard look at input messages."""
    given = [Message.user(m) if isinstance(m, str) else m for m in messages]
    seat = Seat(guard.id, RunFacts(), {})
    ctx = InputContext(MessageList(given)).seated(seat)
    try:
        back = cast("object", guard.process_input(ctx))
        assert not isinstance(back, Awaitable), "these guards ask no model, so there is nothing to wait for"
    except AbortSignal as stopped:
        return Seen([], stopped.tripwire, seat.warnings)
    return Seen([m.text for m in ctx.messages], None, seat.warnings, list(ctx.messages))

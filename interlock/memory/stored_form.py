"""What of a message is stored: a copy, without what was not accepted or is of this run alone."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.messages import Message, Part, ReasoningPart, StepStartPart, TextPart, ToolInvocationPart
from interlock.messages.signals import TRANSIENT

__all__ = ["stored_form"]


def stored_form(message: Message, *, thread: str, resource: str | None = None) -> Message | None:
    """A copy of a message as a thread keeps it; None where nothing of it is kept.

    System messages, transient signals, tool calls without a result and empty texts are not kept. Neither is how a text
    came to be by edits: that holds what a guard has taken out of it.

    Args:
        message: The message.
        thread: The thread's id, which the copy bears.
        resource: The same for the resource.

    >>> said = Message.user([TextPart("Hello"), TextPart("")])
    >>> kept = stored_form(said, thread="t1", resource="ann")
    >>> kept.id == said.id, kept.thread_id, len(kept.parts)
    (True, 't1', 1)
    """
    if message.role == "system" or (message.role == "signal" and message.metadata.get(TRANSIENT) is True):
        return None
    parts = list(_kept(message.parts))
    if all(isinstance(part, StepStartPart) for part in parts):
        return None
    return Message(
        message.role,
        parts,
        id=message.id,
        created_at=message.created_at,
        thread_id=thread,
        resource_id=resource,
        metadata=message.metadata,
        provider_metadata=message.provider_metadata,
    )


def _kept(parts: Iterable[Part]) -> Iterable[Part]:
    for part in parts:
        if isinstance(part, ToolInvocationPart) and part.state == "call":
            continue
        if isinstance(part, TextPart) and not part.text:
            continue
        if isinstance(part, ReasoningPart) and not (part.text or part.signature or part.provider_metadata):
            continue
        made = part.copy()
        if isinstance(made, TextPart | ReasoningPart):
            made.history = None
        yield made

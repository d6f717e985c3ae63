"""Changes of a message's parts by name: exact text edits, and what came of a tool call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from interlock.messages.composing import exact
from interlock.messages.message import Message
from interlock.messages.parts import JSONValue, ReasoningPart, TextPart, ToolInvocationPart
from interlock.messages.rewriting import History, TextEdit, apply_edits, checked_edits

__all__ = ["KEEP", "edit_text", "update_tool_invocation"]

KEEP: Final[Any] = object()
"""Stands for a value that is not to be changed."""


def edit_text(message: Message, part_index: int, edits: Sequence[TextEdit]) -> None:
    """Change a text and record how, for a merge.

    Raises:
        ValueError: There is no such part, it has no text, or an edit does not fit.
    """
    where = f"message {message.id!r}, part {part_index}"
    count = len(message._parts)
    if not 0 <= part_index < count:
        raise ValueError(f"{where}: there is no such part; the message has {count} (counted from 0)")
    if not isinstance(message._parts[part_index], TextPart | ReasoningPart):
        raise ValueError(f"{where}: a part of type {message._parts[part_index].type!r} has no text to edit")
    ordered = checked_edits(message._parts[part_index].text, edits, where)  # type: ignore[union-attr]
    if not ordered:
        return
    part = message.parts[part_index]
    assert isinstance(part, TextPart | ReasoningPart)
    after = apply_edits(part.text, ordered)
    part.history = History(part.history, part.text, tuple(map(exact, ordered)), after)
    if isinstance(part, ReasoningPart) and after != part.text:
        part.signature = None
    part.text = after


def update_tool_invocation(
    message: Message,
    tool_call_id: str,
    *,
    result: JSONValue = KEEP,
    error: str | None = None,
    args: JSONValue = KEEP,
    model_output: JSONValue = KEEP,
) -> None:
    """Change the tool call of that id in a message that has it.

    A model may use an id twice in one turn. What came of a call belongs to the first of that id that still waits for
    it; anything else to the last.

    Raises:
        ValueError: Both a result and an error are given.
    """
    if result is not KEEP and error is not None:
        raise ValueError(f"tool call {tool_call_id!r}: give a result or an error, not both")
    parts = [p for p in message.parts if isinstance(p, ToolInvocationPart) and p.tool_call_id == tool_call_id]
    ended = result is not KEEP or error is not None
    part = next((p for p in parts if ended and p.state == "call"), parts[-1])
    if args is not KEEP:
        part.args = args
    if result is not KEEP:
        part.state, part.result, part.error = "result", result, None
    if error is not None:
        part.state, part.result, part.error, part.model_output = "error", None, error, None
    if model_output is not KEEP:
        part.model_output = model_output

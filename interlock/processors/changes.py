"""What a hook may return to change what passes: one small class a shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from interlock.messages import Message, Prompt
from interlock.messages.chunks import Chunk
from interlock.models import LanguageModel, ToolChoice
from interlock.schema import UNSET, Unset
from interlock.tools import Tool

__all__ = [
    "CachedResponse",
    "Changes",
    "Deny",
    "RequestChanges",
    "Retry",
    "StepChanges",
    "ToolCallChanges",
    "ToolResultChanges",
]


@dataclass(frozen=True, slots=True)
class Changes:
    """New content for the messages of this point. What is not named stays.

    Args:
        messages: The new content of ``ctx.messages``: a missing id is removed, a changed one replaced, a new one added.
            ``[]`` empties it on purpose.
        system_messages: The untagged system messages; strings will do.
    """

    messages: Sequence[Message] | Unset = UNSET
    system_messages: Sequence[Message | str] | Unset = UNSET


@dataclass(frozen=True, slots=True)
class StepChanges:
    """Other settings for this step alone; messages stay in the conversation. The next processor sees the new values.

    Args:
        messages, system_messages: As in :class:`Changes`.
        model: A model, or ``"provider/name"``.
        tools: What the model may call.
        tool_choice: ``"auto"``, ``"none"``, ``"required"`` or a tool's name.
        active_tools: Names of the tools that are offered; None: all.
        model_settings: ``temperature``, ``max_tokens``, …
        provider_options: For one provider alone, by its name.
        output_schema: What the answer is to be, as in a call; None: any text.
    """

    messages: Sequence[Message] | Unset = UNSET
    system_messages: Sequence[Message | str] | Unset = UNSET
    model: LanguageModel | str | Unset = UNSET
    tools: Sequence[Tool] | Unset = UNSET
    tool_choice: ToolChoice | Unset = UNSET
    active_tools: Sequence[str] | Unset | None = UNSET
    model_settings: Mapping[str, object] | Unset = UNSET
    provider_options: Mapping[str, object] | Unset = UNSET
    output_schema: object | Unset = UNSET


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """An answer that is there already.

    Args:
        chunks: What the model would have streamed; ends with a ``step-finish``.
    """

    chunks: Sequence[Chunk]


@dataclass(frozen=True, slots=True)
class RequestChanges:
    """Another prompt for this call alone, or an answer in place of the call.

    Args:
        prompt: What is sent. It never reaches the message list or the next step.
        response: The answer; the model is not called, everything after it runs as for a live one.
    """

    prompt: Prompt | Unset = UNSET
    response: CachedResponse | Unset = UNSET


@dataclass(frozen=True, slots=True)
class Retry:
    """A failed model call may be made again: the step begins anew, with the conversation as the handler leaves it.

    Args:
        delay: Seconds to wait before.
    """

    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class ToolCallChanges:
    """Other arguments for a tool call."""

    args: object


@dataclass(frozen=True, slots=True)
class Deny:
    """The tool does not run; the model is told the reason as the tool's error.

    Args:
        reason: Why not. What is no text becomes one: a call that is denied stays denied.
    """

    reason: str

    def __post_init__(self) -> None:
        given = cast("object", self.reason)
        if not isinstance(given, str):
            object.__setattr__(self, "reason", "the call was denied" if given is None else str(given))


@dataclass(frozen=True, slots=True)
class ToolResultChanges:
    """Another result in place of what the tool returned."""

    result: object

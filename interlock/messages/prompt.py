"""The outgoing form of a conversation: what a model is asked, provider by provider turned into JSON from here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, cast

from interlock.messages.parts import FilePart, JSONValue, PartBase, ReasoningPart, TextPart, copy_json

__all__ = ["Prompt", "PromptMessage", "PromptPart", "ToolCallPart", "ToolResultPart", "prompt_text"]


@dataclass(slots=True)
class ToolCallPart(PartBase):
    """A call the model made (role ``assistant``)."""

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    tool_call_id: str
    tool_name: str
    args: JSONValue = None
    provider_executed: bool = False
    provider_metadata: Mapping[str, object] | None = None


@dataclass(slots=True)
class ToolResultPart(PartBase):
    """What came of a call (role ``tool``); ``output`` is the error's text where ``is_error``."""

    type: ClassVar[Literal["tool-result"]] = "tool-result"
    tool_call_id: str
    tool_name: str
    output: JSONValue = None
    is_error: bool = False
    provider_executed: bool = False


PromptPart = TextPart | ReasoningPart | FilePart | ToolCallPart | ToolResultPart


@dataclass(slots=True)
class PromptMessage:
    """One message of a prompt.

    Args:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        parts: Its parts; ``tool`` messages hold only :class:`ToolResultPart`.
        provider_metadata: What a provider's form has besides (OpenAI: a ``name``), by provider.
    """

    role: Literal["system", "user", "assistant", "tool"]
    parts: list[PromptPart]
    provider_metadata: Mapping[str, object] | None = None

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(p.text for p in self.parts if isinstance(p, TextPart))

    def copy(self) -> PromptMessage:
        """A message that can be edited without touching this one."""
        return PromptMessage(self.role, [p.copy() for p in self.parts], copy_json(self.provider_metadata))


Prompt = Sequence[PromptMessage]


def prompt_text(prompt: Prompt) -> str:
    """All text of a prompt as one string, a line a piece: texts, reasoning, tool arguments and tool results."""
    return "\n".join(line for message in prompt for line in _lines(message.parts))


def _lines(parts: Iterable[PromptPart]) -> Iterable[str]:
    for part in parts:
        match part:
            case TextPart() | ReasoningPart():
                yield part.text
            case ToolCallPart():
                yield from _strings(part.args)
            case ToolResultPart():
                yield from _strings(part.output)
            case FilePart():
                pass


def _strings(value: JSONValue) -> Iterable[str]:
    if isinstance(value, Mapping):
        for key, item in cast("Mapping[str, JSONValue]", value).items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in cast("Sequence[JSONValue]", value):
            yield from _strings(item)
    elif value is not None:
        yield str(value)

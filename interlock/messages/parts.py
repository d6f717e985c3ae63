"""What a message is made of. Parts may be edited in place: a message handed out of a fork brings its own copies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

if TYPE_CHECKING:
    from interlock.messages.rewriting import History

__all__ = [
    "DataPart",
    "ErrorPart",
    "FilePart",
    "JSONValue",
    "Part",
    "PartBase",
    "ReasoningPart",
    "SourcePart",
    "StepStartPart",
    "TextPart",
    "ToolInvocationPart",
    "copy_json",
]

type_ = type
JSONValue = Any
"""None, bool, int, float, str, list or dict of these; whatever a tool returned, as long as it can be serialised."""

Metadata = Mapping[str, object]


def copy_json(value: JSONValue) -> JSONValue:
    """A copy of nested dicts and lists; everything else is shared."""
    kind = type_(value)
    if kind is dict:
        return {k: copy_json(v) for k, v in cast("dict[str, JSONValue]", value).items()}
    if kind is list:
        return [copy_json(v) for v in cast("list[JSONValue]", value)]
    return value


class PartBase:
    """What all parts share: a ``type``, and a copy that shares nothing one could edit."""

    __slots__ = ()

    def copy(self) -> Self:
        """A part that can be edited without touching this one."""
        made = replace(cast("Any", self))
        for f in fields(cast("Any", self)):
            value = getattr(made, f.name)
            if type_(value) in (dict, list):
                setattr(made, f.name, copy_json(value))
        return cast("Self", made)


@dataclass(slots=True)
class TextPart(PartBase):
    """Text that was said.

    Args:
        text: The text.
        provider_metadata: What the provider added, by provider.
    """

    type: ClassVar[Literal["text"]] = "text"
    text: str
    provider_metadata: Metadata | None = None
    history: History | None = field(default=None, compare=False, repr=False)
    """How the text came to be through ``edit_text``, for three-way merges; not part of the value."""

    def copy(self) -> TextPart:
        return TextPart(self.text, self.provider_metadata, self.history)


@dataclass(slots=True)
class ReasoningPart(PartBase):
    """What a model thought before it answered.

    Args:
        text: The reasoning, or the provider's summary of it.
        signature: The provider's seal; text under a seal must not be changed.
    """

    type: ClassVar[Literal["reasoning"]] = "reasoning"
    text: str
    signature: str | None = None
    provider_metadata: Metadata | None = None
    history: History | None = field(default=None, compare=False, repr=False)

    def copy(self) -> ReasoningPart:
        return ReasoningPart(self.text, self.signature, self.provider_metadata, self.history)


@dataclass(slots=True)
class ToolInvocationPart(PartBase):
    """A tool call and, once it is there, its result.

    Args:
        tool_call_id: Pairs the call with its result.
        tool_name: The tool.
        args: The arguments, decoded.
        state: ``"call"`` until it ended, then ``"result"`` or ``"error"``.
        result: What the tool returned (state ``"result"``).
        error: What the model is told instead (state ``"error"``).
        model_output: What the model is shown in place of ``result``, where the tool makes a form of its own.
        provider_executed: The provider ran it; the agent does not.
    """

    type: ClassVar[Literal["tool-invocation"]] = "tool-invocation"
    tool_call_id: str
    tool_name: str
    args: JSONValue = None
    state: Literal["call", "result", "error"] = "call"
    result: JSONValue = None
    error: str | None = None
    model_output: JSONValue = None
    provider_executed: bool = False
    provider_metadata: Metadata | None = None


@dataclass(slots=True)
class FilePart(PartBase):
    """An image, sound or document.

    Args:
        media_type: ``"image/png"``, …
        data: Its content in base64; or None where ``url`` is given.
        url: Where it lies.
        filename: Its name.
    """

    type: ClassVar[Literal["file"]] = "file"
    media_type: str
    data: str | None = None
    url: str | None = None
    filename: str | None = None
    provider_metadata: Metadata | None = None


@dataclass(slots=True)
class SourcePart(PartBase):
    """A source that an answer names."""

    type: ClassVar[Literal["source"]] = "source"
    id: str
    url: str
    title: str | None = None
    provider_metadata: Metadata | None = None


@dataclass(slots=True)
class StepStartPart(PartBase):
    """Where a further model call of the same turn begins."""

    type: ClassVar[Literal["step-start"]] = "step-start"


@dataclass(slots=True)
class DataPart(PartBase):
    """A value for the client, shown to no model."""

    type: ClassVar[Literal["data"]] = "data"
    name: str
    data: JSONValue = None
    id: str | None = None


@dataclass(slots=True)
class ErrorPart(PartBase):
    """That something failed at this place of an answer."""

    type: ClassVar[Literal["error"]] = "error"
    message: str


Part = TextPart | ReasoningPart | ToolInvocationPart | FilePart | SourcePart | StepStartPart | DataPart | ErrorPart

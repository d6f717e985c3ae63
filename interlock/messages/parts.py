"""What a message is made of. Parts may be edited in place: a message handed out of a fork brings its own copies."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, cast

if TYPE_CHECKING:
    from interlock.messages.rewriting import History

__all__ = [
    "DataPart",
    "ErrorPart",
    "FilePart",
    "JSONValue",
    "Origin",
    "Part",
    "PartBase",
    "ReasoningPart",
    "SourcePart",
    "StepStartPart",
    "TextPart",
    "ToolInvocationPart",
    "copy_json",
    "origin_of",
    "same_json",
    "same_part",
    "same_state",
    "value_fields",
]

JSONValue = Any
"""None, bool, int, float, str, list or dict of these; whatever a tool returned, as long as it can be serialised."""

Metadata = Mapping[str, object]


_IMMUTABLE: Final = frozenset({type(None), bool, int, float, str, bytes})


def copy_json(value: JSONValue) -> JSONValue:
    """A copy of nested dicts, lists and tuples; values of other mutable types are deep-copied."""
    kind = cast("type[object]", type(value))
    if kind in _IMMUTABLE:
        return value
    if kind is dict:
        return {k: copy_json(v) for k, v in cast("dict[str, JSONValue]", value).items()}
    if kind is list:
        return [copy_json(v) for v in cast("list[JSONValue]", value)]
    if kind is tuple:
        return tuple(copy_json(v) for v in cast("tuple[JSONValue, ...]", value))
    return copy.deepcopy(value)


def same_json(one: JSONValue, other: JSONValue) -> bool:
    """Whether two values are the same JSON: unlike ``==``, ``1``, ``1.0`` and ``True`` differ."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        left, right = cast("dict[str, JSONValue]", one), cast("dict[str, JSONValue]", other)
        return left.keys() == right.keys() and all(same_json(v, right[k]) for k, v in left.items())
    if isinstance(one, list | tuple):
        ours, theirs = cast("list[JSONValue]", one), cast("list[JSONValue]", other)
        return len(ours) == len(theirs) and all(map(same_json, ours, theirs))
    # NaN, alone among values, is not equal to itself.
    return bool(one == other) or (one != one and other != other)


class Origin:
    """A mark that a part shares with its copies, so that a merge knows which parts were one part once."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


class PartBase:
    """What all parts share: a ``type``, and a copy that shares nothing one could edit."""

    __slots__ = ("_origin",)

    _origin: Origin

    def copy(self) -> Self:
        """A part that can be edited without touching this one."""
        made = replace(cast("Any", self))
        for f in fields(cast("Any", self)):
            value = getattr(made, f.name)
            if type(value) not in _IMMUTABLE:
                setattr(made, f.name, copy_json(value))
        mark_alike(made, self)
        return cast("Self", made)


def origin_of(part: PartBase) -> Origin:
    """The mark of this part and of all its copies."""
    try:
        return part._origin
    except AttributeError:
        made = part._origin = Origin()
        return made


def mark_alike(copied: PartBase, part: PartBase) -> None:
    """Note that one part is a copy of the other."""
    copied._origin = origin_of(part)


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
        """A part that can be edited without touching this one."""
        made = TextPart(self.text, copy_json(self.provider_metadata), self.history)
        mark_alike(made, self)
        return made


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
        """A part that can be edited without touching this one."""
        made = ReasoningPart(self.text, self.signature, copy_json(self.provider_metadata), self.history)
        mark_alike(made, self)
        return made


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

    def copy(self) -> ToolInvocationPart:
        """A part that can be edited without touching this one."""
        made = ToolInvocationPart(
            self.tool_call_id,
            self.tool_name,
            copy_json(self.args),
            self.state,
            copy_json(self.result),
            self.error,
            copy_json(self.model_output),
            self.provider_executed,
            copy_json(self.provider_metadata),
        )
        mark_alike(made, self)
        return made


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


_VALUE_FIELDS: Final[dict[type[PartBase], tuple[str, ...]]] = {}


def value_fields(kind: type[PartBase]) -> tuple[str, ...]:
    """The names of the fields that make up a part's value."""
    names = _VALUE_FIELDS.get(kind)
    if names is None:
        names = _VALUE_FIELDS[kind] = tuple(f.name for f in fields(cast("Any", kind)) if f.compare)
    return names


def same_part(one: Part, other: Part) -> bool:
    """Whether two parts say the same, told as strictly as by :func:`same_json`."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    return all(same_json(getattr(one, name), getattr(other, name)) for name in value_fields(type(one)))


def same_state(one: Part, other: Part) -> bool:
    """Whether two parts say the same and came to it by the same edits: for a merge, ``aa`` without its first letter is
    not ``aa`` without its second."""
    return same_part(one, other) and getattr(one, "history", None) is getattr(other, "history", None)

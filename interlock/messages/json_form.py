"""Conversations as plain JSON values, with nothing lost, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields
from datetime import datetime
from functools import cache
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, cast, get_type_hints

from interlock.messages.json_text import plain_json
from interlock.messages.message import Envelope, Message, Role, Source
from interlock.messages.parts import (
    DataPart,
    ErrorPart,
    FilePart,
    JSONValue,
    Part,
    PartBase,
    ReasoningPart,
    SourcePart,
    StepStartPart,
    TextPart,
    ToolInvocationPart,
    copy_json,
    same_json,
)

if TYPE_CHECKING:
    from pydantic import BaseModel, TypeAdapter
    from pydantic_core import ErrorDetails

__all__ = ["list_from_json", "list_to_json"]

_PARTS: Final[Mapping[str, type[Part]]] = {
    part.type: part
    for part in (
        TextPart,
        ReasoningPart,
        ToolInvocationPart,
        FilePart,
        SourcePart,
        StepStartPart,
        DataPart,
        ErrorPart,
    )
}


def list_to_json(
    conversation: Iterable[Message], system: Iterable[Message], tags: Iterable[str]
) -> dict[str, JSONValue]:
    """The content of a message list.

    Raises:
        ValueError: A value has no JSON form; the message names its place.
    """
    return {
        "messages": [_message_to_json(m, f"message {m.id!r}") for m in conversation],
        "system": [_message_to_json(m, f"system message {m.id!r}") for m in system],
        "system_tags": list(tags),
    }


def _message_to_json(message: Message, where: str) -> dict[str, JSONValue]:
    envelope = message._envelope
    made: dict[str, JSONValue] = {
        "id": message.id,
        "role": envelope.role,
        "source": envelope.source,
        "created_at": envelope.created_at.isoformat(),
        "parts": [_part_to_json(p, f"{where}.parts[{at}]") for at, p in enumerate(message._parts)],
    }
    for name in ("tag", "thread_id", "resource_id", "metadata", "provider_metadata"):
        value = getattr(envelope, name)
        if value is not None and not (name == "metadata" and not value):
            made[name] = plain_json(value, f"{where}.{name}")
    return made


def _part_to_json(part: Part, where: str) -> dict[str, JSONValue]:
    """The part without the fields that have their default values."""
    made: dict[str, JSONValue] = {"type": part.type}
    for f in _said(type(part)):
        value = getattr(part, f.name)
        if f.default is MISSING or not same_json(value, f.default):
            made[f.name] = plain_json(value, f"{where}.{f.name}")
    return made


def _said(part: type[PartBase]) -> list[Field[Any]]:
    return [f for f in fields(cast("Any", part)) if f.compare]


def list_from_json(value: Mapping[str, JSONValue]) -> tuple[list[Message], list[Message], tuple[str, ...]]:
    """The conversation, the system messages and the tags that :func:`list_to_json` wrote.

    Raises:
        ValueError: Something is not as it should be; the message names the place and what was expected there.
    """
    from pydantic import ValidationError

    try:
        read = _adapter().validate_python(value)
    except ValidationError as error:
        raise ValueError(_fault(error.errors())) from None
    content = cast("Any", read)
    for name in ("messages", "system"):
        _no_id_twice(getattr(content, name), name)
    return (
        [_message(message) for message in content.messages],
        [_message(message) for message in content.system],
        tuple(content.system_tags),
    )


def _no_id_twice(messages: Iterable[Any], name: str) -> None:
    seen: dict[str, int] = {}
    for at, message in enumerate(messages):
        first = seen.setdefault(message.id, at)
        if first != at:
            raise ValueError(f"{name}[{at}].id: {message.id!r} is the id of {name}[{first}] already")


def _message(read: Any) -> Message:
    made = Message(read.role, [_part(part) for part in read.parts], id=read.id)
    made._envelope = Envelope(
        read.role,
        read.created_at,
        read.thread_id,
        read.resource_id,
        copy_json(read.metadata),
        copy_json(read.provider_metadata),
        read.source,
        read.tag,
    )
    made._open = 0
    return made


def _part(read: Any) -> Part:
    kind = _PARTS[read.type]
    build: Callable[..., Part] = kind
    return build(**{f.name: copy_json(getattr(read, f.name)) for f in _said(kind)})


def _fault(errors: list[ErrorDetails]) -> str:
    """The first fault by its place, and how many more there are."""
    place = ""
    after_part = False
    for step in errors[0]["loc"]:
        if after_part and isinstance(step, str):  # the part's type, which pydantic adds
            after_part = False
            continue
        after_part = isinstance(step, int) and place.endswith("parts")
        place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else step
    more = f" (and {len(errors) - 1} more faults)" if len(errors) > 1 else ""
    return f"{place or 'the value'}: {errors[0]['msg']}{more}"


@cache
def _adapter() -> TypeAdapter[BaseModel]:
    """What validates, made when first needed: pydantic is imported and its models are built only then."""
    from pydantic import ConfigDict, Strict, TypeAdapter, create_model

    config = ConfigDict(extra="forbid", strict=True)
    model = cast("Any", create_model)
    part: Any = Union[tuple(_part_model(kind, model, config) for kind in _PARTS.values())]  # noqa: UP007  built at run time
    message: Any = model(
        "Message",
        __config__=config,
        id=(str, ...),
        role=(Role, ...),
        source=(Source, ...),
        created_at=(Annotated[datetime, Strict(False)], ...),
        parts=(list[Annotated[part, _discriminator()]], ...),
        tag=(str | None, None),
        thread_id=(str | None, None),
        resource_id=(str | None, None),
        metadata=(dict[str, Any], {}),
        provider_metadata=(dict[str, Any] | None, None),
    )
    many = GenericAlias(list, message)
    whole = model(
        "MessageList",
        __config__=config,
        messages=(many, ...),
        system=(many, ...),
        system_tags=(list[str], ...),
    )
    return TypeAdapter(whole)


def _discriminator() -> Any:
    from pydantic import Field as PydanticField

    return PydanticField(discriminator="type")


def _part_model(kind: type[Part], model: Any, config: object) -> Any:
    hints = get_type_hints(kind, localns={"History": object})
    said: dict[str, Any] = {f.name: (hints[f.name], ... if f.default is MISSING else f.default) for f in _said(kind)}
    return model(kind.__name__, __config__=config, type=(Literal[kind.type], ...), **said)

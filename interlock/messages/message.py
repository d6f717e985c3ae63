"""One message of a conversation: a thin shell around parts that several messages may share.

Handing a message out of a fork must cost next to nothing, and what is done to it must stay in that fork. So a message
starts as a *shell*: it points at the parts and at the envelope (role, metadata and so on) of the message it was made
from. ``text`` reads through. The first access to ``parts`` copies them; the first access to ``metadata``, or a changed
attribute, copies the envelope.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, Literal, cast, get_args

from interlock.ids import new_id
from interlock.messages.parts import Part, PartBase, TextPart, copy_json, same_json, same_state

__all__ = ["Message", "Role", "Source"]

Role = Literal["user", "assistant", "system", "signal"]
"""Who speaks. A signal is written by the framework and shown to the model as a user message."""

Source = Literal["memory", "input", "response", "context"]
"""Where a message of a run came from."""

_ROLES: Final = frozenset(get_args(Role))
_PARTS: Final = 1
_ENVELOPE: Final = 2


@dataclass(slots=True)
class Envelope:
    """What a message says about itself besides its parts."""

    role: Role
    created_at: datetime
    thread_id: str | None
    resource_id: str | None
    metadata: dict[str, Any]
    provider_metadata: dict[str, Any] | None
    source: Source = "input"
    tag: str | None = None

    def copy(self) -> Envelope:
        return Envelope(
            self.role,
            self.created_at,
            self.thread_id,
            self.resource_id,
            copy_json(self.metadata),
            copy_json(self.provider_metadata),
            self.source,
            self.tag,
        )


class Message:
    """A message: who says it, and the parts it is made of.

    Two messages are equal when they have the same id, content and metadata, wherever they come from.

    Args:
        role: ``"user"``, ``"assistant"``, ``"system"`` or ``"signal"``.
        parts: Its parts, or a string for a single text.
        id: Unique in a conversation; made up where none is given.
        created_at: When it was said; now, in UTC, where not given.
        thread_id: The conversation it is stored under.
        resource_id: Whose conversation that is.
        metadata: Anything one wants to keep with it; no model sees it.
        provider_metadata: What a provider wants to have back, by provider.

    Raises:
        ValueError: The role is unknown.
        TypeError: Something in ``parts`` is no part.

    >>> Message.user("Where is my parcel?").text
    'Where is my parcel?'
    """

    __slots__ = ("_envelope", "_id", "_open", "_parts", "_registry")
    __hash__: ClassVar[None]  # type: ignore[assignment]  # messages can be changed

    def __init__(
        self,
        role: Role,
        parts: str | Iterable[Part],
        *,
        id: str | None = None,  # noqa: A002  the field's own word
        created_at: datetime | None = None,
        thread_id: str | None = None,
        resource_id: str | None = None,
        metadata: Mapping[str, object] | None = None,
        provider_metadata: Mapping[str, object] | None = None,
    ) -> None:
        self._id = new_id("msg") if id is None else id
        self._registry: dict[str, Message] | None = None
        self._parts: list[Part] = [TextPart(parts)] if isinstance(parts, str) else _checked_parts(parts)
        self._open = 0 if isinstance(parts, str) else _PARTS
        self._envelope = Envelope(
            _checked_role(role),
            datetime.now(UTC) if created_at is None else created_at,
            thread_id,
            resource_id,
            {} if metadata is None else copy_json(dict(metadata)),
            None if provider_metadata is None else copy_json(dict(provider_metadata)),
        )

    @classmethod
    def user(cls, text: str | Iterable[Part]) -> Message:
        """What a person says."""
        return cls("user", text)

    @classmethod
    def assistant(cls, text: str | Iterable[Part]) -> Message:
        """What the model says."""
        return cls("assistant", text)

    @classmethod
    def system(cls, text: str | Iterable[Part]) -> Message:
        """What the model is told about its task."""
        return cls("system", text)

    @property
    def id(self) -> str:
        """Its id; a message keeps it for life."""
        return self._id

    @property
    def text(self) -> str:
        """The text parts, joined. Reading it copies nothing."""
        parts = self._parts
        if len(parts) == 1:
            part = parts[0]
            return part.text if part.type == "text" else ""
        return "".join([part.text for part in parts if part.type == "text"])

    @property
    def parts(self) -> list[Part]:
        """Its parts. They, and the list itself, may be changed in place."""
        if not self._open & _PARTS:
            self._parts = [part.copy() for part in self._parts]
            self._opened(_PARTS)
        return self._parts

    @parts.setter
    def parts(self, parts: Iterable[Part]) -> None:
        self._parts = _checked_parts(parts)
        self._opened(_PARTS)

    @property
    def role(self) -> Role:
        """Who says it."""
        return self._envelope.role

    @role.setter
    def role(self, role: Role) -> None:
        self._own_envelope().role = _checked_role(role)

    @property
    def created_at(self) -> datetime:
        """When it was said."""
        return self._envelope.created_at

    @created_at.setter
    def created_at(self, moment: datetime) -> None:
        self._own_envelope().created_at = moment

    @property
    def thread_id(self) -> str | None:
        """The conversation it is stored under."""
        return self._envelope.thread_id

    @thread_id.setter
    def thread_id(self, thread_id: str | None) -> None:
        self._own_envelope().thread_id = thread_id

    @property
    def resource_id(self) -> str | None:
        """Whose conversation it belongs to."""
        return self._envelope.resource_id

    @resource_id.setter
    def resource_id(self, resource_id: str | None) -> None:
        self._own_envelope().resource_id = resource_id

    @property
    def metadata(self) -> dict[str, Any]:
        """What is kept with it; may be changed in place."""
        return self._own_envelope().metadata

    @metadata.setter
    def metadata(self, metadata: Mapping[str, object]) -> None:
        self._own_envelope().metadata = dict(metadata)

    @property
    def provider_metadata(self) -> dict[str, Any] | None:
        """What a provider wants to have back, by provider; may be changed in place."""
        if self._envelope.provider_metadata is None:
            return None
        return self._own_envelope().provider_metadata

    @provider_metadata.setter
    def provider_metadata(self, metadata: Mapping[str, object] | None) -> None:
        self._own_envelope().provider_metadata = None if metadata is None else dict(metadata)

    def shell(self, registry: dict[str, Message] | None = None) -> Message:
        """A message equal to this one, whose changes stay its own. It enters itself in ``registry`` when opened.

        Costs nothing as long as nobody was given this one's parts or metadata; what was given out is copied.
        """
        made = _new(Message)
        made._id = self._id
        made._open = 0
        made._registry = registry
        opened = self._open
        if opened:
            made._parts = [part.copy() for part in self._parts] if opened & _PARTS else self._parts
            made._envelope = self._envelope.copy() if opened & _ENVELOPE else self._envelope
        else:
            made._parts = self._parts
            made._envelope = self._envelope
        return made

    def filed(self, source: Source, tag: str | None = None) -> Message:
        """A shell of it for a list that files it under ``source`` (system messages: under ``tag``)."""
        made = self.shell()
        envelope = made._envelope
        if envelope.source != source or envelope.tag != tag:
            made._envelope = replace(envelope, source=source, tag=tag)
        return made

    def same_as(self, other: Message) -> bool:
        """Whether nothing was changed in one of the two: stricter than ``==``, ``1`` and ``True`` differ."""
        return self._same_envelope(other) and self.same_parts(other)

    def same_parts(self, other: Message) -> bool:
        """Whether the parts are the same, told as strictly."""
        return self._parts is other._parts or (
            len(self._parts) == len(other._parts) and all(map(same_state, self._parts, other._parts))
        )

    def _same_envelope(self, other: Message) -> bool:
        one, two = self._envelope, other._envelope
        return one is two or (
            one == two
            and same_json(one.metadata, two.metadata)
            and same_json(one.provider_metadata, two.provider_metadata)
        )

    def _own_envelope(self) -> Envelope:
        if not self._open & _ENVELOPE:
            self._envelope = self._envelope.copy()
            self._opened(_ENVELOPE)
        return self._envelope

    def _opened(self, what: int) -> None:
        self._open |= what
        if self._registry is not None:
            self._registry[self._id] = self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        one, two = self._envelope, other._envelope
        return (
            self._id == other._id
            and self._parts == other._parts
            and (
                one is two
                or (
                    one.role == two.role
                    and one.created_at == two.created_at
                    and one.thread_id == two.thread_id
                    and one.resource_id == two.resource_id
                    and one.metadata == two.metadata
                    and one.provider_metadata == two.provider_metadata
                )
            )
        )

    def __repr__(self) -> str:
        return f"Message({self.role!r}, {self._parts!r}, id={self._id!r})"

    def __copy__(self) -> Message:
        return self.shell()

    def __deepcopy__(self, memo: object) -> Message:
        made = self.shell()
        made._parts = [part.copy() for part in made._parts]
        made._envelope = made._envelope.copy()
        return made


_new: Final = Message.__new__


def _checked_role(role: Role) -> Role:
    if role not in _ROLES:
        raise ValueError(f"a message's role is one of user, assistant, system, signal, not {role!r}")
    return role


def _checked_parts(parts: Iterable[Part]) -> list[Part]:
    checked = list(parts)
    for index, part in enumerate(checked):
        if not isinstance(cast("object", part), PartBase):
            raise TypeError(f"parts[{index}] must be a part, such as TextPart, not {type(part).__name__}")
    return checked

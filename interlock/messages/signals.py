"""Signals: what the framework tells the model in the middle of a conversation, as a message of role ``signal``.

What a signal says besides its text is kept in its metadata: ``"signal"`` with type, tag and attributes, and
``"transient"``, which keeps it out of memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from interlock.messages.message import Message, Source
from interlock.messages.parts import same_json

if TYPE_CHECKING:
    from interlock.messages.message_list import MessageList

__all__ = ["DEFAULT_TAG", "TRANSIENT", "escaped", "put_signal", "signal_frame", "signal_message"]

DEFAULT_TAG: Final = "system-reminder"
SIGNAL: Final = "signal"
TRANSIENT: Final = "transient"
"""The key of a message's metadata that keeps it out of memory."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9._-]*")


def signal_message(
    contents: str,
    *,
    type: str = "reactive",  # noqa: A002
    tag: str = DEFAULT_TAG,
    attributes: Mapping[str, str | float | bool] | None = None,
    transient: bool = False,
) -> Message:
    """A signal as a message.

    Args:
        contents: The text.
        type: What kind of signal it is, for programs; the model does not see it.
        tag: The name of the element that the model sees around the text.
        attributes: The element's attributes.
        transient: Whether memory leaves it out.

    Raises:
        ValueError: The contents are no text, or the tag or an attribute's name could stand in no element.
    """
    if not isinstance(cast("object", contents), str):
        raise ValueError(f"a signal's contents are a text, not a {contents.__class__.__name__}")
    for what, name in (("tag", tag), *(("attribute", name) for name in attributes or {})):
        if not isinstance(cast("object", name), str) or not _NAME.fullmatch(name):
            raise ValueError(f"a signal's {what} is a name of letters, digits, '.', '_' and '-', not {name!r:.60}")
    for name, value in (attributes or {}).items():
        if not isinstance(cast("object", value), str | int | float):
            raise ValueError(f"a signal's attribute {name!r} is a text or a number, not {value!r:.60}")
    said = {"type": type, "tag": tag, "attributes": dict(attributes or {})}
    return Message(SIGNAL, contents, metadata={SIGNAL: said, TRANSIENT: True} if transient else {SIGNAL: said})


def put_signal(messages: MessageList, signal: Message, source: Source) -> None:
    """Put a signal at the end of a conversation. A transient one takes the place of an earlier one that says the same.

    Args:
        messages: The conversation.
        signal: As :func:`signal_message` makes it.
        source: Where it comes from.
    """
    if _is_transient(signal):
        messages.remove([old._id for old in messages._talk.current() if _says_the_same(old, signal)])
    messages.add(signal, source=source)


def signal_frame(message: Message) -> tuple[str, str]:
    """What stands before and behind a signal's text, as the model is shown it."""
    told = _mapping(message._envelope.metadata.get(SIGNAL))
    tag = str(told.get("tag"))
    named = tag if _NAME.fullmatch(tag) and "tag" in told else DEFAULT_TAG
    attributes = _mapping(told.get("attributes"))
    shown = "".join(f' {name}="{_quoted(value)}"' for name, value in attributes.items() if _NAME.fullmatch(name))
    return f"<{named}{shown}>", f"</{named}>"


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def escaped(text: str) -> str:
    """A text in which nothing can pretend to be the end of the element around it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _quoted(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return escaped(text).replace('"', "&quot;").replace("\n", "&#10;").replace("\r", "&#13;")


def _is_transient(message: Message) -> bool:
    return message._envelope.metadata.get(TRANSIENT) is True


def _says_the_same(old: Message, signal: Message) -> bool:
    return (
        old._envelope.role == SIGNAL
        and old._envelope.source != "memory"
        and _is_transient(old)
        and old.text == signal.text
        and same_json(old._envelope.metadata.get(SIGNAL), signal._envelope.metadata.get(SIGNAL))
    )

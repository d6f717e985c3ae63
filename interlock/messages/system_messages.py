"""The system messages of a conversation: those without a tag, and groups under a tag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.messages.arranging import arrange
from interlock.messages.message import Message
from interlock.messages.table import Table

__all__ = ["SystemMessages"]


class SystemMessages:
    """System messages in the order they were added, and the tags in order of their first use."""

    __slots__ = ("table", "tags")

    def __init__(self) -> None:
        self.table = Table([])
        self.tags: tuple[str, ...] = ()

    def fork(self) -> SystemMessages:
        """The same messages, to be changed apart."""
        made = _new(SystemMessages)
        made.table = self.table.fork()
        made.tags = self.tags
        return made

    def adopt(self, other: SystemMessages) -> None:
        """Have the content of ``other``."""
        self.table.adopt(other.table)
        self.tags = other.tags

    def unchanged_since(self, base: SystemMessages) -> bool:
        """Whether a glance shows that the content is that of ``base``. False says nothing."""
        return self.table.unchanged_since(base.table) and self.tags == base.tags

    def differs_from(self, base: SystemMessages) -> bool:
        """Whether the content differs from that of ``base``."""
        return self.tags != base.tags or self.table.differs_from(base.table)

    def add(self, message: Message, tag: str | None) -> None:
        """Put a message under a tag, unless its text stands there already; one with a known id is replaced."""
        if message.id in self.table:
            self.table.replace(message.filed("context", tag))
        elif all(message.text != old.text for old in self._under(tag)):
            self.table.append(message.filed("context", tag))
        self._use(tag)

    def assign(self, messages: Sequence[Message], tag: str | None) -> None:
        """Have these messages, in this order, under a tag; one whose text stands there already keeps its old id."""
        old = {message.id: message for message in self._under(tag)}
        by_text = {message.text: message for message in reversed(old.values())}
        given: list[Message] = []
        for message in messages:
            if message.id in old:
                self.table.replace(message.filed("context", tag))
            given.append(message if message.id in old else by_text.pop(message.text, message))
        arrange(self.table, old.keys(), [message.filed("context", tag) for message in given])
        if messages:
            self._use(tag)

    def tagged(self, tag: str | None) -> list[Message]:
        """The messages under a tag, to be changed at will."""
        return [
            self.table.hand_out(item)
            for item in self.table._snapshot.items
            if (self.table.peek(item.id) or item)._envelope.tag == tag
        ]

    def in_order(self) -> Iterator[Message]:
        """Those without a tag, then tag by tag; to be read only."""
        for tag in (None, *self.tags):
            yield from self._under(tag)

    def _under(self, tag: str | None) -> Iterator[Message]:
        return (message for message in self.table.current() if message._envelope.tag == tag)

    def _use(self, tag: str | None) -> None:
        if tag is not None and tag not in self.tags:
            self.tags = (*self.tags, tag)


_new = SystemMessages.__new__

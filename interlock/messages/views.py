"""What one sees of a message list: all of it, or the messages of one source, as a sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from interlock.messages.message import Message, Source
from interlock.messages.table import Table

__all__ = ["MessageView"]


class MessageView(Sequence[Message]):
    """The messages of a list, or those of one source, in order; it follows the list's changes.

    A message taken out of it may be changed in place: the list then holds the change. To change which messages there
    are, use the list's own methods.
    """

    __slots__ = ("_source", "_table")

    def __init__(self, table: Table, source: Source | None = None) -> None:
        self._table = table
        self._source: Source | None = source

    @property
    def source(self) -> Source | None:
        """The source it is limited to; None for all messages."""
        return self._source

    def texts(self) -> list[str]:
        """The text of every message. Copies nothing, so it is the cheapest way to read them all."""
        source = self._source
        return [m.text for m in self._table.current() if source is None or m._envelope.source == source]

    def ids(self) -> list[str]:
        """The id of every message."""
        return [message._id for message in self._items()]

    def _items(self) -> list[Message]:
        snapshot = self._table._snapshot
        if self._source is None:
            return snapshot.items
        items = snapshot.items
        return [items[at] for at in snapshot.places(self._source)]

    def __len__(self) -> int:
        snapshot = self._table._snapshot
        return len(snapshot.items) if self._source is None else len(snapshot.places(self._source))

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        table = self._table
        if isinstance(index, slice):
            return [table.hand_out(item) for item in self._items()[index]]
        snapshot = table._snapshot
        at = index if self._source is None else snapshot.places(self._source)[index]
        return table.hand_out(snapshot.items[at])

    def __iter__(self) -> Iterator[Message]:
        table = self._table
        snapshot = table._snapshot
        for item in tuple(self._items()):
            if table._snapshot is not snapshot and item._id not in table:
                continue
            yield table.hand_out(item)

    def __repr__(self) -> str:
        what = "all" if self._source is None else self._source
        return f"<MessageView {what}: {len(self)} messages>"

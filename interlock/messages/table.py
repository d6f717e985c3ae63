"""Messages in an order, forked in constant time and copied where they are touched.

Four layers make up the content of a :class:`Table`:

* the *snapshot*: messages in order, shared with other tables and never changed while it is shared;
* the *overlay*: by id, newer states of some of them; shared too, and replaced rather than changed;
* *touched*: the shells this table has handed out;
* *opened*: those of them whose parts or metadata were looked into, so that they may differ from the layers below.
  A message enters itself there (``Message._registry``).

So two tables with the same snapshot and overlay and nothing opened have the same content.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from interlock.messages.message import Message, Source

__all__ = ["Snapshot", "Table"]


class Snapshot:
    """Messages in order, with what is worth knowing about their places, found when first asked for."""

    __slots__ = ("_index", "_places", "items", "shared")

    def __init__(self, items: list[Message]) -> None:
        self.items = items
        self.shared = False
        self._index: dict[str, int] | None = None
        self._places: dict[Source, list[int]] = {}

    def index(self) -> dict[str, int]:
        """Where each id stands."""
        if self._index is None:
            self._index = {message._id: at for at, message in enumerate(self.items)}
        return self._index

    def places(self, source: Source) -> list[int]:
        """Where the messages of a source stand."""
        found = self._places.get(source)
        if found is None:
            found = [at for at, message in enumerate(self.items) if message._envelope.source == source]
            self._places[source] = found
        return found

    def append(self, message: Message) -> None:
        """Put a message at the end (of a snapshot that nobody shares)."""
        at = len(self.items)
        self.items.append(message)
        self.index()[message._id] = at
        places = self._places.get(message._envelope.source)
        if places is not None:
            places.append(at)

    def copy(self) -> Snapshot:
        """The same messages, to be changed."""
        made = Snapshot(self.items.copy())
        made._index = None if self._index is None else self._index.copy()
        return made


class Table:
    """Messages in order, each id once."""

    __slots__ = ("_opened", "_overlay", "_snapshot", "_touched")

    def __init__(self, items: list[Message]) -> None:
        self._snapshot = Snapshot(items)
        self._overlay: dict[str, Message] = {}
        self._touched: dict[str, Message] = {}
        self._opened: dict[str, Message] = {}

    def fork(self) -> Table:
        """A table of the same content. Whatever is done to one of them, the other does not see it."""
        made = _new(Table)
        snapshot = self._snapshot
        snapshot.shared = True
        made._snapshot = snapshot
        made._overlay = self._frozen() if self._opened else self._overlay
        made._touched = {}
        made._opened = {}
        return made

    def adopt(self, other: Table) -> None:
        """Have the content of ``other``. Messages handed out before have no part in this table any more."""
        state = other.fork()
        self._snapshot = state._snapshot
        self._overlay = state._overlay
        self._touched = {}
        self._opened = {}

    def settle(self) -> None:
        """Take leave of the messages handed out: what is done to them from now on is not seen here.

        For those who know that nobody holds one any more; a fork then has nothing to copy.
        """
        if self._opened:
            for message in self._opened.values():
                message._open = 0
                message._registry = None
            self._overlay = self._frozen()
        self._touched = {}
        self._opened = {}

    def _frozen(self) -> dict[str, Message]:
        return {**self._overlay, **{id_: message.shell() for id_, message in self._opened.items()}}

    # Reading without handing out

    def __len__(self) -> int:
        return len(self._snapshot.items)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._snapshot.index()

    def ids(self) -> list[str]:
        """All ids in order."""
        return [message._id for message in self._snapshot.items]

    def current(self) -> Iterator[Message]:
        """All messages as they are, to be read only."""
        opened, overlay = self._opened, self._overlay
        for item in self._snapshot.items:
            id_ = item._id
            yield opened.get(id_) or overlay.get(id_) or item

    def peek(self, id_: str) -> Message | None:
        """One message as it is, to be read only."""
        found = self._opened.get(id_) or self._overlay.get(id_)
        if found is None:
            at = self._snapshot.index().get(id_)
            return None if at is None else self._snapshot.items[at]
        return found

    # Handing out

    def hand_out(self, item: Message) -> Message:
        """The message that ``item`` of the snapshot stands for, to be changed at will."""
        id_ = item._id
        message = self._touched.get(id_)
        if message is None:
            message = self._touched[id_] = (self._overlay.get(id_) or item).shell(self._opened)
        return message

    def get(self, id_: str) -> Message | None:
        """One message, to be changed at will."""
        at = self._snapshot.index().get(id_)
        return None if at is None else self.hand_out(self._snapshot.items[at])

    # Changes of what is where

    def append(self, message: Message) -> None:
        """Put a message, whose id is new here, at the end; the table keeps the object."""
        self._own().append(message)

    def insert(self, at: int, messages: Iterable[Message]) -> None:
        """Put messages, whose ids are new here, before the place ``at``; the table keeps the objects."""
        self.rearrange([*self._snapshot.items[:at], *messages, *self._snapshot.items[at:]])

    def rearrange(self, items: Sequence[Message]) -> None:
        """Have these items of the snapshot, and new ones, in this order."""
        self._snapshot = Snapshot(list(items))

    def remove(self, ids: Collection[str]) -> None:
        """Take messages out; shells handed out before have no part in the table any more."""
        self.rearrange([item for item in self._snapshot.items if item._id not in ids])
        for id_ in ids:
            self._forget(id_)

    def replace(self, message: Message) -> None:
        """Put another message in the place of the one with its id; the table keeps the object."""
        id_ = message._id
        at = self._snapshot.index()[id_]
        if self._snapshot.items[at]._envelope.source == message._envelope.source:
            self._forget_shell(id_)
            message._registry = self._opened
            self._touched[id_] = self._opened[id_] = message
            return
        self._forget(id_)
        items = self._snapshot.items.copy()
        items[at] = message
        self.rearrange(items)

    def _own(self) -> Snapshot:
        if self._snapshot.shared:
            self._snapshot = self._snapshot.copy()
        return self._snapshot

    def _forget(self, id_: str) -> None:
        self._forget_shell(id_)
        if id_ in self._overlay:
            self._overlay = {key: message for key, message in self._overlay.items() if key != id_}

    def _forget_shell(self, id_: str) -> None:
        shell = self._touched.pop(id_, None)
        self._opened.pop(id_, None)
        if shell is not None:
            shell._registry = None

    # Comparing with another state

    def opened(self) -> Iterable[Message]:
        """The messages whose parts were handed out to be changed since the table was forked."""
        return self._opened.values()

    def unchanged_since(self, base: Table) -> bool:
        """Whether a glance shows that the content is that of ``base``. False says nothing."""
        return (
            self._snapshot is base._snapshot
            and self._overlay is base._overlay
            and not self._opened
            and not base._opened
        )

    def edited_since(self, base: Table) -> dict[str, Message]:
        """The messages, by id, that are in both and differ."""
        if self.unchanged_since(base):
            return {}
        found: dict[str, Message] = {}
        for id_ in self._suspects(base):
            mine, old = self.peek(id_), base.peek(id_)
            if mine is not None and old is not None and mine is not old and not mine.same_as(old):
                found[id_] = mine
        return found

    def _suspects(self, base: Table) -> Iterable[str]:
        if self._snapshot is not base._snapshot:
            return self.ids()
        suspects = dict.fromkeys([*self._opened, *base._opened])
        if self._overlay is not base._overlay:
            suspects.update(dict.fromkeys([*self._overlay, *base._overlay]))
        return suspects

    def same_order(self, base: Table) -> bool:
        """Whether both hold the same ids in the same order."""
        return self._snapshot is base._snapshot or self.ids() == base.ids()

    def differs_from(self, base: Table) -> bool:
        """Whether the content differs from that of ``base``."""
        return not self.same_order(base) or bool(self.edited_since(base))

    def changed_ids(self, base: Table) -> set[str]:
        """The ids of messages that are in one only, or differ."""
        if self._snapshot is base._snapshot:
            return set(self.edited_since(base))
        return set(self.edited_since(base)) | (set(self.ids()) ^ set(base.ids()))

    def with_changes(self, items: Sequence[Message] | None, changed: Mapping[str, Message]) -> Table:
        """A table like this one, with other items (None: the same ones) and some messages in new states."""
        made = self.fork()
        if changed:
            made._overlay = {**made._overlay, **changed}
        if items is not None:
            made._snapshot = Snapshot(list(items))
            index = made._snapshot.index()
            made._overlay = {id_: message for id_, message in made._overlay.items() if id_ in index}
        return made


_new = Table.__new__

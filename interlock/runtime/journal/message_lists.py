"""Conversations in a journal, so that those that were forks of one another can still be joined when they are read.

A three-way merge looks at more than what a list says: which part is a copy of which, and how a text came to be. Both
are told by identity while a run is under way. Here they get names: a part's mark one that stays the same in all lists,
and an edit is known again by what it did to which text after which edits.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Iterator, Mapping
from itertools import count
from typing import Any, Final, Generic, TypeVar

from interlock.messages.message import Message
from interlock.messages.message_list import MessageList
from interlock.messages.parts import Origin, PartBase, ReasoningPart, TextPart, origin_of
from interlock.messages.rewriting import Change, History, apply_edits

__all__ = ["MessageListForm"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_REMEMBERED: Final = 16_384


class MessageListForm:
    """Writes message lists as JSON and reads them.

    What it knows of the lists before is bounded. Where it has forgotten something a merge falls back on comparing
    texts, as it does for parts that were made from scratch.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names = _Memory[int, tuple[str, Origin]]()
        """By the mark's identity; the mark is kept, so that no other gets that."""
        self._marks = _Memory[str, Origin]()
        self._edits = _Memory[tuple[int, str, tuple[Change, ...]], History]()
        self._own = os.urandom(6).hex()
        self._numbers = count(1)

    def write(self, messages: MessageList) -> dict[str, Any]:
        """The list as JSON.

        Raises:
            ValueError: Something in it has no JSON form; the message names the place.
        """
        with self._lock:
            told = [[self._part(part) for part in message._parts] for message in _all(messages)]
        return {**messages.to_json(), "parts": told}

    def read(self, told: Mapping[str, Any]) -> MessageList:
        """The list that was written so.

        Raises:
            ValueError: It is none that :meth:`write` writes.
        """
        messages = MessageList.from_json({name: value for name, value in told.items() if name != "parts"})
        with self._lock:
            for message, parts in zip(_all(messages), told["parts"], strict=True):
                for part, known in zip(message._parts, parts, strict=True):
                    self._note(part, known)
        return messages

    # Marks

    def _part(self, part: PartBase) -> list[Any]:
        told: list[Any] = [self._name(origin_of(part))]
        if isinstance(part, TextPart | ReasoningPart) and part.history is not None:
            told.append([[edit.before, [_change(c) for c in edit.changes]] for edit in _chain(part.history)])
        return told

    def _name(self, mark: Origin) -> str:
        known = self._names.get(id(mark))
        if known is None:
            known = f"{self._own}.{next(self._numbers)}", mark
            self._remember(known[0], mark)
        return known[0]

    def _remember(self, name: str, mark: Origin) -> None:
        self._names[id(mark)] = name, mark
        self._marks[name] = mark

    def _note(self, part: PartBase, known: list[Any]) -> None:
        name, *rest = known
        mark = self._marks.get(name)
        if mark is None:
            mark = Origin()
            self._remember(name, mark)
        part._origin = mark
        if rest and isinstance(part, TextPart | ReasoningPart):
            part.history = self._history(rest[0])

    # Edits

    def _history(self, told: list[Any]) -> History | None:
        node: History | None = None
        for before, changes in told:
            made = tuple(_read_change(change) for change in changes)
            key = (id(node) if node is not None else 0, before, made)
            known = self._edits.get(key)
            if known is None:
                known = self._edits[key] = History(node, before, made, apply_edits(before, made))
            node = known
        return node


class _Memory(dict[K, V], Generic[K, V]):
    """Forgets the oldest when it has too much to remember."""

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        if len(self) > _REMEMBERED:
            del self[next(iter(self))]


def _all(messages: MessageList) -> Iterator[Message]:
    yield from messages._talk.current()
    yield from messages._system_messages.table.current()


def _chain(history: History | None) -> list[History]:
    """From the oldest edit on."""
    chain: list[History] = []
    while history is not None:
        chain.append(history)
        history = history.parent
    return chain[::-1]


def _change(change: Change) -> list[Any]:
    plain = [change.start, change.end, change.replacement, change.kind, *change.span]
    return [*plain, change.derived, [list(doubt) for doubt in change.doubt]]


def _read_change(told: list[Any]) -> Change:
    start, end, replacement, kind, low, high, derived, doubt = told
    return Change(start, end, replacement, kind, (low, high), derived, tuple((a, b) for a, b in doubt))

"""Make a sequence the content of some places of a table, as when a hook returns the messages it wants."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from interlock.messages.message import Message
from interlock.messages.table import Table

__all__ = ["arrange"]


def arrange(table: Table, shown: Collection[str], given: Sequence[Message]) -> None:
    """Have ``given`` in the places of the messages ``shown``; all others stay where they are.

    Messages of ``given`` that are in the table are only moved. New ones come after their predecessor; the table keeps
    those objects.

    Raises:
        ValueError: An id comes twice in ``given``.
    """
    order = [message.id for message in given]
    if len(set(order)) < len(order):
        twice = next(id_ for at, id_ in enumerate(order) if id_ in order[:at])
        raise ValueError(f"the message {twice!r} is given twice")
    if order == [item.id for item in table._snapshot.items if item.id in shown]:
        return
    dropped = [id_ for id_ in shown if id_ not in order]
    items = _placed(table._snapshot.items, shown, given)
    table.remove(dropped)
    table.rearrange(items)


def _placed(items: Sequence[Message], shown: Collection[str], given: Sequence[Message]) -> list[Message]:
    by_id = {item.id: item for item in items}
    kept = {message.id for message in given if message.id in shown}
    runs = _runs(given, kept)
    lead = runs.pop(0)
    placed: list[Message] = []
    for item in items:
        if item.id not in shown:
            placed.append(item)
        elif item.id in kept or (not kept and lead):
            placed += lead
            lead = []
            if item.id in kept:
                head, *followers = runs.pop(0)
                placed += [by_id[head.id], *followers]
    return placed + lead


def _runs(given: Sequence[Message], kept: Collection[str]) -> list[list[Message]]:
    """What comes before the first kept message, then each kept message with the new ones that follow it."""
    runs: list[list[Message]] = [[]]
    for message in given:
        if message.id in kept:
            runs.append([message])
        else:
            runs[-1].append(message)
    return runs

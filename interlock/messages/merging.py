"""Joining the forks of a message list: the three-way merge behind ``.merge()``.

It goes from the large to the small: which messages there are and in which order
(:mod:`~interlock.messages.merge_order`), then message by message, part by part
(:mod:`~interlock.messages.merge_parts`), and within a text edit by edit (:mod:`~interlock.messages.merge_text`). Only
what a fork handed out and changed is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from interlock.errors import MergeConflict
from interlock.messages.merge_order import merge_order
from interlock.messages.merge_parts import added_parts, merge_parts
from interlock.messages.merging_values import merge_values
from interlock.messages.message import Envelope, Message
from interlock.messages.message_list import MessageList
from interlock.messages.table import Table

__all__ = ["merge"]

_FIELDS: Final = (
    "role",
    "created_at",
    "thread_id",
    "resource_id",
    "metadata",
    "provider_metadata",
    "source",
    "tag",
)


def merge(
    base: MessageList, forks: Mapping[str, MessageList] | Sequence[MessageList], prefer: str | None = None
) -> MessageList:
    """One list with what every fork did to it.

    A message that any fork removed is gone. Additions follow the message they followed in their fork; one fork may
    change the order. Edits of one text that do not overlap are all made; where they overlap, the one that starts first
    keeps its replacement and the others only take away. A text changed in place counts as redacted where it differs;
    there an exact redaction keeps its replacement, whichever starts first.

    Args:
        base: The list the forks were made of, at any depth, in the state it then had.
        forks: The forks by the names of their branches, in list order; without names they are ``"1"``, ``"2"``, …
        prefer: The branch that wins where two contradict each other.

    Returns:
        A list of its own, which can be a fork in an outer merge.

    Raises:
        MergeConflict: Two forks contradict each other, and ``prefer`` names neither.

    >>> from interlock.messages import MessageList, TextEdit, merge
    >>> base = MessageList("Ann, 555-1234")
    >>> names, phones = base.fork(), base.fork()
    >>> names.edit_text(base[0].id, 0, TextEdit(0, 3, "[NAME]"))
    >>> phones.edit_text(base[0].id, 0, TextEdit(5, 13, "[PHONE]"))
    >>> merge(base, {"names": names, "phones": phones}).texts()
    ['[NAME], [PHONE]']
    """
    named = forks if isinstance(forks, Mapping) else {str(number): fork for number, fork in enumerate(forks, 1)}
    changed = {name: fork for name, fork in named.items() if fork.changed_from(base)}
    if not changed:
        return base.fork()
    if len(changed) == 1:
        return next(iter(changed.values())).fork()
    merged = base.fork()
    merged._talk = _TableMerge(base._talk, {n: f._talk for n, f in changed.items()}, prefer, "message").table()
    system = merged._system
    tables = {name: fork._system_messages.table for name, fork in changed.items()}
    system.table = _TableMerge(base._system_messages.table, tables, prefer, "system message").table()
    tags = [base.system_tags, *(fork.system_tags for fork in changed.values())]
    system.tags = tuple(dict.fromkeys(tag for some in tags for tag in some))
    return merged


class _TableMerge:
    """The merge of the conversation, or of the system messages."""

    def __init__(self, base: Table, branches: Mapping[str, Table], prefer: str | None, noun: str) -> None:
        self.base = base
        self.prefer = prefer
        self.noun = noun
        self.edited = {name: table.edited_since(base) for name, table in branches.items()}
        self.moved = {name: table for name, table in branches.items() if not table.same_order(base)}

    def table(self) -> Table:
        """The table with what every branch did to it."""
        gone = self._gone()
        revived = self._revived(gone)
        edited = dict.fromkeys(id_ for edits in self.edited.values() for id_ in edits if id_ not in gone)
        changed = {**{id_: self._message(id_) for id_ in edited}, **revived}
        refiled = {id_ for id_, message in changed.items() if self._is_refiled(message)}
        if not self.moved and not refiled:
            return self.base.with_changes(None, changed)
        orders = {name: table.ids() for name, table in self.moved.items()}
        order = merge_order(self.base.ids(), orders, self.prefer, f"the {self.noun}s", revived=revived)
        index, items = self.base._snapshot.index(), self.base._snapshot.items
        new = self._added()
        new.update({id_: changed.pop(id_) for id_ in refiled})
        return self.base.with_changes([new[id_] if id_ in new else items[index[id_]] for id_ in order], changed)

    def _gone(self) -> set[str]:
        if not self.moved:
            return set()
        ids = set(self.base.ids())
        return ids - ids.intersection(*map(Table.ids, self.moved.values()))

    def _is_refiled(self, message: Message) -> bool:
        item = self.base._snapshot.items[self.base._snapshot.index()[message.id]]
        return item._envelope.source != message._envelope.source

    def _added(self) -> dict[str, Message]:
        """The messages that are new in some branch."""
        versions: dict[str, dict[str, Message]] = {}
        for name, table in self.moved.items():
            for id_ in table.ids():
                message = table.peek(id_)
                if id_ not in self.base and message is not None:
                    versions.setdefault(id_, {})[name] = message
        return {id_: self._only(id_, found).shell() for id_, found in versions.items()}

    def _only(self, id_: str, versions: Mapping[str, Message]) -> Message:
        first = next(iter(versions.values()))
        if all(message.same_as(first) for message in versions.values()):
            return first
        if self.prefer is not None and self.prefer in versions:
            return versions[self.prefer]
        raise MergeConflict(f"the new {self.noun} {id_!r}", list(versions))

    def _revived(self, gone: Collection[str]) -> dict[str, Message]:
        """Messages that a branch removed while the preferred one added parts: only those parts are left of them."""
        revived: dict[str, Message] = {}
        for name, edits in self.edited.items():
            for id_ in gone & edits.keys():
                old = self.base.peek(id_)
                added = [] if old is None else added_parts(old._parts, edits[id_]._parts)
                if not added:
                    continue
                removers = [other for other, table in self.moved.items() if id_ not in table]
                if self.prefer not in (name, *removers):
                    raise MergeConflict(f"{self.noun} {id_!r}, where parts were added,", [name, *removers])
                if self.prefer == name:
                    revived[id_] = edits[id_].shell()
                    revived[id_]._parts = [part.copy() for part in added]
        return revived

    def _message(self, id_: str) -> Message:
        """A message that was there before, with what every branch did to it."""
        versions = {name: edits[id_] for name, edits in self.edited.items() if id_ in edits}
        old = self.base.peek(id_)
        first = next(iter(versions.values()))
        if old is None or all(version.same_as(first) for version in versions.values()):
            return first.shell()
        what = f"{self.noun} {id_!r}"
        made = old.shell()
        made._envelope = _merged_envelope(old, versions, self.prefer, what)
        parts = {name: message._parts for name, message in versions.items() if not message.same_parts(old)}
        if parts:
            made._parts = merge_parts(old._parts, parts, self.prefer, what)
        return made


def _merged_envelope(old: Message, versions: Mapping[str, Message], prefer: str | None, what: str) -> Envelope:
    envelope = old._envelope.copy()
    for name in _FIELDS:
        values = {branch: getattr(version._envelope, name) for branch, version in versions.items()}
        merged = merge_values(getattr(envelope, name), values, prefer, f"{name!r} of {what}", texts=False)
        setattr(envelope, name, merged)
    return envelope.copy()

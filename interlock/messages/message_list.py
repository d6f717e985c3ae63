"""The conversation of one run: what was remembered, what came in, what was answered, and the system messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, cast, overload

from interlock.messages.arranging import arrange
from interlock.messages.edits import KEEP, edit_text, update_tool_invocation
from interlock.messages.json_form import list_from_json, list_to_json
from interlock.messages.message import Message, Role, Source
from interlock.messages.parts import JSONValue
from interlock.messages.prompt import PromptMessage
from interlock.messages.prompt_form import messages_to_prompt
from interlock.messages.rewriting import TextEdit
from interlock.messages.system_messages import SystemMessages
from interlock.messages.table import Table
from interlock.messages.views import MessageView

__all__ = ["MessageList"]

_SOURCES: Final = ("memory", "input", "response", "context")

Given = Message | str
"""A message, or the text of one."""


class MessageList(Sequence[Message]):
    """The messages of one run, each with the source it came from.

    As a sequence it is the whole conversation, without system messages. ``all``, ``input``, ``response`` and
    ``remembered`` are views of it. A message taken out of the list may be changed in place, and that changes the list;
    it stays valid until it is removed or replaced, or the list adopts another's content. What is put in is the list's
    own: later changes to the object that was given do not reach it.

    Args:
        messages: What to begin with.
        source: Where they come from.

    >>> messages = MessageList(["Where is my parcel?"])
    >>> fork = messages.fork()
    >>> fork.all[-1].parts[0].text = "Where is it?"
    >>> messages.all[-1].text, fork.all[-1].text
    ('Where is my parcel?', 'Where is it?')
    """

    __slots__ = ("_lent", "_system_messages", "_talk")

    def __init__(self, messages: Given | Iterable[Given] = (), *, source: Source = "input") -> None:
        self._talk = Table([])
        self._system_messages = SystemMessages()
        self._lent = False
        self.add(messages, source=source)

    # Views

    @property
    def all(self) -> MessageView:
        """The whole conversation, without system messages."""
        return MessageView(self._talk)

    @property
    def input(self) -> MessageView:
        """What this run was given."""
        return MessageView(self._talk, "input")

    @property
    def response(self) -> MessageView:
        """What this run has answered."""
        return MessageView(self._talk, "response")

    @property
    def remembered(self) -> MessageView:
        """What came from memory."""
        return MessageView(self._talk, "memory")

    def texts(self) -> list[str]:
        """The text of every message of the conversation; copies nothing."""
        return [message.text for message in self._talk.current()]

    def __len__(self) -> int:
        return len(self._talk)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        return self.all[index]

    def __iter__(self) -> Iterator[Message]:
        return iter(self.all)

    def get(self, message_id: str) -> Message | None:
        """The message of the conversation with that id, or None."""
        return self._talk.get(message_id)

    def source_of(self, message_id: str) -> Source:
        """Where a message of the conversation came from.

        Raises:
            ValueError: There is no such message.
        """
        found = self._talk.peek(message_id)
        if found is None:
            raise self._unknown(message_id)
        return found._envelope.source

    # Changes

    def add(self, messages: Given | Iterable[Given], *, source: Source = "input") -> None:
        """Put messages at the end of the conversation.

        A string becomes a user message, or with ``source="response"`` an assistant message. A message of role
        ``system`` goes to the untagged system messages. A message whose id is there already takes that one's place
        and gets the new source; only what comes from memory never displaces what this run was given or has answered.

        Args:
            messages: One message or several, as objects or texts.
            source: ``"input"``, ``"response"``, ``"memory"`` or ``"context"``.
        """
        if source not in _SOURCES:
            raise ValueError(f"a message's source is one of {', '.join(_SOURCES)}, not {source!r}")
        for message in self._read(messages, source):
            if message.role == "system":
                self._system.add(message, None)
                continue
            present = self._talk.peek(message.id)
            if present is None:
                self._talk.append(message.filed(source))
            elif source != "memory" or present._envelope.source == "memory":
                self._talk.replace(message.filed(source))

    def remove(self, ids: str | Iterable[str]) -> None:
        """Take messages out of the conversation, or out of the system messages.

        Raises:
            ValueError: One of the ids is unknown; then nothing is removed.
        """
        given = [ids] if isinstance(ids, str | Message) else list(ids)
        for id_ in given:
            if not isinstance(cast("object", id_), str):
                raise TypeError(f"messages are removed by their ids, remove(message.id), not by a {type(id_).__name__}")
        wanted = set(given)
        system = {id_ for id_ in wanted if id_ in self._system_messages.table and id_ not in self._talk}
        for id_ in sorted(wanted - system):
            if id_ not in self._talk:
                raise self._unknown(id_)
        if system:
            self._system.table.remove(system)
        if wanted - system:
            self._talk.remove(wanted - system)

    def replace(self, message: Message) -> None:
        """Put a message in the place of the one with its id; its source stays.

        Raises:
            ValueError: There is no message with that id.
        """
        table = self._table_of(message.id)
        present = table.peek(message.id)
        if present is not None and present is not message:
            table.replace(message.filed(present._envelope.source, present._envelope.tag))

    def assign(self, messages: Sequence[Given], *, within: MessageView | None = None, source: Source = "input") -> None:
        """Make ``messages`` the content of a view, as a hook does that returns them.

        What the view showed and is missing in ``messages`` is removed; what differs is replaced; what is new comes
        after its predecessor, with ``source``; the order is that of ``messages``. Messages outside the view stay
        where they are. Messages of role ``system`` go to the untagged system messages.

        Args:
            messages: The view's new content.
            within: A view of this list; None for the whole conversation.
            source: Where the new ones come from.
        """
        shown = set((within or self.all).ids())
        given: list[Message] = []
        for message in self._read(messages, source):
            if message.role == "system":
                self._system.add(message, None)
            elif message.id in shown:
                self.replace(message)
                given.append(message)
            elif message.id in self._talk:
                raise ValueError(f"the message {message.id!r} is in the list, but not among those that were shown")
            else:
                given.append(message.filed(source))
        arrange(self._talk, shown, given)

    def edit_text(self, message_id: str, part_index: int, edits: TextEdit | Sequence[TextEdit]) -> None:
        """Change a text exactly: the edits are recorded, so that a merge can join them with those of other branches.

        Works on text and reasoning parts; a reasoning part loses its signature, which no longer fits its text.

        Args:
            message_id: A message of the conversation, or a system message.
            part_index: Which of its parts.
            edits: What to replace, in offsets of the text as it is now.

        Raises:
            ValueError: No such message or part, or an edit that lies outside the text or overlaps another.
        """
        edit_text(self._message(message_id), part_index, [edits] if isinstance(edits, TextEdit) else edits)

    def update_tool_invocation(
        self,
        tool_call_id: str,
        *,
        result: JSONValue = KEEP,
        error: str | None = None,
        args: JSONValue = KEEP,
        model_output: JSONValue = KEEP,
    ) -> None:
        """Change a tool call: what it was given, or what came of it. What is not named stays as it is.

        Where several calls have that id, those of the newest message count: a result or an error goes to the first of
        them that has none yet; where all have one, and for anything else, the last is changed.

        Args:
            tool_call_id: The call.
            result: What the tool returned; the call's state becomes ``"result"``.
            error: What the model is told instead; the state becomes ``"error"``.
            args: The arguments.
            model_output: What the model is shown in place of the result.

        Raises:
            ValueError: No message has that call, or both ``result`` and ``error`` are given.
        """
        for message in reversed(list(self._talk.current())):
            if any(p.type == "tool-invocation" and p.tool_call_id == tool_call_id for p in message._parts):
                update_tool_invocation(
                    self._message(message.id),
                    tool_call_id,
                    result=result,
                    error=error,
                    args=args,
                    model_output=model_output,
                )
                return
        raise ValueError(f"no message has a tool call with the id {tool_call_id!r}")

    # System messages

    def add_system(self, message: Given, *, tag: str | None = None) -> None:
        """Add a system message. A text that stands under the same tag already is not added again.

        Args:
            message: The text, or a message of role ``system``.
            tag: Groups what belongs together, so that it can be cleared together.

        Raises:
            ValueError: The message has another role.
        """
        self._system.add(_system_message(message), tag)

    def system_messages(self, tag: str | None = None) -> list[Message]:
        """The system messages with this tag; without one, the untagged. They may be changed in place."""
        return self._system.tagged(tag)

    def set_system(self, messages: Sequence[Given], *, tag: str | None = None) -> None:
        """Make ``messages`` the system messages of this tag; a text that is there already keeps its message.

        Raises:
            ValueError: A message has another role.
        """
        given = [messages] if isinstance(messages, str | Message) else messages
        self._system.assign([_system_message(message) for message in given], tag)

    def clear_system(self, tag: str | None = None) -> None:
        """Remove the system messages with this tag; without one, the untagged."""
        self._system.assign([], tag)

    @property
    def system_tags(self) -> tuple[str, ...]:
        """The tags in order of their first use."""
        return self._system_messages.tags

    # Forks

    def fork(self) -> MessageList:
        """A list of the same content, in constant time. Whatever is done to one of the two, the other does not see it.

        Only messages whose parts or metadata were handed out by this list are copied.
        """
        made = _new(MessageList)
        made._talk = self._talk.fork()
        if self._system_messages.table._touched:
            made._system_messages = self._system_messages.fork()
            made._lent = False
        else:
            made._system_messages = self._system_messages
            made._lent = self._lent = True
        return made

    @property
    def _system(self) -> SystemMessages:
        """The system messages, to be handed out or changed: those lent to or by a fork are forked first."""
        if self._lent:
            self._system_messages = self._system_messages.fork()
            self._lent = False
        return self._system_messages

    def adopt(self, other: MessageList) -> None:
        """Have the content of another list, as a rule of a fork of this one.

        Views of this list show the new content. Messages this list handed out before have no part in it any more.
        """
        self._talk.adopt(other._talk)
        self._system.adopt(other._system_messages)

    def merge(
        self, forks: Mapping[str, MessageList] | Sequence[MessageList], *, prefer: str | None = None
    ) -> MessageList:
        """A list with what every fork of this one did: :func:`interlock.messages.merge`.

        Args:
            forks: The forks by the names of their branches, or just the forks, in list order.
            prefer: The branch that wins where two contradict each other.

        Raises:
            MergeConflict: Two forks contradict each other, and ``prefer`` names neither.
        """
        from interlock.messages.merging import merge

        return merge(self, forks, prefer)

    def settle(self) -> None:
        """Take leave of all messages handed out so far: what is done to them later does not reach this list.

        For a runtime that knows that a hook has ended; the next forks then have nothing to copy.
        """
        self._talk.settle()
        self._system_messages.table.settle()

    def changed_from(self, base: MessageList) -> bool:
        """Whether the content differs from that of ``base``: messages, their order and sources, system messages.

        Costs next to nothing when ``base`` is an ancestor and nothing was changed in either.
        """
        mine, theirs = self._system_messages, base._system_messages
        if self._talk.unchanged_since(base._talk) and (mine is theirs or mine.unchanged_since(theirs)):
            return False
        return self._talk.differs_from(base._talk) or mine.differs_from(theirs)

    def opened(self) -> Iterator[Message]:
        """The messages, system messages included, whose parts were looked at, and may be changed, since the fork."""
        yield from self._talk.opened()
        yield from self._system_messages.table.opened()

    def changed_ids(self, base: MessageList) -> set[str]:
        """The ids of the messages, system messages included, that were added, removed or changed since ``base``."""
        return self._talk.changed_ids(base._talk) | self._system_messages.table.changed_ids(base._system_messages.table)

    # Other forms

    def to_prompt(self) -> list[PromptMessage]:
        """The prompt a model is asked with: system messages (untagged, then tag by tag), then the conversation.

        Each tool call comes with its result; what no model is to see, and calls without a result, are left out. The
        prompt is a copy: changing it does not change this list.
        """
        return messages_to_prompt(self._system_messages.in_order(), self._talk.current())

    def to_openai(self) -> list[dict[str, JSONValue]]:
        """The prompt as the ``messages`` of OpenAI's chat completions.

        >>> MessageList("Hello").to_openai()
        [{'role': 'user', 'content': 'Hello'}]
        """
        from interlock.messages.openai_form import prompt_to_openai

        return prompt_to_openai(self.to_prompt())

    def to_ui(self, *, signals: bool = False) -> list[dict[str, JSONValue]]:
        """The conversation as a client shows it: messages of ``id``, ``role``, ``parts``, ``metadata``; in camelCase.

        System messages are left out, and so are signals unless they are asked for.

        Args:
            signals: Whether signals are shown.

        Raises:
            ValueError: A tool's result, data or metadata has no JSON form; the message names the place.

        >>> MessageList("Hello").to_ui()[0]["parts"]
        [{'type': 'text', 'text': 'Hello'}]
        """
        from interlock.messages.ui_form import message_to_ui

        return [message_to_ui(m) for m in self._talk.current() if signals or m._envelope.role != "signal"]

    @classmethod
    def from_openai(cls, messages: Iterable[Mapping[str, JSONValue]], *, source: Source = "input") -> MessageList:
        """A list from the ``messages`` of OpenAI's chat completions; their system messages come to the front.

        Args:
            messages: Dicts with ``role``, ``content`` and so on.
            source: Where they come from.

        Raises:
            ValueError: Something is not as the form wants it; the message names the place, as in
                ``messages[2].tool_calls[0].id``.

        >>> MessageList.from_openai([{"role": "user", "content": "Hello"}]).texts()
        ['Hello']
        """
        from interlock.messages.openai_reading import read_openai

        return cls(read_openai(messages), source=source)

    def to_json(self) -> dict[str, JSONValue]:
        """Everything in it as plain JSON values: parts, ids, times, sources, metadata, system messages and tags.

        Raises:
            ValueError: A tool's result, data or metadata has no JSON form; the message names the place.
        """
        system = self._system_messages
        return list_to_json(self._talk.current(), system.table.current(), system.tags)

    @classmethod
    def from_json(cls, value: Mapping[str, JSONValue]) -> MessageList:
        """The list that :meth:`to_json` was called on.

        Raises:
            ValueError: Something is not as :meth:`to_json` writes it; the message names the place.

        >>> MessageList.from_json(MessageList("Hello").to_json()).texts()
        ['Hello']
        """
        conversation, system, tags = list_from_json(value)
        made = cls()
        made._talk = Table(conversation)
        made._system_messages.table = Table(system)
        made._system_messages.tags = tags
        return made

    # Inside

    def _read(self, messages: Given | Iterable[Given], source: Source) -> list[Message]:
        if not isinstance(cast("object", messages), Message | Iterable):
            raise TypeError(f"messages must be a text, a Message, or several of these, not {type(messages).__name__}")
        given = [messages] if isinstance(messages, Message | str) else list(messages)
        role: Role = "assistant" if source == "response" else "user"
        for index, message in enumerate(given):
            if not isinstance(cast("object", message), Message | str):
                raise TypeError(f"messages[{index}] must be a Message or a string, not {type(message).__name__}")
        return [Message(role, message) if isinstance(message, str) else message for message in given]

    def _table_of(self, message_id: str) -> Table:
        if message_id in self._talk:
            return self._talk
        if message_id in self._system_messages.table:
            return self._system.table
        raise self._unknown(message_id)

    def _message(self, message_id: str) -> Message:
        found = self._table_of(message_id).get(message_id)
        if found is None:
            raise self._unknown(message_id)
        return found

    def _unknown(self, message_id: str) -> ValueError:
        ids = self._talk.ids()
        shown = ", ".join(map(repr, ids[-5:]))
        return ValueError(
            f"no message has the id {message_id!r}; the list has {len(ids)} messages"
            + (f", the last ones: {shown}" if ids else "")
        )

    def __repr__(self) -> str:
        return f"<MessageList: {len(self._talk)} messages, {len(self._system_messages.table)} system messages>"


def _system_message(given: Given) -> Message:
    if isinstance(given, str):
        return Message.system(given)
    if not isinstance(cast("object", given), Message):
        raise TypeError(f"a system message is a text or a Message, not a {type(given).__name__}")
    if given.role != "system":
        raise ValueError(f"a system message has the role 'system', not {given.role!r}")
    return given


_new = MessageList.__new__

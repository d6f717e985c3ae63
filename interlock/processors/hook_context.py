"""What all ten contexts share: who asks, the conversation, how to stop or warn; and how a context forks and joins."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, Generic, NoReturn, Self, TypeVar, cast, get_args, overload

from interlock.context import RequestContext
from interlock.messages import (
    Message,
    MessageList,
    PromptMessage,
    Role,
    Source,
    ToolCall,
    ToolError,
    ToolResult,
)
from interlock.messages.outbox import written_chunk
from interlock.messages.parts import same_json
from interlock.messages.signals import DEFAULT_TAG, put_signal, signal_message
from interlock.models import ModelRequest
from interlock.nearest import did_you_mean
from interlock.processors.progress import RunResult, StepResult
from interlock.processors.seat import RunFacts, Seat
from interlock.verdict import Phase, Tripwire, Violation

__all__ = ["Content", "HookContext", "own_copy"]

T = TypeVar("T")


class Content(Generic[T]):
    """A field of a context that a branch may change: it lives in the branch's fork.

    A list or dict is copied when it is first looked at in a fork, so editing it in place stays in the branch.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, context: None, owner: type) -> Self: ...
    @overload
    def __get__(self, context: HookContext, owner: type) -> T: ...
    def __get__(self, context: HookContext | None, owner: type) -> Self | T:
        if context is None:
            return self
        return cast("T", context.content_value(self._name))

    def __set__(self, context: HookContext, value: T) -> None:
        context.set_content(self._name, value)


class HookContext:
    """The base of the ten contexts.

    Args:
        messages: The conversation: a list, a message, messages, or the text of one user message. A plain text is handy
            for trying a processor by itself.
        run: The run; default: one of its own, so that a context can be made without an agent.

    Attributes:
        phase: The point of the run.
        message_list: The whole conversation.
    """

    __interlock_union__: ClassVar[str] = "ProcessorStepSchema"
    phase: ClassVar[Phase]
    source: ClassVar[Source] = "input"
    """The source that messages added at this point get."""
    content: ClassVar[tuple[str, ...]] = ()
    """The names of the fields that belong to a branch."""
    joins_texts: ClassVar[bool] = True
    """Whether strings in those fields are texts, whose edits can be joined, and not names."""

    def __init__(
        self, messages: MessageList | Message | Sequence[Message] | str = (), *, run: RunFacts | None = None
    ) -> None:
        self.message_list = messages if isinstance(messages, MessageList) else MessageList(messages)
        self._seat = Seat("unseated", run if run is not None else RunFacts(), {})
        self._values: dict[str, object] = {}
        self._borrowed: set[str] = set()

    @property
    def run_id(self) -> str:
        """The run."""
        return self._seat.run.run_id

    @property
    def agent_id(self) -> str | None:
        """The agent; None outside one."""
        return self._seat.run.agent_id

    @property
    def thread(self) -> str | None:
        """The conversation that the call names, for memory; None where it names none."""
        return self._seat.run.thread

    @property
    def resource(self) -> str | None:
        """Whose conversation that is: a user, a customer, …; None where the call does not say."""
        return self._seat.run.resource

    @property
    def request_context(self) -> RequestContext:
        """What the caller handed over."""
        return self._seat.run.request_context

    @property
    def processor_id(self) -> str:
        """The processor that is being asked."""
        return self._seat.processor_id

    @property
    def state(self) -> dict[str, Any]:
        """The processor's own dict for this run: empty at first, shared by all its hooks, never between runs."""
        return self._seat.state

    @property
    def retry_count(self) -> int:
        """How often a step of this run has been asked for again so far."""
        return self._seat.run.retry_count

    @property
    def asks_for_object(self) -> bool:
        """Whether the newest step's answer is to be an object (``output_schema=``), and so its text JSON."""
        return self._seat.run.asks_for_object

    @property
    def messages(self) -> Sequence[Message]:
        """The messages of this point. Editing one in place counts as a change."""
        return self.message_list.all

    @property
    def system_messages(self) -> Sequence[Message]:
        """The untagged system messages."""
        return self.message_list.system_messages()

    def abort(
        self, reason: str | None = None, *, retry: bool = False, metadata: Mapping[str, object] | None = None
    ) -> NoReturn:
        """Stop the run. The verdict is recorded before the signal is raised, so it stands however the hook then ends.

        Args:
            reason: Why, for people; default: names the processor.
            retry: Whether another try is asked for.
            metadata: Kinds, scores, …; never the text itself.
        """
        said = str(reason) if reason is not None else f"stopped by {self.processor_id!r}"
        self._seat.abort(Tripwire(said, self.processor_id, self.phase, retry, metadata), self.phase)

    def warn(self, message: str, detail: object = None) -> None:
        """Report a violation and go on."""
        self._seat.warn(Violation(self.processor_id, self.phase, message, detail))

    def not_checked(self, reason: str) -> None:
        """Report that nothing was looked at here, so that the record does not say "passed".

        Args:
            reason: Why not.
        """
        self._seat.not_checked = reason

    def looked_at(self, role: str, part: str) -> None:
        """Say that something was read here, for the record and ``result.coverage()``.

        Args:
            role: Of its message: ``"user"``, ``"assistant"``, ``"system"``, ``"signal"``, or ``"tool"`` for what a tool
                returned.
            part: ``"text"``, ``"reasoning"``, ``"tool-arguments"``, ``"tool-result"``, ``"file"``, ``"source"`` or
                ``"data"``.

        Raises:
            ValueError: There is no such role or kind of part.
        """
        if role not in _SPEAKERS or part not in _KINDS:
            raise ValueError(_no_such(role, part))
        self._seat.looked_at.add((role, part))

    def write(
        self,
        name: str,
        data: object = None,
        *,
        transient: bool = False,
        id: str | None = None,  # noqa: A002
        message_id: str | None = None,
    ) -> None:
        """Send the client a data chunk, ``data-<name>`` on the wire. It goes out before what is being looked at.

        It acts at once, whichever branch goes on. Unless it is transient, it is stored as a part of the message.

        Args:
            name: What it is, for the client: letters, digits, ``.``, ``_`` and ``-``.
            data: The value, as JSON has it.
            transient: Whether it is shown only, and not stored.
            id: A later one of this name and id takes its place in the message.
            message_id: The message it belongs to; None: the answer.

        Raises:
            ValueError: The name is none, or something in the data has no JSON form.
        """
        chunk = written_chunk(name, data, transient=transient, id=id, message_id=message_id)
        if not self._seat.retired:
            self._seat.run.open_outbox().put(chunk)

    def send_signal(
        self,
        contents: str,
        *,
        type: str = "reactive",  # noqa: A002
        tag: str = DEFAULT_TAG,
        attributes: Mapping[str, str | float | bool] | None = None,
        transient: bool = False,
    ) -> None:
        """Tell the model something in the conversation: ``<system-reminder …>contents</system-reminder>``.

        It becomes a message of role ``signal`` at the conversation's end, in this branch; the model reads it with the
        next prompt that is made. Clients do not see it.

        Args:
            contents: The text; it is escaped.
            type: What kind of signal it is, for programs.
            tag: The element's name.
            attributes: The element's attributes.
            transient: Whether memory leaves it out. One that says the same as an earlier one takes that one's place.

        Raises:
            ValueError: The contents are no text, or a name could stand in no element.
        """
        signal = signal_message(contents, type=type, tag=tag, attributes=attributes, transient=transient)
        self._put_signal(signal)

    def _put_signal(self, signal: Message) -> None:
        put_signal(self.message_list, signal, self.source)

    def content_value(self, name: str) -> object:
        """The branch's own value of a content field."""
        if name in self._borrowed:
            self._borrowed.discard(name)
            self._values[name] = own_copy(self._values[name])
        return self._values[name]

    def set_content(self, name: str, value: object) -> None:
        """Set a content field of this branch."""
        self._borrowed.discard(name)
        self._values[name] = value

    def fork(self) -> Self:
        """A context whose content can change without touching this one's. Constant time."""
        made = copy.copy(self)
        made.message_list = self.message_list.fork()
        made._values = dict(self._values)
        made._borrowed = {n for n, v in self._values.items() if isinstance(v, _COPIED)}
        return made

    def seated(self, seat: Seat) -> Self:
        """A fork for one processor."""
        made = self.fork()
        made._seat = seat
        return made

    def changed_from(self, base: HookContext) -> bool:
        """Whether the content differs from what it was forked from."""
        if self.message_list.changed_from(base.message_list):
            return True
        return any(not same_json(self._values[name], base._values[name]) for name in self.content)

    def merge_forks(self, forks: Mapping[str, HookContext], prefer: str | None = None) -> Self:
        """Join forks of this context three-way.

        Args:
            forks: By branch, in list order.
            prefer: The branch that wins where two contradict each other.

        Raises:
            MergeConflict: Two branches contradict each other, and none is preferred.
        """
        from interlock.messages import merge  # much code, which only runs where branches have changed something

        merged = self.fork()
        merged.message_list = merge(
            self.message_list, {name: fork.message_list for name, fork in forks.items()}, prefer
        )
        for name in self.content:
            changed = {
                branch: fork._values[name]
                for branch, fork in forks.items()
                if not same_json(fork._values[name], self._values[name])
            }
            if changed:
                value = merged._values[name] = self._merged_field(name, changed, prefer)
                if isinstance(value, list | dict):  # it may be a branch's own
                    merged._borrowed.add(name)
        return merged

    def _merged_field(self, name: str, changed: Mapping[str, Any], prefer: str | None) -> Any:
        from interlock.messages import merge_values

        return merge_values(self._values[name], changed, prefer, f"{name!r} at {self.phase!s}", texts=self.joins_texts)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> Any:
        """A context is validated by being one."""
        from pydantic_core import core_schema

        return core_schema.is_instance_schema(cls)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} run={self.run_id} processor={self.processor_id}>"


_SPEAKERS: Final = (*get_args(Role), "tool")
_KINDS: Final = ("text", "reasoning", "tool-arguments", "tool-result", "file", "source", "data")


def _no_such(role: str, part: str) -> str:
    faults = [
        f"there is no {what} {given!r}{did_you_mean(str(given), known)} ({', '.join(known)})"
        for what, given, known in (("role", role, _SPEAKERS), ("kind of part", part, _KINDS))
        if given not in known
    ]
    return f"ctx.looked_at({role!r}, {part!r}): {'; '.join(faults)}"


_COPIED = (list, dict, tuple, StepResult, RunResult, ModelRequest)


def own_copy(value: object) -> object:
    """A copy of what a hook could change in place; what cannot be changed is shared."""
    if isinstance(value, StepResult):
        return replace(
            value,
            tool_calls=own_copy(value.tool_calls),  # type: ignore[arg-type]  # of the same type
            tool_results=own_copy(value.tool_results),  # type: ignore[arg-type]
        )
    if isinstance(value, RunResult):
        return replace(value, steps=own_copy(value.steps))  # type: ignore[arg-type]
    if isinstance(value, ModelRequest):
        return replace(value, prompt=own_copy(value.prompt))  # type: ignore[arg-type]
    if isinstance(value, ToolCall | ToolError):
        return value.replace(args=own_copy(value.args))
    if isinstance(value, ToolResult):
        return value.replace(args=own_copy(value.args), result=own_copy(value.result))
    if isinstance(value, tuple):
        return tuple(own_copy(v) for v in cast("tuple[object, ...]", value))
    if isinstance(value, list):
        return [own_copy(v) for v in cast("list[object]", value)]
    if type(value) is dict:
        return {k: own_copy(v) for k, v in cast("dict[object, object]", value).items()}
    return value.copy() if isinstance(value, PromptMessage) else value

"""What a guard reads at a point of a run, and how it changes it.

``MessageTexts`` holds the texts of messages, ``ResultTexts`` those of what a tool returned. Both give a flat list of
texts; a guard names them by their place in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from interlock.messages import (
    JSONValue,
    Message,
    ReasoningPart,
    Role,
    StepStartPart,
    TextEdit,
    TextPart,
    ToolInvocationPart,
)
from interlock.messages.json_text import read_json
from interlock.messages.rewriting import apply_edits
from interlock.processors.changes import ToolCallChanges, ToolResultChanges
from interlock.processors.contexts import (
    InputContext,
    OutputResultContext,
    OutputStepContext,
    ToolCallContext,
    ToolResultContext,
)
from interlock.processors.detection.json_strings import JSONStrings
from interlock.processors.detection.scope import PartKind, Scope
from interlock.processors.lanes.json_scan import JSONScan

__all__ = ["FILTERED", "CallTexts", "GuardedText", "JSONTexts", "MessageTexts", "ResultTexts", "Texts"]

FILTERED: Final = "[filtered]"
"""What stands in a tool's result for a string that was filtered: the model is not to take it for an empty answer."""


_Field = Literal["args", "result", "error", "model_output"]


@dataclass(frozen=True, slots=True)
class GuardedText:
    """One text.

    Args:
        text: As it came.
        part: What it is part of.
        role: Of its message; None for a tool's result.
        can_change: Whether it may be edited. Sealed reasoning, what the system wrote, and keys of objects may not.
        is_json: Whether it is JSON: what is escaped in it stands for something else.
    """

    text: str
    part: PartKind
    role: Role | None = None
    can_change: bool = True
    is_json: bool = False


class Texts(ABC):
    """The texts of a point of a run.

    Attributes:
        texts: What was found in scope, in order.
        after: Which of them are to be read as JSON: the parts of an answer that is to be an object, and what a model
            wrote as arguments that are no JSON; and what has read the part before each.
    """

    def __init__(self) -> None:
        self.texts: list[GuardedText] = []
        self.after: dict[int, JSONScan | None] = {}

    @abstractmethod
    def edit(self, index: int, edits: Sequence[TextEdit]) -> None:
        """Change a text; only where ``can_change``."""

    @abstractmethod
    def drop(self, indices: Iterable[int]) -> None:
        """Take out what these texts belong to: the message; of an answer the part; of JSON the string."""

    @abstractmethod
    def can_drop(self, index: int) -> bool:
        """Whether the text can be taken out."""

    @abstractmethod
    def finish(self) -> ToolResultChanges | ToolCallChanges | None:
        """Make the changes; give what the hook returns."""


class MessageTexts(Texts):
    """The texts of the messages of a point: text, reasoning, tool arguments, tool results.

    Args:
        ctx: The context; its messages are edited.
        scope: What is read.
        messages: Those that are read; None: the context's.
    """

    def __init__(
        self,
        ctx: InputContext | OutputStepContext | OutputResultContext,
        scope: Scope,
        messages: Sequence[Message] | None = None,
    ) -> None:
        super().__init__()
        self._list = ctx.message_list
        self._answers = not isinstance(ctx, InputContext)
        self._places: list[tuple[str, _TextPlace | _JSONPlace]] = []
        self._changed: dict[tuple[str, _Field], JSONStrings] = {}
        self._asks_for_object = ctx.asks_for_object and not isinstance(ctx, InputContext)
        for message in ctx.messages if messages is None else messages:
            self._read(message, scope)

    def edit(self, index: int, edits: Sequence[TextEdit]) -> None:
        message_id, place = self._places[index]
        if isinstance(place, _TextPlace):
            self._list.edit_text(message_id, place.part_index, edits)
            return
        place.strings.change(place.index, apply_edits(self.texts[index].text, edits))
        self._changed[place.tool_call_id, place.field] = place.strings

    def drop(self, indices: Iterable[int]) -> None:
        whole: dict[str, None] = {}
        parts: dict[str, set[int]] = {}
        for n in indices:
            message_id, place = self._places[n]
            if not self._is_of_answer(n):
                whole[message_id] = None
            elif isinstance(place, _TextPlace):
                parts.setdefault(message_id, set()).add(place.part_index)
            else:
                place.strings.change(place.index, FILTERED)
                self._changed[place.tool_call_id, place.field] = place.strings
        for message_id, taken in parts.items():
            message = self._list.get(message_id)
            assert message is not None, "it was read"
            message.parts[:] = [part for n, part in enumerate(message.parts) if n not in taken]
            if all(part.type == "step-start" for part in message.parts):
                whole[message_id] = None
        self._list.remove(whole)

    def can_drop(self, index: int) -> bool:
        return not self._is_of_answer(index) or self.texts[index].can_change

    def _is_of_answer(self, index: int) -> bool:
        """Whether the text stands in what the run answered: a reader has the rest of that message already."""
        return self._answers and self.texts[index].role == "assistant"

    def finish(self) -> None:
        for (call, field), strings in self._changed.items():
            match field:
                case "args":
                    self._list.update_tool_invocation(call, args=strings.value)
                case "result":
                    self._list.update_tool_invocation(call, result=strings.value)
                case "error":
                    self._list.update_tool_invocation(call, error=str(strings.value))
                case "model_output":
                    self._list.update_tool_invocation(call, model_output=strings.value)

    def _read(self, message: Message, scope: Scope) -> None:
        by_system = message.role in ("system", "signal")
        scan: JSONScan | None = None
        is_answer = self._asks_for_object and message.role == "assistant"
        for n, part in enumerate(message.parts):
            if is_answer and isinstance(part, TextPart):
                if scope.takes("assistant", "text"):
                    self.after[len(self.texts)] = scan
                scan = JSONScan.of(part.text, scan)
            match part:
                case StepStartPart():
                    scan = None
                case TextPart() if scope.takes(message.role, "text"):
                    text = GuardedText(part.text, "text", message.role, not by_system, is_answer)
                    self._add(message, _TextPlace(n), text)
                case ReasoningPart() if scope.takes(message.role, "reasoning"):
                    sealed = part.signature is not None
                    text = GuardedText(part.text, "reasoning", message.role, not (sealed or by_system))
                    self._add(message, _TextPlace(n), text)
                case ToolInvocationPart():
                    self._read_tool(message, part, scope)
                case _:
                    pass

    def _read_tool(self, message: Message, part: ToolInvocationPart, scope: Scope) -> None:
        if scope.takes(message.role, "tool-arguments"):
            self._add_json(message, part.tool_call_id, "args", part.args, "tool-arguments")
        if scope.takes(message.role, "tool-result"):
            self._add_json(message, part.tool_call_id, "result", part.result, "tool-result")
            self._add_json(message, part.tool_call_id, "error", part.error, "tool-result")
            self._add_json(message, part.tool_call_id, "model_output", part.model_output, "tool-result")

    def _add_json(self, message: Message, call: str, field: _Field, value: JSONValue, part: PartKind) -> None:
        if value is None:
            return
        strings = JSONStrings(value)
        if part == "tool-arguments" and _is_broken(value):
            self.after[len(self.texts)] = None
        for n, found in enumerate(strings.texts):
            text = GuardedText(found.text, part, message.role, found.can_change)
            self._add(message, _JSONPlace(call, field, strings, n), text)

    def _add(self, message: Message, place: _TextPlace | _JSONPlace, text: GuardedText) -> None:
        self.texts.append(text)
        self._places.append((message.id, place))


class JSONTexts(Texts):
    """The texts of a JSON value.

    Args:
        value: The value; it is copied.
        scope: What is read.
        part: What the value is.
    """

    def __init__(self, value: object, scope: Scope, part: PartKind) -> None:
        super().__init__()
        self._strings = JSONStrings(value)
        self._changed = False
        if scope.takes(None, part):
            self.texts = [GuardedText(t.text, part, None, t.can_change) for t in self._strings.texts]
            if part == "tool-arguments" and _is_broken(value):
                self.after[0] = None

    @property
    def value(self) -> JSONValue:
        """The value with the changes."""
        return self._strings.value

    @property
    def changed(self) -> bool:
        """Whether there are any."""
        return self._changed

    def edit(self, index: int, edits: Sequence[TextEdit]) -> None:
        self._change(index, apply_edits(self.texts[index].text, edits))

    def drop(self, indices: Iterable[int]) -> None:
        for n in indices:
            self._change(n, FILTERED)

    def can_drop(self, index: int) -> bool:
        return self.texts[index].can_change

    def finish(self) -> ToolResultChanges | ToolCallChanges | None:
        return None

    def _change(self, index: int, text: str) -> None:
        self._strings.change(index, text)
        self._changed = True


class ResultTexts(JSONTexts):
    """The texts of what a tool returned.

    Args:
        ctx: The context.
        scope: What is read.
    """

    def __init__(self, ctx: ToolResultContext, scope: Scope) -> None:
        super().__init__(ctx.result, scope, "tool-result")

    def finish(self) -> ToolResultChanges | None:
        return ToolResultChanges(result=self.value) if self.changed else None


class CallTexts(JSONTexts):
    """The texts of the arguments that a tool is to be called with.

    Args:
        ctx: The context.
        scope: What is read.
    """

    def __init__(self, ctx: ToolCallContext, scope: Scope) -> None:
        super().__init__(ctx.args, scope, "tool-arguments")

    def finish(self) -> ToolCallChanges | None:
        return ToolCallChanges(args=self.value) if self.changed else None


def _is_broken(args: object) -> bool:
    """Whether arguments are the text that a model wrote, which is no JSON; see ``decode_arguments``."""
    if not isinstance(args, str):
        return False
    try:
        read_json(args)
    except (ValueError, RecursionError):
        return True
    return False


@dataclass(frozen=True, slots=True)
class _TextPlace:
    part_index: int


@dataclass(frozen=True, slots=True)
class _JSONPlace:
    tool_call_id: str
    field: _Field
    strings: JSONStrings
    index: int

"""Values made JSON."""

from __future__ import annotations

import reprlib
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from enum import Enum, Flag
from typing import Any, Final, cast

from interlock.errors import InterlockError, ModelError, RecordedError, StateConflict, StepFailed
from interlock.messages.json_form import list_to_json
from interlock.messages.message import Message
from interlock.messages.message_list import MessageList
from interlock.runtime.journal.context_values import ONLY_HERE, is_context, parts_of
from interlock.runtime.journal.leaf_values import LARGEST, LEAVES, LEAVES_BY_MODULE, Leaf
from interlock.runtime.journal.message_lists import MessageListForm
from interlock.runtime.journal.object_parts import has_parts, taken_apart
from interlock.runtime.journal.record_classes import RecordClasses, has_json_form
from interlock.runtime.journal.unrecordable import Unrecordable
from interlock.runtime.operations.fork import BranchOutputs

__all__ = ["FACTORIES", "JSON", "TAG", "Encoder"]

JSON = Any
"""None, bool, int, finite float, str, list or dict with strings for keys, of these."""

TAG: Final = "$"
"""The key that says what an object stands for."""

FACTORIES: Final[Mapping[str, type[Any]]] = {
    kind.__name__: kind for kind in cast("tuple[type[Any], ...]", (bool, dict, float, int, list, set, str, tuple))
}
"""What a ``defaultdict`` may make its values with."""

_DEEPEST: Final = 150
_INF: Final = float("inf")


class Encoder:
    """Makes JSON of values.

    Args:
        classes: Gives classes their names.
        lists: Writes message lists.
    """

    def __init__(self, classes: RecordClasses, lists: MessageListForm) -> None:
        self._classes = classes
        self._lists = lists

    def encode(self, value: Any, depth: int = 0) -> JSON:
        """The value as JSON.

        Raises:
            Unrecordable: It cannot be written.
        """
        kind = cast("type[Any]", type(value))
        if value is None or kind is bool:
            return value
        if kind is str:
            if value.isascii() or _is_text(value):
                return value
        elif kind is int:
            if -LARGEST < value < LARGEST:
                return value
        elif kind is float:
            if -_INF < value < _INF:
                return value
        elif kind is list:
            return self._list(value, depth)
        elif kind is dict or kind is BranchOutputs:  # what reads that as a dict makes it anew
            return self._dict(value, depth)
        leaf = LEAVES.get(kind) or _leaf(kind)
        if leaf is not None:
            return {TAG: leaf.tag, "v": leaf.write(value)}
        write = _CONTAINERS.get(kind)
        if write is not None:
            return write(self, value, depth + 1)
        return self._object(value, kind, depth)

    def _list(self, values: Iterable[Any], depth: int) -> list[JSON]:
        _check(depth)
        made: list[JSON] = []
        try:
            for value in values:
                made.append(self.encode(value, depth + 1))
        except Unrecordable as fault:
            fault.behind(f"[{len(made)}]", values)
            raise
        return made

    def _dict(self, values: Mapping[Any, Any], depth: int) -> JSON:
        _check(depth)
        made: dict[str, JSON] = {}
        key: object = None
        try:
            for key, value in values.items():
                if type(key) is not str or key == TAG or not (key.isascii() or _is_text(key)):
                    break
                made[key] = self.encode(value, depth + 1)
            else:
                return made
        except Unrecordable as fault:
            fault.behind(f"[{key!r}]", values)
            raise
        return {TAG: "dict", "v": self._items(values, depth + 1)}

    def _items(self, values: Mapping[Any, Any], depth: int) -> list[JSON]:
        _check(depth)
        made: list[JSON] = []
        key: object = None
        try:
            for key, value in values.items():
                made.append([self.encode(key, depth + 2), self.encode(value, depth + 2)])
        except Unrecordable as fault:
            fault.behind(f"[{reprlib.repr(key)}]", values)
            raise
        return made

    def _fields(self, values: Mapping[str, Any], holder: object, depth: int) -> dict[str, JSON]:
        _check(depth)
        made: dict[str, JSON] = {}
        name = ""
        try:
            for name, value in values.items():
                made[name] = self.encode(value, depth + 1)
        except Unrecordable as fault:
            fault.behind(f".{name}", holder)
            raise
        return made

    def _object(self, value: Any, kind: type[Any], depth: int) -> JSON:
        if is_context(kind):
            return {TAG: "context", "v": self._fields(_portable(parts_of(value), kind), value, depth + 1)}
        if issubclass(kind, BaseException):
            return self._error(value)
        if issubclass(kind, Enum):
            return {TAG: "enum", "class": self._class(kind), "v": _member(value)}
        if kind is Message:
            return {TAG: "message", "v": self._own_json(value, lambda: _message_to_json(value), depth)}
        if kind is MessageList:
            return {TAG: "messages", "v": self._own_json(value, lambda: self._lists.write(value), depth)}
        if has_json_form(kind):
            return {TAG: "json", "class": self._class(kind), "v": self._own_json(value, value.to_json, depth)}
        if has_parts(kind):
            parts: dict[str, JSON] = {
                name: part if isinstance(part, list) else self._fields(part, value, depth + 1)
                for name, part in taken_apart(value).items()
            }
            return {TAG: "object", "class": self._class(kind), **parts}
        raise Unrecordable(f"is {_a(kind)}")

    def _own_json(self, value: object, write: Callable[[], Any], depth: int) -> JSON:
        try:
            told = write()
        except Exception as error:
            why = f"is {_a(type(value))} that has no JSON form ({error})"
            raise Unrecordable(why, hint="what is named there must be made of JSON values") from error
        try:
            return self.encode(told, depth + 1)
        except Unrecordable as fault:
            fault.behind(".to_json()", value)
            raise

    def _error(self, error: BaseException) -> JSON:
        if type(error) is ModelError:
            told = [error.message, error.provider, error.status, error.body, error.retryable]
            return {TAG: "model-error", "v": self._list(told, 0)}
        if type(error) is StepFailed:
            phase = None if error.phase is None else str(error.phase)
            told = [error.step_id, self._error(error.cause), error.attempt, phase, error.iteration, error.part]
            return {TAG: "step-failed", "v": told}
        if type(error) is StateConflict:
            return {TAG: "state-conflict", "v": [error.key, *error.steps]}
        if isinstance(error, RecordedError):
            return self._error_json(error.type_name, error.message, own=error.own, kinds=error.kinds)
        try:
            said = str(error)
        except Exception as fault:  # an error is recorded all the same
            said = f"(its message could not be told: {type(fault).__name__})"
        kinds = [kind for kind in type(error).__mro__ if issubclass(kind, Exception) and kind is not Exception]
        names = [f"{kind.__module__}.{kind.__qualname__}" for kind in kinds]
        return self._error_json(type(error).__name__, said, own=isinstance(error, InterlockError), kinds=names)

    def _error_json(self, type_name: str, message: str, *, own: bool, kinds: Iterable[str]) -> JSON:
        told: dict[str, JSON] = {TAG: "error", "type": type_name, "v": self.encode(message, 0)}
        if own:
            told["own"] = True
        if names := list(kinds):
            told["kinds"] = names
        return told

    def _class(self, kind: type[Any]) -> str:
        name = self._classes.name_of(kind)
        if name is None:
            raise Unrecordable(
                f"is {_a(kind)}, a class that is not found again by its name",
                hint="define it at the top level of its module, or use it in a schema of the workflow",
            )
        return name


_CONTAINERS: Final[Mapping[type, Callable[[Encoder, Any, int], JSON]]] = {
    tuple: lambda encoder, value, depth: {TAG: "tuple", "v": encoder._list(value, depth)},
    set: lambda encoder, value, depth: {TAG: "set", "v": encoder._list(value, depth)},
    frozenset: lambda encoder, value, depth: {TAG: "frozenset", "v": encoder._list(value, depth)},
    deque: lambda encoder, value, depth: {TAG: "deque", "v": [encoder._list(value, depth + 1), value.maxlen]},
    OrderedDict: lambda encoder, value, depth: {TAG: "ordered-dict", "v": encoder._items(value, depth)},
    Counter: lambda encoder, value, depth: {TAG: "counter", "v": encoder._items(value, depth)},
    defaultdict: lambda encoder, value, depth: {
        TAG: "default-dict",
        "v": [_factory(value.default_factory), encoder._items(value, depth + 1)],
    },
}


def _check(depth: int) -> None:
    if depth > _DEEPEST:
        raise Unrecordable(f"is nested more than {_DEEPEST} deep", hint="pass on less, or a flatter value", deep=True)


def _is_text(value: str) -> bool:
    """Whether it can be written in UTF-8: half a surrogate pair cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _leaf(kind: type[Any]) -> Leaf | None:
    of_module = LEAVES_BY_MODULE.get(kind.__module__)
    return of_module(kind) if of_module is not None else None


def _message_to_json(message: Message) -> JSON:
    return list_to_json([message], (), ())["messages"][0]


def _member(value: Enum) -> Any:
    kind = type(value)
    if isinstance(value, Flag):
        return value.value
    if kind.__members__.get(value.name) is not value:
        raise Unrecordable(f"is no member of {kind.__qualname__} by its name")
    return value.name


def _factory(factory: Any) -> str | None:
    if factory is None or (isinstance(factory, type) and FACTORIES.get(factory.__name__) is factory):
        return None if factory is None else factory.__name__
    raise Unrecordable("is a defaultdict whose factory is no built-in type", hint="pass it on as a dict")


def _portable(parts: dict[str, object], kind: type[Any]) -> dict[str, object]:
    """The parts, where none belongs to this process."""
    for name in ONLY_HERE & parts.keys():
        if parts[name]:
            fault = Unrecordable(
                f"is {_a(type(parts[name]))}, which the {kind.__name__} has in this process alone",
                hint=f"a workflow that is run for itself at {parts['phase']!r} can only be run without a store",
            )
            fault.behind(f".{name}", parts)
            raise fault
    return parts


def _a(kind: type[Any]) -> str:
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"

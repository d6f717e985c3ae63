"""Values made from JSON again. No class's own code runs but ``from_json``, and nothing is imported."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from enum import Flag
from typing import Any, Final, cast

from interlock.errors import ModelError, RecordedError, StateConflict, StepFailed, StorageError
from interlock.messages.json_form import list_from_json
from interlock.runtime.journal.context_values import context_of
from interlock.runtime.journal.encoding import FACTORIES, JSON, TAG
from interlock.runtime.journal.leaf_values import LEAVES_BY_TAG
from interlock.runtime.journal.message_lists import MessageListForm
from interlock.runtime.journal.object_parts import put_together
from interlock.runtime.journal.record_classes import RecordClasses

__all__ = ["Decoder"]

_NESTED: Final = frozenset({dict, list})


class Decoder:
    """Makes values of JSON.

    Args:
        classes: Finds classes by their names.
        lists: Reads message lists.
    """

    def __init__(self, classes: RecordClasses, lists: MessageListForm) -> None:
        self._classes = classes
        self._lists = lists

    def decode(self, value: JSON) -> Any:
        """The value that is written so.

        Raises:
            StorageError: It speaks of a class that is not to be found, or was changed.
            Exception: Anything, where the JSON is none that an encoder writes.
        """
        if type(value) is dict:
            told = cast("dict[str, JSON]", value)
            if TAG in told:
                return self._tagged(told)
            return {key: item if type(item) not in _NESTED else self.decode(item) for key, item in told.items()}
        if type(value) is list:
            return [item if type(item) not in _NESTED else self.decode(item) for item in cast("list[JSON]", value)]
        return value

    def _tagged(self, told: dict[str, JSON]) -> Any:
        tag = told[TAG]
        leaf = LEAVES_BY_TAG.get(tag)
        if leaf is not None:
            return leaf.read(told["v"])
        match tag:
            case "object":
                parts = {name: self.decode(part) for name, part in told.items() if name not in (TAG, "class")}
                return put_together(self._found(told), parts)
            case "json":
                return cast("Any", self._found(told)).from_json(self.decode(told["v"]))
            case "messages":
                return self._lists.read(self.decode(told["v"]))
            case "message":
                return list_from_json({"messages": [self.decode(told["v"])], "system": [], "system_tags": []})[0][0]
            case "enum":
                kind: Any = self._found(told)
                return kind(told["v"]) if issubclass(kind, Flag) else kind.__members__[told["v"]]
            case "context":
                return context_of({name: self.decode(part) for name, part in told["v"].items()})
            case "error":
                own, kinds = told.get("own") is True, told.get("kinds", ())
                return RecordedError(told["type"], self.decode(told["v"]), own=own, kinds=kinds)
            case "state-conflict":
                key, *steps = told["v"]
                return StateConflict(key, cast("tuple[str, str]", tuple(steps)))
            case "model-error":
                message, provider, status, body, retryable = self.decode(told["v"])
                return ModelError(message, provider=provider, status=status, body=body, retryable=retryable)
            case "step-failed":
                step_id, cause, attempt, phase, iteration, part = told["v"]
                return StepFailed(
                    step_id, self.decode(cause), attempt=attempt, phase=phase, iteration=iteration, part=part
                )
            case _:
                return _READ[tag](self.decode(told["v"]))

    def _found(self, told: dict[str, JSON]) -> type:
        kind = self._classes.find(told["class"])
        if kind is None:
            raise StorageError(
                f"the journal holds an object of the class {told['class']!r}, which is neither in a schema of the "
                "workflow nor in a module that is imported: import its module first; if it was renamed or removed, "
                "bring it back under the old name"
            )
        return kind


_READ: Final[Mapping[str, Callable[[Any], Any]]] = {
    "dict": dict,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "deque": lambda told: deque(told[0], told[1]),
    "ordered-dict": OrderedDict,
    "counter": lambda told: Counter(dict(told)),
    "default-dict": lambda told: defaultdict(told[0] and FACTORIES[told[0]], told[1]),
}

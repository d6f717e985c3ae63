"""What a run's state holds: the keys that state schemas name, their types, reducers and defaults.

A state schema is a pydantic model, a dataclass or a TypedDict, read key by key: validators of a model as a whole do not
run. One run has one state; the schemas of its workflow, its steps and its nested workflows name keys of it.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from functools import lru_cache
from typing import Any, cast

from typing_extensions import TypedDict, is_typeddict

from interlock.errors import DefinitionError
from interlock.schema import is_set, plain_type, schema_name, validate
from interlock.workflows.state_fields import StateField, fields_of, is_state_schema, reducer_name

__all__ = ["StateFields", "copied", "joined"]

_COPIED = (list, dict, set, tuple, deque, bytearray)


class StateFields:
    """The keys of one run's state.

    Args:
        fields: By name; None where no schema says anything, so that any key may be written.

    Example:
        >>> import operator
        >>> from typing import Annotated
        >>> Totals = TypedDict("Totals", {"count": Annotated[int, operator.add], "last": str})
        >>> state = StateFields.of(Totals)
        >>> state.initial({"count": 2})
        {'count': 2}
        >>> state.reduced({"count": 2}, "count", 3), state.reduced({"count": 2}, "last", "x")
        (5, 'x')
    """

    def __init__(self, fields: Mapping[str, StateField] | None = None) -> None:
        self.fields: Mapping[str, StateField] = fields or {}
        self.free = fields is None
        self._checked: Any = None

    @classmethod
    def of(cls, *schemas: object) -> StateFields:
        """The keys that all these schemas name together; those that are ``UNSET`` name none.

        Raises:
            DefinitionError: One is no state schema, or two disagree about a key. All faults.
        """
        state, faults = joined([(schema_name(schema), schema) for schema in schemas if is_set(schema)])
        if faults:
            raise DefinitionError(faults, subject="state")
        return state

    def has_reducer(self, name: str) -> bool:
        """Whether changes of a key add up, so that steps that run at the same time may both make one."""
        return name in self.fields and self.fields[name].reducer is not None

    def initial(self, given: object = None) -> dict[str, object]:
        """The state that a run begins with. A key that was not given and has no default is absent.

        Args:
            given: A mapping, or an instance of a state schema.

        Raises:
            LookupError: A key that no schema names.
            TypeError: It is neither.
            pydantic.ValidationError: A value does not fit its key's type.
        """
        values: Mapping[str, object] = {} if given is None else _as_mapping(given)
        if self.free:
            return cast("dict[str, object]", copied(values))
        for name in values:
            self._known(name)
        state: dict[str, object] = {}
        for name, field in self.fields.items():
            if name in values:
                state[name] = copied(self._validated(name, values[name]))
            elif field.default is not None:
                state[name] = copied(field.default(state))
        return state

    def reduced(self, state: Mapping[str, object], name: str, delta: object) -> object:
        """The value that a key gets.

        Where it has a reducer: what that makes of the old value and the change; a key that is absent begins as an
        empty list, dict or set where that is its type, else the change itself is its first value.

        Args:
            state: The values so far; not changed, whatever the reducer does.
            name: The key.
            delta: The change, or the new value.

        Raises:
            LookupError: A key that no schema names.
            pydantic.ValidationError: The value does not fit the key's type.
        """
        if self.free:
            return copied(delta)
        field = self._known(name)
        delta = copied(delta)
        if field.reducer is None:
            return self._validated(name, delta)
        if name in state:
            return self._validated(name, field.reducer(copied(state[name]), delta))
        if field.empty is not None:
            return self._validated(name, field.reducer(field.empty(), delta))
        return self._validated(name, delta)

    def view(self, values: Mapping[str, object], schema: object) -> object:
        """The values as a schema has them: an instance of a model or dataclass, made without running its validators.

        Where the schema is a TypedDict or ``UNSET``: a dict. Lists, dicts and the like in it are copies.
        """
        if not is_set(schema):
            return copied(dict(values))
        memo: dict[int, object] = {}
        own = {name: copied(values[name], memo) for name in _names(cast("Any", schema)) if name in values}
        if is_typeddict(schema):
            return own
        kind = cast("type[Any]", schema)
        if is_dataclass(kind):
            made = object.__new__(kind)
            for name, value in own.items():
                object.__setattr__(made, name, value)
            return made
        return _constructed(kind, own)

    def _known(self, name: str) -> StateField:
        if name not in self.fields:
            known = ", ".join(map(repr, self.fields)) or "none"
            raise LookupError(f"the run's state has no key {name!r}; its schemas name {known}")
        return self.fields[name]

    def _validated(self, name: str, value: object) -> object:
        kind = plain_type(self.fields[name].type)
        if kind is not None and type(value) is kind:
            return value
        if self._checked is None:
            make = cast("Callable[..., Any]", TypedDict)
            self._checked = make("state", {name: field.type for name, field in self.fields.items()}, total=False)
            self._checked.__pydantic_config__ = {"arbitrary_types_allowed": True}
        return validate(self._checked, {name: value})[name]


def joined(schemas: list[tuple[str, object]]) -> tuple[StateFields, list[str]]:
    """The keys that several schemas name together, and a sentence for each disagreement.

    Args:
        schemas: Each with whose it is, for the sentences.
    """
    if not schemas:
        return StateFields(), []
    faults: list[str] = []
    found: dict[str, StateField] = {}
    owners: dict[str, str] = {}
    for owner, schema in schemas:
        if not is_state_schema(schema):
            wanted = "a pydantic model, a dataclass or a TypedDict"
            faults.append(f"the state_schema of {owner} must be {wanted}, not {schema_name(schema)}")
            continue
        own, wrong = fields_of(cast("type[object]", schema))
        faults += [f"the state_schema of {owner}: {fault}" for fault in wrong]
        for name, field in own.items():
            if name not in found:
                found[name], owners[name] = field, owner
                continue
            fault = _difference(found[name], owners[name], field, owner)
            if fault is not None:
                faults.append(f"one run has one state, but its key {name!r} is {fault}")
            found[name] = _together(found[name], field)
    return StateFields(found), faults


def _difference(one: StateField, owner: str, other: StateField, second: str) -> str | None:
    """How the same key differs in two schemas."""
    if one.bare != other.bare:
        return f"{schema_name(one.bare)} in that of {owner} and {schema_name(other.bare)} in that of {second}"
    if one.reducer != other.reducer:
        first, last = reducer_name(one.reducer), reducer_name(other.reducer)
        return f"reduced by {first} in that of {owner} and by {last} in that of {second}"
    if one.type != other.type and one.type != one.bare and other.type != other.bare:
        return f"constrained in one way in that of {owner} and in another in that of {second}"
    return None


def _together(one: StateField, other: StateField) -> StateField:
    """One key of two schemas: constrained where either says so, with the first default."""
    kind = other.type if one.type == one.bare else one.type
    return replace(one, type=kind, default=one.default if one.default is not None else other.default)


def copied(value: object, memo: dict[int, object] | None = None) -> object:
    """The value with lists, dicts, sets, tuples, models and dataclasses in it copied; other objects are shared."""
    if value is None or isinstance(value, str | int | float | bytes | bool):
        return value
    seen = {} if memo is None else memo
    if id(value) in seen:
        return seen[id(value)]
    kind: type[object] = type(value)
    if kind is list:
        items: list[object] = []
        seen[id(value)] = items
        items.extend(copied(one, seen) for one in cast("list[object]", value))
        return items
    if kind is dict:
        made: dict[object, object] = {}
        seen[id(value)] = made
        made.update((key, copied(one, seen)) for key, one in cast("dict[object, object]", value).items())
        return made
    if kind is tuple:
        return tuple(copied(one, seen) for one in cast("tuple[object, ...]", value))
    if issubclass(kind, _COPIED) or is_dataclass(kind) or hasattr(kind, "model_fields"):
        return copy.deepcopy(value)
    return value


@lru_cache(maxsize=1024)
def _names(schema: Any) -> tuple[str, ...]:
    return tuple(fields_of(schema)[0])


def _as_mapping(given: object) -> Mapping[str, object]:
    if isinstance(given, Mapping):
        return cast("Mapping[str, object]", given)
    kind: Any = type(given)
    if is_state_schema(kind):
        return {name: getattr(given, name) for name in _names(kind) if hasattr(given, name)}
    raise TypeError(f"a state is a mapping or an instance of its schema, not {type(given).__name__}")


def _constructed(kind: type[Any], values: dict[str, object]) -> object:
    """A pydantic model without validation; by the names of its fields, whatever their aliases are."""
    return kind.model_construct(**values)

"""Objects taken apart into their fields, and put together from them again without running any code of theirs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from functools import cached_property
from inspect import getattr_static
from typing import Any, Final, cast

from interlock.errors import StorageError
from interlock.messages.parts import PartBase
from interlock.runtime.journal.record_classes import is_model, is_named_tuple

__all__ = ["has_parts", "put_together", "taken_apart"]

Parts = Mapping[str, Any]
"""``fields``, and the names of those that are ``unset``; of a model ``extra``, ``private``, and the names in ``set``;
of a dataclass ``more``, which are its other attributes. What is empty is left out."""

_CONTAINERS: Final = (bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)

_new_tuple: Final[Any] = vars(tuple)["__new__"]
_new_object: Final = cast("Callable[[type], Any]", object.__new__)


def has_parts(kind: type[Any]) -> bool:
    """Whether objects of the class are made of fields alone: a pydantic model, a dataclass, a named tuple."""
    if is_named_tuple(kind) or is_model(kind):
        return True
    return dataclasses.is_dataclass(kind) and not issubclass(kind, (BaseException, *_CONTAINERS))


def taken_apart(value: Any) -> dict[str, Any]:
    """The parts of such an object."""
    kind = cast("type[Any]", type(value))
    if is_named_tuple(kind):
        return {"fields": dict(zip(value._fields, tuple(value), strict=True))}
    parts = _of_model(value) if is_model(kind) else _of_dataclass(value)
    return {name: part for name, part in parts.items() if part or name == "fields"}


def _of_model(value: Any) -> dict[str, Any]:
    declared: Mapping[str, object] = cast("Any", type(value)).model_fields
    return {
        "fields": {name: item for name, item in value.__dict__.items() if name in declared},
        "extra": value.__pydantic_extra__,
        "private": value.__pydantic_private__,
        "set": sorted(value.__pydantic_fields_set__),
        "unset": [name for name in declared if name not in value.__dict__],
    }


def _of_dataclass(value: Any) -> dict[str, Any]:
    kind = cast("type[Any]", type(value))
    names = [f.name for f in _fields(kind)]
    fields: dict[str, object] = {name: getattr(value, name) for name in names if hasattr(value, name)}
    more: dict[str, object] = {
        name: item
        for name, item in getattr(value, "__dict__", {}).items()
        if name not in fields
        and not name.startswith("__")
        and not isinstance(getattr_static(kind, name, None), cached_property)
    }
    return {"fields": fields, "more": more, "unset": [name for name in names if name not in fields]}


def _fields(kind: type) -> list[dataclasses.Field[Any]]:
    fields = dataclasses.fields(cast("Any", kind))
    if issubclass(kind, PartBase):  # how a text came to be is no part of its value
        return [f for f in fields if f.compare]
    return list(fields)


def put_together(kind: type, parts: Parts) -> Any:
    """The object that is made of these parts.

    Fields that the class has been given since get their defaults.

    Raises:
        StorageError: The class has lost fields since, or has been given some without a default.
    """
    if is_named_tuple(kind):
        named: Any = kind
        values = _completed(kind, parts["fields"], named._fields, named._field_defaults)
        return _new_tuple(kind, [values[name] for name in named._fields])
    return _model(kind, parts) if is_model(kind) else _dataclass(kind, parts)


def _model(kind: Any, parts: Parts) -> Any:
    unset: list[str] = parts.get("unset", [])
    declared: Mapping[str, Any] = {name: field for name, field in kind.model_fields.items() if name not in unset}
    missing = {
        name: field.get_default(call_default_factory=True)
        for name, field in declared.items()
        if name not in parts["fields"] and not field.is_required()
    }
    values = _completed(kind, parts["fields"], declared, missing)
    made = _new_object(kind)
    object.__setattr__(made, "__dict__", values)
    object.__setattr__(made, "__pydantic_fields_set__", set(parts.get("set", ())))
    extra = parts.get("extra", {} if kind.model_config.get("extra") == "allow" else None)
    object.__setattr__(made, "__pydantic_extra__", extra)
    private = parts.get("private", {} if kind.__private_attributes__ else None)
    object.__setattr__(made, "__pydantic_private__", private)
    return made


def _dataclass(kind: type, parts: Parts) -> Any:
    unset: list[str] = parts.get("unset", [])
    fields = dataclasses.fields(cast("Any", kind))
    defaults: dict[str, object] = {}
    for f in fields:
        if f.name in parts["fields"] or f.name in unset:
            continue
        if f.default is not MISSING:
            defaults[f.name] = f.default
        elif f.default_factory is not MISSING:
            defaults[f.name] = f.default_factory()
    wanted = [f.name for f in fields if f.name not in unset]
    made = _new_object(kind)
    for name, value in {**_completed(kind, parts["fields"], wanted, defaults), **parts.get("more", {})}.items():
        object.__setattr__(made, name, value)
    return made


def _completed(kind: type, fields: Parts, wanted: Any, defaults: Parts) -> dict[str, Any]:
    """The fields in the class's order, with defaults for what was not recorded."""
    lost = [name for name in fields if name not in wanted]
    new = [name for name in wanted if name not in fields and name not in defaults]
    if lost or new:
        said = [f"no longer has {', '.join(map(repr, lost))}"] * bool(lost)
        said += [f"now has {', '.join(map(repr, new))}, without a default"] * bool(new)
        raise StorageError(
            f"the journal holds a {kind.__qualname__} from before the class was changed: it {' and '.join(said)}"
        )
    return {name: fields[name] if name in fields else defaults[name] for name in wanted}

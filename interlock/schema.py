"""Types as schemas: checking values against them, and one against another.

A schema is any type that a pydantic ``TypeAdapter`` takes. pydantic is imported, and an adapter built, only when a
value is first checked.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Union, get_args, get_origin

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["UNSET", "Unset", "fits", "is_set", "schema_name", "validate"]


class Unset(Enum):
    """The type of :data:`UNSET`."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET
"""No schema was given. (``None`` is one: it takes only ``None``.)"""

_ANYTHING = (UNSET, Any, object)


def is_set(schema: object) -> bool:
    """Whether a schema says anything at all."""
    return not any(schema is x for x in _ANYTHING)


@functools.lru_cache(maxsize=1024)
def _cached_adapter(schema: Any) -> TypeAdapter[Any]:
    return _make_adapter(schema)


def _make_adapter(schema: Any) -> TypeAdapter[Any]:
    from pydantic import ConfigDict, PydanticUserError, TypeAdapter

    try:
        return TypeAdapter(schema, config=ConfigDict(arbitrary_types_allowed=True))
    except PydanticUserError:  # a model, dataclass or TypedDict brings its own configuration
        return TypeAdapter(schema)


def _adapter(schema: Any) -> TypeAdapter[Any]:
    try:
        return _cached_adapter(schema)
    except TypeError:  # unhashable, such as Annotated with a list
        return _make_adapter(schema)


def validate(schema: Any, value: Any) -> Any:
    """The value as the schema has it, defaults applied.

    Raises:
        pydantic.ValidationError: It does not fit.
    """
    if not is_set(schema):
        return value
    return _adapter(schema).validate_python(value)


def schema_name(schema: object) -> str:
    """How a schema is called in a drawing or an error."""
    if not is_set(schema):
        return "anything"
    if schema is None or schema is type(None):
        return "None"
    named = getattr(schema, "__interlock_name__", None)
    if isinstance(named, str):
        return named
    if isinstance(schema, type) and get_origin(schema) is None:
        return schema.__name__
    args = get_args(schema)
    if args and get_origin(schema) in (Union, types.UnionType):
        shared = {getattr(a, "__interlock_union__", None) for a in args}
        if len(shared) == 1 and (only := shared.pop()) is not None:
            return str(only)
        return " | ".join(schema_name(a) for a in args)
    return str(schema).replace("typing.", "")


def fits(given: Any, wanted: Any) -> bool:
    """Whether a value of the one schema can be of the other. Where it cannot be told, True."""
    if not is_set(given) or not is_set(wanted) or given == wanted:
        return True
    if get_origin(given) is typing.Annotated:
        return fits(get_args(given)[0], wanted)
    if get_origin(wanted) is typing.Annotated:
        return fits(given, get_args(wanted)[0])
    if _is_union(given):
        return all(fits(one, wanted) for one in get_args(given))
    if _is_union(wanted):
        return any(fits(given, one) for one in get_args(wanted))
    return _one_fits(_plain(given), _plain(wanted))


def _is_union(schema: Any) -> bool:
    return get_origin(schema) in (Union, types.UnionType)


def _plain(schema: Any) -> Any:
    return type(None) if schema is None else schema


def _one_fits(given: Any, wanted: Any) -> bool:
    given_class, wanted_class = get_origin(given) or given, get_origin(wanted) or wanted
    if not isinstance(given_class, type) or not isinstance(wanted_class, type):
        return True
    if typing.is_typeddict(given_class) or typing.is_typeddict(wanted_class):
        return typing.is_typeddict(given_class) == typing.is_typeddict(wanted_class) or _is_mapping(
            given_class, wanted_class
        )
    if not _class_fits(given_class, wanted_class):
        return False
    given_args, wanted_args = get_args(given), get_args(wanted)
    if len(given_args) != len(wanted_args) or given_class is not wanted_class:
        return True
    return all(fits(g, w) for g, w in zip(given_args, wanted_args, strict=True))


def _class_fits(given: type, wanted: type) -> bool:
    try:
        if issubclass(given, wanted):
            return True
    except TypeError:  # a protocol with data members
        return True
    if given is int and wanted in (float, complex):
        return True
    return _is_mapping(given) and not _is_builtin(wanted)  # a dict may be what a model is made of


def _is_mapping(*classes: type) -> bool:
    return any(issubclass(c, Mapping) for c in classes if not typing.is_typeddict(c))


def _is_builtin(kind: type) -> bool:
    return kind.__module__ in ("builtins", "typing", "collections.abc")

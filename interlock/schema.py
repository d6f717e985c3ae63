"""Types as schemas: checking values against them, and one against another.

A schema is any type that a pydantic ``TypeAdapter`` takes. pydantic is imported, and an adapter built, only when a
value is first checked.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Union, get_args, get_origin

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["UNSET", "Unset", "fault_in_schema", "fits", "is_set", "is_union", "plain_type", "schema_name", "validate"]


class Unset(Enum):
    """The type of :data:`UNSET`."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET
"""No schema was given. (``None`` is one: it takes only ``None``.)"""

_VALUES: tuple[type, ...] = (str, bytes, int, float, Mapping, list, tuple, set)


def is_set(schema: object) -> bool:
    """Whether a schema says anything at all."""
    return schema is not UNSET and schema is not Any and schema is not object


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


_PLAIN = frozenset({bool, bytes, complex, float, int, str})


def plain_type(schema: Any) -> type | None:
    """The type, where the schema is one whose very instances are valid as they are; there nothing needs a validator."""
    return schema if isinstance(schema, type) and schema in _PLAIN else None


def validate(schema: Any, value: Any) -> Any:
    """The value as the schema has it, defaults applied.

    Raises:
        pydantic.ValidationError: It does not fit.
    """
    if not is_set(schema):
        return value
    return _adapter(schema).validate_python(value)


def fault_in_schema(schema: object) -> str | None:
    """What is plainly wrong with a schema, or None. Whether pydantic knows the type shows when a value is checked."""
    if isinstance(schema, _VALUES):
        return f"a schema is a type, such as str or a pydantic model, not the {type(schema).__name__} {schema!r:.60}"
    return None


def schema_name(schema: object) -> str:
    """How a schema is called in a drawing or an error.

    Example:
        >>> schema_name(dict[str, list[int] | None]), schema_name(UNSET)
        ('dict[str, list[int] | None]', 'anything')
    """
    if not is_set(schema):
        return "anything"
    if schema is None or schema is type(None):
        return "None"
    named = getattr(schema, "__interlock_name__", None)
    if isinstance(named, str):
        return named
    origin, args = get_origin(schema), get_args(schema)
    if origin is typing.Annotated:
        return schema_name(args[0])
    if is_union(schema):
        shared = {getattr(a, "__interlock_union__", None) for a in args}
        if len(shared) == 1 and (only := shared.pop()) is not None:
            return str(only)
        return " | ".join(schema_name(a) for a in args)
    if args and isinstance(origin, type) and not isinstance(args[0], list):  # Callable's
        return f"{origin.__name__}[{', '.join('...' if a is ... else schema_name(a) for a in args)}]"
    name = getattr(schema, "__name__", None)
    if origin is None and isinstance(name, str):
        return name
    return str(schema).replace("typing.", "")


def is_union(schema: object) -> bool:
    """Whether a schema is a union of others (``X | Y``, ``Optional[X]``)."""
    return get_origin(schema) in (Union, types.UnionType)


def fits(given: Any, wanted: Any) -> bool:
    """Whether every value of the one schema is of the other, or can be made so. Where it cannot be told, True.

    Example:
        >>> fits(bool, int), fits(str, int | None), fits(int | None, int), fits(list[str], list[int])
        (True, False, False, False)
    """
    if not is_set(given) or not is_set(wanted) or given == wanted:
        return True
    if get_origin(given) is typing.Annotated:
        return fits(get_args(given)[0], wanted)
    if get_origin(wanted) is typing.Annotated:
        return fits(given, get_args(wanted)[0])
    if is_union(given):
        return all(fits(one, wanted) for one in get_args(given))
    if is_union(wanted):
        return any(fits(given, one) for one in get_args(wanted))
    return _one_fits(_plain(given), _plain(wanted))


def _plain(schema: Any) -> Any:
    return type(None) if schema is None else schema


def _one_fits(given: Any, wanted: Any) -> bool:
    given_class, wanted_class = get_origin(given) or given, get_origin(wanted) or wanted
    if not isinstance(given_class, type) or not isinstance(wanted_class, type):
        return True
    if typing.is_typeddict(given_class):
        given_class = dict
    if typing.is_typeddict(wanted_class):
        return issubclass(given_class, Mapping)
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
    return issubclass(given, Mapping) and _is_made_of_a_mapping(wanted)


def _is_made_of_a_mapping(kind: type) -> bool:
    """Whether pydantic makes a value of this class out of a dict: a model, a dataclass, a named tuple."""
    return hasattr(kind, "model_fields") or hasattr(kind, "_fields") or is_dataclass(kind)

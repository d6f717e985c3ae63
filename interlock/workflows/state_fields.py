"""The keys of one state schema: a pydantic model, a dataclass or a TypedDict."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any, NotRequired, Required, cast, get_args, get_origin, get_type_hints

from typing_extensions import ReadOnly, is_typeddict

__all__ = ["StateField", "fields_of", "is_state_schema", "reducer_name"]

Reducer = Callable[[Any, Any], Any]
"""Gives the new value of a key for its old one and a change."""


@dataclass(frozen=True, slots=True)
class StateField:
    """One key of a state.

    Attributes:
        type: Of its value, without the reducer.
        bare: The type without what else ``Annotated`` says of it.
        reducer: How changes are applied; None: a change is the new value.
        default: Gives the value that it begins with, of the values of the keys before it; None: it begins absent.
        empty: Gives what a reducer begins with where the key is absent; None: the first change is the first value.
    """

    type: Any
    bare: Any
    reducer: Reducer | None = None
    default: Callable[[Mapping[str, object]], object] | None = None
    empty: Callable[[], object] | None = None


def is_state_schema(schema: object) -> bool:
    """Whether a state can be read from it."""
    if not isinstance(schema, type):
        return False
    kind = cast("type[object]", schema)
    return is_typeddict(kind) or is_dataclass(kind) or hasattr(kind, "model_fields")


def fields_of(schema: type[object]) -> tuple[dict[str, StateField], list[str]]:
    """Its keys by name, in order, and what is wrong with them."""
    fields: dict[str, StateField] = {}
    faults: list[str] = []
    try:
        read = _read(schema)
    except NameError as error:  # pydantic's PydanticUndefinedAnnotation is one too
        return {}, [f"the types of {schema.__name__} cannot be read: {error}"]
    for name, (annotation, metadata, default) in read.items():
        reducers = [cast("Reducer", one) for one in metadata if _is_reducer(one)]
        rest = tuple(one for one in metadata if not _is_reducer(one))
        if len(reducers) > 1:
            faults.append(f"{name!r} has several reducers: {', '.join(map(reducer_name, reducers))}")
        faults += [
            f"the reducer of {name!r}, {reducer_name(one)}, must take two values, the old one and the change"
            for one in reducers
            if not _takes_two(one)
        ]
        fields[name] = StateField(
            Annotated[(annotation, *rest)] if rest else annotation,
            annotation,
            reducers[0] if reducers else None,
            default,
            _empty(annotation),
        )
    return fields, faults


def reducer_name(reducer: object) -> str:
    """How a reducer is called in an error."""
    if reducer is None:
        return "nothing"
    return str(getattr(reducer, "__name__", None) or type(reducer).__name__)


_Default = Callable[[Mapping[str, object]], object]
_Read = dict[str, tuple[Any, tuple[object, ...], _Default | None]]


def _read(schema: type[object]) -> _Read:
    """The type, the rest of what ``Annotated`` says, and the default of each key."""
    of_pydantic = getattr(schema, "model_fields", None) or getattr(schema, "__pydantic_fields__", None)
    if of_pydantic is not None:
        return _read_pydantic(schema, of_pydantic)
    hints = get_type_hints(schema, include_extras=True)
    if is_typeddict(schema):
        return {name: (*_parted(hint), None) for name, hint in hints.items()}
    return {
        field.name: (*_parted(hints[field.name]), _dataclass_default(field))
        for field in dataclasses.fields(cast("Any", schema))
    }


def _read_pydantic(schema: Any, fields: Mapping[str, Any]) -> _Read:
    if not getattr(schema, "__pydantic_complete__", True):
        rebuild = getattr(schema, "model_rebuild", None)
        if rebuild is not None:
            rebuild()
            fields = schema.model_fields
    return {
        name: (field.annotation, tuple(field.metadata), None if field.is_required() else _pydantic_default(field))
        for name, field in fields.items()
    }


def _pydantic_default(field: Any) -> _Default:
    if getattr(field, "default_factory_takes_validated_data", False):
        return lambda before: field.get_default(call_default_factory=True, validated_data=dict(before))
    return lambda _: field.get_default(call_default_factory=True)


def _dataclass_default(field: dataclasses.Field[Any]) -> _Default | None:
    factory = field.default_factory
    if factory is not dataclasses.MISSING:
        return lambda _: factory()
    if field.default is not dataclasses.MISSING:
        return lambda _: field.default
    return None


def _parted(hint: Any) -> tuple[Any, tuple[object, ...]]:
    """A type and what ``Annotated`` says of it, out of ``Required`` and the like."""
    while get_origin(hint) in (Required, NotRequired, ReadOnly):
        hint = get_args(hint)[0]
    if get_origin(hint) is not Annotated:
        return hint, ()
    annotation, *metadata = get_args(hint)
    return annotation, tuple(metadata)


def _is_reducer(given: object) -> bool:
    """Whether a word of ``Annotated`` is one: a function, and none of pydantic's."""
    return callable(given) and not isinstance(given, type) and not hasattr(given, "__get_pydantic_core_schema__")


def _takes_two(reducer: Any) -> bool:
    try:
        inspect.signature(reducer).bind(None, None)
    except TypeError:
        return False
    except ValueError:  # it does not say what it takes, as max does not
        return True
    return True


def _empty(annotation: Any) -> Callable[[], object] | None:
    kind = get_origin(annotation) or annotation
    return kind if kind in (list, dict, set) else None

"""The classes of values in a journal: which may stand in one, how they are named there, and how they are found again.

A journal is data, and may have been tampered with. So a class it names is looked for among those the workflow's schemas
speak of and in the modules that are imported already, nothing is imported for it, and only classes that are made of
data come into question.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from enum import Enum
from inspect import get_annotations
from types import ModuleType
from typing import Any, Final, cast, get_args, get_origin, get_type_hints

__all__ = ["RecordClasses", "classes_in", "has_json_form", "is_made_of_data", "is_model", "is_named_tuple"]


def is_model(kind: type[Any]) -> bool:
    """Whether it is a pydantic model. Does not import pydantic."""
    pydantic: Any = sys.modules.get("pydantic.main")
    return pydantic is not None and issubclass(kind, pydantic.BaseModel)


def is_named_tuple(kind: type[Any]) -> bool:
    """Whether its values are named tuples."""
    return tuple in kind.__mro__ and isinstance(getattr(kind, "_fields", None), tuple)


def has_json_form(kind: type[Any]) -> bool:
    """Whether its values say themselves how they are written, and how they are read."""
    return callable(getattr(kind, "to_json", None)) and callable(getattr(kind, "from_json", None))


def is_made_of_data(kind: type[Any]) -> bool:
    """Whether its values can be put together from a journal."""
    return is_dataclass(kind) or issubclass(kind, Enum) or is_named_tuple(kind) or is_model(kind) or has_json_form(kind)


class RecordClasses:
    """Finds classes by the names they have in a journal, such as ``shop.orders:Order``.

    Args:
        classes: Those that need not be importable, or may come from a module that had another name when the journal
            was written (``__main__``, say).
    """

    def __init__(self, classes: Iterable[type] = ()) -> None:
        given = [kind for kind in classes if is_made_of_data(kind)]
        self._by_name = {_name(kind): kind for kind in given}
        self._by_qualname: dict[str, set[type]] = {}
        for kind in given:
            self._by_qualname.setdefault(kind.__qualname__, set()).add(kind)
        self._modules = {"__main__", *(kind.__module__ for kind in given)}
        self._named: dict[type[Any], str] = {}
        self._found: dict[str, type[Any]] = {}

    def name_of(self, kind: type) -> str | None:
        """The class's name in a journal; None where it could not be found again by that."""
        name = self._named.get(kind)
        if name is None:
            name = _name(kind)
            if self.find(name) is not kind:
                return None
            self._named[kind] = name
        return name

    def find(self, name: str) -> type | None:
        """The class of a name; None where there is none, or only one that is not made of data."""
        found = self._found.get(name)
        if found is None:
            found = self._find(name)
            if found is not None:
                self._found[name] = found
        return found

    def _find(self, name: str) -> type | None:
        module, _, qualname = name.partition(":")
        exact = self._by_name.get(name) or _in_module(module, qualname)
        if exact is not None:
            return exact
        named_alike = self._by_qualname.get(qualname, set())
        if not named_alike:
            elsewhere = (_in_module(other, qualname) for other in self._modules)
            named_alike = {kind for kind in elsewhere if kind is not None}
        return next(iter(named_alike)) if len(named_alike) == 1 else None


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _in_module(module: str, qualname: str) -> type | None:
    """The class of that name in a module that is imported; never through anything but modules and classes."""
    plain, bracket, _ = qualname.partition("[")
    found: object = sys.modules.get(module)
    for part in plain.split("."):
        if not isinstance(found, ModuleType | type):
            return None
        found = vars(found).get(part)
    if bracket and isinstance(found, type):  # a generic model with its arguments, made when somebody wrote it down
        subclasses: list[type[Any]] = found.__subclasses__()
        found = next((kind for kind in subclasses if kind.__qualname__ == qualname), None)
    if not isinstance(found, type) or found.__module__ != module or found.__qualname__ != qualname:
        return None
    return found if is_made_of_data(found) else None


_BUILT_IN: Final = frozenset({"builtins", "typing", "types", "collections", "collections.abc"})


def classes_in(schemas: Iterable[object]) -> set[type]:
    """The classes that some schemas speak of: models, dataclasses, enumerations, named tuples, at any depth.

    Args:
        schemas: Types, as a workflow's and its steps' schemas are. What is no type is passed over.

    Example:
        >>> from interlock.verdict import Tripwire
        >>> sorted(kind.__name__ for kind in classes_in([dict[str, list[Tripwire | None]]]))
        ['Phase', 'Tripwire']
    """
    found: set[type] = set()
    seen: dict[int, object] = {}  # by identity, as not all can be hashed; kept alive, so that no identity is used twice
    left: list[object] = list(schemas)
    while left:
        schema = left.pop()
        if id(schema) not in seen:
            seen[id(schema)] = schema
            left += _within(schema, found)
    return found


def _within(schema: object, found: set[type]) -> Iterator[object]:
    """What a schema is made of; where it is a class of data, it is noted."""
    yield from _arguments(schema)
    origin = get_origin(schema)
    kind: object = schema if origin is None else origin
    if not isinstance(kind, type) or kind.__module__ in _BUILT_IN:
        return
    if is_made_of_data(kind):
        found.add(kind)
    yield from _fields(kind)


def _arguments(schema: object) -> Iterator[object]:
    for argument in get_args(schema):
        if isinstance(argument, list):  # a Callable's
            yield from cast("list[object]", argument)
        elif isinstance(argument, Enum):  # a Literal's
            yield type(argument)
        else:
            yield argument
    for name in ("__value__", "__supertype__", "__bound__"):  # of a type alias, a new type, a type variable
        if isinstance(schema, typing.TypeVar | typing.NewType) or type(schema).__name__ == "TypeAliasType":
            yield getattr(schema, name, None)


def _fields(kind: type) -> Iterator[object]:
    if is_model(kind):
        for field in cast("Mapping[str, Any]", cast("Any", kind).model_fields).values():
            yield field.annotation
    elif is_named_tuple(kind) or typing.is_typeddict(kind) or is_dataclass(kind):
        yield from _hints(kind)


def _hints(kind: type) -> Iterator[object]:
    """The types of its fields. One that cannot be told, such as a name of a type checker's, hides no other."""
    try:
        yield from get_type_hints(kind, include_extras=True).values()
    except (NameError, TypeError, AttributeError, SyntaxError):
        for base in kind.__mro__:
            for name, annotation in get_annotations(base).items():
                yield _hint(base, name, annotation)


def _hint(kind: type, name: str, annotation: object) -> object:
    alone = type(kind.__name__, (), {"__annotations__": {name: annotation}, "__module__": kind.__module__})
    try:
        return get_type_hints(alone, include_extras=True)[name]
    except (NameError, TypeError, AttributeError, SyntaxError):
        return None

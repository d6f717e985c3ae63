"""A tool's arguments: their JSON schema, read from a function's annotations and docstring, and their validation."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

from interlock.errors import DefinitionError
from interlock.tools.context import ToolContext

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["Signature", "undressed"]

_SECTION = re.compile(r"^(args|arguments|parameters):\s*$", re.IGNORECASE)
_ENTRY = re.compile(r"^(\s+)\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")

_CONTEXT = re.compile(r"\bToolContext\b")

_PLAIN_TYPED_DICTS: Final[bool] = sys.version_info >= (3, 12)
"""Whether pydantic can read ``typing.TypedDict``; before, it keeps too little of its bases."""


class Signature:
    """The parameters of a tool's function.

    Args:
        name: The tool, for errors.
        function: A function whose parameters can be given by name.

    Raises:
        DefinitionError: A parameter is positional-only, takes any number of values, or, before Python 3.12, is a
            ``typing.TypedDict``; or two are annotated ``ToolContext``.
    """

    def __init__(self, name: str, function: Callable[..., object]) -> None:
        self._name = name
        self._function = function
        self._parameters = dict(inspect.signature(function).parameters)
        faults = [
            f"parameter {p.name!r} cannot be given by name: use plain parameters"
            for p in self._parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        if next(iter(self._parameters), None) == "self" and not hasattr(function, "__self__"):
            faults.append("it is a method without its object: make the tool of a bound method, tool(thing.method)")
        self._hints = _hints(function)
        faults += [
            f"parameter {p!r} is {found.__name__!r}, made with typing.TypedDict, which is validated from Python "
            "3.12 on only: make it with typing_extensions.TypedDict"
            for p in self._parameters
            if not _PLAIN_TYPED_DICTS and (found := _plain_typed_dict(self._hints.get(p))) is not None
        ]
        contexts = [p for p in self._parameters if _is_context(self._hints.get(p))]
        if len(contexts) > 1:
            faults.append(f"one parameter is given the ToolContext, not {len(contexts)}: {', '.join(contexts)}")
        if faults:
            raise DefinitionError(faults, subject=f"tool {name!r}")
        self.context_parameter = contexts[0] if contexts else None

    @functools.cached_property
    def model(self) -> type[BaseModel]:
        """The pydantic model of the arguments, made when first needed.

        Raises:
            DefinitionError: Pydantic cannot validate a parameter's type.
        """
        from pydantic import ConfigDict, Field, PydanticUserError, create_model

        told = _described(inspect.getdoc(undressed(self._function)) or "")
        fields: dict[str, Any] = {}
        for name, parameter in self._parameters.items():
            if name == self.context_parameter:
                continue
            default = ... if parameter.default is parameter.empty else parameter.default
            field = Field(default, alias=name, description=told.get(name))
            fields[f"field_{len(fields)}"] = (
                self._hints.get(name, Any),
                field,
            )  # "json" or "_x" could be no name of one
        config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
        try:
            return create_model(self._name, __config__=config, **fields)
        except PydanticUserError as error:
            raise DefinitionError(
                f"its parameters cannot be validated: {error.message}", subject=f"tool {self._name!r}"
            ) from error

    @functools.cached_property
    def json_schema(self) -> Mapping[str, Any]:
        """JSON schema of the arguments, an object.

        Raises:
            DefinitionError: A parameter's type has none.
        """
        from pydantic import PydanticUserError

        try:
            schema = self.model.model_json_schema()
        except PydanticUserError as error:
            raise DefinitionError(
                f"its parameters have no JSON schema that a model could be told: {error.message}",
                subject=f"tool {self._name!r}",
            ) from error
        schema.pop("title", None)
        for one in cast("dict[str, dict[str, Any]]", schema.get("properties", {})).values():
            one.pop("title", None)
        schema.setdefault("properties", {})
        return schema

    def bind(self, args: object) -> dict[str, object]:
        """The arguments as the function takes them, validated, defaults applied.

        Raises:
            pydantic.ValidationError: They do not fit.
        """
        made = self.model.model_validate({} if args is None else args)
        return {str(field.alias): getattr(made, name) for name, field in type(made).model_fields.items()}


def undressed(function: Callable[..., object]) -> Callable[..., object]:
    """The function inside a ``functools.partial``: it has the annotations and the docstring."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[object]", function).func
    return function


def _hints(function: Callable[..., object]) -> dict[str, Any]:
    function = undressed(function)
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError):  # local names behind postponed annotations: what can be read one by one
        return {name: _resolved(value, target) for name, value in getattr(target, "__annotations__", {}).items()}


def _resolved(annotation: object, function: object) -> Any:
    if not isinstance(annotation, str):
        return annotation
    if _CONTEXT.search(annotation):
        return ToolContext
    try:
        return eval(annotation, getattr(function, "__globals__", {}))
    except NameError:
        return Any


def _is_context(annotation: object) -> bool:
    """Whether it is ``ToolContext``, alone or as ``ToolContext | None``."""
    return annotation is ToolContext or (
        get_origin(annotation) in (Union, UnionType, Annotated) and any(map(_is_context, get_args(annotation)))
    )


def _plain_typed_dict(annotation: object) -> type | None:
    """The first ``typing.TypedDict`` in an annotation; one of ``typing_extensions`` is none on old Pythons."""
    if is_typeddict(annotation) and type(annotation).__module__ == "typing":
        return cast("type", annotation)
    return next((found for one in get_args(annotation) if (found := _plain_typed_dict(one)) is not None), None)


def _described(doc: str) -> dict[str, str]:
    """Descriptions by parameter, from the ``Args:`` section of a docstring."""
    told: dict[str, str] = {}
    inside, current, depth = False, "", 0
    for line in doc.splitlines():
        if _SECTION.match(line.strip()) and not line.startswith(" "):
            inside = True
        elif inside and line.strip() and not line.startswith(" "):
            break
        elif inside and (entry := _ENTRY.match(line)) and (not depth or len(entry[1]) <= depth):
            depth, current = len(entry[1]), entry[2]
            told[current] = entry[3].strip()
        elif inside and current and line.strip():
            told[current] = f"{told[current]} {line.strip()}".strip()
    return told

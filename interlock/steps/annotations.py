"""What a function's name, docstring and annotations say about the step it becomes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Coroutine, Mapping
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from interlock.errors import DefinitionError
from interlock.ids import kebab
from interlock.schema import UNSET, Unset, is_set
from interlock.steps.context import StepContext
from interlock.tracing import warn

__all__ = ["annotated_schemas", "first_line", "kind_of_generator", "name_of"]


def name_of(function: object) -> str:
    """The id that a function gives its step."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[object]", function).func
    name = getattr(function, "__name__", None)
    if name == "<lambda>":
        raise DefinitionError(
            'a lambda has no name: give it one with create_step(lambda ctx: …, id="…")', subject="step"
        )
    return kebab(name if isinstance(name, str) else type(function).__name__)


def first_line(function: object) -> str | None:
    """The first line of a function's docstring."""
    text = inspect.getdoc(function) if inspect.isroutine(function) else None
    return text.splitlines()[0] if text else None


def kind_of_generator(function: object) -> str | None:
    """``"a generator"`` or ``"an async generator"``, which never comes to a result; None of a function that may.

    Args:
        function: A function, or an object that is called as one.

    Example:
        >>> kind_of_generator(lambda ctx: (yield ctx.input)), kind_of_generator(len)
        ('a generator', None)
    """
    called: Any = function
    if not inspect.isroutine(function) and not isinstance(function, functools.partial):
        called = getattr(type(function), "__call__", None)  # noqa: B004  (an object with a __call__ of its own)
    if inspect.isasyncgenfunction(called):
        return "an async generator"
    return "a generator" if inspect.isgeneratorfunction(called) and not _is_old_coroutine(called) else None


def _is_old_coroutine(function: Any) -> bool:
    """Whether it is a generator that ``types.coroutine`` has made one to await."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[object]", function).func
    code = getattr(function, "__code__", None)
    return code is not None and bool(code.co_flags & inspect.CO_ITERABLE_COROUTINE)


def annotated_schemas(function: object) -> tuple[Any, Any]:
    """The schemas that a function's annotations name; UNSET where they name none or cannot be read.

    Raises:
        DefinitionError: It cannot be called with one context.
    """
    target: Any = function if inspect.isroutine(function) else type(function).__call__
    _check_count(function, target)
    try:
        hints = _hints(target)
    except (NameError, TypeError, AttributeError) as error:
        warn("a step's annotations cannot be read, so it takes and gives anything", step=str(target), error=str(error))
        return UNSET, UNSET
    given = _awaited(hints.pop("return", UNSET))
    _check_parameter(target, hints)
    contexts = [get_args(h)[0] for h in hints.values() if get_origin(h) is StepContext]
    wanted = contexts[0] if contexts else UNSET
    return _no_typevar(wanted), _no_typevar(given)


def _hints(function: Any) -> dict[str, Any]:
    """The annotations of a function as types.

    Raises:
        NameError: One names what is nowhere: only type checkers know it, or it is misspelt.
    """
    try:
        return get_type_hints(function, include_extras=True)
    except NameError:
        places = _local_names(function)
        if not places:
            raise
        return get_type_hints(function, localns=places, include_extras=True)


def _local_names(function: Any) -> dict[str, Any]:
    """The names of the functions that are being called right now in the module of a function that is being defined: a
    class that is made beside it, in a test for example, is known nowhere else."""
    names: dict[str, Any] = {}
    frame = inspect.currentframe()
    module = getattr(function, "__globals__", None)
    while frame is not None:
        if frame.f_globals is module and frame.f_locals is not module:
            names = {**frame.f_locals, **names}
        frame = frame.f_back
    return names


def _check_count(function: object, target: Any) -> None:
    """Refuse a function that does not take exactly one argument: it is given one context."""
    code = getattr(target, "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARARGS:
        return
    bound = inspect.ismethod(target) or not inspect.isroutine(function)
    takes = code.co_varnames[bool(bound) : code.co_argcount]
    needs = takes[: len(takes) - len(target.__defaults__ or ())]
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    given: dict[str, object] = cast("Any", target).__kwdefaults__ or {}
    missing = [name for name in keywords if name not in given]
    if takes and len(needs) <= 1 and not missing:
        return
    told = ", ".join([*takes, *(f"*, {name}" for name in missing)]) or "nothing"
    raise DefinitionError(
        f"{getattr(function, '__name__', function)!r} takes {told}, but a step's function is given one StepContext: "
        "write def …(ctx: StepContext[…]) and read ctx.input",
        subject="step",
    )


def _check_parameter(function: Any, hints: Mapping[str, Any]) -> None:
    """Refuse a function that expects its input itself where it is given a context."""
    name = next((n for n in hints if n != "self"), None)
    wanted: Any = hints.get(name, Any) if name is not None else Any
    if is_set(wanted) and isinstance(wanted, type) and StepContext not in wanted.__mro__:
        raise DefinitionError(
            f"{getattr(function, '__name__', function)!r} takes {name}: {wanted.__name__}, but it is given "
            f"one StepContext: write ctx: StepContext[{wanted.__name__}] and read ctx.input",
            subject="step",
        )


def _awaited(schema: Any) -> Any:
    """What a ``def`` that returns an awaitable gives once that is awaited, as a step's result is."""
    if get_origin(schema) in (Awaitable, Coroutine) and get_args(schema):
        return get_args(schema)[-1]
    return UNSET if schema in (Awaitable, Coroutine) else schema


def _no_typevar(schema: Any) -> Any:
    return UNSET if isinstance(schema, TypeVar | Unset) else schema

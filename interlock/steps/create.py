"""Making steps: ``@step`` on a function, ``create_step`` on anything that can be one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Protocol, TypeVar, cast, get_args, get_origin, get_type_hints, overload

from interlock.errors import DefinitionError
from interlock.ids import fault_in_id, kebab
from interlock.schema import UNSET, Unset, fault_in_schema, is_set
from interlock.steps.context import StepContext
from interlock.steps.step import FunctionStep, Step, SupportsStep, supports_step

__all__ = ["create_step", "step"]

I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741


class StepMaker(Protocol):
    """What ``@step(…)`` with options is: a decorator."""

    @overload
    def __call__(self, function: Callable[[StepContext[I]], Awaitable[O]], /) -> FunctionStep[I, O]: ...
    @overload
    def __call__(self, function: Callable[[StepContext[I]], O], /) -> FunctionStep[I, O]: ...


@overload
def create_step(
    x: SupportsStep[I, O],
    *,
    id: str | None = None,
    input_schema: object = UNSET,
    output_schema: object = UNSET,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Step[I, O]: ...
@overload
def create_step(
    x: Callable[[StepContext[I]], Awaitable[O]],
    *,
    id: str | None = None,
    input_schema: object = UNSET,
    output_schema: object = UNSET,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> FunctionStep[I, O]: ...
@overload
def create_step(
    x: Callable[[StepContext[I]], O],
    *,
    id: str | None = None,
    input_schema: object = UNSET,
    output_schema: object = UNSET,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> FunctionStep[I, O]: ...
def create_step(
    x: object,
    *,
    id: str | None = None,  # noqa: A002
    input_schema: object = UNSET,
    output_schema: object = UNSET,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Step[Any, Any]:
    """A step made of a function, a processor, a workflow or another step.

    Args:
        x: What it is made of. A function takes one :class:`StepContext`.
        id: Default: a function's name in kebab-case, a processor's ``processor:<id>``, others their own id.
        input_schema: The type of ``ctx.input``; default: from the annotation ``StepContext[T]``.
        output_schema: The type of what it returns; default: from the return annotation.
        description: For people; default: the docstring's first line.
        metadata: For whoever draws or lists workflows.

    Raises:
        DefinitionError: It can be no step, the id is no id, or a schema no type.

    Example:
        >>> shout = create_step(lambda ctx: ctx.input.upper(), id="shout", input_schema=str, output_schema=str)
        >>> shout
        <Step 'shout' (function): str -> str>
    """
    if supports_step(x):
        return _from_subject(x, id, input_schema, output_schema, description, metadata)
    if inspect.isclass(x) or not callable(x):
        raise DefinitionError(
            f"{x!r} can be no step: pass a function, a processor, a workflow or a step"
            + (f" (an instance: {x.__name__}(…))" if inspect.isclass(x) else "")
        )
    found_input, found_output = _annotated_schemas(x)
    _check_schemas(input_schema, output_schema)
    return FunctionStep(
        _checked_id(id if id is not None else _name_of(x)),
        cast("Callable[[StepContext[Any]], Any]", x),
        input_schema=found_input if input_schema is UNSET else input_schema,
        output_schema=found_output if output_schema is UNSET else output_schema,
        description=description if description is not None else _first_line(x),
        metadata=metadata,
    )


@overload
def step(function: Callable[[StepContext[I]], Awaitable[O]], /) -> FunctionStep[I, O]: ...
@overload
def step(function: Callable[[StepContext[I]], O], /) -> FunctionStep[I, O]: ...
@overload
def step(
    *,
    id: str | None = None,
    input_schema: object = UNSET,
    output_schema: object = UNSET,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> StepMaker: ...
def step(
    function: Callable[[StepContext[Any]], Any] | None = None,
    /,
    *,
    id: str | None = None,  # noqa: A002
    input_schema: object = UNSET,
    output_schema: object = UNSET,
    description: str | None = None,
    metadata: Mapping[str, object] | None = None,
) -> object:
    """Make a function a step: ``@step``, or ``@step(id=…)`` with the options of :func:`create_step`.

    Example:
        >>> @step
        ... def count_words(ctx: StepContext[str]) -> int:
        ...     return len(ctx.input.split())
        >>> count_words
        <Step 'count-words' (function): str -> int>
    """

    def made(f: Callable[[StepContext[Any]], Any]) -> FunctionStep[Any, Any]:
        return create_step(
            f,
            id=id,
            input_schema=input_schema,
            output_schema=output_schema,
            description=description,
            metadata=metadata,
        )

    return made if function is None else made(function)


def _from_subject(
    x: SupportsStep,
    id: str | None,  # noqa: A002
    input_schema: object,
    output_schema: object,
    description: str | None,
    metadata: Mapping[str, object] | None,
) -> Step[Any, Any]:
    made = x.as_step()
    _check_schemas(input_schema, output_schema)
    changes: dict[str, object] = {}
    if id is not None:
        changes["id"] = _checked_id(id)
    for name, value in (("input_schema", input_schema), ("output_schema", output_schema)):
        if value is not UNSET:
            changes[name] = value
    for name, value in (("description", description), ("metadata", metadata)):
        if value is not None:
            changes[name] = value
    return made.altered(**changes) if changes else made


def _check_schemas(input_schema: object, output_schema: object) -> None:
    given = (("input_schema", input_schema), ("output_schema", output_schema))
    faults = [f"{name}: {fault}" for name, schema in given if (fault := fault_in_schema(schema)) is not None]
    if faults:
        raise DefinitionError(faults, subject="step")


def _checked_id(value: object) -> str:
    fault = fault_in_id(value)
    if fault is not None:
        raise DefinitionError(fault, subject="step")
    return cast("str", value)


def _name_of(function: object) -> str:
    while isinstance(function, functools.partial):
        function = cast("functools.partial[object]", function).func
    name = getattr(function, "__name__", None)
    if name == "<lambda>":
        raise DefinitionError("a lambda has no name: pass id=…", subject="step")
    return kebab(name if isinstance(name, str) else type(function).__name__)


def _first_line(function: object) -> str | None:
    text = inspect.getdoc(function) if inspect.isroutine(function) else None
    return text.splitlines()[0] if text else None


def _annotated_schemas(function: object) -> tuple[Any, Any]:
    """The schemas that a function's annotations name; UNSET where they name none or cannot be read."""
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        hints = get_type_hints(target, include_extras=True)
    except (NameError, TypeError, AttributeError):  # names known only to type checkers, or local ones
        return UNSET, UNSET
    given = _awaited(hints.pop("return", UNSET))
    _check_parameter(target, hints)
    contexts = [get_args(h)[0] for h in hints.values() if get_origin(h) is StepContext]
    wanted = contexts[0] if contexts else UNSET
    return _no_typevar(wanted), _no_typevar(given)


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

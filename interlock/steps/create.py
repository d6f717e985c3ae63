"""Making steps: ``@step`` on a function, ``create_step`` on anything that can be one."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Literal, Protocol, TypedDict, TypeVar, Unpack, cast, overload

from interlock.errors import DefinitionError
from interlock.ids import fault_in_id
from interlock.nearest import did_you_mean
from interlock.schema import UNSET, fault_in_schema
from interlock.shown import shown
from interlock.steps.annotations import annotated_schemas, first_line, kind_of_generator, name_of
from interlock.steps.context import StepContext
from interlock.steps.retry import RetryPolicy
from interlock.steps.step import FunctionStep, Step, SupportsStep, fault_in_timeout, supports_step
from interlock.verdict import Phase

__all__ = ["StepOptions", "create_step", "step"]

I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741


class StepOptions(TypedDict, total=False):
    """What can be said of a step besides what it is made of.

    Args:
        id: Default: a function's name in kebab-case, a processor's ``processor:<id>``, others their own id.
        input_schema: The type of ``ctx.input``; default: from the annotation ``StepContext[T]``.
        output_schema: The type of what it returns; default: from the return annotation.
        state_schema: How ``ctx.state`` shows the run's state: a model, dataclass or TypedDict; default: as the
            workflow's ``state_schema`` has it.
        resume_schema: The type of what it is resumed with; checked before the run goes on.
        suspend_schema: The type of what it shows when it waits.
        retry: How often it is tried again after a failure; default: as its workflow says, else not at all.
        timeout: Seconds that one attempt may take; default: any number. A function that is not ``async`` cannot be
            interrupted: it is found to have taken too long once it has returned (``blocking=True`` can be left alone).
        blocking: Run a function or hooks that are not ``async`` in a worker thread, so that others go on meanwhile.
        phases: The points of an agent's run at which a function step acts, in a workflow of processors; default: all.
            At the others it is not there.
        on_failure: Of a processor: what an exception, a time-out or a wrong return means. ``"fail"``: the run fails;
            ``"block"``: a tripwire says that it could not decide; ``"skip"``: as if it had not run, and recorded as not
            checked. Default: as the processor says.
        shadow: Of a processor: its changes and aborts are recorded and have no effect.
        description: For people; default: the docstring's first line.
        metadata: For whoever draws or lists workflows.
    """

    id: str | None
    input_schema: object
    output_schema: object
    state_schema: object
    resume_schema: object
    suspend_schema: object
    retry: RetryPolicy | None
    timeout: float | None
    blocking: bool
    phases: Collection[Phase | str] | None
    on_failure: Literal["fail", "block", "skip"] | None
    shadow: bool | None
    description: str | None
    metadata: Mapping[str, object] | None


_SCHEMAS = ("input_schema", "output_schema", "state_schema", "resume_schema", "suspend_schema")


class StepMaker(Protocol):
    """What ``@step(…)`` with options is: a decorator."""

    @overload
    def __call__(self, function: Callable[[StepContext[I]], Awaitable[O]], /) -> FunctionStep[I, O]: ...
    @overload
    def __call__(self, function: Callable[[StepContext[I]], O], /) -> FunctionStep[I, O]: ...


@overload
def create_step(x: SupportsStep[I, O], **options: Unpack[StepOptions]) -> Step[I, O]: ...
@overload
def create_step(x: Callable[[StepContext[I]], Awaitable[O]], **options: Unpack[StepOptions]) -> FunctionStep[I, O]: ...
@overload
def create_step(x: Callable[[StepContext[I]], O], **options: Unpack[StepOptions]) -> FunctionStep[I, O]: ...
def create_step(x: object, **options: Unpack[StepOptions]) -> Step[Any, Any]:
    """A step made of a function, a processor, a tool, an agent, a workflow or another step.

    Args:
        x: What it is made of. A function takes one :class:`StepContext`.
        **options: See :class:`StepOptions`.

    Raises:
        DefinitionError: It can be no step, the id is no id, a schema no type, or a figure out of its range. All faults.

    Example:
        >>> shout = create_step(lambda ctx: ctx.input.upper(), id="shout", input_schema=str, output_schema=str)
        >>> shout
        <Step 'shout' (function): str -> str>
    """
    unknown = sorted(set(options) - set(StepOptions.__annotations__))
    if unknown:
        raise TypeError(f"create_step() got an unexpected keyword argument {unknown[0]!r}")
    if supports_step(x):
        return _with_options(x.as_step(), options)
    if inspect.isclass(x) or not callable(x):
        raise DefinitionError(
            f"{shown(x)} can be no step: pass a function, a processor, a tool, an agent, a workflow or a step"
            + (f" (an instance: {x.__name__}(…))" if inspect.isclass(x) else "")
        )
    if (kind := kind_of_generator(x)) is not None:
        raise DefinitionError(
            f"{shown(getattr(x, '__name__', x))} is {kind}: a step returns once; tell of what comes on the way with "
            "ctx.write()",
            subject="step",
        )
    found_input, found_output = annotated_schemas(x)
    made = FunctionStep[Any, Any](
        "" if options.get("id") is not None else _checked_id(name_of(x)),
        cast("Callable[[StepContext[Any]], Any]", x),
        input_schema=found_input,
        output_schema=found_output,
        description=first_line(x),
    )
    return _with_options(made, options)


@overload
def step(function: Callable[[StepContext[I]], Awaitable[O]], /) -> FunctionStep[I, O]: ...
@overload
def step(function: Callable[[StepContext[I]], O], /) -> FunctionStep[I, O]: ...
@overload
def step(**options: Unpack[StepOptions]) -> StepMaker: ...
def step(function: Callable[[StepContext[Any]], Any] | None = None, /, **options: Unpack[StepOptions]) -> object:
    """Make a function a step: ``@step``, or ``@step(id=…)`` with the options of :func:`create_step`.

    Example:
        >>> @step
        ... def count_words(ctx: StepContext[str]) -> int:
        ...     return len(ctx.input.split())
        >>> count_words
        <Step 'count-words' (function): str -> int>
    """

    def made(f: Callable[[StepContext[Any]], Any]) -> FunctionStep[Any, Any]:
        return create_step(f, **options)

    return made if function is None else made(function)


def _with_options(made: Step[Any, Any], options: StepOptions) -> Step[Any, Any]:
    """The step itself, or one like it with what was said of it."""
    given = cast("Mapping[str, object]", options)
    faults = [
        f"{name}: {fault}" for name in _SCHEMAS if name in given and (fault := fault_in_schema(given[name])) is not None
    ]
    faults += _option_faults(made, options)
    if faults:
        raise DefinitionError(faults, subject="step")
    changes: dict[str, object] = {
        name: value for name, value in given.items() if (value is not UNSET if name in _SCHEMAS else value is not None)
    }
    if "id" in changes:
        changes["id"] = _checked_id(changes["id"])
    if "phases" in changes:
        changes["phases"] = _chosen(cast("Collection[Phase | str]", changes["phases"]))
    if not changes:
        return made
    altered = made.altered(**changes)
    faults = altered.faults()
    if faults:
        raise DefinitionError(faults, subject="step")
    return altered


def _chosen(phases: Collection[Phase | str]) -> frozenset[Phase]:
    names = {str(phase): phase for phase in Phase}
    if isinstance(phases, str) or not phases:
        raise DefinitionError(f"phases: a set of phases is wanted, such as {{'input'}}, not {phases!r}", subject="step")
    unknown = [str(one) for one in phases if str(one) not in names]
    if unknown:
        raise DefinitionError(
            [f"phases: there is no phase {one!r}{did_you_mean(one, names)}" for one in unknown], subject="step"
        )
    return frozenset(names[str(one)] for one in phases)


def _option_faults(made: Step[Any, Any], options: StepOptions) -> list[str]:
    faults: list[str] = []
    given = cast("Mapping[str, object]", options)
    retry = given.get("retry")
    if retry is not None and not isinstance(retry, RetryPolicy):
        faults.append(f"retry: a RetryPolicy is wanted, RetryPolicy(attempts=…), not {shown(retry)}")
    if (fault := fault_in_timeout(given.get("timeout"))) is not None:
        faults.append(fault)
    description, metadata = given.get("description"), given.get("metadata")
    if description is not None and not isinstance(description, str):
        faults.append(f"description: a text is wanted, not {shown(description)}")
    if metadata is not None and not isinstance(metadata, Mapping):
        faults.append(f"metadata: a dict is wanted, not {shown(metadata)}")
    hooks = made.kind == "processor"
    blocking = given.get("blocking")
    if blocking is not None and not isinstance(blocking, bool) and not hooks:  # a processor's step looks itself
        faults.append(f"blocking is True or False, not {shown(blocking)}")
    elif blocking and not hooks and not (isinstance(made, FunctionStep) and not made.is_async):
        faults.append("blocking=True is for a function that is not async: others do not block, or run in no thread")
    if not hooks:
        faults += [
            f"{name} is for a processor: a failure of a {made.kind} step fails the run"
            for name in ("on_failure", "shadow")
            if given.get(name) is not None
        ]
    if given.get("phases") is not None and not isinstance(made, FunctionStep):
        faults.append(f"phases is for a function step: a {made.kind} acts at the points that it is made for")
    return faults


def _checked_id(value: object) -> str:
    fault = fault_in_id(value)
    if fault is not None:
        raise DefinitionError(fault, subject="step")
    return cast("str", value)

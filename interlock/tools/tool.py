"""A tool: a typed function that a model may call."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter
from typing import Any, TypeAlias, cast, overload

from interlock.errors import DefinitionError, ToolError
from interlock.messages import JSONValue
from interlock.messages.parts import copy_json
from interlock.shown import shown, shown_error
from interlock.steps import Step, SupportsStep
from interlock.tools.context import ToolContext
from interlock.tools.signature import Signature, undressed
from interlock.tools.tool_step import ToolStep

__all__ = ["Tool", "tool"]

Approval: TypeAlias = bool | Callable[[Any, ToolContext], object]
"""Whether a call needs an approval, or what says so."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Tool(SupportsStep[Any, Any]):
    """A function a model may call, with the JSON schema of its arguments. Made by :func:`tool`.

    It can stand in a workflow as well: there it takes its arguments as a mapping or a model.

    Attributes:
        name: What the model calls it by: letters, digits, ``_`` and ``-``, 64 at most (what providers take).
        description: What the model is told of it.
        function: The function; ``def`` (runs inline) or ``async def``.
        to_model_output: Makes, of the final result, what the model is shown.
        needs_approval: Whether somebody must approve of a call before it runs; or a function that says so.
        timeout: Seconds that one call may take; None: any number.
    """

    def __init__(
        self,
        function: Callable[..., object],
        *,
        name: str | None = None,
        description: str | None = None,
        to_model_output: Callable[[Any], object] | None = None,
        needs_approval: Approval = False,
        timeout: float | None = None,
    ) -> None:
        if not callable(cast("object", function)):
            raise DefinitionError(f"a tool is made of a function, not of {type(function).__name__}")
        self.name = name if name is not None else str(getattr(function, "__name__", ""))
        if not _NAME.fullmatch(self.name):
            raise DefinitionError(
                f"{self.name!r} is no tool name: letters, digits, '_' and '-', at most 64; pass name=…", subject="tool"
            )
        self.description = (
            description if description is not None else _summary(inspect.getdoc(undressed(function)) or "")
        )
        self.function = function
        self.to_model_output = to_model_output
        self.needs_approval = _checked_approval(needs_approval, self.name)
        self.timeout = _checked_timeout(timeout, self.name)
        self._signature = Signature(self.name, function)
        self._step = ToolStep(self)

    def as_step(self) -> Step[Any, Any]:
        """The step that stands for this tool in a workflow."""
        return self._step

    @property
    def parameters(self) -> Mapping[str, Any]:
        """JSON schema of the arguments, an object."""
        return self._signature.json_schema

    async def asks_first(self, args: object, ctx: ToolContext) -> bool:
        """Whether somebody must approve of a call before it runs.

        Args:
            args: The arguments of the call; what says so is given a copy.
            ctx: As for the call itself.

        Raises:
            ToolError: What says so fails, or says neither True nor False: nobody can tell.
        """
        if not callable(self.needs_approval):
            return self.needs_approval
        try:
            said = self.needs_approval(copy_json(cast("JSONValue", args)), ctx)
            said = await cast("Awaitable[object]", said) if inspect.isawaitable(said) else said
        except Exception as error:
            raise ToolError(self.name, f"needs_approval failed: {shown_error(error)}") from error
        if not isinstance(said, bool):
            raise ToolError(self.name, f"needs_approval must give True or False, not {shown(said)}")
        return said

    async def run(self, args: object, ctx: ToolContext) -> object:
        """Validate the arguments, call the function, and give its result as JSON values.

        Raises:
            ToolError: The arguments do not fit, it took too long, or the result cannot be serialised; the message is
                for the model.
        """
        bound = self._bound(args)
        if self._signature.context_parameter is not None:
            bound[self._signature.context_parameter] = ctx
        if self.timeout is None:
            result = self.function(**bound)
            if inspect.isawaitable(result):
                result = await cast("Awaitable[object]", result)
        else:
            result = await self._in_time(bound, self.timeout)
        return self._serialised(result)

    async def _in_time(self, bound: dict[str, object], seconds: float) -> object:
        """The function's result, where it comes in time. A plain function cannot be stopped: its result comes too late.

        Raises:
            ToolError: It took longer.
        """
        import anyio

        result: object = None
        late = False
        began = perf_counter()
        with anyio.CancelScope(deadline=anyio.current_time() + seconds) as scope:
            result = self.function(**bound)
            if inspect.isawaitable(result):
                result = await cast("Awaitable[object]", result)
            else:
                late = perf_counter() - began > seconds
        if scope.cancel_called or late:  # also where it did not let itself be cancelled
            raise ToolError(self.name, f"took longer than {seconds:g} s")
        return result

    def model_output(self, result: object) -> object:
        """What ``to_model_output`` makes of a result; None without one: the model is shown the result itself.

        Where it makes None, that is an empty text: the model is shown nothing.
        """
        if self.to_model_output is None:
            return None
        made = self._serialised(self.to_model_output(result))
        return "" if made is None else made

    def _bound(self, args: object) -> dict[str, object]:
        from pydantic import ValidationError

        try:
            return self._signature.bind(args)
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(str(x) for x in e['loc']) or 'arguments'}: {e['msg']}" for e in error.errors()
            )
            raise ToolError(self.name, f"invalid arguments: {wrong}") from error

    def _serialised(self, result: object) -> object:
        from pydantic_core import PydanticSerializationError, to_jsonable_python

        try:
            made = cast("object", to_jsonable_python(result))
            json.dumps(made, allow_nan=False)  # nan and infinities pass the line above, but no model can be told them
        except (PydanticSerializationError, ValueError, RecursionError) as error:
            raise ToolError(self.name, f"returned what cannot be turned into JSON: {error}") from error
        return made

    def __repr__(self) -> str:
        return f"<Tool {self.name!r}>"


@overload
def tool(
    function: Callable[..., object],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    to_model_output: Callable[[Any], object] | None = None,
    needs_approval: Approval = False,
    timeout: float | None = None,
) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    to_model_output: Callable[[Any], object] | None = None,
    needs_approval: Approval = False,
    timeout: float | None = None,
) -> Callable[[Callable[..., object]], Tool]: ...
def tool(
    function: Callable[..., object] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    to_model_output: Callable[[Any], object] | None = None,
    needs_approval: Approval = False,
    timeout: float | None = None,
) -> Tool | Callable[[Callable[..., object]], Tool]:
    """Make a typed function a tool: ``@tool``, ``@tool(name=…)`` or ``tool(function)``.

    Args:
        function: Its annotations and the ``Args:`` section of its docstring become the JSON schema. A parameter
            annotated :class:`ToolContext` is injected and not in the schema. A ``def`` runs inline, so one that waits
            should be ``async def``.
        name: Default: the function's name.
        description: Default: the docstring up to its first section.
        to_model_output: Makes, of the result as processors left it, what the model is shown instead; None: nothing.
        needs_approval: True: a run of an agent that calls it is suspended, until ``agent.resume(run_id, approve=…)``
            answers. Or a function of the arguments (decoded, not validated yet) and the :class:`ToolContext` that says
            whether that is needed, ``def`` or ``async def``. Where it gives neither True nor False, the run fails.
        timeout: Seconds that one call may take, after which an ``async`` function is cancelled and the model is told so
            as the tool's error. A ``def`` cannot be stopped; what it returns too late does not count.

    Raises:
        DefinitionError: It can be no tool, or an option is none.

    Example:
        >>> @tool
        ... def track_parcel(parcel_id: str) -> str:
        ...     '''Where a parcel is.
        ...
        ...     Args:
        ...         parcel_id: The number on the receipt.
        ...     '''
        ...     return f"parcel {parcel_id} is in Leipzig"
        >>> track_parcel.parameters["properties"]["parcel_id"]
        {'description': 'The number on the receipt.', 'type': 'string'}
    """

    def made(f: Callable[..., object]) -> Tool:
        return Tool(
            f,
            name=name,
            description=description,
            to_model_output=to_model_output,
            needs_approval=needs_approval,
            timeout=timeout,
        )

    return made if function is None else made(function)


def _checked_approval(given: object, name: str) -> Approval:
    if not isinstance(given, bool) and not callable(given):
        raise DefinitionError(
            f"needs_approval is True, False or a function of the arguments and the ToolContext, not {given!r}",
            subject=f"tool {name!r}",
        )
    return given


def _checked_timeout(timeout: object, name: str) -> float | None:
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < float("inf"):
        raise DefinitionError(f"timeout is a number of seconds above 0, not {timeout!r}", subject=f"tool {name!r}")
    return timeout


def _summary(doc: str) -> str:
    lines: list[str] = []
    for line in doc.splitlines():
        if re.match(r"^[A-Z][A-Za-z ]*:\s*$", line):
            break
        lines.append(line)
    return "\n".join(lines).strip()

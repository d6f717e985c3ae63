"""A tool as a step of a workflow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

from interlock.errors import ToolError
from interlock.shown import shown
from interlock.steps import FunctionStep, StepContext
from interlock.tools.context import ToolContext

if TYPE_CHECKING:
    from interlock.tools.tool import Tool

__all__ = ["ToolStep"]


class ToolStep(FunctionStep[Any, Any]):
    """A tool as a step: it takes the tool's arguments, and gives what the tool returns as JSON values.

    The arguments are a mapping, or a pydantic model or dataclass whose fields they are. A tool that raises, or is given
    what does not fit, fails the step. Where the call needs an approval, the step suspends with the tool and the
    arguments; it is resumed with True, or with False or ``{"approve": False, "reason": "…"}``, which fails it.

    Where the tool suspends, the step does, and is resumed with what the tool finds in ``resume_data``; a tool made with
    ``needs_approval`` is answered ``{"approve": True, "data": …}`` there.
    """

    kind: ClassVar[str] = "tool"

    def __init__(self, tool: Tool) -> None:
        async def run(ctx: StepContext[Any]) -> object:
            context = ToolContext(
                ctx.run_id,
                f"{ctx.run_id}:{ctx.step_id}",
                0,
                (),
                ctx.request_context,
                tool.name,
                resume_data=ctx.resume_data,
                asks=ctx.suspend,
            )
            args = _arguments(tool, ctx.input)
            if ctx.resume_data is None:
                if await tool.asks_first(args, context):
                    ctx.suspend({"tool": tool.name, "args": args})
            elif tool.needs_approval is not False:
                context = replace(context, resume_data=_checked_approval(tool, ctx.resume_data))
            return await tool.run(args, context)

        super().__init__(tool.name, run, description=tool.description)
        self.subject = tool


def _checked_approval(tool: Tool, answer: object) -> object:
    """What the tool itself is answered, where somebody has approved of the call.

    Raises:
        ToolError: Somebody has not, or what was answered is neither yes nor no.
    """
    said = shown(answer)
    told: Mapping[str, object] = {"approve": answer}
    if isinstance(answer, Mapping):
        told = cast("Mapping[str, object]", answer)
    if told.get("approve") is True:
        return told.get("data")
    if told.get("approve") is False:
        raise ToolError(tool.name, str(told.get("reason") or "the call was not approved"))
    raise ToolError(
        tool.name,
        f"a call that waits for an approval is answered with True, False or {{'approve': …, 'reason': …}}, not {said}",
    )


def _arguments(tool: Tool, given: object) -> dict[str, Any]:
    """The arguments by name."""
    if isinstance(given, Mapping):
        return {str(name): value for name, value in cast("Mapping[object, Any]", given).items()}
    names = getattr(type(given), "model_fields", None) or getattr(given, "__dataclass_fields__", None)
    if names is None or isinstance(given, type):
        raise ToolError(
            tool.name, f"takes its arguments as a mapping or a model, but a {type(given).__name__} flows there"
        )
    return {name: getattr(given, name) for name in names}

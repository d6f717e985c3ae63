"""The contexts that a workflow of processors passes on, as what they are made of.

Where a run goes on in another process, a context comes back with its conversation and with what belongs to its point.
What only that process had, a model or a tool, does not come back; a context that holds one cannot be written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from interlock.messages import Chunk, MessageList
from interlock.processors.contexts import (
    APIErrorContext,
    InputContext,
    InputStepContext,
    LLMRequestContext,
    LLMResponseContext,
    OutputResultContext,
    OutputStepContext,
    OutputStreamContext,
    ToolCallContext,
    ToolResultContext,
)
from interlock.processors.hook_context import HookContext
from interlock.processors.seat import RunFacts
from interlock.processors.stream_context import KEPT_PARTS, StreamSoFar

__all__ = ["ONLY_HERE", "context_of", "is_context", "parts_of"]

_STEP: Final = ("step_number", "steps")

_GIVEN: Final[Mapping[type[HookContext], tuple[str, ...]]] = {
    InputContext: (),
    InputStepContext: (
        "model",
        "tools",
        "tool_choice",
        "active_tools",
        "model_settings",
        "provider_options",
        "output_schema",
        *_STEP,
    ),
    LLMRequestContext: ("model", "prompt", *_STEP),
    APIErrorContext: ("error", *_STEP),
    OutputStreamContext: ("chunk",),
    LLMResponseContext: ("model", "chunks", "request", "from_cache", *_STEP),
    OutputStepContext: ("text", "tool_calls", "finish_reason", "usage", "provider_metadata", *_STEP),
    ToolCallContext: ("tool_name", "tool_call_id", "args", "step_number"),
    ToolResultContext: ("tool_name", "tool_call_id", "args", "result", "provider_executed", *_STEP),
    OutputResultContext: ("result",),
}
"""What each is made of, by the names its constructor takes."""

_ADDED: Final[Mapping[type[HookContext], tuple[str, ...]]] = {
    LLMRequestContext: ("response",),
    OutputStreamContext: ("out",),
    ToolCallContext: ("denied",),
}
"""What processors have put there since."""

ONLY_HERE: Final = frozenset({"model", "tools"})
"""What belongs to the process."""

_BY_PHASE: Final = {str(kind.phase): kind for kind in _GIVEN}


def is_context(kind: type) -> bool:
    """Whether it is one of the ten contexts."""
    return kind in _GIVEN


def parts_of(context: HookContext) -> dict[str, object]:
    """What a context is made of: the phase, its run, the conversation, the fields of its point."""
    kind = type(context)
    parts: dict[str, object] = {
        "phase": str(kind.phase),
        "run": [context.run_id, context.agent_id, context.retry_count, context.asks_for_object],
        "message_list": context.message_list,
    }
    for name in (*_GIVEN[kind], *_ADDED.get(kind, ())):
        parts[name] = _plain(getattr(context, name))
    if isinstance(context, OutputStreamContext):
        parts["so_far"] = [context.step_number, list(context.parts), context.text, list(context.inside)]
    return parts


def _plain(value: object) -> object:
    """A list or dict in place of what only behaves like one."""
    made: object = value
    if isinstance(value, Mapping) and not isinstance(value, dict):
        made = dict(cast("Mapping[object, object]", value))
    elif isinstance(value, Sequence) and not isinstance(value, str | list | tuple):
        made = list(cast("Sequence[object]", value))
    return made


def context_of(parts: Mapping[str, Any]) -> HookContext:
    """The context that is made of these parts, in a run of its own that has the old one's ids."""
    kind: Any = _BY_PHASE[parts["phase"]]
    run_id, agent_id, retry_count, *more = parts["run"]
    run = RunFacts(run_id=run_id, agent_id=agent_id)
    run.retry_count = retry_count
    run.asks_for_object = bool(more) and more[0] is True
    conversation: MessageList = parts["message_list"]
    given = {name: parts[name] for name in _GIVEN[kind]}
    if kind is OutputStreamContext:
        given["so_far"] = _so_far(*parts["so_far"])
    context: HookContext = kind(conversation, run=run, **given)
    for name in _ADDED.get(kind, ()):
        setattr(context, name, parts[name])
    return context


def _so_far(step_number: int, parts: Sequence[Chunk], text: str, inside: Sequence[str] = ()) -> StreamSoFar:
    many = len(parts) > KEPT_PARTS  # somebody has asked for all of them
    return StreamSoFar(step_number, keep_parts=many, inside=tuple(inside), parts=parts, text=text)

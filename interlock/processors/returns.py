"""What a hook's return value does to its context, phase by phase; anything else is an ``InvalidProcessorReturn``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from interlock.errors import DefinitionError, InvalidProcessorReturn
from interlock.messages import (
    ChunkBase,
    ErrorChunk,
    Finish,
    Message,
    MessageList,
    MessageView,
    PromptMessage,
    ReasoningDelta,
    ReasoningPart,
    Start,
    TextDelta,
    TextPart,
    TripwireChunk,
)
from interlock.models import LanguageModel, resolve_model
from interlock.processors.changes import (
    CachedResponse,
    Changes,
    Deny,
    RequestChanges,
    Retry,
    StepChanges,
    ToolCallChanges,
    ToolResultChanges,
)
from interlock.processors.contexts import (
    APIErrorContext,
    InputStepContext,
    LLMRequestContext,
    OutputStepContext,
    ToolCallContext,
    ToolResultContext,
)
from interlock.processors.hook_context import HookContext
from interlock.processors.stream_context import OutputStreamContext
from interlock.schema import UNSET
from interlock.tools import Tool
from interlock.verdict import Phase

__all__ = ["RUNS_OWN", "allowed_in", "apply_return", "chunks_returned"]

RUNS_OWN = (Start, Finish, TripwireChunk)
"""Chunks that say how a run begins and ends; neither a model nor a hook gives them."""

_MESSAGES = "None, ctx.message_list, a sequence of Message, or Changes(…)"
_ALLOWED = {
    Phase.INPUT: _MESSAGES,
    Phase.INPUT_STEP: "None, ctx.message_list, a sequence of Message, Changes(…), or StepChanges(…)",
    Phase.LLM_REQUEST: "None, a prompt (a sequence of PromptMessage), or RequestChanges(…)",
    Phase.API_ERROR: "None, or Retry(delay=…)",
    Phase.OUTPUT_STREAM: "a chunk, a sequence of chunks, or None (drops the chunk)",
    Phase.LLM_RESPONSE: "None",
    Phase.OUTPUT_STEP: _MESSAGES,
    Phase.TOOL_CALL: "None, ToolCallChanges(args=…), or Deny(reason)",
    Phase.TOOL_RESULT: "None, ToolResultChanges(result=…), or ctx.message_list",
    Phase.OUTPUT_RESULT: _MESSAGES,
}


def allowed_in(phase: Phase) -> str:
    """What hooks of a phase may return, in words."""
    return _ALLOWED[phase]


def apply_return(ctx: HookContext, value: object) -> None:
    """Change the context as the returned value says.

    Raises:
        InvalidProcessorReturn: The phase does not take it.
        TypeError: The hook has set a text of a message to what is none.
    """
    for message in ctx.message_list.opened():
        for number, part in enumerate(message.parts):
            if isinstance(part, TextPart | ReasoningPart) and not isinstance(cast("object", part.text), str):
                kind = type(part.text).__name__
                raise TypeError(f"the text of part {number} of message {message.id!r} is a {kind}, not a str")
    if value is None or value is ctx.message_list:
        return
    match value:
        case StepChanges() if isinstance(ctx, InputStepContext):
            _apply_step_changes(ctx, value)
        case RequestChanges() if isinstance(ctx, LLMRequestContext):
            _apply_request_changes(ctx, value)
        case Retry() if isinstance(ctx, APIErrorContext):
            _apply_retry(ctx, value)
        case ToolCallChanges() if isinstance(ctx, ToolCallContext):
            ctx.args = _json(ctx, value, value.args, "the arguments")
        case Deny() if isinstance(ctx, ToolCallContext):
            ctx.denied = value.reason
        case ToolResultChanges() if isinstance(ctx, ToolResultContext):
            ctx.result = _json(ctx, value, value.result, "the result")
        case Changes() if ctx.phase in _TAKES_MESSAGES:
            _apply_messages(ctx, value.messages, value.system_messages, value)
        case MessageList():
            raise _invalid(ctx, value, "it is another list than ctx.message_list")
        case _ if _is_sequence(value):
            _apply_sequence(ctx, cast("Sequence[object]", value))
        case _:
            raise _invalid(ctx, value)


def _apply_retry(ctx: APIErrorContext, retry: Retry) -> None:
    delay = cast("object", retry.delay)
    if isinstance(delay, bool) or not isinstance(delay, int | float) or not 0 <= delay <= _LONGEST_DELAY:
        raise _invalid(ctx, retry, "delay is a number of seconds from 0 up to a day")
    if ctx.retry is None:
        ctx.retry = retry


_LONGEST_DELAY = 86_400.0


def _json(ctx: HookContext, changes: ToolCallChanges | ToolResultChanges, value: object, what: str) -> object:
    """A call's arguments or result, which must be serialisable like a model's or a tool's own."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise _invalid(ctx, changes, f"{what} must be JSON values: {error}") from error
    return value


_TAKES_MESSAGES = (Phase.INPUT, Phase.INPUT_STEP, Phase.OUTPUT_STEP, Phase.OUTPUT_RESULT)


def chunks_returned(ctx: OutputStreamContext, value: object) -> tuple[Any, ...]:
    """What goes on for what a stream hook returned.

    Raises:
        InvalidProcessorReturn: It is neither chunks nor None.
    """
    if value is None:
        return ()
    if isinstance(value, ChunkBase):
        return (_sound(ctx, value),)
    if _is_sequence(value) and not isinstance(value, MessageList):  # which is a sequence too, and may be empty
        chunks = tuple(cast("Sequence[object]", value))
        if all(isinstance(chunk, ChunkBase) for chunk in chunks):
            return tuple(_sound(ctx, chunk) for chunk in chunks)
    raise _invalid(ctx, value)


def _sound(ctx: HookContext, chunk: Any) -> Any:
    if isinstance(chunk, (*RUNS_OWN, ErrorChunk)) and chunk is not getattr(ctx, "chunk", None):
        raise _invalid(ctx, chunk, "only the run itself gives that chunk; to stop the run call ctx.abort(…)")
    if isinstance(chunk, TextDelta | ReasoningDelta) and not isinstance(cast("object", chunk.text), str):
        raise _invalid(ctx, chunk, f"its text is a {type(chunk.text).__name__}, not a str")
    return chunk


def _apply_sequence(ctx: HookContext, value: Sequence[object]) -> None:
    if isinstance(ctx, LLMRequestContext):
        if not all(isinstance(m, PromptMessage) for m in value):
            raise _invalid(ctx, value, "a prompt holds PromptMessage objects only")
        ctx.prompt = list(cast("Sequence[PromptMessage]", value))
    elif ctx.phase in _TAKES_MESSAGES:
        for index, one in enumerate(value):
            if not isinstance(one, Message):
                raise _invalid(ctx, value, f"item {index} is a {type(one).__name__}, not a Message")
        if isinstance(ctx, OutputStepContext) and not value:
            return
        _apply_messages(ctx, cast("Sequence[Message]", value), UNSET, value)
    else:
        raise _invalid(ctx, value)


def _apply_step_changes(ctx: InputStepContext, changes: StepChanges) -> None:
    fault = _fault_in_settings(changes)
    if fault is not None:
        raise _invalid(ctx, changes, fault)
    _apply_messages(ctx, changes.messages, changes.system_messages, changes)
    if changes.model is not UNSET:
        ctx.model = _model(ctx, changes)
    if changes.tools is not UNSET:
        ctx.tools = list(changes.tools)
    if changes.tool_choice is not UNSET:
        ctx.tool_choice = changes.tool_choice
    if changes.active_tools is not UNSET:
        ctx.active_tools = None if changes.active_tools is None else list(changes.active_tools)
    if changes.model_settings is not UNSET:
        ctx.model_settings = dict(changes.model_settings)
    if changes.provider_options is not UNSET:
        ctx.provider_options = dict(changes.provider_options)
    if changes.output_schema is not UNSET:
        ctx.output_schema = _output_schema(ctx, changes)


def _fault_in_settings(changes: StepChanges) -> str | None:
    """What is wrong with the types of what a step is to be taken with."""
    if changes.tools is not UNSET:
        if not _all_are(Tool, changes.tools):
            return "tools must be a list of Tool objects: make them with tool(function)"
        names = [one.name for one in changes.tools]
        if len(set(names)) < len(names):
            return f"two tools have one name: {', '.join(sorted(n for n in set(names) if names.count(n) > 1))}"
    if changes.tool_choice is not UNSET and not isinstance(cast("object", changes.tool_choice), str):
        return "tool_choice must be 'auto', 'none', 'required', or the name of a tool"
    active = changes.active_tools
    if active is not UNSET and active is not None and not _all_are(str, active):
        return "active_tools must be a list of tools' names, or None for all"
    for name in ("model_settings", "provider_options"):
        if (given := getattr(changes, name)) is not UNSET and not isinstance(given, Mapping):
            return f"{name} must be a mapping such as {{'key': value}}"
    return None


def _output_schema(ctx: HookContext, changes: StepChanges) -> object:
    from interlock.models.output_schema import object_schema

    try:
        if changes.output_schema is not None:
            object_schema(changes.output_schema)
    except DefinitionError as error:
        raise _invalid(ctx, changes, f"output_schema: {error}") from error
    return changes.output_schema


def _model(ctx: HookContext, changes: StepChanges) -> LanguageModel:
    try:
        return resolve_model(cast("LanguageModel | str", changes.model))
    except DefinitionError as error:
        raise _invalid(ctx, changes, f"model: {error}") from error


def _apply_request_changes(ctx: LLMRequestContext, changes: RequestChanges) -> None:
    if changes.prompt is not UNSET:
        if not _is_sequence(changes.prompt):
            raise _invalid(ctx, changes, "a prompt is a list of PromptMessage objects")
        _apply_sequence(ctx, list(changes.prompt))
    if changes.response is not UNSET:
        response = changes.response
        if not isinstance(cast("object", response), CachedResponse) or not _is_sequence(response.chunks):
            raise _invalid(ctx, changes, "response must be a CachedResponse of a list of chunks")
        ctx.response = tuple(response.chunks)


def _apply_messages(ctx: HookContext, messages: object, system_messages: object, returned: object) -> None:
    if messages is not UNSET:
        if not _is_sequence(messages) or not all(isinstance(m, Message) for m in cast("Sequence[object]", messages)):
            raise _invalid(ctx, returned, "messages must be a sequence of Message")
        try:
            ctx.message_list.assign(
                cast("Sequence[Message]", messages), within=cast("MessageView", ctx.messages), source=ctx.source
            )
        except ValueError as error:
            raise _invalid(ctx, returned, str(error)) from error
    if system_messages is not UNSET:
        if not _is_sequence(system_messages) or not all(
            isinstance(m, Message | str) for m in cast("Sequence[object]", system_messages)
        ):
            raise _invalid(ctx, returned, "system_messages must be a sequence of Message or str")
        try:
            ctx.message_list.set_system(cast("Sequence[Message | str]", system_messages))
        except ValueError as error:
            raise _invalid(ctx, returned, str(error)) from error


def _all_are(kind: type, value: object) -> bool:
    return _is_sequence(value) and all(isinstance(one, kind) for one in cast("Sequence[object]", value))


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _invalid(ctx: HookContext, value: object, hint: str = "") -> InvalidProcessorReturn:
    return InvalidProcessorReturn(ctx.processor_id, str(ctx.phase), value, allowed_in(ctx.phase), hint=hint)

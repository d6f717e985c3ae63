"""The ten points of an agent's run, in running order: what each hook sees and may return.

A run with a tool: ``input`` → step 0: ``input_step``, ``llm_request``, the model with ``output_stream`` per chunk,
``llm_response``, ``output_step``, ``tool_call`` per call, the tools, ``tool_result`` per result → step 1: … →
``output_result``. A model call that fails comes to ``api_error``.

One class serves as the hook's argument and as the value that flows through a workflow of processors. Every hook may
also call ``ctx.abort(…)``, ``ctx.warn(…)``, ``ctx.not_checked(…)``, ``ctx.write(…)`` (to the client) and
``ctx.send_signal(…)`` (to the model), and may edit ``ctx.messages`` in place. These,
and ``run_id``, ``processor_id``, ``state``, ``request_context`` and ``message_list``, are the same everywhere:
hook_context.py.

A field declared as ``Content`` belongs to the branch: another branch of a parallel block does not see it change. Only
what a class names in ``content`` goes on from there; the rest is for reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from interlock.messages import Chunk, FinishReason, Message, MessageList, PromptMessage, Source, ToolCall, Usage
from interlock.models import LanguageModel, ModelRequest, ToolChoice
from interlock.processors.changes import Retry
from interlock.processors.hook_context import Content, HookContext
from interlock.processors.progress import RunResult, StepResult
from interlock.processors.seat import RunFacts
from interlock.processors.stream_context import OutputStreamContext
from interlock.tools import Tool
from interlock.verdict import Phase

__all__ = [
    "APIErrorContext",
    "InputContext",
    "InputStepContext",
    "LLMRequestContext",
    "LLMResponseContext",
    "OutputResultContext",
    "OutputStepContext",
    "OutputStreamContext",
    "PhaseContext",
    "ProcessorStepSchema",
    "ToolCallContext",
    "ToolResultContext",
]

Conversation = MessageList | Message | Sequence[Message] | str


class InputContext(HookContext):
    """1. ``process_input``: once, before the loop. ``messages`` are the new input messages.

    May return: None, the message list, a sequence of messages, :class:`Changes`.

    Example:
        >>> ctx = InputContext("my card is 4111 1111 1111 1111")
        >>> ctx.messages[0].text
        'my card is 4111 1111 1111 1111'
    """

    phase: ClassVar[Phase] = Phase.INPUT

    @property
    def messages(self) -> Sequence[Message]:
        """The new input messages of this run."""
        return self.message_list.input


class InputStepContext(HookContext):
    """2. ``process_input_step``: every step, before the prompt is made. ``messages``: all but the system messages.

    May return: as ``process_input``, or :class:`StepChanges`, for this step alone.

    Args:
        step_number: From 0.
        steps: The finished steps.
        model: What will be asked.
        tools: What it may call.
        tool_choice: Whether and what it must call.
        active_tools: Names of the tools that are offered; None: all.
        model_settings: ``temperature``, …
        provider_options: For one provider alone, by its name.
        output_schema: What the answer is to be: a type, or a JSON schema; None: any text.
    """

    phase: ClassVar[Phase] = Phase.INPUT_STEP
    content: ClassVar[tuple[str, ...]] = (
        "model",
        "tools",
        "tool_choice",
        "active_tools",
        "model_settings",
        "provider_options",
        "output_schema",
    )
    joins_texts: ClassVar[bool] = False
    model: Content[LanguageModel] = Content()
    tools: Content[list[Tool]] = Content()
    tool_choice: Content[ToolChoice] = Content()
    active_tools: Content[list[str] | None] = Content()
    model_settings: Content[dict[str, Any]] = Content()
    provider_options: Content[dict[str, Any]] = Content()
    output_schema: Content[object] = Content()
    steps: Content[Sequence[StepResult]] = Content()

    def __init__(
        self,
        messages: Conversation = (),
        *,
        model: LanguageModel,
        step_number: int = 0,
        steps: Sequence[StepResult] = (),
        tools: Sequence[Tool] = (),
        tool_choice: ToolChoice = "auto",
        active_tools: Sequence[str] | None = None,
        model_settings: Mapping[str, Any] | None = None,
        provider_options: Mapping[str, Any] | None = None,
        output_schema: object = None,
        run: RunFacts | None = None,
    ) -> None:
        super().__init__(messages, run=run)
        self.step_number = step_number
        self.steps = steps
        self.model = model
        self.tools = list(tools)
        self.tool_choice = tool_choice
        self.active_tools = None if active_tools is None else list(active_tools)
        self.model_settings = dict(model_settings or {})
        self.provider_options = dict(provider_options or {})
        self.output_schema = output_schema


class LLMRequestContext(HookContext):
    """3. ``process_llm_request``: the prompt is made, the call has not begun.

    May return: None, a prompt, ``RequestChanges(prompt=…)`` or ``RequestChanges(response=CachedResponse(chunks))``.

    Args:
        prompt: What will be sent, for this call alone.
        model: What will be asked.
        step_number, steps: As in ``process_input_step``.

    Attributes:
        response: The answer that takes the call's place, where a processor gave one.
    """

    phase: ClassVar[Phase] = Phase.LLM_REQUEST
    content: ClassVar[tuple[str, ...]] = ("prompt", "response")
    prompt: Content[list[PromptMessage]] = Content()
    response: Content[tuple[Chunk, ...] | None] = Content()
    steps: Content[Sequence[StepResult]] = Content()

    def __init__(
        self,
        messages: Conversation = (),
        *,
        prompt: Sequence[PromptMessage],
        model: LanguageModel,
        step_number: int = 0,
        steps: Sequence[StepResult] = (),
        run: RunFacts | None = None,
    ) -> None:
        super().__init__(messages, run=run)
        self.prompt = list(prompt)
        self.response = None
        self.model = model
        self.step_number = step_number
        self.steps = steps

    def _merged_field(self, name: str, changed: Mapping[str, Any], prefer: str | None) -> Any:
        if name == "prompt":
            from interlock.processors.merge_prompt import merge_prompts

            return merge_prompts(self.prompt, changed, prefer)
        return super()._merged_field(name, changed, prefer)


class APIErrorContext(HookContext):
    """3b. ``process_api_error``: a model call failed: refused, not reachable, broken off.

    May return: None, or :class:`Retry`: the step begins again, with the conversation as it is left here. Handlers are
    asked in order, until one gives a ``Retry``.

    Args:
        error: What the call raised; mostly a ``ModelError`` with status and body.
        step_number, steps: As in ``process_input_step``.

    Attributes:
        retry: What a handler answered; the first answer counts.
    """

    phase: ClassVar[Phase] = Phase.API_ERROR
    content: ClassVar[tuple[str, ...]] = ("retry",)

    retry: Content[Retry | None] = Content()
    steps: Content[Sequence[StepResult]] = Content()

    def __init__(
        self,
        messages: Conversation = (),
        *,
        error: Exception,
        step_number: int = 0,
        steps: Sequence[StepResult] = (),
        run: RunFacts | None = None,
    ) -> None:
        super().__init__(messages, run=run)
        self.error = error
        self.retry = None
        self.step_number = step_number
        self.steps = steps

    def _merged_field(self, name: str, changed: Mapping[str, Any], prefer: str | None) -> Any:
        return next(iter(changed.values()))  # the first in list order


# 4. OutputStreamContext, ``process_output_stream``: every chunk. It has a file of its own: stream_context.py


class LLMResponseContext(HookContext):
    """5. ``process_llm_response``: the step's stream is complete, or was replayed from a cache.

    May return: None.

    Args:
        chunks: What was emitted in this step.
        model: What was asked.
        from_cache: Whether a processor gave the answer in the model's place.
        request: What was asked.
        step_number, steps: ``steps[-1]`` is the current step.
    """

    phase: ClassVar[Phase] = Phase.LLM_RESPONSE
    source: ClassVar[Source] = "response"

    chunks: Content[Sequence[Chunk]] = Content()
    request: Content[ModelRequest] = Content()
    steps: Content[Sequence[StepResult]] = Content()

    def __init__(
        self,
        messages: Conversation = (),
        *,
        chunks: Sequence[Chunk],
        model: LanguageModel,
        request: ModelRequest,
        from_cache: bool = False,
        step_number: int = 0,
        steps: Sequence[StepResult] = (),
        run: RunFacts | None = None,
    ) -> None:
        super().__init__(messages, run=run)
        self.chunks = chunks
        self.model = model
        self.request = request
        self.from_cache = from_cache
        self.step_number = step_number
        self.steps = steps


class OutputStepContext(HookContext):
    """6. ``process_output_step``: after the answer, before any tool. ``messages``: all but the system messages.

    May return: None, the list, a sequence of messages, :class:`Changes`. An empty sequence changes nothing here: use
    ``Changes(messages=[])`` to mean it.

    Args:
        text: The step's text, as output processors left it.
        tool_calls: What the model called.
        finish_reason, usage, provider_metadata: Of this step.
        step_number, steps: ``steps[-1]`` is the current step.
    """

    phase: ClassVar[Phase] = Phase.OUTPUT_STEP
    source: ClassVar[Source] = "response"

    tool_calls: Content[Sequence[ToolCall]] = Content()
    steps: Content[Sequence[StepResult]] = Content()

    def __init__(
        self,
        messages: Conversation = (),
        *,
        text: str = "",
        tool_calls: Sequence[ToolCall] = (),
        finish_reason: FinishReason = "stop",
        usage: Usage = Usage(),
        provider_metadata: Mapping[str, object] | None = None,
        step_number: int = 0,
        steps: Sequence[StepResult] = (),
        run: RunFacts | None = None,
    ) -> None:
        super().__init__(messages, run=run)
        self.text = text
        self.tool_calls = tool_calls
        self.finish_reason = finish_reason
        self.usage = usage
        self.provider_metadata = provider_metadata
        self.step_number = step_number
        self.steps = steps


class ToolCallContext(HookContext):
    """7. ``process_tool_call``: before each tool; all calls of a step are asked before the first tool runs.

    May return: None, ``ToolCallChanges(args=…)``, ``Deny(reason)``.

    Args:
        tool_name, tool_call_id: The call.
        args: Its arguments, decoded.
        step_number: From 0.

    Attributes:
        denied: The reason, where a processor refused the call.
    """

    phase: ClassVar[Phase] = Phase.TOOL_CALL
    source: ClassVar[Source] = "response"
    content: ClassVar[tuple[str, ...]] = ("args", "denied")
    args: Content[Any] = Content()
    denied: Content[str | None] = Content()

    def __init__(
        self,
        messages: Conversation = (),
        *,
        tool_name: str,
        tool_call_id: str,
        args: object = None,
        step_number: int = 0,
        run: RunFacts | None = None,
    ) -> None:
        super().__init__(messages, run=run)
        self.tool_name = tool_name
        self.tool_call_id = tool_call_id
        self.args = args
        self.denied = None
        self.step_number = step_number

    def _merged_field(self, name: str, changed: Mapping[str, Any], prefer: str | None) -> Any:
        if name == "denied":  # refused by any is refused; the first in list order gives the reason
            return next(reason for reason in changed.values() if reason is not None)
        return super()._merged_field(name, changed, prefer)


class ToolResultContext(HookContext):
    """8. ``process_tool_result``: a tool returned, and nobody has seen it yet. Each processor sees the one before's.

    May return: None, ``ToolResultChanges(result=…)``, the list.

    Args:
        tool_name, tool_call_id, args: The call, as the tool was given it.
        result: What it returned, as JSON values.
        provider_executed: Whether the provider ran it.
        step_number, steps: ``steps[-1]`` is the current step.
    """

    phase: ClassVar[Phase] = Phase.TOOL_RESULT
    source: ClassVar[Source] = "response"
    content: ClassVar[tuple[str, ...]] = ("result",)
    result: Content[Any] = Content()
    args: Content[Any] = Content()
    steps: Content[Sequence[StepResult]] = Content()

    def __init__(
        self,
        messages: Conversation = (),
        *,
        tool_name: str,
        tool_call_id: str,
        args: object = None,
        result: object = None,
        provider_executed: bool = False,
        step_number: int = 0,
        steps: Sequence[StepResult] = (),
        run: RunFacts | None = None,
    ) -> None:
        super().__init__(messages, run=run)
        self.tool_name = tool_name
        self.tool_call_id = tool_call_id
        self.args = args
        self.result = result
        self.provider_executed = provider_executed
        self.step_number = step_number
        self.steps = steps


class OutputResultContext(HookContext):
    """9. ``process_output_result``: once, after the loop. ``messages`` are the response messages.

    May return: None, the list, a sequence of messages, :class:`Changes`.

    Args:
        result: Text, usage, finish reason and steps of the run.
    """

    phase: ClassVar[Phase] = Phase.OUTPUT_RESULT
    source: ClassVar[Source] = "response"

    result: Content[RunResult] = Content()

    def __init__(self, messages: Conversation = (), *, result: RunResult, run: RunFacts | None = None) -> None:
        super().__init__(messages, run=run)
        self.result = result

    @property
    def text(self) -> str:
        """The answer's text, ``result.text``; what is changed at this point is in ``messages``."""
        return self.result.text

    @property
    def messages(self) -> Sequence[Message]:
        """The response messages of this run."""
        return self.message_list.response


PhaseContext = (
    InputContext
    | InputStepContext
    | LLMRequestContext
    | APIErrorContext
    | OutputStreamContext
    | LLMResponseContext
    | OutputStepContext
    | ToolCallContext
    | ToolResultContext
    | OutputResultContext
)
"""Any of the ten contexts."""

ProcessorStepSchema = PhaseContext
"""The schema of a workflow of processors: what flows is the context of the point at which it runs."""

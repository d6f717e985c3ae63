"""What a call of an agent may say: the same for ``generate``, ``stream`` and ``generate_sync``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from interlock.context import RequestContext
from interlock.messages import Message, MessageList
from interlock.models import LanguageModel, ToolChoice
from interlock.processors.changes import StepChanges
from interlock.processors.compose import ProcessorLike
from interlock.processors.contexts import InputStepContext
from interlock.tools import SupportsTool, Tool

__all__ = ["CallOptions", "Conversation", "PrepareStep", "ProcessorList", "Release"]

Conversation = str | Message | MessageList | Sequence[Message | Mapping[str, Any]]
"""What an agent is asked: a text, a message, a conversation, messages, or messages in OpenAI's form."""

ProcessorList = (
    Sequence[ProcessorLike]
    | Callable[[RequestContext], Sequence[ProcessorLike]]
    | Callable[[RequestContext], Awaitable[Sequence[ProcessorLike]]]
)
"""Processors and workflows of processors; or a function that gives them, called once per run."""

PrepareStep = Callable[[InputStepContext], StepChanges | Awaitable[StepChanges | None] | None]
"""Runs last in ``input_step``, as one more processor."""


Release = Literal["chunk", "step", "run"]
"""When a client is given what it is to see: at once, when the step was accepted, or when the run was."""


class CallOptions(TypedDict, total=False):
    """Options of one call. A list of processors given here replaces the agent's own of that name; None says nothing.

    Attributes:
        request_context: For processors, tools and steps to read.
        thread: The conversation that the call belongs to, for the agent's memory: what was said there is recalled, and
            the turn is stored there. Without it nothing is.
        resource: Whose conversation that is: a user, a customer, ….
        max_steps: Model calls at most.
        prepare_step: Changes settings step by step.
        input_processors, output_processors, error_processors: In place of the agent's own.
        model: In place of the agent's own.
        model_settings: Merged over the agent's own.
        tools: In place of the agent's own.
        tool_choice: ``"auto"``, ``"none"``, ``"required"``, or a tool's name.
        active_tools: Names of the tools that are offered.
        provider_options: For one provider alone, by its name.
        output_schema: What the answer is to be: a pydantic model, a dataclass, a ``TypedDict`` or another type, or a
            JSON schema as a mapping. ``result.output`` is made of the text as the guards left it; an answer that does
            not fit fails the run.
        max_processor_retries: How often steps are done again at most in one run, for verdicts with ``retry=True`` and
            for failed model calls together.
        release: ``"chunk"``: a client is given chunks as they pass the guards; ``"step"``: when their step was
            accepted; ``"run"``: when the whole run was. What is held back goes out as the conversation has it by then.
    """

    request_context: RequestContext | Mapping[str, object]
    thread: str
    resource: str
    max_steps: int
    prepare_step: PrepareStep
    input_processors: ProcessorList
    output_processors: ProcessorList
    error_processors: ProcessorList
    model: LanguageModel | str
    model_settings: Mapping[str, Any]
    tools: Sequence[Tool | SupportsTool | Callable[..., object]]
    tool_choice: ToolChoice
    active_tools: Sequence[str]
    provider_options: Mapping[str, Any]
    output_schema: object
    max_processor_retries: int
    release: Release

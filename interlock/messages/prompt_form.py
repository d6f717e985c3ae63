"""From a conversation to the prompt a model is asked with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interlock.messages.message import Message
from interlock.messages.parts import (
    FilePart,
    Part,
    ReasoningPart,
    StepStartPart,
    TextPart,
    ToolInvocationPart,
    copy_json,
)
from interlock.messages.prompt import PromptMessage, PromptPart, ToolCallPart, ToolResultPart
from interlock.messages.signals import escaped, signal_frame

__all__ = ["messages_to_prompt"]


def messages_to_prompt(system: Iterable[Message], conversation: Iterable[Message]) -> list[PromptMessage]:
    """The prompt of a conversation: system messages first, each tool call with its result, nothing empty.

    What no model is to see is left out (data, errors, sources), and so is a call that has no result yet, unless the
    provider itself runs it. The prompt shares nothing with the messages that could be changed.

    Args:
        system: The system messages in the order they are to be shown.
        conversation: The other messages.
    """
    prompt = [
        PromptMessage("system", parts, copy_json(message._envelope.provider_metadata))
        for message in system
        if (parts := _said(message._parts))
    ]
    for message in conversation:
        prompt += _assistant(message) if message.role == "assistant" else _other(message)
    return prompt


def _other(message: Message) -> Iterator[PromptMessage]:
    parts = _said(message._parts)
    if parts and message._envelope.role == "signal":
        parts = _framed(message, parts)
    if parts:
        yield PromptMessage("user", parts, copy_json(message._envelope.provider_metadata))


def _framed(message: Message, parts: list[PromptPart]) -> list[PromptPart]:
    """A signal's text as an element, whose end nothing in the text can pretend to be; its files come behind."""
    opening, closing = signal_frame(message)
    text = "".join(part.text for part in parts if isinstance(part, TextPart))
    framed = TextPart(f"{opening}{escaped(text)}{closing}")
    return [framed, *(part for part in parts if not isinstance(part, TextPart))]


def _said(parts: Iterable[Part]) -> list[PromptPart]:
    return [p.copy() for p in parts if isinstance(p, FilePart) or (isinstance(p, TextPart) and p.text)]


def _assistant(message: Message) -> Iterator[PromptMessage]:
    """One assistant message for each step of the turn, each followed by the results of its calls."""
    for step in _steps(message._parts):
        said: list[PromptPart] = []
        results: list[PromptPart] = []
        for part in step:
            match part:
                case TextPart(text=text):
                    if text:
                        said.append(part.copy())
                case ReasoningPart(text=text, signature=signature):
                    if text or signature:
                        said.append(part.copy())
                case FilePart():
                    said.append(part.copy())
                case ToolInvocationPart():
                    if part.state != "call" or part.provider_executed:
                        said.append(_call(part))
                    if part.state != "call":
                        results.append(_result(part))
                case _:
                    pass
        if said:
            yield PromptMessage("assistant", said, copy_json(message._envelope.provider_metadata))
        if results:
            yield PromptMessage("tool", results)


def _steps(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """The parts of each model call: cut where a step starts, and where something is said after a tool's result.

    (A model cannot have spoken after a result within the call that asked for it. A provider's own tools can.)
    """
    step: list[Part] = []
    answered = False
    for part in parts:
        if isinstance(part, StepStartPart) or (answered and isinstance(part, TextPart | ReasoningPart)):
            yield step
            step, answered = [], False
        elif isinstance(part, ToolInvocationPart) and part.state != "call" and not part.provider_executed:
            answered = True
        step.append(part)
    yield step


def _call(part: ToolInvocationPart) -> ToolCallPart:
    alone = part.copy()
    return ToolCallPart(
        alone.tool_call_id, alone.tool_name, alone.args, alone.provider_executed, alone.provider_metadata
    )


def _result(part: ToolInvocationPart) -> ToolResultPart:
    alone = part.copy()
    failed = alone.state == "error"
    shown = alone.model_output if alone.model_output is not None else alone.result
    return ToolResultPart(
        alone.tool_call_id,
        alone.tool_name,
        (alone.error or "the tool failed") if failed else shown,
        failed,
        alone.provider_executed,
    )

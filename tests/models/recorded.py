"""Recorded exchanges with OpenAI-shaped servers, and a plain reading of what they say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml

from interlock.messages.chunks import Chunk, ReasoningDelta, SourceChunk, StepFinish, TextDelta, ToolCall
from interlock.messages.parts import TextPart
from interlock.messages.prompt import PromptMessage, PromptPart, ToolCallPart, ToolResultPart
from interlock.models import ModelRequest, ToolSpec

JSONObject = dict[str, Any]

EXCHANGES = (
    ("crusoe/test_crusoe_model_streaming.yaml", 0),
    ("groq/test_tool_regular_error.yaml", 0),
    ("groq/test_tool_use_failed_error.yaml", 0),
    ("groq/test_tool_use_failed_error.yaml", 1),
    ("groq/test_tool_use_failed_error.yaml", 2),
    ("groq/test_tool_use_failed_error_streaming.yaml", 0),
    ("groq/test_tool_use_failed_error_streaming.yaml", 1),
    ("groq/test_tool_use_failed_error_streaming.yaml", 2),
    ("groq/test_tool_use_failed_error_streaming_with_text.yaml", 0),
    ("groq/test_tool_use_failed_error_streaming_with_text.yaml", 1),
    ("huggingface/test_hf_model_thinking_part_iter.yaml", 0),
    ("mistral/test_mistral_model_thinking_part_iter.yaml", 0),
    ("openai/test_openai_moderation_stream.yaml", 0),
    ("openrouter/test_openrouter_stream_error.yaml", 0),
    ("openrouter/test_openrouter_stream_with_native_options.yaml", 0),
    ("openrouter/test_openrouter_stream_with_reasoning.yaml", 0),
    ("openrouter/test_openrouter_streaming_reasoning.yaml", 0),
    ("openrouter/test_openrouter_web_search_annotations_stream.yaml", 0),
)
"""Every recorded exchange with a ``/chat/completions`` endpoint, by file and place in it."""


@dataclass(frozen=True)
class Recording:
    """One exchange: what was sent, and what came back."""

    request: JSONObject
    status: int
    media_type: str
    body: str


@cache
def _interactions(file: Path) -> list[JSONObject]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return cast("list[JSONObject]", yaml.load(file.read_text("utf-8"), loader)["interactions"])


def chat_exchanges(cassettes: Path) -> set[tuple[str, int]]:
    """Where recorded exchanges with a chat completions endpoint stand."""
    return {
        (file.relative_to(cassettes).as_posix(), number)
        for file in cassettes.rglob("*.yaml")
        for number, interaction in enumerate(_interactions(file))
        if interaction["request"]["uri"].partition("#")[0].endswith("/chat/completions")
    }


def recording(cassettes: Path, file: str, number: int) -> Recording:
    """One exchange."""
    interaction = _interactions(cassettes / file)[number]
    request, response = interaction["request"], interaction["response"]
    whole = response.get("parsed_body")
    return Recording(
        request=request["parsed_body"],
        status=response["status"]["code"],
        media_type=response["headers"]["content-type"][0],
        body=response["body"]["string"] if whole is None else json.dumps(whole, ensure_ascii=False),
    )


@dataclass
class Said:
    """What an answer says, however it is cut."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str, object]] = field(default_factory=list[tuple[str, str, object]])
    sources: list[str] = field(default_factory=list[str])
    finish_reason: str = ""
    usage: tuple[int, int, int, int] = (0, 0, 0, 0)
    error: str | None = None


def said_by(recording: Recording) -> Said:
    """Read a recorded body in the plainest way: all of it, line by line."""
    said = Said()
    for event in _events(recording):
        if event.get("error"):
            said.error = event["error"]["message"]
            break
        for choice in event["choices"]:
            _add(said, choice.get("delta") or choice.get("message") or {})
            said.finish_reason = choice.get("finish_reason") or said.finish_reason
        if event.get("usage"):
            said.usage = _tokens(event["usage"])
    return said


def failing_event(recording: Recording) -> JSONObject | None:
    """The event that reports an error."""
    return next((event for event in _events(recording) if event.get("error")), None)


def _events(recording: Recording) -> list[JSONObject]:
    if "json" in recording.media_type:
        return [json.loads(recording.body)]
    lines = [line[5:].strip() for line in recording.body.split("\n") if line.startswith("data:")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def _add(said: Said, delta: JSONObject) -> None:
    content: object = delta.get("content") or ""
    if isinstance(content, str):
        said.text += content
    else:
        for item in cast("list[JSONObject]", content):
            said.reasoning += "".join(thought["text"] for thought in item["thinking"])
    said.reasoning += delta.get("reasoning") or ""
    for call in delta.get("tool_calls") or ():  # each of these came in one piece
        said.calls.append((call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])))
    said.sources += [note["url_citation"]["url"] for note in delta.get("annotations") or ()]


def _tokens(usage: JSONObject) -> tuple[int, int, int, int]:
    read: JSONObject = usage.get("prompt_tokens_details") or {}
    written: JSONObject = usage.get("completion_tokens_details") or {}
    totals = usage["prompt_tokens"], usage["completion_tokens"]
    return *totals, written.get("reasoning_tokens", 0), read.get("cached_tokens", 0)


def said_in(chunks: Iterable[Chunk], error: str | None = None) -> Said:
    """The same of an answer in chunks."""
    said = Said(error=error)
    for chunk in chunks:
        match chunk:
            case TextDelta():
                said.text += chunk.text
            case ReasoningDelta():
                said.reasoning += chunk.text
            case ToolCall():
                said.calls.append((chunk.tool_call_id, chunk.tool_name, chunk.args))
            case SourceChunk():
                said.sources.append(chunk.url)
            case StepFinish():
                said.finish_reason = chunk.finish_reason.replace("-", "_")
                used = chunk.usage
                said.usage = (
                    used.input_tokens,
                    used.output_tokens,
                    used.reasoning_tokens,
                    used.cached_input_tokens,
                )
            case _:
                pass
    return said


OWN_FIELDS = ("moderation", "models", "provider", "reasoning", "transforms")
"""What only one provider knows; callers hand it over as provider options."""


def as_request(sent: Mapping[str, Any]) -> ModelRequest:
    """The request of ours that asks what a recorded one asked."""
    tools: list[JSONObject] = sent.get("tools") or []
    functions = [tool["function"] for tool in tools if tool["type"] == "function"]
    options: JSONObject = {key: sent[key] for key in OWN_FIELDS if key in sent}
    if len(functions) < len(tools):
        options["tools"] = tools
    limit = sent.get("max_completion_tokens")
    return ModelRequest(
        prompt=[_message(message) for message in sent["messages"]],
        tools=[ToolSpec(f["name"], f["description"], f["parameters"]) for f in functions],
        tool_choice=sent.get("tool_choice", "auto"),
        settings={} if limit is None else {"max_tokens": limit},
        provider_options={"openai": options},
    )


def _message(message: JSONObject) -> PromptMessage:
    text = message.get("content")
    parts: list[PromptPart] = [TextPart(text)] if text else []
    if message["role"] == "tool":
        parts = [ToolResultPart(message["tool_call_id"], "", text)]
    for call in message.get("tool_calls") or ():
        args = json.loads(call["function"]["arguments"])
        parts.append(ToolCallPart(call["id"], call["function"]["name"], args))
    return PromptMessage(message["role"], parts)


def without_known_differences(body: Mapping[str, Any]) -> JSONObject:
    """A request's body without that in which ours may differ from a recorded one.

    - We always ask for a stream, and for its usage; some of the recorded clients did not.
    - ``n: 1`` (Groq's client) is the default and left out, as are null fields (Hugging Face's) and empty tools.
    - An assistant's message of calls alone says ``content: null`` with us and nothing with the others.
    - A server that is not OpenAI's is told of the token limit as ``max_tokens``.
    - Tools without a word on choosing are ``tool_choice: "auto"``, which is the default.
    - Arguments are compared as values: their white space is free.
    """
    kept = {key: value for key, value in body.items() if key not in ("n", "stream", "stream_options")}
    if "max_completion_tokens" in kept:
        kept["max_tokens"] = kept.pop("max_completion_tokens")
    if kept.get("tool_choice") == "auto":
        del kept["tool_choice"]
    messages = cast("list[JSONObject]", json.loads(json.dumps(kept["messages"])))
    for message in messages:
        for call in message.get("tool_calls") or ():
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    kept["messages"] = [{key: value for key, value in message.items() if value is not None} for message in messages]
    return {key: value for key, value in kept.items() if value not in (None, [])}

"""Models behind OpenAI's chat completions protocol: OpenAI's own, and every server that speaks it."""

from __future__ import annotations

import json
import math
import os
import re
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

from interlock.errors import DefinitionError, ModelError
from interlock.messages.chunks import Chunk
from interlock.messages.openai_form import prompt_to_openai
from interlock.messages.parts import JSONValue
from interlock.models.base import LanguageModel, ModelRequest, ToolChoice, ToolSpec
from interlock.models.openai_answer import OpenAIAnswer, error_from_body
from interlock.models.openai_schema import response_format
from interlock.models.ready import ReadyChunks

if TYPE_CHECKING:
    import httpx

    from interlock.models.http import HTTPAnswer

__all__ = ["OpenAIChatModel"]

DEFAULT_BASE_URL: Final = "https://api.openai.com/v1"
ERROR_LIMIT: Final = 65_536
"""Characters of an error's body that are kept."""

SETTINGS: Final = (
    "frequency_penalty",
    "logit_bias",
    "parallel_tool_calls",
    "presence_penalty",
    "reasoning_effort",
    "response_format",
    "seed",
    "stop",
    "temperature",
    "top_p",
    "user",
)
"""The settings that are sent under their own names."""

MAX_RETRIES: Final = 2
"""How often a request is made again where the settings do not say ``max_retries``."""

_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"(?:[!-~](?:[\t -~]*[!-~])?)?")
"""RFC 9110, sections 5.1 and 5.5, without the bytes beyond ASCII that it keeps for old servers."""


class OpenAIChatModel(LanguageModel):
    """A model that is asked over ``POST <base URL>/chat/completions``, streamed as server-sent events.

    What is sent: the prompt, tools and tool choice; the output schema as ``response_format``; of the settings
    ``temperature``, ``top_p``, ``max_tokens``, ``stop``, ``seed``, ``presence_penalty``, ``frequency_penalty``,
    ``logit_bias``, ``response_format``, ``reasoning_effort``, ``parallel_tool_calls`` and ``user`` (others, and None,
    are left out); and the provider
    options under ``"openai"`` and under the provider's name, put into the body as they are, where None takes a key out.
    A request that could not be made, or that the server answers with a status such as 429 or 503, is made again before
    anybody hears of it: ``max_retries`` times at most, another setting (2).
    ``max_tokens`` goes to OpenAI itself as ``max_completion_tokens``, which its reasoning models ask for, and to others
    by its old name.

    Args:
        name: The model's name at the provider.
        base_url: Where the protocol begins; else ``OPENAI_BASE_URL``, else OpenAI's own. Read at each call.
        api_key: The key; else ``OPENAI_API_KEY``, read at each call. OpenAI itself is not called without one; other
            servers are, as many that run at home need none.
        provider: The provider's name in ids, errors and options.
        client: An ``httpx.AsyncClient`` to use, closed by who made it. By default each call opens a connection of its
            own and closes it.
        timeout: Seconds without a byte before a call fails; by default 600, or what ``client`` says.
        headers: Further headers of every call.

    Raises:
        DefinitionError: An option of another type, or a header that cannot be sent. On streaming: no key, an unusable
            key, or provider options that are no mapping.

    Example:
        >>> model = OpenAIChatModel("qwen3:8b", base_url="http://localhost:11434/v1", provider="ollama")
        >>> model.id
        'ollama/qwen3:8b'
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        provider: str = "openai",
        client: httpx.AsyncClient | None = None,
        timeout: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        from interlock.models.http import HTTPCaller

        faults = _faults(
            {"name": name, "provider": provider}, {"base_url": base_url, "api_key": api_key}, timeout, headers
        )
        if faults:
            raise DefinitionError(faults, subject=f"model {provider}/{name}")
        self.name = name
        self.provider = provider
        self._base_url = base_url
        self._api_key = api_key
        self._headers = dict(headers or {})
        self._caller = HTTPCaller(provider, timeout=timeout, client=client)

    @asynccontextmanager
    async def stream(self, request: ModelRequest) -> AsyncGenerator[AsyncIterator[Chunk]]:
        """Ask. See :meth:`LanguageModel.stream`."""
        base_url = self._base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL
        key = (self._api_key or os.environ.get("OPENAI_API_KEY") or "").strip()
        headers = self._call_headers(base_url, key)
        body = self._body(request, ours=_is_openai(base_url))
        retries = _retries(request.settings, self.id)
        async with self._caller.post(_endpoint(base_url), headers=headers, body=body, retries=retries) as answer:
            if not 200 <= answer.status < 300:
                raise await self._refusal(answer, keyless=not key)
            if answer.media_type == "text/event-stream":
                yield _Chunks(self.provider, answer)
            elif answer.media_type == "application/json":
                yield ReadyChunks(self._whole(await answer.read()))
            else:
                raise ModelError(
                    f"{base_url} answered with {answer.media_type or 'no media type'} instead of an event stream; "
                    "is it the base URL of a chat completions server?",
                    provider=self.provider,
                    status=answer.status,
                    body=await answer.read(ERROR_LIMIT),
                    retryable=False,
                )

    def _call_headers(self, base_url: str, key: str) -> dict[str, str]:
        if not key and _is_openai(base_url):
            raise DefinitionError(
                "no API key: set the environment variable OPENAI_API_KEY, or pass api_key=", subject=f"model {self.id}"
            )
        if not (key.isascii() and key.isprintable()):
            raise DefinitionError("the API key holds characters that no key has", subject=f"model {self.id}")
        authorization = {"Authorization": f"Bearer {key}"} if key else {}
        return {"Accept": "text/event-stream, application/json", **authorization, **self._headers}

    def _body(self, request: ModelRequest, *, ours: bool) -> dict[str, JSONValue]:
        settings = request.settings
        body: dict[str, JSONValue] = {
            "model": self.name,
            "messages": self._messages(request),
            "stream": True,
            "stream_options": {"include_usage": True},
            **({} if request.output_schema is None else {"response_format": response_format(request.output_schema)}),
            **{key: settings[key] for key in SETTINGS if settings.get(key) is not None},
        }
        if settings.get("max_tokens") is not None:
            body["max_completion_tokens" if ours else "max_tokens"] = settings["max_tokens"]
        if request.tools:
            body["tools"] = [_tool(spec) for spec in request.tools]
            body["tool_choice"] = _choice(request.tool_choice)
        for owner in dict.fromkeys(("openai", self.provider)):
            body.update(self._options(request, owner))
        return {key: value for key, value in body.items() if value is not None}

    def _messages(self, request: ModelRequest) -> list[dict[str, JSONValue]]:
        try:
            return prompt_to_openai(request.prompt)
        except ValueError as error:
            raise ModelError(f"the prompt cannot be sent: {error}", provider=self.provider, retryable=False) from error

    def _options(self, request: ModelRequest, owner: str) -> Mapping[str, JSONValue]:
        options = request.provider_options.get(owner)
        if options is None:
            return {}
        if not isinstance(options, Mapping):
            raise DefinitionError(
                f"provider_options[{owner!r}] must map names of the request's body to values; "
                f"got {type(options).__name__}",
                subject=f"model {self.id}",
            )
        return cast("Mapping[str, JSONValue]", options)

    async def _refusal(self, answer: HTTPAnswer, *, keyless: bool) -> ModelError:
        try:
            body = await answer.read(ERROR_LIMIT)
        except ModelError:  # that the body broke off must not hide the refusal
            body = ""
        hint = "no key was sent: set OPENAI_API_KEY, or pass api_key=" if keyless and answer.status == 401 else ""
        error = error_from_body(body, provider=self.provider, status=answer.status, otherwise=answer.reason, hint=hint)
        error.retry_after = answer.retry_after
        return error

    def _whole(self, body: str) -> list[Chunk]:
        """The chunks of an answer that came as one JSON object although a stream was asked for."""
        answer = OpenAIAnswer(self.provider)
        return [*answer.read(_event_object(body, self.provider)), *answer.end()]


def _retries(settings: Mapping[str, JSONValue], model: str) -> int:
    given = settings.get("max_retries")
    if given is None:
        return MAX_RETRIES
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise DefinitionError(f"max_retries is a whole number from 0, not {given!r}", subject=f"model {model}")
    return given


class _Chunks(AsyncIterator[Chunk]):
    """The chunks of a streamed answer. Reads one event at a time, and only when a chunk is asked for."""

    def __init__(self, provider: str, http: HTTPAnswer) -> None:
        self._provider = provider
        self._http = http
        self._events = http.events()
        self._answer = OpenAIAnswer(provider)
        self._ready: deque[Chunk] = deque()
        self._over = False

    def __aiter__(self) -> _Chunks:
        return self

    async def __anext__(self) -> Chunk:
        while not self._ready:
            if self._over:
                raise StopAsyncIteration
            try:
                self._over = await self._read_one()
            except Exception:
                self._over = True
                raise
        return self._ready.popleft()

    async def _read_one(self) -> bool:
        """Read an event; say whether it was the last."""
        try:
            event = await anext(self._events)
        except StopAsyncIteration:
            self._ready = deque(self._answer.end())
            return True
        if event.data.strip() == "[DONE]":
            await self._http.drain()
            self._ready = deque(self._answer.end(done=True))
            return True
        if event.event == "error":
            raise error_from_body(event.data, provider=self._provider)
        self._ready = deque(self._answer.read(_event_object(event.data, self._provider)))
        return False


def _event_object(data: str, provider: str) -> Mapping[str, JSONValue]:
    try:
        event: JSONValue = json.loads(data)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, Mapping):
        raise ModelError("the answer holds an event that is no JSON object", provider=provider, body=data)
    return cast("Mapping[str, JSONValue]", event)


def _tool(spec: ToolSpec) -> dict[str, JSONValue]:
    function = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return {"type": "function", "function": function}


def _choice(choice: ToolChoice) -> JSONValue:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def _faults(
    texts: Mapping[str, object], texts_or_none: Mapping[str, object], timeout: object, headers: object
) -> list[str]:
    """What is wrong with a model's options. Texts may be secrets, and are not shown."""
    faults = [
        f"{option}= is a text, not a {type(value).__name__}"
        for option, value in {**texts, **texts_or_none}.items()
        if not (isinstance(value, str) or (value is None and option in texts_or_none))
    ]
    if timeout is not None and not _is_time_out(timeout):
        faults.append(f"timeout= is a number of seconds above 0, not {timeout!r}")
    if headers is None:
        return faults
    if not isinstance(headers, Mapping):
        return [*faults, f"headers= maps names to values, and is no {type(headers).__name__}"]
    found = (_header_fault(*item) for item in cast("Mapping[object, object]", headers).items())
    return [*faults, *(fault for fault in found if fault)]


def _is_time_out(seconds: object) -> bool:
    return isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < math.inf


def _header_fault(name: object, value: object) -> str | None:
    """What is wrong with a header; its value may be a secret and is not shown."""
    if not (isinstance(name, str) and _HEADER_NAME.fullmatch(name)):
        return f"headers= holds {name!r:.80}, which is no name of a header"
    if not (isinstance(value, str) and _HEADER_VALUE.fullmatch(value)):
        return f"the value of {name!r} in headers= must be printable ASCII text without white space around it"
    return None


def _endpoint(base_url: str) -> str:
    start, mark, query = base_url.partition("?")
    return f"{start.rstrip('/')}/chat/completions{mark}{query}"


def _is_openai(base_url: str) -> bool:
    try:
        return urlsplit(base_url).hostname == "api.openai.com"
    except ValueError:  # it is no URL, as sending will say
        return False

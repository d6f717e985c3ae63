"""The one place that knows httpx: a JSON request out, an answer read as it comes, and every failure a ``ModelError``.

Providers import this module when a model is built, not before: httpx costs some 100 ms to import.
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from ssl import SSLContext
from typing import Final, NamedTuple

import anyio
import httpx
import httpx_sse

from interlock.errors import ModelError, may_pass
from interlock.messages.parts import JSONValue

__all__ = ["HTTPAnswer", "HTTPCaller", "ServerSentEvent"]

CONNECT_TIMEOUT: Final = 10.0
"""Seconds to reach the server, where the time-out as a whole is longer."""

READ_TIMEOUT: Final = 600.0
"""Seconds without a byte; a model may think for minutes before its first (the ``openai`` package waits as long)."""

CLOSE_TIMEOUT: Final = 5.0
"""Seconds that closing a connection may take; a TCP socket needs none, a proxy or a client of one's own may."""

DRAIN_TIMEOUT: Final = 0.2
"""Seconds that the end of a body may take after all of the answer was read, for the connection to be used again."""


FIRST_WAIT: Final = 0.5
"""Seconds before a request is sent again for the first time; then twice as long each time, up to :data:`LONGEST_WAIT`
(the ``openai`` package does the same up to 8), less up to a quarter at random so that clients do not come back all at
once."""

LONGEST_WAIT: Final = 60.0
"""Seconds. Where a server asks for more, it is not asked again; whoever handles the error may be more patient."""

_DOUBLINGS: Final = 16
"""After so many the wait is the longest; a float has no room for 1024."""


REFUSAL_LIMIT: Final = 65_536
"""Characters of a refusal that nobody will read."""


class ServerSentEvent(NamedTuple):
    """One event of a stream (WHATWG HTML, section 9.2)."""

    event: str
    data: str


class HTTPCaller:
    """Sends JSON to one provider.

    Each call opens a connection of its own and closes it, so that nothing outlives a call and a caller may be used
    from any event loop. To keep connections open between calls, hand in a client; who made it closes it.

    Args:
        provider: The provider's name, for errors.
        timeout: Seconds without a byte before the call fails; None: :data:`READ_TIMEOUT`, or what ``client`` says.
        client: The client to use.
    """

    def __init__(self, provider: str, *, timeout: float | None = None, client: httpx.AsyncClient | None = None) -> None:
        self._provider = provider
        self._client = client
        self._timeout = timeout

    @asynccontextmanager
    async def post(
        self, url: str, *, headers: Mapping[str, str], body: Mapping[str, JSONValue], retries: int = 0
    ) -> AsyncGenerator[HTTPAnswer]:
        """Ask, and wait for the head of the answer. Leaving the context closes the answer, and waits for that.

        Args:
            url, headers, body: What is sent.
            retries: How often it is sent again at most, where the server could not be reached or says that it may be
                asked later. It waits in between as long as the answer's Retry-After says, else ever longer.

        Raises:
            ModelError: The body is no JSON, the URL cannot be used, the server could not be reached, or it did not
                speak HTTP.
        """
        content = self._encoded(body)
        client = self._client or self._fresh_client()
        try:
            request = self._request(client, url, {**headers, "Content-Type": "application/json"}, content)
            answer = await self._answered(client, request, retries)
            try:
                yield answer
            finally:
                with anyio.move_on_after(CLOSE_TIMEOUT, shield=True):
                    await answer.close()
        finally:
            if client is not self._client:
                with anyio.move_on_after(CLOSE_TIMEOUT, shield=True):
                    await client.aclose()

    async def _answered(self, client: httpx.AsyncClient, request: httpx.Request, retries: int) -> HTTPAnswer:
        """The head of the answer: of the first request, or of the last that was worth sending."""
        for attempt in range(1, retries + 2):
            wait: float | None = None
            try:
                with _failures_as_model_errors(self._provider):
                    response = await client.send(request, stream=True)
            except ModelError as error:
                if attempt > retries or not error.retryable:
                    raise
            else:
                answer = HTTPAnswer(response, self._provider, pooled=client is self._client)
                wait = answer.retry_after
                if attempt > retries or not may_pass(answer.status) or (wait or 0.0) > LONGEST_WAIT:
                    return answer
                await answer.discard()
            await anyio.sleep(_wait_before(attempt) if wait is None else wait)
        raise AssertionError("the last attempt returns or raises")

    def _request(
        self, client: httpx.AsyncClient, url: str, headers: Mapping[str, str], content: bytes
    ) -> httpx.Request:
        timeout = httpx.USE_CLIENT_DEFAULT if self._timeout is None else _timeouts(self._timeout)
        try:
            request = client.build_request("POST", url, headers=headers, content=content, timeout=timeout)
        except (httpx.InvalidURL, ValueError) as error:  # ValueError: of a host or path that cannot be encoded
            raise _unusable_url(error, self._provider) from error
        if not 0 <= (request.url.port or 0) <= 65_535:
            raise _unusable_url(f"there is no port {request.url.port}", self._provider)
        return request

    def _fresh_client(self) -> httpx.AsyncClient:
        timeout = READ_TIMEOUT if self._timeout is None else self._timeout
        return httpx.AsyncClient(verify=_ssl_context(), timeout=_timeouts(timeout))

    def _encoded(self, body: Mapping[str, JSONValue]) -> bytes:
        try:
            return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise ModelError(
                f"the request cannot be written as JSON: {error}", provider=self._provider, retryable=False
            ) from error


class HTTPAnswer:
    """An answer whose head is there and whose body is still coming. Read it once: as text or as events.

    Attributes:
        status: The HTTP status.
        reason: The status in words.
        media_type: What the body is, in lower case and without parameters: ``"text/event-stream"``.
    """

    def __init__(self, response: httpx.Response, provider: str, *, pooled: bool) -> None:
        response.encoding = "utf-8-sig"  # a byte order mark is no part of a stream (WHATWG HTML, section 9.2.5)
        self.status = response.status_code
        self.reason = response.reason_phrase
        self.retry_after = _seconds(response.headers)
        self.media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        self._response = response
        self._provider = provider
        self._pooled = pooled
        self._reading: AsyncIterator[object] | None = None

    async def read(self, limit: int | None = None) -> str:
        """The body as text.

        Args:
            limit: Stop after so many characters, where given.
        """
        pieces = self._reading = self._response.aiter_text()
        text = ""
        with _failures_as_model_errors(self._provider):
            async for piece in pieces:
                text += piece
                if limit is not None and len(text) >= limit:
                    return text[:limit]
        return text

    def events(self) -> AsyncIterator[ServerSentEvent]:
        """The body as server-sent events, each as soon as it is there, without comments and events that say nothing."""
        return _Events(self)

    async def drain(self) -> None:
        """Read what is left: only a connection whose answer was read to the end can be used again."""
        if self._pooled and self._reading is not None:
            with anyio.move_on_after(DRAIN_TIMEOUT), suppress(httpx.RequestError):
                async for _ in self._reading:
                    pass

    async def discard(self) -> None:
        """Read what little a refusal says, for the server's sake, and close the connection."""
        try:
            with anyio.move_on_after(DRAIN_TIMEOUT), suppress(ModelError):
                await self.read(REFUSAL_LIMIT)
        finally:
            with anyio.move_on_after(CLOSE_TIMEOUT, shield=True):
                await self.close()

    async def close(self) -> None:
        """Close the connection, then let the reader run into that.

        Httpx reads through a chain of asynchronous generators. Closing the outermost leaves the inner ones to the
        garbage collector, of which trio complains; an error at the source ends them all.
        """
        await self._response.aclose()
        if self._reading is None:
            return
        with suppress(httpx.RequestError, httpx.StreamError):
            async for _ in self._reading:
                pass


class _Events(AsyncIterator[ServerSentEvent]):
    def __init__(self, answer: HTTPAnswer) -> None:
        answer._response.headers["content-type"] = answer.media_type  # httpx_sse takes it in lower case only
        self._events = answer._reading = httpx_sse.EventSource(answer._response).aiter_sse()
        self._provider = answer._provider

    def __aiter__(self) -> _Events:
        return self

    async def __anext__(self) -> ServerSentEvent:
        with _failures_as_model_errors(self._provider):
            async for event in self._events:
                if event.data:
                    return ServerSentEvent(event.event, event.data)
        raise StopAsyncIteration


@contextmanager
def _failures_as_model_errors(provider: str) -> Generator[None]:
    try:
        yield
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise _unusable_url(error, provider) from error
    except httpx.TimeoutException as error:
        raise ModelError(
            f"the server took too long ({type(error).__name__})", provider=provider, retryable=True
        ) from error
    except httpx.RequestError as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise ModelError(f"the connection failed ({what})", provider=provider, retryable=True) from error


def _wait_before(attempt: int) -> float:
    return min(FIRST_WAIT * 2.0 ** min(attempt - 1, _DOUBLINGS), LONGEST_WAIT) * random.uniform(0.75, 1.0)


def _seconds(headers: httpx.Headers) -> float | None:
    """What Retry-After says (RFC 9110, section 10.2.3), in seconds from now; None where it says nothing."""
    said = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(said)) if said.replace(".", "", 1).isdigit() else _until(parsedate_to_datetime(said))
    except (ValueError, OverflowError):  # Python knows no later moment than the end of the year 9999
        return None


def _until(moment: datetime) -> float:
    if moment.tzinfo is None:  # "-0000": of UTC, and nothing is known of the place (RFC 5322, section 3.3)
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _unusable_url(fault: Exception | str, provider: str) -> ModelError:
    return ModelError(
        f"the base URL cannot be used: {fault} (it is what base_url= says, else OPENAI_BASE_URL)",
        provider=provider,
        retryable=False,
    )


def _timeouts(seconds: float) -> httpx.Timeout:
    return httpx.Timeout(seconds, connect=min(seconds, CONNECT_TIMEOUT))


@cache
def _ssl_context() -> SSLContext:
    """The certificates are read once: that takes longer than all else a client does when it is made."""
    return httpx.create_ssl_context()

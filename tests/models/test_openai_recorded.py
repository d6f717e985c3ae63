"""Recorded traffic of OpenAI-shaped servers, replayed to the provider by a server on this machine."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from interlock.errors import ModelError
from interlock.messages.chunks import Chunk, ReasoningEnd
from interlock.models import LanguageModel, ModelRequest, OpenAIChatModel
from tests.models.asked import asking
from tests.models.loopback import LoopbackServer, Play, cut, streamed
from tests.models.recorded import (
    EXCHANGES,
    Recording,
    as_request,
    chat_exchanges,
    failing_event,
    recording,
    said_by,
    said_in,
    without_known_differences,
)

SMALL = 4096
"""Bytes up to which a body is cut at every place."""

SAMPLED = 12
"""Cuts of a larger one."""

each_exchange = pytest.mark.parametrize(("file", "number"), EXCHANGES, ids=lambda value: str(value).split("/test_")[-1])


REFUSALS = (
    ("groq/test_tool_regular_error.yaml", 0, 404),
    ("groq/test_tool_use_failed_error.yaml", 0, 400),
)
"""The recorded exchanges that were refused, with their status."""


@pytest.fixture
def cassettes(data_dir: Path) -> Path:
    return data_dir / "cassettes"


async def heard(model: LanguageModel, request: ModelRequest | None = None) -> tuple[list[Chunk], ModelError | None]:
    """All chunks of an answer, and the error that ended it."""
    chunks: list[Chunk] = []
    try:
        async with model.stream(request or asking("Hello")) as stream:
            async for chunk in stream:
                chunks.append(chunk)
    except ModelError as error:
        return chunks, error
    return chunks, None


def recorded_model(base_url: str, client: httpx.AsyncClient | None = None, name: str = "m-1") -> OpenAIChatModel:
    return OpenAIChatModel(name, base_url=base_url, api_key="sk-test", client=client)


def replay(recorded: Recording, pieces: list[bytes] | None = None) -> Play:
    """The recorded answer, in these pieces."""
    return streamed(pieces or recorded.body, recorded.media_type, recorded.status)


def test_every_recorded_chat_exchange_is_replayed(cassettes: Path) -> None:
    assert chat_exchanges(cassettes) == set(EXCHANGES)


@pytest.mark.anyio
@each_exchange
async def test_a_recorded_answer_says_what_a_plain_reading_says(cassettes: Path, file: str, number: int) -> None:
    recorded = recording(cassettes, file, number)
    with LoopbackServer(replay(recorded)) as server:
        chunks, error = await heard(recorded_model(server.url))
    expected = said_by(recorded)
    if expected.error is not None:
        expected.finish_reason, expected.usage = "", (0, 0, 0, 0)
    assert said_in(chunks, error.message if error else None) == expected


@pytest.mark.anyio
@pytest.mark.parametrize(("file", "number", "status"), REFUSALS)
async def test_a_recorded_refusal_keeps_its_status_and_body(
    cassettes: Path, file: str, number: int, status: int
) -> None:
    recorded = recording(cassettes, file, number)
    with LoopbackServer(replay(recorded)) as server:
        chunks, error = await heard(recorded_model(server.url))
    assert chunks == []
    assert error is not None
    assert (error.status, error.body, error.retryable) == (status, recorded.body, False)


@pytest.mark.anyio
@each_exchange
async def test_an_error_in_a_recorded_stream_keeps_its_status_and_event(
    cassettes: Path, file: str, number: int
) -> None:
    recorded = recording(cassettes, file, number)
    with LoopbackServer(replay(recorded)) as server:
        _, error = await heard(recorded_model(server.url))
    failing = failing_event(recorded)
    if failing is None:
        assert error is None
    else:
        assert error is not None
        assert json.loads(error.body or "") == failing
        assert error.status == (recorded.status if recorded.status >= 400 else 400)


@pytest.mark.anyio
@each_exchange
async def test_what_is_sent_is_what_the_recorded_client_sent(cassettes: Path, file: str, number: int) -> None:
    recorded = recording(cassettes, file, number)
    with LoopbackServer(replay(recorded)) as server:
        await heard(recorded_model(server.url, name=recorded.request["model"]), as_request(recorded.request))
    sent = server.requests[0].body
    assert sent["stream"] is True
    assert without_known_differences(sent) == without_known_differences(recorded.request)


@pytest.mark.anyio
async def test_the_seal_of_recorded_reasoning_is_kept(cassettes: Path) -> None:
    recorded = recording(cassettes, "openrouter/test_openrouter_streaming_reasoning.yaml", 0)
    with LoopbackServer(replay(recorded)) as server:
        chunks, _ = await heard(recorded_model(server.url))
    (seal,) = [chunk.signature for chunk in chunks if isinstance(chunk, ReasoningEnd)]
    assert seal is not None
    assert seal.startswith("Et0BCkgIChACGAIqQA2s7h7tA7IG35fb")


@pytest.mark.anyio
@each_exchange
async def test_cuts_over_the_network_change_nothing(cassettes: Path, file: str, number: int) -> None:
    recorded = recording(cassettes, file, number)
    body = recorded.body.encode()
    rng = random.Random(f"{file} {number}")
    fine = cut(body, range(len(body))) if len(body) <= SMALL else cut(body, rng.sample(range(len(body)), 400))
    singly = [cut(body, [rng.randrange(len(body))]) for _ in range(SAMPLED if len(body) < 100_000 else 3)]
    plays = [replay(recorded, pieces) for pieces in (fine, *singly)]
    with LoopbackServer(replay(recorded), *plays) as server:
        async with httpx.AsyncClient() as client:
            model = recorded_model(server.url, client)
            (whole, failed), *others = [await heard(model) for _ in range(1 + len(plays))]
    assert whole or failed
    for chunks, error in others:
        assert chunks == whole
        assert (str(error), error and error.body) == (str(failed), failed and failed.body)


class _InPieces(httpx.AsyncByteStream):
    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


class _Replay(httpx.AsyncBaseTransport):
    """The recorded answer, cut in two at a place that moves on with each request."""

    def __init__(self, recorded: Recording) -> None:
        self._recorded = recorded
        self._body = recorded.body.encode()
        self._place = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        pieces = cut(self._body, [self._place])
        self._place += 1
        headers = {"content-type": self._recorded.media_type}
        return httpx.Response(self._recorded.status, headers=headers, stream=_InPieces(pieces))


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.anyio
async def test_a_cut_at_any_byte_of_a_small_answer_changes_nothing(cassettes: Path, anyio_backend: str) -> None:
    recordings = [recording(cassettes, file, number) for file, number in EXCHANGES]
    small = [(recorded, len(recorded.body.encode())) for recorded in recordings]
    small = [(recorded, size) for recorded, size in small if size <= SMALL]
    assert len(small) == 6
    for recorded, size in small:
        async with httpx.AsyncClient(transport=_Replay(recorded)) as client:
            model = recorded_model("http://127.0.0.1/v1", client)
            whole, failed = await heard(model)
            for _ in range(1, size):
                chunks, error = await heard(model)
                assert chunks == whole
                assert (str(error), error and error.body) == (str(failed), failed and failed.body)

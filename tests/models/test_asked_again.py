"""Requests that are made again before anybody hears of it."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.errors import DefinitionError, ModelError
from interlock.models import ModelRequest
from tests.models.asked import asking, chunks_of, model_at
from tests.models.loopback import HELLO, Exchange, LoopbackServer, Play, Serve, refused, streamed


def _with(settings: dict[str, Any]) -> ModelRequest:
    request = asking("Hello")
    request.settings = settings
    return request


def _much_later(exchange: Exchange) -> None:
    exchange.head(429, "application/json", retry_after="3600")
    exchange.send(b"{}")
    exchange.finish()


async def answered_after(serve: Serve, *plays: Play, **settings: Any) -> tuple[LoopbackServer, str]:
    server = serve(*plays)
    chunks = await chunks_of(model_at(server), _with(settings))
    return server, "".join(chunk.text for chunk in chunks if chunk.type == "text-delta")


@pytest.mark.anyio
@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 503, 529])
async def test_what_may_pass_is_asked_again_before_anybody_hears_of_it(serve: Serve, status: int) -> None:
    server, text = await answered_after(serve, refused(status, "{}"), refused(status, "{}"), streamed(HELLO))
    assert len(server.requests) == 3
    assert text
    assert server.requests[0].body == server.requests[2].body


@pytest.mark.anyio
async def test_a_connection_that_breaks_before_the_answer_is_made_again(serve: Serve) -> None:
    server, text = await answered_after(serve, Exchange.break_off, streamed(HELLO))
    assert len(server.requests) == 2
    assert text


@pytest.mark.anyio
@pytest.mark.parametrize(("retries", "requests"), [(0, 1), (1, 2), (4, 5), (None, 3)])
async def test_max_retries_is_how_often_a_request_is_made_again(
    serve: Serve, retries: int | None, requests: int
) -> None:
    server = serve(refused(503, "{}"))
    with pytest.raises(ModelError) as caught:
        await chunks_of(model_at(server), _with({"max_retries": retries}))
    assert caught.value.status == 503
    assert len(server.requests) == requests


@pytest.mark.anyio
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_will_not_pass_is_asked_once(serve: Serve, status: int) -> None:
    server = serve(refused(status, "{}"))
    with pytest.raises(ModelError):
        await chunks_of(model_at(server))
    assert len(server.requests) == 1


@pytest.mark.anyio
async def test_a_stream_that_broke_off_is_not_asked_for_again(serve: Serve) -> None:
    def play(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(b'data: {"choices": [{"index": 0, "delta": {"content": "half"}}]}\n\n')
        exchange.break_off()

    server = serve(play)
    with pytest.raises(ModelError):
        await chunks_of(model_at(server))
    assert len(server.requests) == 1


@pytest.mark.anyio
async def test_a_server_that_wants_to_be_asked_much_later_is_not_asked_again_and_the_error_says_when(
    serve: Serve,
) -> None:
    server = serve(_much_later)
    with pytest.raises(ModelError) as caught:
        await chunks_of(model_at(server))
    assert caught.value.retry_after == 3600.0
    assert len(server.requests) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("wrong", [-1, 1.5, True, "2"])
async def test_max_retries_is_a_whole_number(serve: Serve, wrong: object) -> None:
    with pytest.raises(DefinitionError, match="max_retries is a whole number from 0"):
        await chunks_of(model_at(serve(streamed(HELLO))), _with({"max_retries": wrong}))


@pytest.mark.anyio
async def test_the_waits_grow_up_to_a_minute(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("interlock.models.http.anyio.sleep", note)
    monkeypatch.setattr("interlock.models.http.FIRST_WAIT", 0.5)
    with pytest.raises(ModelError):
        await chunks_of(model_at(serve(refused(503, "{}"))), _with({"max_retries": 12}))
    assert 0.375 <= waits[0] <= 0.5
    assert 0.75 <= waits[1] <= 1.0
    assert 45.0 <= waits[-1] <= 60.0


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("said", "waits"),
    [
        ("Fri, 31 Dec 9999 23:59:59 -2359", True),
        ("Thu, 01 Jan 2099 00:00:00 -0000", True),
        ("9" * 400, True),
        ("Fri, 31 Dec 99999 23:59:59 GMT", False),
        ("\u00b2", False),
        ("soon", False),
    ],
)
async def test_whatever_a_server_says_of_when_to_ask_again_its_refusal_is_told(
    serve: Serve, said: str, waits: bool
) -> None:
    def refuse(exchange: Exchange) -> None:
        exchange.head(429, "application/json", retry_after=said)
        exchange.send(b'{"error": {"message": "too many"}}')
        exchange.finish()

    server = serve(refuse)
    with pytest.raises(ModelError, match="too many") as caught:
        await chunks_of(model_at(server))
    assert (caught.value.retry_after is not None) is waits
    assert len(server.requests) == (1 if waits else 3)

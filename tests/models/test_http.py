"""Connections: lost, refused, cancelled, and closed before anybody goes on."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import AsyncIterator

import anyio
import httpx
import pytest

from interlock.errors import ModelError
from interlock.models import OpenAIChatModel
from tests.models.asked import asking, chunks_of, deltas, model_at
from tests.models.loopback import HELLO, Exchange, LoopbackServer, Serve, delta, events, streamed


@pytest.mark.anyio
async def test_a_server_that_is_not_there_may_be_tried_again() -> None:
    with LoopbackServer(streamed(HELLO)) as server:
        model = model_at(server)
    with pytest.raises(ModelError, match="the connection failed") as caught:
        await chunks_of(model)
    assert (caught.value.status, caught.value.retryable) == (None, True)


BAD_URLS = [
    "ftp://127.0.0.1/v1",
    "127.0.0.1/v1",
    "http://127.0.0.1:port/v1",
    "/v1",
    "http://[::1",
    "http://127.0.0.1:99999/v1",
    "http://127.0.0.1:-1/v1",
    "http://xn--/v1",
    "http://127.0.0.1/\ud800",
]


@pytest.mark.anyio
@pytest.mark.parametrize("base_url", BAD_URLS)
async def test_a_base_url_that_cannot_be_used_need_not_be_tried_again(base_url: str) -> None:
    with pytest.raises(ModelError, match=r"the base URL cannot be used: .*base_url= .*OPENAI_BASE_URL") as caught:
        await chunks_of(OpenAIChatModel("m-1", base_url=base_url, api_key="sk-test"))
    assert not caught.value.retryable


@pytest.mark.anyio
async def test_a_server_that_says_nothing_is_given_up(serve: Serve) -> None:
    server = serve(Exchange.wait_until_closed)
    with pytest.raises(ModelError, match=r"took too long \(ReadTimeout\)") as caught:
        await chunks_of(model_at(server, timeout=0.05))
    assert caught.value.retryable
    assert server.sees_the_connection_closed()


def endless(exchange: Exchange) -> None:
    """One chunk, then silence until the client goes."""
    exchange.head()
    exchange.send(events(delta(content="first"), delta(content="second"), done=False).encode())
    exchange.wait_until_closed()


@pytest.mark.anyio
async def test_leaving_early_closes_the_connection_before_the_exit_returns(serve: Serve) -> None:
    server = serve(endless)
    async with model_at(server).stream(asking("Hello")) as stream:
        await anext(stream)
        left = time.monotonic()
    assert time.monotonic() - left < 2, "closing a connection is not a matter of waiting for its end"
    assert server.sees_the_connection_closed()
    gc.collect()  # nothing half-read is left to the garbage collector, which warns of it


class SlowToClose(httpx.AsyncByteStream):
    """A body that never comes, and that takes a moment to close."""

    def __init__(self) -> None:
        self.reached = anyio.Event()
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self.reached.set()
        await anyio.sleep_forever()
        yield b""

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.closed = True


@pytest.mark.anyio
async def test_closing_is_finished_though_the_reader_is_cancelled() -> None:
    body = SlowToClose()

    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=body)

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        model = OpenAIChatModel("m-1", api_key="sk-test", client=client)
        async with anyio.create_task_group() as group:
            group.start_soon(chunks_of, model)
            await body.reached.wait()
            group.cancel_scope.cancel()
        assert body.closed


@pytest.mark.anyio
async def test_leaving_unread_closes_the_connection_before_the_exit_returns(serve: Serve) -> None:
    server = serve(endless)
    async with model_at(server).stream(asking("Hello")):
        pass
    assert server.sees_the_connection_closed()


@pytest.mark.anyio
async def test_an_error_of_the_reader_closes_the_connection_and_stays(serve: Serve) -> None:
    server = serve(endless)
    with pytest.raises(ValueError, match="mine"):  # noqa: PT012
        async with model_at(server).stream(asking("Hello")) as stream:
            await anext(stream)
            raise ValueError("mine")
    assert server.sees_the_connection_closed()


@pytest.mark.anyio
@pytest.mark.parametrize("where", ["head", "body"])
async def test_cancelling_a_slow_answer_closes_the_connection_before_the_exit_returns(serve: Serve, where: str) -> None:
    reached = threading.Event()

    def play(exchange: Exchange) -> None:
        if where == "body":
            exchange.head()
            exchange.send(events(delta(content="first"), done=False).encode())
        reached.set()
        exchange.wait_until_closed()

    server = serve(play)

    async def read() -> None:
        await chunks_of(model_at(server))

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        await anyio.to_thread.run_sync(reached.wait)
        group.cancel_scope.cancel()
    assert server.sees_the_connection_closed()


@pytest.mark.anyio
async def test_a_client_of_ones_own_is_left_open_and_its_connection_used_again(serve: Serve) -> None:
    server = serve(streamed(HELLO), streamed(HELLO), endless, streamed(HELLO))
    async with httpx.AsyncClient() as client:
        model = model_at(server, client=client)
        for _ in range(2):
            assert deltas(await chunks_of(model)) == ["Hel", "lo"]
        async with model.stream(asking("Hello")) as stream:
            await anext(stream)
        assert server.sees_the_connection_closed()
        assert not client.is_closed
        assert deltas(await chunks_of(model)) == ["Hel", "lo"]
    first, second, third, fourth = [exchange.peer for exchange in server.requests]
    assert first == second == third != fourth


@pytest.mark.anyio
async def test_a_server_that_does_not_end_its_answer_does_not_hold_it_up(serve: Serve) -> None:
    def play(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(HELLO.encode())
        exchange.wait_until_closed()

    server = serve(play)
    assert deltas(await chunks_of(model_at(server))) == ["Hel", "lo"]
    assert server.sees_the_connection_closed()
    async with httpx.AsyncClient() as client:
        began = time.monotonic()
        assert deltas(await chunks_of(model_at(server, client=client))) == ["Hel", "lo"]
        assert time.monotonic() - began < 2


@pytest.mark.anyio
async def test_several_answers_may_be_read_at_once(serve: Serve) -> None:
    server = serve(streamed(HELLO))
    model = model_at(server)
    heard: list[str] = []

    async def ask() -> None:
        heard.append("".join(deltas(await chunks_of(model))))

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(ask)
    assert heard == ["Hello"] * 8
    assert len(server.requests) == 8

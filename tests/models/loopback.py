"""An HTTP server on this machine whose answers a test plays move by move, in threads of its own."""

from __future__ import annotations

import itertools
import json
import socketserver
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import TracebackType
from typing import Any, Self, cast

PATIENCE = 10.0
"""Seconds after which a test that waits for the other side has failed."""

Play = Callable[["Exchange"], None]


class Exchange:
    """One request, and the answer to it as the play gives it."""

    def __init__(self, handler: BaseHTTPRequestHandler, closed: threading.Event) -> None:
        self.path = handler.path
        self.peer: tuple[str, int] = handler.client_address
        self.headers: Mapping[str, str] = {key.lower(): value for key, value in handler.headers.items()}
        self.body: dict[str, Any] = json.loads(handler.rfile.read(int(self.headers["content-length"])))
        self._handler = handler
        self._closed = closed

    def head(self, status: int = 200, media_type: str = "text/event-stream", **headers: str) -> None:
        """Begin an answer in pieces."""
        self._handler.send_response(status)
        for name, value in {"Content-Type": media_type, "Transfer-Encoding": "chunked", **headers}.items():
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.end_headers()

    def send(self, piece: bytes) -> None:
        """One piece of the body. It arrives as a piece, however the network joins it to others."""
        self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    def finish(self) -> None:
        """The end of the body."""
        self._handler.wfile.write(b"0\r\n\r\n")

    def break_off(self) -> None:
        """Close the connection as it stands."""
        self._handler.close_connection = True

    def wait_until_closed(self) -> None:
        """Wait until the client has closed the connection, and say so to the test."""
        self._handler.connection.settimeout(PATIENCE)
        try:
            gone = self._handler.connection.recv(1) == b""
        except ConnectionError:
            gone = True
        except TimeoutError:
            gone = False
        if gone:
            self._closed.set()
        self._handler.close_connection = True


class LoopbackServer:
    """Plays one answer per request, in order; the last one again and again.

    Attributes:
        requests: What was asked.
        faults: What went wrong in a play; empty after a good test.
    """

    def __init__(self, *plays: Play) -> None:
        self._plays = deque(plays)
        self._closed = threading.Event()
        self.requests: list[Exchange] = []
        self.faults: list[BaseException] = []
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def sees_the_connection_closed(self) -> bool:
        """Whether the client closed the connection. Blocks the caller's event loop while it looks, so that a close that
        was only planned is not carried out meanwhile."""
        return self._closed.wait(PATIENCE / 5)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            timeout = PATIENCE

            def do_POST(self) -> None:
                exchange = Exchange(self, server._closed)
                server.requests.append(exchange)
                play = server._plays.popleft() if len(server._plays) > 1 else server._plays[0]
                try:
                    play(exchange)
                except Exception as fault:
                    server.faults.append(fault)
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Say nothing."""

        return Handler


Serve = Callable[..., LoopbackServer]
"""The fixture ``serve``: a running server that plays the answers it is given."""


class _Server(socketserver.ThreadingMixIn, HTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def server_bind(self) -> None:
        """As in the base, which looks up a name for the address besides."""
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves is no error here; what goes wrong in a play is kept by the server."""


def streamed(body: str | bytes | Iterable[bytes], media_type: str = "text/event-stream", status: int = 200) -> Play:
    """A whole answer, in the pieces given."""
    pieces = [body.encode() if isinstance(body, str) else body] if isinstance(body, str | bytes) else list(body)

    def play(exchange: Exchange) -> None:
        exchange.head(status, media_type)
        for piece in pieces:
            exchange.send(piece)
        exchange.finish()

    return play


def refused(status: int, body: str, media_type: str = "application/json") -> Play:
    """A refusal."""
    return streamed(body, media_type, status)


def events(*objects: object, done: bool = True) -> str:
    """Server-sent events of JSON objects, and OpenAI's mark of the end."""
    lines = [json.dumps(item, ensure_ascii=False) for item in objects] + (["[DONE]"] if done else [])
    return "".join(f"data: {line}\n\n" for line in lines)


def delta(finish_reason: str | None = None, **fields: object) -> dict[str, object]:
    """One ``chat.completion.chunk``."""
    choice = {"index": 0, "delta": fields, "finish_reason": finish_reason}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m-1", "choices": [choice]}


def cut(body: bytes, places: Sequence[int]) -> list[bytes]:
    """The body in pieces, cut at these places."""
    edges = [0, *sorted(set(places) - {0, len(body)}), len(body)]
    return [body[start:end] for start, end in itertools.pairwise(edges)]


def sent_messages(exchange: Exchange) -> list[dict[str, Any]]:
    """The messages of a request."""
    return cast("list[dict[str, Any]]", exchange.body["messages"])


USAGE: dict[str, object] = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
HELLO = events(delta(role="assistant", content=""), delta(content="Hel"), delta(content="lo"), delta("stop"), USAGE)

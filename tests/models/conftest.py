"""What the tests of models share: no keys and proxies of the machine, and servers that stop with their test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.models.loopback import LoopbackServer, Play, Serve


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(autouse=True)
def requests_are_made_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlock.models.http.FIRST_WAIT", 0.0)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A server that plays these answers; it stops with the test, in which nothing may have gone wrong on its side."""
    running: list[LoopbackServer] = []

    def start(*plays: Play) -> LoopbackServer:
        running.append(LoopbackServer(*plays).__enter__())
        return running[-1]

    yield start
    for server in running:
        server.__exit__(None)
        assert server.faults == []

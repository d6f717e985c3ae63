"""The guards in ``tests/conftest.py`` do refuse what they say they refuse."""

from __future__ import annotations

import socket
import textwrap
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "example.com"])
def test_a_connection_beyond_loopback_is_refused(host: str, network_attempts: list[str]) -> None:
    with pytest.raises(RuntimeError, match="tests stay on this machine"):
        socket.create_connection((host, 80), timeout=1)
    assert network_attempts
    network_attempts.clear()


def test_a_connection_to_loopback_is_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = int(server.getsockname()[1])
        for host in ("127.0.0.1", "localhost"):
            with socket.create_connection((host, port), timeout=5):
                pass


def _run(pytester: pytest.Pytester, body: str) -> pytest.RunResult:
    pytester.makeconftest((Path(__file__).parents[1] / "conftest.py").read_text("utf-8"))
    pytester.makepyfile(textwrap.dedent(body))
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", "-W", "error")


def test_a_swallowed_refusal_still_fails_the_test(pytester: pytest.Pytester) -> None:
    result = _run(
        pytester,
        """
        import contextlib, socket

        def test_it():
            with contextlib.suppress(Exception):
                socket.create_connection(("192.0.2.1", 80))
        """,
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*reached for the network*192.0.2.1*"])


def test_a_leaked_task_fails_the_test_on_both_loops(pytester: pytest.Pytester) -> None:
    result = _run(
        pytester,
        """
        import asyncio, pytest, trio

        kept = []

        @pytest.mark.anyio
        async def test_leaks(anyio_backend):
            if anyio_backend == "trio":
                trio.lowlevel.spawn_system_task(trio.sleep_forever)
            else:
                kept.append(asyncio.create_task(asyncio.Event().wait()))

        @pytest.mark.anyio
        async def test_keeps_house(anyio_backend):
            if anyio_backend == "asyncio":
                asyncio.create_task(asyncio.sleep(3600)).cancel()
        """,
    )
    result.assert_outcomes(passed=4, errors=2)

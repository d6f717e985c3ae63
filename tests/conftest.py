"""What every test stands on: both event loops, hypothesis profiles, the development data, and two guards.

The guards fail a test that reaches for the network, even where the code under test swallowed the refusal, and an
asynchronous test that leaves a task running behind it.
"""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast

import anyio.lowlevel
import hypothesis
import pytest
import trio

ROOT = Path(__file__).resolve().parents[1]

hypothesis.settings.register_profile("local", deadline=None, max_examples=60)
hypothesis.settings.register_profile("ci", deadline=None, max_examples=60, derandomize=True, database=None)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=2_000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "local"))

_attempts: list[str] = []


def _is_local(host: object) -> bool:
    if host is None or host in ("", b"", "localhost", b"localhost"):
        return True
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse_the_network(event: str, args: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = cast("object", args[1])
        if not isinstance(address, tuple):  # a local (Unix) socket, or a message on a connected one
            return
        host = cast("tuple[object, ...]", address)[0]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0]
    else:
        return
    if not _is_local(host):
        _attempts.append(f"{event} {host!r}")
        raise RuntimeError(f"tests stay on this machine, but {event} was called for {host!r}")


sys.addaudithook(_refuse_the_network)


@pytest.fixture(autouse=True)
def network_attempts() -> Iterator[list[str]]:
    """What this test tried to reach beyond loopback; the test fails unless that is nothing."""
    _attempts.clear()
    yield _attempts
    attempts, _attempts[:] = tuple(_attempts), []
    if attempts:
        pytest.fail(f"this test reached for the network: {', '.join(attempts)}")


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Run each ``@pytest.mark.anyio`` test on asyncio and on trio."""
    return cast("str", request.param)


@pytest.fixture
async def no_leaked_tasks(anyio_backend: str) -> AsyncIterator[None]:
    """Fail an asynchronous test that leaves a task behind. Every ``anyio`` test is given this one."""
    if anyio_backend == "trio":
        before = trio.lowlevel.current_statistics().tasks_living
        yield
        if trio.lowlevel.current_statistics().tasks_living > before:
            await anyio.lowlevel.checkpoint()
        leaked = trio.lowlevel.current_statistics().tasks_living - before
        assert leaked <= 0, f"{leaked} trio task(s) left running"
        return
    known = _loop_tasks()
    yield
    for _ in range(3):  # a task that was cancelled on the way out needs its turns to end
        if _loop_tasks() <= known:
            break
        await asyncio.sleep(0)
    left = _loop_tasks() - known
    assert not left, f"left running: {', '.join(sorted(map(repr, left)))}"


def _loop_tasks() -> set[asyncio.Task[Any]]:
    """The tasks of the running loop, without those by which anyio's plugin enters it for each fixture and test."""
    own = "TestRunner._call_in_runner_task"
    return {task for task in asyncio.all_tasks() if getattr(task.get_coro(), "__qualname__", "") != own}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give every asynchronous test the guard against leaked tasks."""
    if isinstance(item, pytest.Function) and item.get_closest_marker("anyio") and "anyio_backend" in item.fixturenames:
        item.fixturenames.append("no_leaked_tasks")


def pytest_collection_finish() -> None:
    """What is there before the first test is never garbage: going through it each time took a third of all the time."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """At the end it is: what was frozen would be taken for leaked."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The development data; ``INTERLOCK_DATA`` names another folder than ``../shared/data``."""
    named = os.environ.get("INTERLOCK_DATA")
    folder = Path(named).absolute() if named else (ROOT / "../shared/data").resolve()
    if folder.is_dir():
        return folder
    if named:
        pytest.fail(f"INTERLOCK_DATA names {folder}, which is no folder")
    pytest.skip(f"no development data: {folder} does not exist, and INTERLOCK_DATA is not set")

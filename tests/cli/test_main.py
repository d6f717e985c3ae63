"""The installed command as a process of its own: signals, pipes, closed streams, streaming."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.cli.conftest import Write

INTERLOCK = [sys.executable, "-W", "error", "-m", "interlock.cli"]

HANGS = """
import sys
from contextlib import asynccontextmanager

import anyio

from interlock import Agent, StepContext, create_workflow, step
from interlock.messages import TextDelta
from interlock.models import LanguageModel


class Hanging(LanguageModel):
    provider, name = "test", "hanging"

    @asynccontextmanager
    async def stream(self, request):
        async def chunks():
            yield TextDelta("first words")
            await anyio.sleep_forever()

        try:
            yield chunks()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0)
                print("the model was closed")


class Talking(Hanging):
    @asynccontextmanager
    async def stream(self, request):
        async def chunks():
            while True:
                yield TextDelta("more words\\n")

        try:
            yield chunks()
        finally:
            print("the model was closed")


@step
async def wait(ctx: StepContext[str]) -> str:
    print("waiting")
    try:
        await anyio.sleep_forever()
    finally:
        print("the step was stopped")


agent = Agent(model=Hanging())
talks = Agent(model=Talking())
flow = create_workflow(id="flow", input_schema=str).then(wait).commit()
"""


@pytest.fixture
def hangs(write: Write) -> Path:
    """A file whose agent and workflow never end by themselves."""
    return write("hangs.py", HANGS)


ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@contextmanager
def _start(
    *args: object, stdin: int = subprocess.DEVNULL, stdout: int = subprocess.PIPE
) -> Generator[subprocess.Popen[bytes]]:
    """Start the command; it is killed where it outlives all patience, so that reading from it always ends."""
    with subprocess.Popen(
        [*INTERLOCK, *map(str, args)],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        start_new_session=True,
    ) as process:
        patience = threading.Timer(60, process.kill)
        patience.start()
        try:
            yield process
            process.wait()
        finally:
            process.kill()
            patience.cancel()


def _read(stream: IO[bytes] | None, length: int) -> bytes:
    assert stream is not None
    return stream.read(length)


def _run(*args: object, shell: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [*INTERLOCK, *map(str, args)]
    if shell is not None:
        command = ["bash", "-o", "pipefail", "-c", shell, *command]
    return subprocess.run(
        command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60
    )


needs_signals = pytest.mark.skipif(os.name == "nt", reason="Windows has no signals to send")


@needs_signals
def test_an_interrupted_agent_exits_with_130_and_closes_its_model(hangs: Path) -> None:
    with _start("run", f"{hangs}:agent", "hello") as process:
        assert _read(process.stdout, 11) == b"first words"  # it came before the answer was whole
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (130, b"\n")
    assert err.decode() == "the model was closed\ninterlock: interrupted\n"


@needs_signals
def test_an_interrupted_workflow_exits_with_130_and_stops_its_steps(hangs: Path) -> None:
    with _start("run", f"{hangs}:flow", "hello") as process:
        assert _read(process.stderr, 8) == b"waiting\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err.decode()) == (130, b"", "the step was stopped\ninterlock: interrupted\n")


@needs_signals
def test_interrupting_while_the_text_is_awaited_exits_with_130(agents: Path) -> None:
    marked = agents.with_name("marked.py")
    marked.write_text(agents.read_text("utf-8") + "\nprint('loaded')\n", "utf-8")
    with _start("run", f"{marked}:agent", stdin=subprocess.PIPE) as process:
        assert _read(process.stderr, 7) == b"loaded\n"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert _read(process.stderr, -1) == b"interlock: interrupted\n"


@needs_signals
def test_a_reader_that_has_seen_enough_ends_the_run_without_a_word(hangs: Path) -> None:
    done = _run("run", f"{hangs}:talks", "hello", shell='"$0" "$@" | head -n 2')
    assert (done.returncode, done.stdout) == (141, "more words\nmore words\n")
    assert done.stderr == "the model was closed\n"


@needs_signals
def test_a_drawing_that_nobody_reads_is_no_error(agents: Path) -> None:
    done = _run("graph", f"{agents}:agent", shell='"$0" "$@" | true')
    assert done.returncode in (0, 141)  # it may have been written before the reader went
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_an_answer_that_cannot_be_written_is_a_failure(agents: Path) -> None:
    done = _run("run", f"{agents}:agent", "hello", shell='"$0" "$@" > /dev/full')
    assert done.returncode == 1
    assert done.stderr == "interlock: the answer could not be written: [Errno 28] No space left on device\n"


@needs_signals
@pytest.mark.parametrize(
    ("streams", "code", "out", "err"),
    [
        ("2>&-", 3, "", ""),
        (">&-", 3, "", "interlock: blocked by 'watch' at input: a bad word\n"),
        ("<&-", 3, "", "interlock: blocked by 'watch' at input: a bad word\n"),
    ],
)
def test_closed_streams_change_no_exit_code(agents: Path, streams: str, code: int, out: str, err: str) -> None:
    done = _run("run", f"{agents}:agent", "bad", shell=f'"$0" "$@" {streams}')
    assert (done.returncode, done.stdout, done.stderr) == (code, out, err)


def test_a_text_is_piped_in_and_an_answer_piped_out(agents: Path) -> None:
    done = _run("run", f"{agents}:agent", shell='printf "one\\ntwo\\n" | "$0" "$@" | cat')
    assert (done.returncode, done.stdout, done.stderr) == (0, "one\ntwo\n", "")


@needs_signals
def test_on_a_terminal_the_answer_comes_as_text_that_steers_nothing(agents: Path) -> None:
    import pty

    controller, terminal = pty.openpty()
    with _start("run", f"{agents}:steering", "x", stdout=terminal) as process:
        os.close(terminal)
        _, err = process.communicate()
    shown = os.read(controller, 4096)
    os.close(controller)
    assert (process.returncode, err) == (0, b"")
    assert shown == b"\\x1b[2Ja\r\nb\\x0dc\\x9b\td\r\n"  # the terminal itself makes \r\n of \n


@needs_signals
def test_a_text_is_typed_at_a_terminal(agents: Path) -> None:
    import pty

    controller, terminal = pty.openpty()
    with _start("run", f"{agents}:agent", stdin=terminal) as process:
        os.close(terminal)
        told = process.stderr.readline() if process.stderr is not None else b""
        os.write(controller, b"typed\n\x04")
        out, err = process.communicate()
    os.close(controller)
    assert b"type the text; end it with Ctrl-D" in told
    assert (process.returncode, out, err) == (0, b"typed\n", b"")


def test_the_installed_command_is_the_same(agents: Path) -> None:
    command = Path(sys.executable).parent / "interlock"
    done = subprocess.run(
        [command, "run", f"{agents}:guard", "a secret"], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "a [X]\n")

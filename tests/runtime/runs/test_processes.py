"""Runs that several processes have to do with, and that outlive them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime import Completed, SQLiteRunStore, Suspended
from tests.runtime.runs.worker import WORKFLOW

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True),
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are killed with SIGKILL"),
]

Start = Callable[..., "Process"]


class Process:
    """A worker in a process of its own."""

    def __init__(self, *arguments: str, root: Path) -> None:
        command = [sys.executable, "-m", "tests.runtime.runs.worker", *arguments]
        self._process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def hears(self) -> str:
        """The next line that it says."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def is_told_to_go_on(self) -> None:
        """One line for it."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def dies(self) -> None:
        """It is killed as the system kills."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def ends(self) -> list[str]:
        """What it has still to say."""
        assert self._process.stdout is not None
        lines = [line.strip() for line in self._process.stdout]
        assert self._process.wait() == 0
        return lines

    def close(self) -> None:
        """Nothing is left of it."""
        if self._process.poll() is None:
            self.dies()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of the store."""
    return tmp_path / "runs.db"


@pytest.fixture
def store(file: Path) -> Iterator[SQLiteRunStore]:
    """The store, in this process."""
    opened = SQLiteRunStore(file)
    yield opened
    opened.close()


@pytest.fixture
def start(file: Path, root: Path) -> Iterator[Start]:
    """Starts a worker that does a command with the run ``"r"``, and waits until it is ready."""
    begun: list[Process] = []

    def started(*command: str) -> Process:
        begun.append(Process(str(file), "r", *command, root=root))
        assert begun[-1].hears() == "ready"
        return begun[-1]

    yield started
    for one in begun:
        one.close()


def outcome_of(lines: list[str]) -> list[Any]:
    """What a worker said of its outcome."""
    assert lines[-1].startswith("outcome "), lines
    told: list[Any] = json.loads(lines[-1].removeprefix("outcome "))
    return told


async def test_a_run_whose_process_is_killed_in_a_step_goes_on_at_once_in_another(
    start: Start, store: SQLiteRunStore
) -> None:
    first = start("start")
    assert [first.hears(), first.hears()] == ["first", "second"]
    first.dies()

    second = start("recover")
    assert second.hears() == "second", "what had ended is not run again, and nothing is waited for"
    second.is_told_to_go_on()
    assert outcome_of(second.ends()) == ["suspended", None]

    outcome = await WORKFLOW.create_run("r", store=store).resume(100)
    assert isinstance(outcome, Completed)
    assert outcome.output == 112


async def test_a_process_whose_run_was_taken_over_writes_no_more_and_fails_with_journal_conflict(
    start: Start, store: SQLiteRunStore
) -> None:
    old = start("start")
    assert [old.hears(), old.hears()] == ["first", "second"]
    new = start("recover")
    assert new.hears() == "second"

    old.is_told_to_go_on()
    assert outcome_of(old.ends()) == ["failed", "JournalConflict"]
    before = list(await store.read("r"))
    assert before[-1].type == "step-start"

    new.is_told_to_go_on()
    assert outcome_of(new.ends()) == ["suspended", None]
    assert list(await store.read("r"))[: len(before)] == before


async def test_a_cancel_that_another_process_asks_for_is_seen_at_the_next_write(
    start: Start, store: SQLiteRunStore
) -> None:
    running = start("start")
    assert [running.hears(), running.hears()] == ["first", "second"]
    assert await store.ask_to_cancel("r")
    running.is_told_to_go_on()
    assert outcome_of(running.ends()) == ["canceled", None]
    stored = await WORKFLOW.recover("r", store=store)
    assert stored.status == "canceled"
    assert [(one.step_id, one.status) for one in stored.steps][:2] == [("first", "success"), ("second", "success")]
    assert "asks" not in {one.step_id for one in stored.steps if one.attempts}, "no step begins any more"


async def test_a_run_that_another_process_runs_cannot_be_resumed(start: Start, store: SQLiteRunStore) -> None:
    running = start("start")
    assert [running.hears(), running.hears()] == ["first", "second"]
    resuming = start("resume")
    assert resuming.ends() == ["raised RunBusy"]
    running.is_told_to_go_on()
    assert outcome_of(running.ends()) == ["suspended", None]


async def test_of_two_processes_that_start_one_run_one_does(start: Start, store: SQLiteRunStore) -> None:
    both = [start("start:wait"), start("start:wait")]
    for one in both:
        one.is_told_to_go_on()
    said = [one.hears() for one in both]
    assert sorted(said) == ["first", "raised AlreadyStarted"]
    winner = both[said.index("first")]
    assert winner.hears() == "second"
    winner.is_told_to_go_on()
    assert outcome_of(winner.ends()) == ["suspended", None]


async def test_of_two_processes_that_give_one_answer_one_does(start: Start, store: SQLiteRunStore) -> None:
    running = start("start")
    assert [running.hears(), running.hears()] == ["first", "second"]
    running.is_told_to_go_on()
    assert outcome_of(running.ends()) == ["suspended", None]

    waiting = await WORKFLOW.recover("r", store=store)
    assert isinstance(waiting, Suspended)
    token = waiting.suspensions[0].token
    both = [start("resume:wait", token), start("resume:wait", token)]
    for one in both:
        one.is_told_to_go_on()
    assert sorted(one.ends()[-1] for one in both) == ['outcome ["success", 112]', "raised AlreadyResumed"]
    answers = [row for row in await store.read("r") if row.type == "workflow-resume"]
    assert len(answers) == 1


async def test_a_run_that_waits_needs_no_process(start: Start, store: SQLiteRunStore) -> None:
    running = start("start")
    assert [running.hears(), running.hears()] == ["first", "second"]
    running.is_told_to_go_on()
    running.ends()
    waiting = await WORKFLOW.recover("r", store=store)
    assert isinstance(waiting, Suspended)
    assert waiting.suspensions[0].payload == "may I?"


async def test_each_step_may_be_taken_by_another_process(start: Start, store: SQLiteRunStore) -> None:
    assert outcome_of(start("pause").ends()) == ["paused", None]
    assert outcome_of(start("next").ends()) == ["paused", None]
    assert [row.path for row in await store.read("r") if row.type == "step-result"] == ["first"]

    second = start("next")
    assert second.hears() == "second"
    second.is_told_to_go_on()
    assert outcome_of(second.ends()) == ["paused", None]
    assert isinstance(await WORKFLOW.create_run("r", store=store).next(), Suspended)

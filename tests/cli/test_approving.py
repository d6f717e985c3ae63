"""Runs of agents that wait for somebody: what is said of them, and how they are answered from the command line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Done, Interlock, Write

TILL = """
from pathlib import Path

from interlock import Agent, tool
from interlock.storage import SQLiteRunStore
from interlock.testing import ScriptedModel
from interlock.tools import ToolContext


@tool(needs_approval=True)
def pay(amount: int) -> str:
    with Path({paid!r}).open("a") as file:
        file.write(f"{{amount}}\\n")
    return "paid"


@tool
def book(room: str, ctx: ToolContext) -> str:
    if ctx.resume_data is None:
        ctx.suspend({{"nights": room}})
    return f"booked for {{ctx.resume_data}}"


def agent(*calls):
    store = SQLiteRunStore({db!r})
    asked = Path({db!r}).exists()
    said = ["Done. "] if asked else [["I pay. ", *calls], "Done. "]
    return Agent(id="till", model=ScriptedModel(said), tools=[pay, book], run_store=store)


call = ScriptedModel.tool_call
one = agent(call("pay", {{"amount": 7}}, id="c1"))
two = agent(call("pay", {{"amount": 7}}, id="c1"), call("pay", {{"amount": 8}}, id="c2"))
asks = agent(call("book", {{"room": "blue"}}, id="c1"))
"""


@pytest.fixture
def paid(tmp_path: Path) -> Path:
    return tmp_path / "paid.txt"


@pytest.fixture
def till(write: Write, db: Path, paid: Path) -> Path:
    return write("till.py", TILL.format(db=str(db), paid=str(paid)))


def commands(done: Done) -> list[list[str]]:
    """The commands that it says an answer is given with."""
    lines = [line.partition(" it with: interlock ")[2] for line in done.err.splitlines()]
    return [shlex.split(line) for line in lines if line]


def test_a_call_that_waits_for_an_approval_is_told_listed_and_approved(
    interlock: Interlock, till: Path, db: Path, paid: Path
) -> None:
    done = interlock("run", f"{till}:one", "hello")
    assert (done.code, done.out) == (4, "I pay. \n")
    told, waits, answer, refuse = done.err.splitlines()
    assert told == "interlock: suspended: an approval is asked for"
    assert waits == '  pay {"amount": 7} (c1)'
    run_id = answer.split()[-1]
    assert answer == f"    answer it with: interlock runs approve {till}:one {run_id}"
    assert refuse == f"    refuse it with: interlock runs approve {till}:one {run_id} --deny"

    (run,) = json.loads(interlock("runs", "list", "--store", db, "--json").out)
    assert (run["run_id"], run["status"]) == (run_id, "suspended")
    (listed,) = run["waits"]
    assert (listed["path"], listed["label"], listed["payload"]) == ("pay", "c1", {"amount": 7})
    shown = interlock("runs", "show", run_id, "--store", db)
    assert shown.code == 2
    assert f"run '{run_id}' is one of agent 'till'" in shown.err

    approved = interlock(*commands(done)[0])
    assert (approved.code, approved.out.strip()) == (0, "Done.")
    assert paid.read_text() == "7\n"
    again = interlock(*commands(done)[0])
    assert again.code == 2
    assert run_id in again.err
    assert paid.read_text() == "7\n"


def test_one_that_is_refused_does_not_run(interlock: Interlock, till: Path, paid: Path) -> None:
    refuse = commands(interlock("run", f"{till}:one", "hello"))[1]
    done = interlock(*refuse, "--reason", "too much")
    assert (done.code, done.out.strip()) == (0, "Done.")
    assert not paid.exists()


def test_of_several_each_is_answered_by_its_id(interlock: Interlock, till: Path, paid: Path) -> None:
    first, _, second, deny = commands(interlock("run", f"{till}:two", "hello"))
    assert first[-2:] == ["--call", "c1"]
    assert second[-2:] == ["--call", "c2"]
    waits = interlock(*first)
    assert waits.code == 4
    assert '  pay {"amount": 8} (c2)' in waits.err
    assert interlock(*deny).code == 0
    assert paid.read_text() == "7\n"


def test_what_a_tool_has_asked_is_answered_with_data(interlock: Interlock, till: Path) -> None:
    done = interlock("run", f"{till}:asks", "hello")
    assert done.code == 4
    assert "a tool has asked something" in done.err
    ((*answer, _),) = commands(done)
    assert answer[-1] == "--data"
    wrong = interlock(*answer, "three")
    assert wrong.code == 2
    assert "--data has to be JSON" in wrong.err
    assert interlock(*answer[:-1]).code == 2  # it waits for an answer, not for an approval
    assert interlock(*answer, "3").code == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--reason", "no"], "it goes with --deny"),
        (["--deny", "--data", "3"], "pass one of them"),
        ([], "run_nowhere"),
    ],
)
def test_a_wrong_call_is_told_and_does_nothing(
    options: list[Any], told: str, interlock: Interlock, till: Path, paid: Path
) -> None:
    assert interlock("run", f"{till}:one", "hello").code == 4
    done = interlock("runs", "approve", f"{till}:one", "run_nowhere", *options)
    assert done.code == 2
    assert told in done.err
    assert not paid.exists()


def test_a_workflow_and_an_agent_that_keeps_nothing_are_refused(interlock: Interlock, write: Write) -> None:
    path = write(
        "nothing.py",
        """
        from interlock import Agent, create_workflow

        agent = Agent(model="embedded/echo")
        flow = create_workflow(id="flow").map(lambda ctx: ctx.input).commit()
        """,
    )
    done = interlock("runs", "approve", f"{path}:agent", "run_1")
    assert done.code == 2
    assert "give the agent a run_store" in done.err
    done = interlock("runs", "approve", f"{path}:flow", "run_1")
    assert done.code == 2
    assert "interlock runs resume" in done.err

"""``FILE:NAME`` becomes the agent or workflow that is meant, or a message that says what to do."""

from __future__ import annotations

import os
import py_compile
import sys
from pathlib import Path

import pytest

from interlock.cli.ending import WrongCall
from interlock.cli.loading import load
from interlock.runtime import Agent
from interlock.workflows import Workflow
from tests.cli.conftest import Write

pytestmark = pytest.mark.usefixtures("clean_modules")

FLOW = "from interlock import create_workflow\nflow = create_workflow(id={id!r}).map(lambda ctx: ctx.input).commit()\n"


def test_an_agent_and_a_workflow_are_found(agents: Path) -> None:
    assert isinstance(load(f"{agents}:agent"), Agent)
    assert isinstance(load(f"{agents}:guard"), Workflow)


def test_the_last_colon_counts(write: Write) -> None:
    assert load(f"{write('c:/odd.py', FLOW.format(id='odd'))}:flow").id == "odd"


def test_a_file_needs_no_particular_ending(write: Write) -> None:
    assert load(f"{write('agents.txt', FLOW.format(id='odd'))}:flow").id == "odd"


def test_the_neighbours_of_a_file_are_importable(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("neighbour.py", FLOW.format(id="next-door"))
    path = write("agents.py", "from neighbour import flow\n")
    monkeypatch.chdir("/")
    assert load(f"{path}:flow").id == "next-door"


def test_a_file_of_a_package_is_loaded_as_its_module(write: Write) -> None:
    write("bots/__init__.py", "")
    write("bots/deep/__init__.py", "")
    write("bots/guards.py", FLOW.format(id="inside"))
    path = write("bots/deep/agents.py", "from ..guards import flow\nname = __name__\n")
    assert load(f"{path}:flow").id == "inside"
    assert sys.modules["bots.deep.agents"].__dict__["name"] == "bots.deep.agents"


def test_a_package_whose_name_is_taken_is_refused(write: Write) -> None:
    write("json/__init__.py", "")
    path = write("json/decoder.py", FLOW.format(id="mine"))
    with pytest.raises(WrongCall, match=r"Python knows another of that name: rename the package"):
        load(f"{path}:flow")


def test_a_file_may_be_called_like_a_library(write: Write) -> None:
    path = write("typing.py", FLOW.format(id="mine"))
    before = sys.modules["typing"]
    assert load(f"{path}:flow").id == "mine"
    assert sys.modules["typing"] is before


def test_loading_leaves_no_bytecode_behind(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    write("neighbour.py", FLOW.format(id="next-door"))
    load(f"{write('agents.py', 'from neighbour import flow')}:flow")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["agents.py", "neighbour.py"]
    assert sys.dont_write_bytecode is False


def test_bytecode_of_an_earlier_state_is_not_taken_for_the_file(write: Write) -> None:
    path = write("agents.py", FLOW.format(id="one"))
    py_compile.compile(str(path))
    then = path.stat()
    write("agents.py", FLOW.format(id="two"))  # as long as before, and within the same second
    os.utime(path, (then.st_atime, then.st_mtime))
    assert load(f"{path}:flow").id == "two"


def test_what_runs_as_a_script_does_not_run(write: Write) -> None:
    path = write("agents.py", FLOW.format(id="mine") + "if __name__ == '__main__':\n    raise SystemExit(9)\n")
    assert load(f"{path}:flow").id == "mine"


def test_dataclasses_of_a_file_find_their_module(write: Write) -> None:
    source = "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
    assert load(f"{write('agents.py', source + FLOW.format(id='mine'))}:flow").id == "mine"


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("nowhere.py:agent", r"there is no file 'nowhere.py' in .*: pass FILE:NAME"),
        ("agents:agent", r"there is no file 'agents'; did you mean agents.py:agent\?"),
        ("bots.guards:flow", r"did you mean bots/guards.py:flow\?"),
        ("bots:flow", r"bots is a folder: name a Python file in it"),
        ("agents.py", r"say what is meant in agents.py: FILE:NAME. Agents and workflows in it: guard, other"),
        ("agents.py:", r"say what is meant in agents.py"),
        ("agents.py:agnt", r"there is no 'agnt' in agents.py; did you mean 'agent'\? Agents and workflows in it"),
        ("agents.py:agent.model", r"'agent.model' is no name of a Python object"),
        ("agents.py:unfinished", r"is a workflow that is not finished: end it with .commit\(\)"),
        ("agents.py:guards", r"'guards' in agents.py is a function: call it"),
        ("agents.py:Redact", r"is the class Redact: make an object of it"),
        ("agents.py:call", r"is a .*, neither an Agent nor a Workflow"),
        ("empty.py:agent", r"It holds no agent and no workflow: give one a name"),
        ("C:\\agents.py", r"there is no file 'C:\\\\agents.py'"),
        ("", r"there is no file ''|is a folder"),
    ],
)
def test_a_wrong_target_is_told_what_to_do(
    agents: Path, write: Write, monkeypatch: pytest.MonkeyPatch, target: str, says: str
) -> None:
    write("empty.py", "")
    write("bots/guards.py", "")
    monkeypatch.chdir(agents.parent)
    with pytest.raises(WrongCall, match=says):
        load(target)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("x = 1\ny = = 2\n", [r"could not be loaded; correct line 2 of .*agents.py", "y = = 2", "SyntaxError"]),
        ("import nowhere_at_all\n", ["install 'nowhere_at_all' for the Python that runs this", "ModuleNotFoundError"]),
        ("def f():\n    1 / 0\nf()\n", ["ZeroDivisionError", 'agents.py", line 2, in f']),
        ("raise SystemExit(4)\n", [r"ended the program .*\(exit 4\): put what runs as a script behind"]),
        ("x = '\0'\n", ["could not be loaded", "null bytes"]),
        ("x = 'é'\n".encode("latin-1"), ["could not be loaded", "SyntaxError", "utf-8"]),
    ],
)
def test_a_file_that_does_not_load_says_why(tmp_path: Path, source: str | bytes, says: list[str]) -> None:
    path = tmp_path / "agents.py"
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    with pytest.raises(WrongCall) as refused:
        load(f"{path}:agent")
    for one in says:
        assert refused.match(one)
    assert "loading.py" not in str(refused.value)


def test_a_wrong_definition_in_a_file_lists_its_faults(write: Write) -> None:
    path = write("agents.py", 'from interlock import Agent\nagent = Agent(id="a b", model="embedded/echo")\n')
    with pytest.raises(WrongCall, match=r"agents.py\", line 2(?s:.*)must not contain white space"):
        load(f"{path}:agent")

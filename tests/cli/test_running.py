"""What an agent or workflow is given for a text, and what is printed of what it gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Interlock, Write


def test_the_texts_of_two_steps_are_kept_apart(interlock: Interlock, agents: Path) -> None:
    done = interlock("run", f"{agents}:two_steps", "where is it?")
    assert (done.code, done.out, done.err) == (0, "Let me see.\nIt is there.\n", "")


def test_steps_that_are_used_up_are_told(interlock: Interlock, agents: Path) -> None:
    done = interlock("run", f"{agents}:endless", "where is it?")
    assert (done.code, done.out) == (0, "")
    assert "the model still called tools when its steps were used up" in done.err


def test_what_is_piped_is_what_the_model_said(interlock: Interlock, agents: Path) -> None:
    assert interlock("run", f"{agents}:steering", "x").out == "\x1b[2Ja\r\nb\rc\x9b\td\n"


@pytest.mark.parametrize(
    ("name", "text", "out"),
    [
        ("loud", "hey", "HEY\n"),
        ("loud", "7", "7\n"),
        ("anything", '{"a": 1}', '{"a": 1}\n'),
        ("twice", "21", '{\n  "twice": 42\n}\n'),
        ("total", "[1, 2, 3]", "6\n"),
        ("bare", "a secret", "a [X]\n"),
    ],
)
def test_a_workflow_gets_the_text_or_what_it_says_as_json(
    interlock: Interlock, agents: Path, name: str, text: str, out: str
) -> None:
    done = interlock("run", f"{agents}:{name}", text)
    assert (done.code, done.out, done.err) == (0, out, "")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("twice", "many", "workflow 'twice' takes int, so TEXT has to be JSON, and it is none"),
        ("twice", '"many"', "TEXT does not fit what workflow 'twice' takes, int: Input should be a valid integer"),
        ("total", '[1, "x"]', "list[int]: 1: Input should be a valid integer"),
    ],
)
def test_a_text_that_does_not_fit_is_a_wrong_call(
    interlock: Interlock, agents: Path, name: str, text: str, says: str
) -> None:
    done = interlock("run", f"{agents}:{name}", text)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_a_workflow_that_lets_nothing_through_says_so(interlock: Interlock, agents: Path) -> None:
    done = interlock("run", f"{agents}:drop", "hello")
    assert (done.code, done.out, done.err) == (0, "", "interlock: nothing of the text continues\n")


def test_instructions_that_raise_fail_the_run(interlock: Interlock, write: Write) -> None:
    path = write(
        "agents.py",
        """
        from interlock import Agent
        def instructions(context):
            return context["nobody"]
        agent = Agent(model="embedded/echo", instructions=instructions)
        """,
    )
    done = interlock("run", f"{path}:agent", "hello")
    assert (done.code, done.out) == (1, "")
    assert "interlock: failed: KeyError" in done.err


def test_a_message_cannot_steer_the_terminal(interlock: Interlock, write: Write) -> None:
    path = write(
        "agents.py",
        r"""
        from interlock import Agent, Processor
        class Stop(Processor):
            id = "stop"
            def process_input(self, ctx):
                ctx.abort("said \x1b[2J [red]this[/red]")
        agent = Agent(model="embedded/echo", input_processors=[Stop()])
        """,
    )
    done = interlock("run", f"{path}:agent", "hello", "--checks")
    assert done.code == 3
    assert "\x1b" not in done.out + done.err
    assert done.out.count("said \\x1b[2J [red]this[/red]") == 1
    assert done.err.count("said \\x1b[2J [red]this[/red]") == 1


def test_a_call_that_nobody_can_approve_any_more_is_told(interlock: Interlock, write: Write) -> None:
    path = write(
        "agents.py",
        """
        from interlock import Agent, tool
        from interlock.testing import ScriptedModel

        @tool(needs_approval=True)
        def pay(amount: int) -> str:
            return "paid"

        agent = Agent(model=ScriptedModel([[ScriptedModel.tool_call("pay", {"amount": 7})]]), tools=[pay])
        """,
    )
    done = interlock("run", f"{path}:agent", "hello")
    assert done.code == 4
    assert "nobody can answer" in done.err

"""Files that the command line is pointed at, and the command itself in this process."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from interlock.cli import app

Write = Callable[[str, str], Path]
Interlock = Callable[..., "Done"]

AGENTS = '''
"""Agents and workflows for the tests of the command line."""

import anyio

from interlock import Agent, Processor, ProcessorStepSchema, StepContext, TextEdit, create_step, create_workflow, step
from interlock.testing import ScriptedModel


class Redact(Processor):
    id = "redact"

    def process_input(self, ctx):
        for message in ctx.messages:
            start = message.text.find("secret")
            if start >= 0:
                ctx.message_list.edit_text(message.id, 0, [TextEdit(start, start + 6, "[X]")])


class Watch(Processor):
    id = "watch"

    def process_input(self, ctx):
        if "boom" in ctx.messages[0].text:
            raise ValueError("no such luck")
        if "bad" in ctx.messages[0].text:
            ctx.abort("a bad word")

    def process_output_stream(self, ctx):
        if ctx.chunk.type == "text-delta" and "leak" in ctx.chunk.text:
            ctx.abort("a leak")
        return ctx.chunk


class Drop(Processor):
    id = "drop"

    def process_input(self, ctx):
        ctx.message_list.remove([message.id for message in ctx.messages])


def guards(pick):
    made = create_workflow(id="guards", input_schema=ProcessorStepSchema, output_schema=ProcessorStepSchema)
    made = made.parallel([create_step(Redact()), create_step(Watch())])
    return made.map(lambda ctx: ctx.input[pick]).commit()


guard = guards("processor:redact")
other = guards("processor:watch")
drop = create_workflow(id="drop-all", input_schema=ProcessorStepSchema).then(Drop()).commit()
agent = Agent(id="parrot", model="embedded/echo", input_processors=[guard], output_processors=[guard])


@step
def shout(ctx: StepContext[str]) -> str:
    return ctx.input.upper()


@step
def double(ctx: StepContext[int]) -> dict[str, int]:
    return {"twice": ctx.input * 2}


loud = create_workflow(id="loud", input_schema=str).then(shout).commit()
twice = create_workflow(id="twice", input_schema=int).then(double).commit()
total = create_workflow(id="total", input_schema=list[int]).map(lambda ctx: sum(ctx.input)).commit()
anything = create_workflow(id="anything").map(lambda ctx: ctx.input).commit()
bare = create_workflow(id="bare").then(Redact()).commit()
unfinished = create_workflow(id="unfinished", input_schema=str).then(shout)


def track() -> str:
    "Track it."
    return "there"


def scripted(*answers, **options):
    return Agent(model=ScriptedModel(list(answers)), tools=[track], **options)


call = ScriptedModel.tool_call("track", {})
two_steps = scripted(["Let me see.", call], "It is there.")
endless = scripted([call], max_steps=1)
fails = scripted(RuntimeError("the model fell over"))
steering = scripted(["\\x1b", "[2J", "a\\r", "\\nb\\r", "c\\x9b\\td"])
'''


@dataclass
class Done:
    """What a command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file, dedented, and give its path."""

    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), "utf-8")
        return path

    return write_file


@pytest.fixture
def agents(write: Write) -> Path:
    """A file with agents and workflows of every kind."""
    return write("agents.py", AGENTS)


@pytest.fixture
def shop(write: Write) -> Path:
    """A file with workflows that wait, fail, and are killed."""
    from tests.cli.shop import SHOP

    return write("shop.py", SHOP)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Where runs are kept."""
    return tmp_path / "runs.db"


@pytest.fixture
def clean_modules(tmp_path: Path) -> Iterator[None]:
    """Forget what was loaded from this test's own folder, and that it was importable."""
    path = sys.path[:]
    yield
    sys.path[:] = path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def interlock(clean_modules: None, monkeypatch: pytest.MonkeyPatch) -> Interlock:
    """Call the command in this process: ``interlock("run", "agents.py:agent", "hello", stdin=b"…")``."""
    monkeypatch.setenv("COLUMNS", "100")

    def call(*args: object, stdin: bytes | None = None) -> Done:
        done = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin, catch_exceptions=False)
        return Done(done.exit_code, done.stdout_bytes.decode(), done.stderr)

    return call

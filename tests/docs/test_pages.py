"""Every code block of the README and of ``docs`` runs, warnings are errors, and shown output is the real output.

The Python blocks of one page share a namespace, in order. Of the shell blocks, commands that call ``interlock`` are run
from the repository's root; others (``make``, ``pip``) set up the machine and are left to the reader. No block can be
exempted: what should not run is no ``python`` block.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUNNER = Path(__file__).with_name("run_page.py")

KNOWN = {"python", "pycon", "bash", "console", "text", "mermaid", "json", "toml", "make", "diff"}
"""A block in another language, or in none, is a mistake: ``pyhton`` would never run."""

FENCE = re.compile(
    r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[^`\n]*)\n(?P<body>.*?)^(?P=indent)(?P=ticks) *$",
    re.MULTILINE | re.DOTALL,
)
MARK = re.compile(r"^ *(?:`{3,}|~{3,})", re.MULTILINE)
CALLS_INTERLOCK = re.compile(r"(?:^|[|;&]\s*)(?:\.venv/bin/)?interlock\s")
ANNOUNCED = re.compile(r"#\s*exits with (\d+)\s*$")


@dataclass(frozen=True)
class Fence:
    """One block: its language, the line of its opening fence (from 1), its text."""

    language: str
    line: int
    body: str

    @property
    def session(self) -> bool:
        """Whether it shows ``>>>`` prompts."""
        return self.language == "pycon" or (self.language == "python" and self.body.lstrip().startswith(">>>"))


@dataclass(frozen=True)
class Command:
    """One command of a shell block, the exit code it announces, and the output shown (None: none is)."""

    line: int
    text: str
    exits: int
    output: str | None


def fences(page: str) -> list[Fence]:
    """Every block of a page in order; a fence that is not understood is an error, never a block passed over."""
    found: list[Fence] = []
    marks = 0
    for match in FENCE.finditer(page):
        line = page.count("\n", 0, match.start()) + 1
        language = match["language"].strip()
        assert language in KNOWN, f"line {line}: {language!r} is no language that this test knows"
        found.append(Fence(language, line, textwrap.dedent(match["body"])))
        marks += len(MARK.findall(match[0]))
    assert marks == len(MARK.findall(page)), "a code fence is not closed, or not made of back-ticks"
    return found


def commands(fence: Fence) -> Iterator[Command]:
    """The commands of a ``bash`` block (one a line) or of a ``console`` block (after ``$``, with their output).

    A command that ends in ``# exits with 3`` announces that code; any other must exit with 0.
    """
    lines = iter(enumerate(fence.body.splitlines(), fence.line + 1))
    text, start = "", fence.line
    shown: list[str] = []
    for number, line in lines:
        if fence.language == "console" and not line.startswith("$ "):
            shown.append(line)
            continue
        if text:
            yield _command(start, text, shown)
        text, start, shown = line.removeprefix("$ ").strip(), number, []
        while text.endswith("\\"):
            text = text[:-1] + next(lines)[1].removeprefix("> ").strip()
    if text:
        yield _command(start, text, shown)


def _command(line: int, text: str, shown: list[str]) -> Command:
    announced = ANNOUNCED.search(text)
    output = "\n".join(shown).strip("\n")
    return Command(line, text, int(announced[1]) if announced else 0, output or None)


def run_blocks(page: str, name: str, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run the Python blocks of a page in a process of their own."""
    blocks = [
        {"line": fence.line, "session": fence.session, "source": fence.body}
        for fence in fences(page)
        if fence.language in ("python", "pycon")
    ]
    return subprocess.run(
        [sys.executable, "-W", "error", str(RUNNER), name],
        input=json.dumps(blocks),
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def run_command(command: Command, root: Path = ROOT) -> str | None:
    """Run one command; what is wrong with what it did, or None."""
    here = str(Path(sys.executable).parent)
    text = re.sub(r"(?<![\w/])\.venv/bin/", f"{here}/", command.text)
    environment = {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "PYTHONWARNINGS": "error"}
    environment |= {"COLUMNS": "120", "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", text],
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode != command.exits:
        return f"line {command.line}: {command.text!r} exited with {done.returncode}:\n{done.stdout}"
    if command.output is not None and not _matches(command.output, done.stdout):
        return f"line {command.line}: {command.text!r} printed:\n{done.stdout}\nand the page shows:\n{command.output}"
    return None


def _matches(shown: str, printed: str) -> bool:
    """Whether the output is as shown; ``…`` or ``...`` stands for anything, and white space at line ends is free."""
    want, got = (
        "".join(f"{line.rstrip()}\n" for line in text.replace("…", "...").strip("\n").splitlines())
        for text in (shown, printed)
    )
    return doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_python_blocks_of_a_page_run(page: Path) -> None:
    done = run_blocks(page.read_text("utf-8"), str(page.relative_to(ROOT)))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_interlock_commands_of_a_page_do_what_it_shows(page: Path) -> None:
    shells = [fence for fence in fences(page.read_text("utf-8")) if fence.language in ("bash", "console")]
    called = [command for fence in shells for command in commands(fence) if CALLS_INTERLOCK.search(command.text)]
    assert [wrong for command in called if (wrong := run_command(command))] == []


def test_the_readme_shows_code_that_runs() -> None:
    assert [fence for fence in fences((ROOT / "README.md").read_text("utf-8")) if fence.language == "python"]


def test_links_between_pages_lead_somewhere() -> None:
    dead: list[str] = []
    for page in [*PAGES, ROOT / "CHANGELOG.md"]:
        prose = FENCE.sub("", page.read_text("utf-8"))
        for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", prose):
            if "://" not in target and not target.startswith("mailto:") and not (page.parent / target).exists():
                dead.append(f"{page.relative_to(ROOT)}: {target}")
    assert dead == []


# What follows shows that the checks above can fail.


def _page(*blocks: str) -> str:
    return "\n\nSome prose.\n\n".join(blocks)


def test_blocks_of_one_page_share_a_namespace_and_may_await() -> None:
    page = _page(
        "```python\nimport asyncio\nx = 1\n```",
        "```python\nawait asyncio.sleep(0)\nx += 1\n```",
        "```python\n>>> x\n2\n```",
        "  ```python\n  asyncio.run(asyncio.sleep(0))\n  ```",
    )
    assert run_blocks(page, "made-up.md").returncode == 0


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        ("```python\n1 / 0\n```", 'File "made-up.md", line 2'),
        ("```python\nimport warnings\nwarnings.warn('old', DeprecationWarning)\n```", "DeprecationWarning: old"),
        ("```python\n>>> 1 + 1\n3\n```", "prints something else"),
        ("```pycon\n>>> 1 + 1\n3\n```", "prints something else"),
        ("```python\nimport socket\nsocket.create_connection(('192.0.2.1', 80))\n```", "reached for the network"),
        ("```python\nasync def f(): ...\nf()\n```", "never awaited"),
    ],
)
def test_a_block_that_fails_fails_its_page(block: str, complaint: str) -> None:
    done = run_blocks(block, "made-up.md")
    assert complaint in done.stdout + done.stderr
    assert done.returncode != 0


@pytest.mark.parametrize(
    "page", ["```python\nx = 1\n", "~~~python\n1 / 0\n~~~\n", "```pyhton\n1 / 0\n```\n", "```\nx\n```\n"]
)
def test_a_block_that_would_be_passed_over_is_an_error(page: str) -> None:
    with pytest.raises(AssertionError, match=r"fence|language"):
        fences(page)


def test_commands_are_read_with_their_codes_and_output() -> None:
    page = "```console\n$ echo a \\\n>   b\na b\n$ false  # exits with 1\n```\n\n```bash\nmake demo\nls\n```\n"
    console, bash = fences(page)
    assert list(commands(console)) == [
        Command(2, "echo a b", 0, "a b"),
        Command(5, "false  # exits with 1", 1, None),
    ]
    assert [command.text for command in commands(bash)] == ["make demo", "ls"]


@pytest.mark.parametrize(
    ("command", "right"),
    [
        (Command(1, "echo one; echo two", 0, "one\ntwo"), True),
        (Command(1, "echo one; echo two", 0, "one\n…"), True),
        (Command(1, "echo one; echo two", 0, "one"), False),
        (Command(1, "echo one", 0, "two"), False),
        (Command(1, "exit 3  # exits with 3", 3, None), True),
        (Command(1, "exit 3", 0, None), False),
        (Command(1, "false | cat", 0, None), False),
    ],
)
def test_a_command_that_does_something_else_is_found(command: Command, right: bool) -> None:
    assert (run_command(command) is None) is right


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("interlock graph x.py:y", True),
        (".venv/bin/interlock run x.py:y", True),
        ("echo hello | interlock run x.py:y", True),
        ("make demo", False),
        ("pip install interlock", False),
    ],
)
def test_the_commands_that_are_run_are_those_that_call_interlock(text: str, called: bool) -> None:
    assert bool(CALLS_INTERLOCK.search(text)) is called

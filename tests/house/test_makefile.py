"""`make` needs Python alone, hands any text to the demonstration unharmed, and `.ci/run` runs `make test`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import cast

import pytest

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make on this machine")


def _environment(**changes: str) -> dict[str, str]:
    """This process's environment without what an outer make has put into it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "TEXT"))}
    return {**kept, **changes}


def _run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=_environment(**environment), capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A checkout that is set up already, whose demonstration prints what it was given."""
    shutil.copy(root / "Makefile", tmp_path)
    shutil.copytree(root / ".ci", tmp_path / ".ci")
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "moderation.py").write_text("import json, sys; print(json.dumps(sys.argv[1:]))")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    for stamp in (".installed", ".installed-dev"):
        (tmp_path / ".venv" / stamp).touch()
    return tmp_path


@needs_make
@pytest.mark.parametrize(
    "text",
    [
        "Write to ann@example.com, card 4111 1111 1111 1111",
        """quotes " and ' and ` and \\ at once""",
        "dollars $5, $$HOME, $(HOME), ${HOME}, $(shell touch made) and `touch made`",
        "a; touch made # not a comment & % | > made",
        "two\nlines",
        "é, 漢字, 😀",
        "-x",
        "",
    ],
)
@pytest.mark.parametrize("way", ["argument", "environment"])
def test_the_demonstration_is_given_the_text_unharmed(checkout: Path, text: str, way: str) -> None:
    if way == "argument":
        done = _run(["make", "demo", f"TEXT={text}"], checkout)
    else:
        done = _run(["make", "demo"], checkout, TEXT=text)
    assert done.returncode == 0, done.stderr
    assert cast("list[str]", json.loads(done.stdout)) == [text]
    assert not (checkout / "made").exists()


@needs_make
def test_without_a_text_the_demonstration_is_given_none(checkout: Path) -> None:
    done = _run(["make", "demo"], checkout)
    assert json.loads(done.stdout) == []


@needs_make
def test_a_changed_pyproject_is_installed_again(checkout: Path) -> None:
    def would_install() -> bool:
        return "pip" in _run(["make", "--dry-run", "demo"], checkout).stdout

    assert not would_install()
    stamp = (checkout / ".venv" / ".installed").stat()
    os.utime(checkout / "pyproject.toml", (stamp.st_atime, stamp.st_mtime + 1))
    assert would_install()


@needs_make
def test_make_alone_prints_every_target(root: Path) -> None:
    phony = re.search(r"^\.PHONY: (.*)$", (root / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert phony is not None
    printed = _run(["make"], root).stdout
    assert [target for target in phony[1].split() if target != "help" and f"make {target} " not in printed] == []


@needs_make
def test_make_test_checks_everything_and_then_runs_the_tests(root: Path) -> None:
    planned = _run(["make", "--dry-run", "test"], root).stdout
    commands = ["ruff check", "ruff format --check", "bin/mypy", "bin/pyright", "-m pytest"]
    places = [planned.find(command) for command in commands]
    assert -1 not in places
    assert places == sorted(places)


@needs_make
def test_rivals_are_installed_and_measured_in_an_environment_of_their_own(root: Path) -> None:
    planned = _run(["make", "--dry-run", "--always-make", "rivals"], root).stdout
    commands = ["-m venv --clear .rivals/python", "-m benchmarks.rivals.install", "-m benchmarks.rivals"]
    places = [planned.find(command) for command in commands]
    assert -1 not in places
    assert places == sorted(places)
    assert ".venv" not in planned


def _python(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{textwrap.dedent(script)}\n")
    (folder / name).chmod(0o755)


def test_a_python_that_refuses_to_run_is_passed_over(root: Path, tmp_path: Path) -> None:
    _python(tmp_path / "shims", "python3", "echo 'no such version' >&2; exit 127")
    _python(tmp_path / "old", "python3", "exit 3")
    _python(tmp_path / "real", "python3.12", f'exec "{sys.executable}" "$@"')
    path = ":".join(str(tmp_path / name) for name in ("shims", "old", "real"))
    done = _run([str(root / ".ci" / "find-python")], root, PATH=path, PYTHON="")
    assert (done.returncode, done.stdout.strip()) == (0, str(tmp_path / "real" / "python3.12"))


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("exit 3", "needs Python 3.11 or later"),
        ("""case "$2" in *ensurepip*) exit 1;; esac""", "cannot make virtual environments"),
    ],
)
def test_without_a_usable_python_the_reason_is_told(root: Path, tmp_path: Path, script: str, complaint: str) -> None:
    _python(tmp_path / "bin", "python3", script)
    done = _run([str(root / ".ci" / "find-python")], root, PATH=str(tmp_path / "bin"), PYTHON="")
    assert done.returncode == 1
    assert done.stdout == ""
    assert complaint in done.stderr


def test_the_python_that_was_named_is_taken_or_refused(root: Path, tmp_path: Path) -> None:
    find = str(root / ".ci" / "find-python")
    assert _run([find], root, PYTHON=sys.executable).stdout.strip() == sys.executable
    _python(tmp_path / "bin", "python3", "exit 3")
    refused = _run([find], root, PYTHON=str(tmp_path / "bin" / "python3"))
    assert refused.returncode == 1
    assert "is no Python 3.11 or later" in refused.stderr


def test_continuous_integration_runs_make_test(root: Path, tmp_path: Path) -> None:
    _python(tmp_path / "bin", "make", 'echo "make $@ in $PWD, CI=$CI"')
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = _run([str(root / ".ci" / "run")], tmp_path, PATH=path)
    assert done.stdout.strip().startswith(f"make test in {root}, CI=")

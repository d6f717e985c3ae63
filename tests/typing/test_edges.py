"""Type checkers refuse a wrong edge, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

SOURCE = Path(__file__).with_name("edges.txt")  # not .py: the checks of this repository would refuse it


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's program, outside this repository."""
    return Path(shutil.copy(SOURCE, tmp_path_factory.mktemp("user") / "program.py"))


def marked(checker: str) -> set[int]:
    """The lines that a checker must refuse."""
    marks = [re.search(r"  # ([a-z ]+)$", line) for line in SOURCE.read_text("utf-8").splitlines()]
    return {number for number, mark in enumerate(marks, 1) if mark and checker in mark[1].split()}


def test_some_lines_are_marked() -> None:
    assert len(marked("mypy")) > 10
    assert marked("pyright") > marked("mypy")


def test_mypy_refuses_the_wrong_edges_alone(program: Path, root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", str(program)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=root, timeout=120)
    found = re.findall(rf"{program.name}:(\d+): error: (.*)", ended.stdout)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert {int(line) for line, _ in found} == marked("mypy"), ended.stdout


def test_pyright_refuses_the_wrong_edges_alone(program: Path, root: Path) -> None:
    options = {"typeCheckingMode": "strict", "include": [program.name], "extraPaths": [str(root)]}
    (program.parent / "pyrightconfig.json").write_text(json.dumps(options), "utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    ended = subprocess.run(
        [*command, "--project", str(program.parent)], capture_output=True, text=True, cwd=root, timeout=120
    )
    told = cast("dict[str, Any]", json.loads(ended.stdout))
    lines = {found["range"]["start"]["line"] + 1 for found in told["generalDiagnostics"]}
    assert lines == marked("pyright"), ended.stdout

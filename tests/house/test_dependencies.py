"""What the package imports is what it says it depends on."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

DISTRIBUTIONS = {
    "email_validator": "email-validator",
    "httpx_sse": "httpx-sse",
    "pydantic_core": "pydantic",  # pydantic pins it to the patch
    "re2": "google-re2",
    "stdnum": "python-stdnum",
    "typing_extensions": "typing-extensions",
}
"""Where a module is not called as its distribution."""

ONLY_WHERE_IT_RUNS = {"trio"}
"""Imported only under its own event loop, which whoever runs it has installed."""


def imported(package: Path) -> set[str]:
    """The top-level names of all third-party modules that a package imports, at any depth."""
    names: set[str] = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.split(".")[0])
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "importlib.import_module":
                names.update(str(a.value).split(".")[0] for a in node.args if isinstance(a, ast.Constant))
    return names - set(sys.stdlib_module_names) - {package.name, "__future__"}


def declared() -> set[str]:
    """The distributions that an installation brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {re.split(r"[<>=!~\[; ]", line)[0] for line in project["dependencies"]}


def test_every_import_is_a_declared_dependency() -> None:
    wanted = {DISTRIBUTIONS.get(name, name) for name in imported(ROOT / "interlock") - ONLY_WHERE_IT_RUNS}
    assert wanted - declared() == set()


def test_every_declared_dependency_is_imported() -> None:
    wanted = {DISTRIBUTIONS.get(name, name) for name in imported(ROOT / "interlock")}
    assert declared() - wanted == set()

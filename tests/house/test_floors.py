"""Imports go down the floors of the house only, whichever way they are written.

The rules are read from the source, so an import that runs late, or only for a type checker, counts as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import pytest

FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors", "schema", "ids", "context", "tracing", "verdict", "lazy", "nearest", "shown"),
    ("steps", "messages", "storage"),
    ("workflows", "models", "tools"),
    ("memory",),
    ("processors",),
    ("runtime",),
    ("cli", "testing", "__init__"),
)
"""From the ground up. ``__init__`` is the facade."""

FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
GROUND = 0


@dataclass(frozen=True)
class Import:
    """One import, by the dotted name of what is imported."""

    target: str
    line: int


def _absolute(name: str, dots: int, package: str) -> str:
    """The full name of a module that ``package`` names with so many leading dots."""
    if not dots:
        return name
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - dots + 1], *([name] if name else [])])


def _imports(tree: ast.AST, package: str) -> Iterator[Import]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (Import(alias.name, node.lineno) for alias in names)
            case ast.ImportFrom():
                # `from . import x` goes through the package that the dot stands for, whatever x is.
                yield Import(_absolute(node.module or "", node.level, package), node.lineno)
            case ast.Call():
                yield from (Import(target, node.lineno) for target in _called(node, package))
            case _:
                pass


def _called(call: ast.Call, package: str) -> Iterator[str]:
    """The modules that a call imports, now or later."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    match function, call.args:
        case (("import_module" | "__import__" | "find_spec"), [ast.Constant(value=str(name)), *_]):
            bare = name.lstrip(".")
            yield _absolute(bare, len(name) - len(bare), package)
        case "lazily", [_, modules]:
            yield from (str(node.value) for node in ast.walk(modules) if _is_module_name(node))
        case _:
            pass


def _is_module_name(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value


def _room(module: str) -> str:
    """``interlock.messages.parts`` → ``messages``; the package itself → ``__init__``."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def violations(package: Path) -> list[str]:
    """Every import under ``package`` that does not go down, one sentence each."""
    found: list[str] = []
    for path in sorted(package.rglob("*.py")):
        parts = list(path.relative_to(package.parent).with_suffix("").parts)
        home = ".".join(parts[:-1])
        room = _room(".".join(parts)) if len(parts) > 1 else "__init__"
        where = path.relative_to(package.parent)
        if room not in FLOOR_OF:
            found.append(f"{where}: {room!r} stands on no floor; add it to FLOORS")
            continue
        for item in _imports(ast.parse(path.read_text("utf-8")), home):
            if item.target.split(".")[0] != package.name:
                continue
            target = _room(item.target)
            at = f"{where}:{item.line}"
            if target == "__init__":
                found.append(f"{at}: nobody inside imports the facade")
            elif target == room:
                continue
            elif target not in FLOOR_OF:
                found.append(f"{at}: {target!r} stands on no floor")
            elif FLOOR_OF[target] > FLOOR_OF[room]:
                found.append(f"{at}: {room} (floor {FLOOR_OF[room]}) imports {target} (floor {FLOOR_OF[target]})")
            elif FLOOR_OF[target] == FLOOR_OF[room] != GROUND:
                found.append(f"{at}: {room} imports its sibling {target}")
    return found


def test_imports_go_down_only(root: Path) -> None:
    assert violations(root / "interlock") == []


def test_the_rules_are_read_from_every_module_of_the_package(root: Path) -> None:
    read = {path.name for path in (root / "interlock").rglob("*.py")}
    assert {"__init__.py", "errors.py", "verdict.py"} <= read


GOOD = {
    "__init__.py": "from interlock.runtime.agent import Agent\n",
    "errors.py": "import json\n",
    "verdict.py": "from interlock.errors import InterlockError\n",
    "messages/__init__.py": "from .parts import Part\n",
    "messages/parts.py": "from ..errors import InterlockError\nfrom . import usage\n",
    "messages/usage.py": "",
    "workflows/plan.py": "from interlock.steps import step\nimport interlock.errors\n",
    "runtime/agent.py": "from interlock.processors import Processor\nfrom interlock.workflows.plan import Plan\n",
    "cli.py": "from interlock.runtime.agent import Agent\n",
}


def _tree(tmp_path: Path, files: dict[str, str]) -> Path:
    package = tmp_path / "interlock"
    for name, text in {**GOOD, **files}.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return package


def test_a_house_in_order_has_no_violation(tmp_path: Path) -> None:
    assert violations(_tree(tmp_path, {})) == []


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("errors.py", "from interlock.messages import Message", "errors (floor 0) imports messages (floor 1)"),
        ("steps/base.py", "import interlock.runtime.agent", "steps (floor 1) imports runtime (floor 5)"),
        ("steps/base.py", "from ..messages.parts import Part", "steps imports its sibling messages"),
        ("models/base.py", "import interlock.tools as t", "models imports its sibling tools"),
        ("memory/x.py", "from interlock.processors.base import Processor", "memory (floor 3) imports processors"),
        ("testing.py", "from interlock.cli import main", "testing imports its sibling cli"),
        (
            "tools/tool.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from interlock.runtime.agent import Agent",
            "tools/tool.py:3: tools (floor 2) imports runtime (floor 5)",
        ),
        (
            "workflows/draw.py",
            "class A:\n    def f(self):\n        from interlock.runtime import executor",
            "workflows/draw.py:3: workflows (floor 2) imports runtime",
        ),
        ("workflows/x.py", "import importlib\nimportlib.import_module('interlock.runtime')", "imports runtime"),
        ("workflows/x.py", "from importlib import import_module\nimport_module('interlock.cli')", "imports cli"),
        ("workflows/x.py", "__import__('interlock.runtime.agent')", "imports runtime"),
        ("workflows/x.py", "import importlib\nimportlib.import_module('..runtime', __package__)", "imports runtime"),
        (
            "models/__init__.py",
            "from interlock.lazy import lazily\n__getattr__ = lazily(__name__, {'Agent': 'interlock.runtime.agent'})",
            "models/__init__.py:2: models (floor 2) imports runtime",
        ),
        ("runtime/x.py", "import interlock", "nobody inside imports the facade"),
        ("runtime/x.py", "from interlock import Agent", "nobody inside imports the facade"),
        ("runtime/x.py", "from .. import errors", "nobody inside imports the facade"),
        ("runtime/deep/x.py", "from ... import errors", "nobody inside imports the facade"),
        ("runtime/deep/x.py", "from ...cli import main", "runtime (floor 5) imports cli (floor 6)"),
        ("cli.py", "from interlock import Agent", "nobody inside imports the facade"),
        ("attic/x.py", "", "'attic' stands on no floor"),
        ("runtime/x.py", "from interlock.attic import box", "'attic' stands on no floor"),
    ],
)
def test_an_import_that_does_not_go_down_is_found(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    found = violations(_tree(tmp_path, {name: text}))
    assert len(found) == 1
    assert complaint in found[0]

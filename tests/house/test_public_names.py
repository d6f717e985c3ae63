"""The names a user may import are exactly these. A name that comes or goes is a decision, made here too."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from typing import cast

import pytest

import interlock

NAMES: dict[str, tuple[str, ...]] = {
    "interlock.errors": (
        "AlreadyStarted",
        "BlockedError",
        "DefinitionError",
        "InterlockError",
        "InvalidProcessorReturn",
        "MergeConflict",
        "ModelError",
        "RunError",
        "StepFailed",
        "ToolError",
    ),
    "interlock.models": (
        "EchoModel",
        "LanguageModel",
        "ModelRequest",
        "OpenAIChatModel",
        "ScriptedModel",
        "ToolChoice",
        "ToolSpec",
        "ask_json",
        "ask_text",
        "register_provider",
        "resolve_model",
    ),
    "interlock.steps": ("FunctionStep", "Step", "StepContext", "StepRun", "SupportsStep", "create_step", "step"),
    "interlock.tools": ("Tool", "ToolContext", "tool"),
}


@pytest.mark.parametrize("module", NAMES)
def test_a_module_exports_exactly_these_names(module: str) -> None:
    assert sorted(cast("list[str]", importlib.import_module(module).__all__)) == sorted(NAMES[module])


@pytest.mark.parametrize("module", NAMES)
def test_every_exported_name_is_there(module: str) -> None:
    found = importlib.import_module(module)
    assert [name for name in NAMES[module] if not hasattr(found, name)] == []


def test_every_room_lists_its_names_here() -> None:
    rooms = {info.name for info in pkgutil.iter_modules(interlock.__path__, "interlock.") if info.ispkg}
    assert rooms - set(NAMES) == set()


def test_a_star_import_brings_the_exported_names_and_nothing_else() -> None:
    code = "before = {*globals(), 'before'}\nfrom interlock import *\nprint(*sorted(set(globals()) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert tuple(done.stdout.split()) == tuple(sorted(NAMES["interlock"]))

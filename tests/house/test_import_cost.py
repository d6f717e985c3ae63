"""`import interlock` is quick: it loads nothing that only some users need, and builds no validator.

How long it takes is measured by ``make bench``; here the processor time of a child process is compared with what the
same Python needs to start, with room to spare, so that only an import that has become heavy fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

HEAVY = ("networkx", "httpx", "httpx_sse", "typer", "rich", "re2", "phonenumbers", "stdnum", "email_validator", "numpy")
ROOMS = ("messages", "steps", "workflows", "runtime", "processors", "models", "tools", "errors", "verdict")


def _python(code: str, *options: str) -> str:
    command = [sys.executable, *options, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _loaded(statement: str) -> set[str]:
    return set(_python(f"{statement}\nimport sys\nprint(*sys.modules)").split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = _loaded("import interlock; interlock.__all__")
    assert "interlock" in loaded
    assert loaded & set(HEAVY) == set()


@pytest.mark.parametrize("room", ROOMS)
def test_importing_a_room_loads_no_networkx_and_no_command_line(room: str) -> None:
    assert _loaded(f"import interlock.{room}") & {"networkx", "typer", "rich"} == set()


COUNT = """
    import pydantic.plugin._schema_validator as validators
    built = []
    build = validators.create_schema_validator
    def counted(schema, schema_type, *args, **kwargs):
        built.append(str(schema_type))
        return build(schema, schema_type, *args, **kwargs)
    validators.create_schema_validator = counted
    import pydantic, pydantic.type_adapter, pydantic.dataclasses
    {statement}
    print(*[name for name in built if "interlock" in name or name.startswith("typing.") or "__main__" in name])
"""


def test_importing_the_package_builds_no_pydantic_model() -> None:
    assert _python(COUNT.format(statement="import interlock; interlock.__all__")) == ""


@pytest.mark.parametrize(
    "statement",
    ["class Model(pydantic.BaseModel): x: int", "from typing import Union; pydantic.TypeAdapter(Union[int, str])"],
)
def test_a_built_pydantic_model_is_seen(statement: str) -> None:
    assert _python(COUNT.format(statement=statement)) != ""


def _seconds(code: str) -> float:
    """The processor time of one fresh interpreter."""
    with subprocess.Popen([sys.executable, "-c", code]) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return usage.ru_utime + usage.ru_stime


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="this system does not tell a child's processor time")
def test_importing_the_package_costs_a_few_starts_of_python() -> None:
    pairs = [(_seconds("import asyncio"), _seconds("import interlock; interlock.Agent")) for _ in range(5)]
    bare, whole = (min(times) for times in zip(*pairs, strict=True))
    assert whole <= 8 * bare


def test_the_package_is_imported_from_this_checkout(root: Path) -> None:
    assert Path(_python("import interlock; print(interlock.__file__)")) == root / "interlock" / "__init__.py"

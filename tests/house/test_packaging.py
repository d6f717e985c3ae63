"""What is installed is the package and nothing else; what is shipped as source can be tested and built again."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path
from typing import Any, cast

import pytest

LINKS = ("processors", "runtime", "steps", "workflows")


@pytest.fixture(scope="session")
def project(root: Path) -> Mapping[str, Any]:
    """The ``[project]`` table of ``pyproject.toml``."""
    return cast("Mapping[str, Any]", tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"])


def _build(root: Path, target: str, into: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(into)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = into.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without the network."""
    return _build(root, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, built without the network."""
    return _build(root, "sdist", tmp_path_factory.mktemp("sdist"))


def _tree(root: Path, folder: str) -> set[str]:
    files = (path for path in (root / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix() for path in files}


def test_the_wheel_holds_the_package_and_nothing_else(root: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        content = {name: archive.read(name) for name in names if name.startswith("interlock/")}
    assert set(content) == _tree(root, "interlock")
    assert {name.split("/")[0].removesuffix(".dist-info").partition("-")[0] for name in names} == {"interlock"}
    assert [name for name, data in content.items() if data != (root / name).read_bytes()] == []


def test_the_wheel_says_that_it_is_typed(wheel: Path) -> None:
    assert "interlock/py.typed" in zipfile.ZipFile(wheel).namelist()


def test_the_wheel_names_what_pyproject_names(wheel: Path, project: Mapping[str, Any]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (info,) = {name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode("utf-8"))
        entry_points = ConfigParser()
        entry_points.read_string(archive.read(f"{info}/entry_points.txt").decode("utf-8"))
        assert f"{info}/licenses/LICENSE" in archive.namelist()
    assert (metadata["Name"], metadata["Version"]) == (project["name"], project["version"])
    assert metadata["Requires-Python"] == project["requires-python"]
    assert dict(entry_points["console_scripts"]) == project["scripts"]
    required = [value for value in metadata.get_all("Requires-Dist", []) if "extra ==" not in value]
    assert len(required) == len(project["dependencies"])


def test_an_entry_point_can_be_called(project: Mapping[str, Any]) -> None:
    for target in cast("Mapping[str, str]", project["scripts"]).values():
        module, _, name = target.partition(":")
        code = f"import {module}; assert callable({module}.{name})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr


def test_the_source_distribution_holds_what_builds_and_tests_it(root: Path, sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    names = {member.name.partition("/")[2] for member in members}
    for folder in ("interlock", "tests", "docs", "examples", "benchmarks"):
        assert _tree(root, folder) - names == set()
    assert {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "Makefile", ".ci/run", ".ci/find-python"} <= names
    assert [member.name for member in members if member.issym() or member.islnk()] == []
    assert {name for name in names if name.split("/")[0] in LINKS} == set()


def test_the_changelog_begins_with_what_comes_next_or_with_this_version(root: Path, project: Mapping[str, Any]) -> None:
    headings = re.findall(r"^## \[([^\]]+)\]", (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] in ("Unreleased", project["version"])

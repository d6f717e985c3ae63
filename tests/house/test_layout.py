"""The shape of the house: links, folders, file sizes and names."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINKS = ("processors", "runtime", "steps", "workflows")
FOLDERS = {"interlock", "tests", "docs", "examples", "benchmarks", *LINKS}
CODE = ("interlock", "tests", "examples", "benchmarks")
LONGEST = 500
VAGUE = {"util", "utils", "helper", "helpers", "core", "common", "manager", "managers"}
BESIDE_THE_ROOMS = {"house", "docs", "lifecycle", "typing", "examples", "benchmarks"}
OF_A_WHOLE_ROOM = {"laws", "runs"}
"""Folders of tests that are about no one folder of a room: laws of random graphs, and the life of a run."""


def _sources(root: Path) -> Iterator[Path]:
    for folder in CODE:
        yield from sorted((root / folder).rglob("*.py"))


def _words(name: str) -> set[str]:
    """``MemoryManager`` and ``memory_manager`` → memory, manager."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout: a source distribution carries no links")
@pytest.mark.skipif(os.name == "nt", reason="a checkout on Windows may have no links")
@pytest.mark.parametrize("name", LINKS)
def test_a_room_at_the_root_is_a_relative_link_into_the_package(root: Path, name: str) -> None:
    assert (root / name).is_symlink()
    assert (root / name).readlink() == Path("interlock") / name
    assert (root / name).is_dir()


def test_the_root_holds_no_other_folder(root: Path) -> None:
    ignored = {line.rstrip("/") for line in (root / ".gitignore").read_text("utf-8").split()}
    found = {path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")}
    found = {name for name in found if name not in ignored and not name.endswith(".egg-info")}
    assert found - FOLDERS == set()
    assert FOLDERS - found - set(LINKS) == set()


def test_no_file_is_longer_than_five_hundred_lines(root: Path) -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in _sources(root)}
    assert lengths
    assert {str(path.relative_to(root)): n for path, n in lengths.items() if n > LONGEST} == {}


def test_no_file_or_folder_has_a_vague_name(root: Path) -> None:
    parts = {part for path in _sources(root) for part in path.relative_to(root).with_suffix("").parts}
    assert parts
    assert {part for part in parts if _words(part) & VAGUE} == set()


def test_no_class_has_a_vague_name(root: Path) -> None:
    classes = {
        node.name: str(path.relative_to(root))
        for path in _sources(root)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    assert {name: path for name, path in classes.items() if _words(name) & VAGUE} == {}


@pytest.mark.parametrize("name", ["memory_manager", "MemoryManager", "core", "textUtils", "HTTPHelper", "_common"])
def test_a_vague_name_is_recognised(name: str) -> None:
    assert _words(name) & VAGUE


@pytest.mark.parametrize("name", ["scored", "encore", "commonmark", "management", "Commons"])
def test_a_word_inside_a_word_is_not_vague(name: str) -> None:
    assert not _words(name) & VAGUE


def test_every_folder_with_modules_is_a_package(root: Path) -> None:
    folders = {path.parent for path in (root / "interlock").rglob("*.py")}
    assert {str(folder.relative_to(root)) for folder in folders if not (folder / "__init__.py").is_file()} == set()


def test_no_test_folder_is_a_package(root: Path) -> None:
    assert [str(path.relative_to(root)) for path in (root / "tests").rglob("__init__.py")] == []


def test_tests_mirror_the_rooms(root: Path) -> None:
    rooms = {path.name for path in (root / "interlock").iterdir() if path.is_dir()}
    for folder in (path for path in (root / "tests").rglob("*") if path.is_dir()):
        inside = folder.relative_to(root / "tests")
        if inside.parts[0] in BESIDE_THE_ROOMS or "__pycache__" in inside.parts:
            continue
        if inside.parts[-1] in OF_A_WHOLE_ROOM:
            continue
        assert inside.parts[0] in rooms, f"tests/{inside} mirrors no room of the package"
        if not any(folder.glob("*.py")):
            continue
        assert (root / "interlock" / inside).exists(), f"tests/{inside} mirrors no folder of the package"

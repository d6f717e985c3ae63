"""What is public says what it is for, and the examples in it run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Container, Iterator
from types import ModuleType
from typing import cast

import pytest

import interlock
from interlock import errors, testing, verdict

MODULES = sorted(
    info.name for info in pkgutil.walk_packages(interlock.__path__, "interlock.") if not info.name.endswith("__main__")
)


def _named(module: ModuleType) -> Iterator[tuple[str, object]]:
    """The functions and classes that a module's ``__all__`` names."""
    for name in cast("list[str]", getattr(module, "__all__", [])):
        value: object = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            yield name, value


@pytest.fixture(scope="module")
def exported() -> set[object]:
    """The classes that a user can import from a room: those whose methods a user calls."""
    packages = [module for module in map(importlib.import_module, MODULES) if hasattr(module, "__path__")]
    return {value for module in (interlock, errors, testing, verdict, *packages) for _, value in _named(module)}


def _members(kind: type) -> Iterator[str]:
    """The names of a class's own public methods and properties."""
    for name, member in vars(kind).items():
        plain: object = getattr(member, "__func__", member)  # inside a class or static method
        if not name.startswith("_") and (inspect.isfunction(plain) or isinstance(plain, property)):
            yield name


def _own_docstring(value: object) -> str | None:
    """A class's own words; a dataclass without any is given its signature, and that says nothing."""
    if not isinstance(value, type):
        return inspect.getdoc(value)
    told = cast("str | None", value.__dict__.get("__doc__"))
    return None if told and told.startswith(f"{value.__name__}(") else told


def undocumented(module: ModuleType, exported: Container[object]) -> list[str]:
    """What a module names and does not explain; of exported classes the methods too, unless a base explains them."""
    missing = [module.__name__] if not module.__doc__ else []
    for name, value in _named(module):
        if getattr(value, "__module__", None) != module.__name__:
            continue  # told where it is defined
        if not _own_docstring(value):
            missing.append(f"{module.__name__}.{name}")
        if isinstance(value, type) and value in exported:
            silent = [member for member in _members(value) if not inspect.getdoc(getattr(value, member))]
            missing += [f"{module.__name__}.{name}.{member}" for member in silent]
    return missing


@pytest.mark.parametrize("name", ["interlock", *MODULES])
def test_everything_public_has_a_docstring(name: str, exported: set[object]) -> None:
    assert undocumented(importlib.import_module(name), exported) == []


@pytest.mark.parametrize("name", ["interlock", *MODULES])
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(importlib.import_module(name), optionflags=flags).failed == 0


def test_the_package_shows_examples() -> None:
    finder = doctest.DocTestFinder()
    examples = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert examples


def test_a_public_thing_without_a_docstring_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("made_up")
    monkeypatch.setitem(sys.modules, "made_up", module)  # a dataclass looks its module up
    source = '''
from dataclasses import dataclass
__all__ = ["A", "B", "Child", "f", "g"]
class A:
    """Documented."""
    def told(self): "Says so."
    def bare(self): ...
    @property
    def seen(self): ...
    def _own(self): ...
class Child(A):
    """Documented."""
    def told(self): ...
@dataclass
class B:
    x: int
def f(): ...
def g():
    """Documented."""
'''
    exec(compile(source, "made_up", "exec"), module.__dict__)
    found = ["made_up", "made_up.A.bare", "made_up.A.seen", "made_up.B", "made_up.f"]
    assert undocumented(module, list(vars(module).values())) == found
    assert undocumented(module, ()) == ["made_up", "made_up.B", "made_up.f"]

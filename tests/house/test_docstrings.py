"""What is public says what it is for, and the examples in it run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import cast

import pytest

import interlock

MODULES = sorted(
    info.name for info in pkgutil.walk_packages(interlock.__path__, "interlock.") if not info.name.endswith("__main__")
)


def _public(module: ModuleType) -> Iterator[tuple[str, object]]:
    """The module's public functions and classes that are its own, and their public methods and properties."""
    for name in cast("list[str]", getattr(module, "__all__", [])):
        value: object = getattr(module, name)
        if not (inspect.isclass(value) or inspect.isfunction(value)) or value.__module__ != module.__name__:
            continue
        yield name, value
        if inspect.isclass(value):
            for attribute, member in cast("dict[str, object]", dict(vars(value))).items():
                plain: object = getattr(member, "__func__", member)  # inside a class or static method
                if not attribute.startswith("_") and (inspect.isfunction(plain) or isinstance(plain, property)):
                    yield f"{name}.{attribute}", member


def undocumented(module: ModuleType) -> list[str]:
    """The public things of a module without a docstring. A method may inherit its base's."""
    missing = [module.__name__] if not module.__doc__ else []
    for name, value in _public(module):
        own = inspect.getdoc(value)
        if not own and "." in name:
            owner, _, attribute = name.partition(".")
            own = inspect.getdoc(getattr(getattr(module, owner), attribute))
        # A dataclass without one is given its signature, a protocol or plain class its base's.
        if inspect.isclass(value):
            own = value.__dict__.get("__doc__")
            own = None if own and own.startswith(f"{value.__name__}(") else own
        if not own:
            missing.append(f"{module.__name__}.{name}")
    return missing


@pytest.mark.parametrize("name", ["interlock", *MODULES])
def test_everything_public_has_a_docstring(name: str) -> None:
    assert undocumented(importlib.import_module(name)) == []


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
__all__ = ["A", "B", "f", "g"]
class A:
    """Documented."""
    def told(self): "Says so."
    def bare(self): ...
    @property
    def seen(self): ...
    def _own(self): ...
class Child(A):
    """Documented."""
@dataclass
class B:
    x: int
def f(): ...
def g():
    """Documented."""
'''
    exec(compile(source, "made_up", "exec"), module.__dict__)
    assert undocumented(module) == ["made_up", "made_up.A.bare", "made_up.A.seen", "made_up.B", "made_up.f"]

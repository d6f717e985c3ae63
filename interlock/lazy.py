"""Public names that are imported when they are first asked for, so that ``import interlock`` stays fast."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping

__all__ = ["lazily"]


def lazily(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """A ``__getattr__`` for a package's ``__init__``.

    Args:
        package: The package's ``__name__``.
        modules: The module of each name.

    Example, in ``interlock/models/__init__.py``::

        __getattr__ = lazily(__name__, {"EchoModel": "interlock.models.echo"})
    """

    def getattribute(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return getattribute

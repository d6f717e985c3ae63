"""Whether a hook can be called with a context, as far as its signature tells."""

from __future__ import annotations

import inspect
from functools import partialmethod
from types import FunctionType

__all__ = ["fault_in_signature"]


def fault_in_signature(name: str, hook: object, owner: type) -> str | None:
    """Why a hook cannot be called with a context alone, in a sentence; None where it can, or nobody knows.

    Args:
        name: The hook.
        hook: What stands for it in the class body.
        owner: The class.
    """
    if hasattr(hook, "__get__") and not isinstance(hook, FunctionType | partialmethod | staticmethod | classmethod):
        return None
    target = getattr(owner, name)
    given = 2 if isinstance(hook, FunctionType | partialmethod) else 1
    try:
        signature = inspect.signature(target, follow_wrapped=False)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(*(None,) * given)
    except TypeError:
        return f"{name}{signature} cannot be called with a context: write {name}(self, ctx)"
    return None

"""Functions that are told of what a processor decides or finds, while it does."""

from __future__ import annotations

import inspect

from interlock.shown import shown

__all__ = ["fault_in_listener"]


def fault_in_listener(name: str, given: object) -> str | None:
    """Why something is no such function, in a sentence; None where it is one, or None.

    Args:
        name: What it is set as.
        given: What was set.
    """
    if given is None:
        return None
    if not callable(given):
        return f"{name} is a function, not {shown(given)}"
    if inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(getattr(given, "__call__", None)):  # noqa: B004
        return f"{name} is a plain function: it cannot be awaited"
    return None

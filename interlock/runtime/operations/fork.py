"""A branch's own copy of what flows, and what branches give together."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from enum import Enum
from typing import Any

from interlock.errors import RunError

__all__ = ["BranchOutputs", "fork_value", "is_plain"]

_NONE: Mapping[str, Any] = {}
_PLAIN = frozenset({bool, float, int, str, type(None)})
_SHARED = (type(None), bool, int, float, complex, str, bytes, Enum, type)


class BranchOutputs(dict[str, Any]):
    """The keyed output of a block; remembers the block's input, which ``merge`` compares the branches with."""

    __slots__ = ("base", "order")

    def __init__(self, base: object, order: tuple[int, ...], outputs: Mapping[str, Any] = _NONE) -> None:
        super().__init__(outputs)
        self.base = base
        self.order = order

    def __missing__(self, key: str) -> Any:
        known = f"the branches are {', '.join(map(repr, self))}" if self else "no branch ran"
        raise KeyError(f"there is no branch {key!r}; {known}")

    def __deepcopy__(self, memo: dict[int, Any]) -> BranchOutputs:
        return BranchOutputs(self.base, self.order, {key: copy.deepcopy(value, memo) for key, value in self.items()})


def is_plain(value: object) -> bool:
    """Whether a value needs no copies because nothing can change it; not every such value is known."""
    return type(value) in _PLAIN


def fork_value(value: Any, branch: str, path: str, *, share: bool = False) -> Any:
    """A branch's own copy of what flows.

    Args:
        value: What flows.
        branch: The branch, for the error.
        path: The block, for the error.
        share: Give plain values themselves, uncopied. (What has a ``fork()`` is forked all the same.)

    Raises:
        RunError: It cannot be copied.
    """
    if type(value) in _PLAIN or isinstance(value, _SHARED):
        return value
    fork = getattr(value, "fork", None)
    if callable(fork):
        return fork()
    if share:
        return value
    try:
        return copy.deepcopy(value)
    except Exception as error:
        raise RunError(
            f"the input of branch {branch!r} of {path!r} cannot be copied for it: a {type(value).__name__} "
            f"({error}); give the class a fork() method, pass plain data, or let the branches share it with share=True"
        ) from error

"""How a change to one key of a run's state meets what is there: functions of the old value and the change.

A reducer stands in the key's type, ``Annotated[list[str], append]``; any function of two values is one
(``operator.add``, ``max``, ``operator.or_``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar, cast

__all__ = ["append"]

T = TypeVar("T")


def append(old: Iterable[T], delta: T | list[T], /) -> list[T]:
    """A list with one element more, or, where the change is a list, with all of that one's.

    To append a list as one element of a list of lists, wrap it: ``[[1, 2]]``. ``operator.add`` takes lists only.

    Example:
        >>> append(["a"], "b"), append(["a"], ["b", "c"]), append([[1]], [[2, 3]])
        (['a', 'b'], ['a', 'b', 'c'], [[1], [2, 3]])
    """
    return [*old, *cast("list[T]", delta)] if isinstance(delta, list) else [*old, delta]

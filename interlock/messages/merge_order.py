"""Joining what several branches did to one sequence: what they took out, put in, and moved."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from interlock.errors import MergeConflict

__all__ = ["merge_order"]

Key = TypeVar("Key", bound=Hashable)


def merge_order(
    base: Sequence[Key],
    branches: Mapping[str, Sequence[Key]],
    prefer: str | None,
    what: str,
    *,
    revived: Iterable[Key] = (),
) -> list[Key]:
    """The sequence with what every branch did to it.

    What any branch took out is gone. What is new follows what it followed in its branch; several things at one place
    come in list order. One branch may change the order of what was there.

    Args:
        base: The sequence before, each key once.
        branches: The sequence in each branch, each key once, by the branch's name, in list order.
        prefer: The branch whose order wins where two contradict each other.
        what: Whose order it is, for the error.
        revived: What is to stay although a branch took it out.

    Raises:
        MergeConflict: Two branches moved things in different ways, and ``prefer`` names neither.

    >>> merge_order("abc", {"x": "axbc", "y": "cay"}, None, "letters")
    ['c', 'a', 'x', 'y']
    """
    old = set(base)
    kept = old.intersection(*branches.values()).union(revived)
    order = _order(base, branches, kept, prefer, what)
    followers: dict[Key | None, list[Key]] = {}
    placed: set[Key] = set(old)
    for keys in branches.values():
        anchor: Key | None = None
        for key in keys:
            if key in old:
                anchor = key
            elif key not in placed:
                placed.add(key)
                followers.setdefault(anchor, []).append(key)
    merged = followers.get(None, [])
    for key in order:
        if key in kept:
            merged.append(key)
        merged += followers.get(key, ())
    return merged


def _order(
    base: Sequence[Key], branches: Mapping[str, Sequence[Key]], kept: set[Key], prefer: str | None, what: str
) -> list[Key]:
    """The old keys in the order they are to have; those that are gone too, as others may hang on them."""
    old = set(base)
    own = {name: [key for key in keys if key in old] for name, keys in branches.items()}
    moved = [name for name, keys in own.items() if not _in_order(base, keys)]
    telling = {name: order for name in moved if not _in_order(base, order := [k for k in own[name] if k in kept])}
    if not moved:
        return list(base)
    able = list(telling or moved)
    winner = prefer if prefer is not None and prefer in able else able[0]
    if winner != prefer and any(order != telling[winner] for order in telling.values()):
        raise MergeConflict(f"the order of {what}", list(telling))
    return _with_gone(base, own[winner])


def _in_order(base: Sequence[Key], keys: Sequence[Key]) -> bool:
    present = set(keys)
    return [key for key in base if key in present] == keys


def _with_gone(base: Sequence[Key], order: Sequence[Key]) -> list[Key]:
    """The order, and each key it lacks after the one that it followed before."""
    present = set(order)
    followers: dict[Key | None, list[Key]] = {}
    anchor: Key | None = None
    for key in base:
        if key in present:
            anchor = key
        else:
            followers.setdefault(anchor, []).append(key)
    whole = followers.get(None, [])
    for key in order:
        whole.append(key)
        whole += followers.get(key, ())
    return whole

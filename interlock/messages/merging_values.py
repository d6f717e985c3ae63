"""Joining what several branches did to one JSON value: a tool's arguments or result, a setting, metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from interlock.errors import MergeConflict
from interlock.messages.composing import changes_between
from interlock.messages.merge_text import merge_text
from interlock.messages.parts import JSONValue, same_json

__all__ = ["merge_values"]

MISSING: Final[Any] = object()
"""Stands for a key that is not there."""


def merge_values(
    base: JSONValue, values: Mapping[str, JSONValue], prefer: str | None, what: str, *, texts: bool = True
) -> JSONValue:
    """One value of several that came of one.

    What only one branch changed, or all changed alike, is taken over. Dicts are joined key by key, a key that any
    branch removed being gone; lists of one length place by place. None that became a dict counts as an empty one.

    Args:
        base: The value before.
        values: The value in each branch, by the branch's name, in list order; also branches that kept it.
        prefer: The branch that wins where two contradict each other.
        what: What the value is, for the error.
        texts: Whether strings are texts, whose edits are joined, every change counting as a redaction; otherwise they
            are names, of which there can be one only.

    Raises:
        MergeConflict: Two branches changed one thing differently, and ``prefer`` names neither.

    >>> merge_values({"a": 1, "b": 2}, {"x": {"a": 9, "b": 2}, "y": {"a": 1}}, None, "the settings")
    {'a': 9}
    """
    changed = {name: value for name, value in values.items() if not same_json(value, base)}
    if not changed:
        return base
    first = next(iter(changed.values()))
    if all(same_json(value, first) for value in changed.values()):
        return first
    if any(value is MISSING for value in changed.values()) and base is not MISSING:
        return MISSING
    if all(isinstance(value, dict) for value in changed.values()):
        old: object = {} if base is None or base is MISSING else base
        if isinstance(old, dict):
            return _merged_dicts(cast("dict[str, JSONValue]", old), changed, prefer, what, texts)
    if isinstance(base, list) and all(isinstance(value, list) for value in changed.values()):
        items = cast("list[JSONValue]", base)
        if all(len(value) == len(items) for value in changed.values()):
            return [
                merge_values(item, {n: v[at] for n, v in changed.items()}, prefer, f"{what}[{at}]", texts=texts)
                for at, item in enumerate(items)
            ]
    if texts and isinstance(base, str) and all(isinstance(value, str) for value in changed.values()):
        return merge_text(base, {n: changes_between(base, value) for n, value in changed.items()}, prefer, what)
    if prefer in changed:
        return changed[prefer]
    raise MergeConflict(what, list(changed))


def _merged_dicts(
    base: Mapping[str, JSONValue],
    changed: Mapping[str, Mapping[str, JSONValue]],
    prefer: str | None,
    what: str,
    texts: bool,
) -> dict[str, JSONValue]:
    merged: dict[str, JSONValue] = {}
    for key in dict.fromkeys([*base, *(key for value in changed.values() for key in value)]):
        values = {name: value.get(key, MISSING) for name, value in changed.items()}
        value = merge_values(base.get(key, MISSING), values, prefer, f"{what}[{key!r}]", texts=texts)
        if value is not MISSING:
            merged[key] = value
    return merged
